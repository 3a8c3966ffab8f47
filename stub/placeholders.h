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
struct session {
	int dir;   /* of session files; -1: none is needed */
	int mutex; /* held while placeholders are made or removed */
	int file;  /* ours, locked while we live */
	const char *name;
	VEC(struct placeholder) used;
};

struct launch;
/* Makes the plan's placeholders, or joins in those of other sessions. */
void placeholders_make(struct launch *launch);
/* Removes those that no live session uses and that nobody changed, also what
 * sessions that were killed left behind.  What cannot be removed stays on record. */
void placeholders_remove(struct launch *launch);

/* sessions.c: the files by which sessions know of one another. */
bool sessions_open(const struct launch *launch, struct session *session);
void sessions_lock(struct session *session);
void sessions_unlock(struct session *session);
/* Writes what @session uses; false: errno. */
bool sessions_write(struct session *session);
/* What other sessions use: those alive, and those that died. */
struct others {
	VEC(struct placeholder) live, dead;
	VEC(const char *) dead_names;
};
void sessions_read_others(const struct session *session, struct others *out);

#endif
