/*
 * chaperon/run.h - one real client that runs.
 *
 * It gets descriptors 0 to 2 and no other, the environment it is given and no other, and
 * a process group of its own.
 */
#ifndef SBX_CHAPERON_RUN_H
#define SBX_CHAPERON_RUN_H

#include <event2/event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct run;
struct run_watch {
	/* @fd: 1 or 2 */
	void (*output)(void *context, int fd, const void *data, size_t size);
	/* Room for more of run_input() again. */
	void (*room)(void *context);
	/* A wait status; -1: it was ended since it took longer than it may.  The run is freed
	 * behind it. */
	void (*end)(void *context, int status);
};
struct run_terminal {
	bool wanted;
	uint16_t rows, columns;
};

/* NULL: it cannot be started, see errno.  @seconds: how long it may take, 0: as long as it likes. */
struct run *run_begin(struct event_base *base, char *const *argv, char *const *environment,
		      const struct run_terminal *terminal, int seconds,
		      const struct run_watch *watch, void *context);
/* Queued for its standard input.  False: it does not read any more, or is full. */
bool run_input(struct run *run, const void *data, size_t size);
bool run_is_full(const struct run *run);
void run_input_end(struct run *run);
void run_resize(struct run *run, uint16_t rows, uint16_t columns);
/* Whoever reads its output is behind, or is not any more. */
void run_pause(struct run *run, bool on);
/* From here on it may take as long as it likes. */
void run_unlimited(struct run *run);
void run_signal(struct run *run, int signal);
pid_t run_pid(const struct run *run);

/* Called on SIGCHLD. */
void run_reap(void);
/* The session is over. */
void run_end_all(void);

#endif
