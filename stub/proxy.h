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
#include "stub/helper.h"
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
	struct helper helper;           /* sbx-proxy */
	const char *bundle;             /* the program's roots of trust; made by bundle_make() */
	int bundle_fd, bundle_dir;      /* it, and what holds it */
	const char *const *placeholder; /* of each credential; NULL: it is left out */
	uint16_t port;                  /* landlock: where it really is */
	VEC(const char *) summary;      /* what did not go: a line for each host */
	bool inexact;                   /* one of them stands for more */
};

/* Finds and starts it, if the policy has one; chooses the bundle's name.  Before the
 * files are looked at. */
void proxy_find(struct launch *launch);
/* Once they are, credentials.c: chooses the placeholders; leaves out what is optional and
 * absent.  Nothing that the proxy reads may be the program's to choose. */
void credentials_check(struct launch *launch);

/* The launch is for real: opens the log, makes the bundle. */
void proxy_prepare(struct launch *launch);
/* Tells it what the session is. */
void proxy_start(struct launch *launch);
/* credentials.c: what its messages say that is not in the blob: a sealed file. */
int credentials_values(const struct launch *launch);
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
#define BUNDLE_PREFIX "bundle-"

#endif
