/*
 * stub/proxy.h - `net mode proxy`: sbx-proxy, and what it is given.
 *
 * It runs outside, started with the session and ended with it, and is the only
 * way out.  It holds the real values of the credentials; what is inside has
 * placeholders.  The messages are those of blob/proxy_wire.h.
 */
#ifndef SBX_STUB_PROXY_H
#define SBX_STUB_PROXY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "blob/proxy_wire.h"
#include "stub/mem.h"

/*
 * What stands for a credential inside: this, 32 hexadecimal digits, and an end that
 * is always the same: agents ask whether they may use a key of the environment, and
 * remember the answer by its last 20 characters.
 */
#define SBX_PLACEHOLDER     "sbx-placeholder-"
#define SBX_PLACEHOLDER_END "-real-key-is-outside"

struct launch;
struct proxy {
	const char *path;               /* of sbx-proxy; NULL: the policy has no proxy */
	const char *bundle;             /* the program's roots of trust; made by bundle_make() */
	int bundle_fd, bundle_dir;      /* it, and what holds it */
	const char *const *placeholder; /* of each credential; NULL: it is left out */
	const char *log;                /* --net-log, its directory canonical; or NULL */
	int log_fd;
	pid_t pid;     /* 0: not started, or over */
	int socket;    /* to it */
	int listener;  /* for it, until it is handed on; or -1 */
	uint16_t port; /* landlock: where it really is */
	bool ready;
	VEC(const char *) summary; /* what did not go: a line for each host */
	bool inexact;              /* one of them stands for more */
};

/* Finds sbx-proxy beside sbx-exec and starts it, unless nothing is to be started;
 * chooses the bundle's name.  Before the files are looked at. */
void proxy_find(struct launch *launch);
/* Once they are: nothing that it reads or writes may be the program's to choose.
 * credentials.c: chooses the placeholders; leaves out what is optional and absent. */
void proxy_check_log(struct launch *launch);
void credentials_check(struct launch *launch);
/* Is @path, or a link on the way to it, the program's to write or to replace? */
bool proxy_may_be_written(const struct launch *launch, const char *path);

/* The launch is for real: opens the log, makes the bundle. */
void proxy_prepare(struct launch *launch);
/* Tells it what the session is. */
void proxy_start(struct launch *launch);
/* credentials.c: what its messages say that is not in the blob: a sealed file. */
int credentials_values(const struct launch *launch);
/* The next message, without waiting: its kind; 0: it has ended; -1: there is none. */
int proxy_hear(struct proxy *proxy, struct proxy_message *message);
/* It is ready: hands over proxy->listener.  False: it has ended, or there is none. */
bool proxy_listen(struct launch *launch);
/* One connection of the program's comes from this port (or does not, after all).
 * 0, or an error: it cannot be told; EAGAIN: not within two seconds. */
int proxy_expect(const struct proxy *proxy, unsigned port);
void proxy_forget(const struct proxy *proxy, unsigned port);
/* Ends it, if it is there; waits a second for it to end by itself, and hears what it
 * has to say of the session.  Then, when the terminal is the caller's again: says that. */
void proxy_stop(struct launch *launch);
void proxy_report(const struct launch *launch);

/* A socket that listens on 127.0.0.1:@port (0: any); -1: errno. */
int proxy_socket(unsigned port);

/* bundle.c: makes the file of the program's roots of trust, and says in the plan
 * which it is. */
void bundle_make(struct launch *launch);
void bundle_remove(const struct launch *launch);
/* @name in the directory of the sessions is one, of a session that is over: removes it. */
void bundle_clear(int dir, const char *name);
#define BUNDLE_PREFIX "bundle-"

#endif
