/*
 * stub/helper.h - a program of ours that works outside for one session: sbx-proxy,
 * sbx-chaperon.
 *
 * It is found beside sbx-exec, started before anything is known of the session, told
 * what that is when the plan is made, and handed a socket when the program may begin.
 * What is said is that of blob/helper_wire.h, and of each one's own wire.
 */
#ifndef SBX_STUB_HELPER_H
#define SBX_STUB_HELPER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "blob/helper_wire.h"

struct backend;
struct launch;
struct sbx_head;
struct helper {
	const char *name;       /* "the proxy" */
	const char *without;    /* "no network": what there is not, once it has ended */
	const char *hangs;      /* what may, where it is not ready in time */
	const char *path;       /* NULL: the policy needs none */
	const char *log_option; /* by which the caller asks for its log */
	const char *log;        /* its directory canonical; or NULL */
	int log_fd;
	pid_t pid;    /* 0: not started, or over */
	int socket;   /* to it; or -1 */
	int listener; /* for it, until it is handed on; or -1 */
	bool ready;
};

/* Finds @program beside sbx-exec and starts it, unless nothing is to be started.
 * @statement and @head: what of the policy needs it. */
void helper_find(struct launch *launch, struct helper *helper, const char *program,
		 const char *statement, const struct sbx_head *head);
/* An obstacle: @path, of an installation, is not there, by errno. */
void helper_missing(struct launch *launch, const char *path, const char *statement,
		    const struct sbx_head *head);
/* What of @path, with all that lies beneath it, is the program's to write or to replace, a
 * link on the way to it included; NULL: nothing. */
const char *helper_may_be_written(const struct launch *launch, const char *path);
/* @path, of its log option, may be NULL. */
void helper_check_log(struct launch *launch, struct helper *helper, const char *path);
/* The launch is for real. */
void helper_open_log(const struct launch *launch, struct helper *helper);
/* What the session is: the blob, @values, @file (-1: none), the log.  Takes @values. */
void helper_tell_session(const struct launch *launch, struct helper *helper, int version,
			 int values, int file);
/* One of the values: "@what@name=@value", or "@what@value" where @name is "".  NULL: none. */
void helper_add(struct backend *values, const char *what, const char *name, const char *value);
/* The policy's variables and parameters. */
void helper_add_variables(const struct launch *launch, struct backend *values);
/* One message; false: it takes none now, or has ended (errno). */
bool helper_tell(const struct helper *helper, unsigned kind, int value, const int *fds,
		 size_t count);
/* The next message, without waiting: its kind; 0: it has ended; -1: there is none. */
int helper_hear(struct helper *helper, struct helper_message *message);
/* It is ready: hands over its listener.  False: it has ended, or there is none. */
bool helper_listen(struct helper *helper, int value);
/* Ends it, if it is there; waits a second for it to end by itself. */
void helper_stop(struct helper *helper);

#endif
