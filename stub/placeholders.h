/*
 * stub/placeholders.h - what stands on the host for a denied name that is
 * absent, while sessions run.
 */
#ifndef SBX_STUB_PLACEHOLDERS_H
#define SBX_STUB_PLACEHOLDERS_H

#include "stub/mem.h"

#include <stdbool.h>
#include <stdint.h>

struct placeholder { /* that a session made or relies on */
	const char *path;
	const char *text;  /* NULL: a directory */
	int dir;           /* the one it lies in, from the start on; -1: not ours */
	uint64_t dev, ino; /* ino 0: it was about to be made */
};
struct masked { /* by a session; others leave it alone meanwhile */
	const char *path;
	bool hidden;         /* or else read-only */
	const char *session; /* whose; of others */
};
struct session {
	bool open;
	int dir;   /* of session files */
	int mutex; /* held while placeholders are made or removed */
	int file;  /* ours, locked while we live; -1: not yet */
	const char *name;
	bool others_died; /* and left their files */
	VEC(struct placeholder) used;
	VEC(struct masked) masked;
};

struct launch;
struct plan_mask;
/* Makes the plan's placeholders, or joins in those of other sessions. */
void placeholders_make(struct launch *launch);
/* Removes those that no live session uses and that nobody changed, also what
 * sessions that were killed left behind.  What cannot be removed stays on record. */
void placeholders_remove(struct launch *launch);

/* What @mask lay on is gone: makes what would stand there had it been absent from
 * the start.  False: errno. */
bool placeholders_make_again(struct launch *launch, const struct plan_mask *mask);

/* others.c: masks here too what live sessions mask in trees that this one could
 * write; without mounts says so.  Before the plan is settled. */
void others_hold(struct launch *launch);

/* sessions.c: the files by which sessions know of one another.  False: errno. */
bool sessions_open(const struct launch *launch, struct session *session);
/* False: somebody holds it and does not let go. */
bool sessions_lock(struct session *session);
/* The same, or the launch is refused; and both of these, or it is. */
void sessions_hold(struct session *session);
void sessions_enter(const struct launch *launch, struct session *session);
void sessions_unlock(struct session *session);
/* Their directory, whether or not it is there yet; @statement needs it. */
const char *sessions_place(const struct launch *launch, const char *statement);
/* A file beside the sessions', locked as long as this one lives; *dir: what holds it. */
int sessions_own_file(struct launch *launch, const char *path, int *dir);
/* Writes what @session uses; false: errno. */
bool sessions_write(struct session *session);
/* What other sessions use: those alive, and those that died. */
struct others {
	VEC(struct placeholder) live, dead;
	VEC(struct masked) masked; /* by those alive */
	VEC(const char *) dead_names;
	const char *stray; /* a file that is no record; NULL: none */
};
void sessions_read_others(const struct session *session, struct others *out);

#endif
