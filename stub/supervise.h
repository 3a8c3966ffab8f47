/*
 * stub/supervise.h - the outer stage while the program runs.
 */
#ifndef SBX_STUB_SUPERVISE_H
#define SBX_STUB_SUPERVISE_H

#include <signal.h>
#include <stdbool.h>

struct launch;
struct backend;

/* terminal.c: looks at the terminal, decides in the plan whether the program
 * leads a group of its own on it; what it finds is put back at the end. */
void terminal_save(struct launch *launch);
/* @killed: the program did not end by itself. */
void terminal_restore(bool killed);
/* Stops this process, which is the caller's job, until it is continued; not where
 * nobody could do that (an orphaned group). */
void terminal_stop(void);
/* The program (its number outside) stopped by @signal: gives the terminal back
 * and stops too; when continued, gives it to the group that had it. */
void terminal_follow_stop(int program, int signal);
/* Continued: if the terminal is ours now, it is the program's. */
void terminal_follow_continue(int program);

/* Had we one, and is it closed? */
bool terminal_is_gone(void);

/* signals.c: those that are blocked meanwhile. */
void signals_fill(sigset_t *set);
/* Records the caller's signals in the plan, takes those that are handled, and
 * every process below us that loses its parent. */
void signals_take(struct launch *launch);

struct outcome {
	int status;          /* exit status */
	int signal;          /* that ended the program, or 0 */
	bool exited;         /* by itself */
	bool started;        /* the inner stage reported ready */
	const char *failed;  /* what stopped it, or NULL */
	const char *words;   /* not started: what the backend wrote */
	unsigned refused;    /* connections that the broker refused */
	unsigned lifted;     /* masks that the host lifted */
};
/* Lets the inner stage go on; until the end of the session. */
void supervise(struct launch *launch, struct backend *backend, struct outcome *out);

#endif
