/*
 * stub/supervise_watch.h - what the outer stage keeps while the program runs.
 */
#ifndef SBX_STUB_SUPERVISE_WATCH_H
#define SBX_STUB_SUPERVISE_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "stub/broker.h"
#include "stub/watch.h"

struct launch;
struct backend;
struct helper;
struct outcome;

enum { HELPERS = 2 };

struct watch {
	struct launch *launch;
	struct backend *backend;
	struct outcome *out;
	int signals;       /* signalfd */
	int program;       /* its number outside; 0: not yet */
	int pidfd;         /* of it; or -1 */
	uint64_t word;     /* when the inner stage should have said how it ended; 0: it runs */
	bool woken;        /* which it was sent SIGCONT for */
	int first;         /* firejail: pidfds of its process 1, which ends all, */
	int inner;         /* and of the inner stage, whose end it may survive; or -1 */
	bool ready;        /* the inner stage is */
	uint64_t deadline; /* milliseconds, monotonic; 0: none */
	bool hung_up;      /* that is because the terminal is gone */
	bool ended;        /* the backend, with this: */
	int end_status;
	struct helper *helpers[HELPERS];
	struct broker broker;
	struct watching watching;
	bool over;
	bool lost; /* the inner stage is gone without a word */
};

/* Milliseconds until something is due, for poll(2); -1: nothing is. */
int supervise_time_left(const struct watch *s);
/* Ends it, and all that runs there. */
void supervise_end_sandbox(struct watch *s);
/* supervise_stop.c: this process, which is the caller's job, stops as the program did by
 * @signal (0: with it), until it is continued. */
void supervise_stop_with(struct watch *s, int signal);

#endif
