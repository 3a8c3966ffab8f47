/*
 * stub/watch.h - what the host does to the files under the masks.
 *
 * A mask goes when somebody outside replaces or removes the name it lies on.
 * The directories of masked names are watched; where a mask is gone it is laid
 * again, in the sandbox's mount namespace, and that is said.
 */
#ifndef SBX_STUB_WATCH_H
#define SBX_STUB_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "stub/mem.h"

struct launch;
struct watched {
	const char *dir;
	int fd; /* -1: nobody but root can change what is in it, or it cannot be watched */
};
struct identity { /* of a file, for all time; ino 0: none */
	uint64_t ino, born[2];
	uint32_t dev[2];
};
struct watching {
	int inner;  /* a process of the sandbox, as numbered outside; 0: not yet */
	unsigned lifted; /* masks that were laid again, or could not be */
	uint64_t due;    /* when to look (milliseconds); 0: when there is a SIGIO */
	uint64_t looked, missing; /* the last time; until when a name may be missing */
	bool again; /* look inside whether or not something has changed */
	const char *devices; /* what the connect broker is to know, after a look inside; or NULL */
	bool blind; /* a directory cannot be watched: look from time to time */
	VEC(struct watched) dirs;
	struct identity *seen; /* under each mask; NULL: nothing is watched */
	uint8_t *state; /* of each mask: enum mask_state; shared with children */
};
/* Before the masks are laid, so that no change is missed. */
void watch_start(struct launch *launch, struct watching *watching);
/* SIGIO: something happened, at the time @now. */
void watch_notice(struct watching *watching, uint64_t now);
/* In a child of who watched: it watches from now on. */
void watch_take_over(const struct launch *launch, struct watching *watching, uint64_t now);
/* When it is due: looks at what happened; lays again what was lifted.  NULL, or
 * why the session must end. */
const char *watch_look(struct launch *launch, struct watching *watching, uint64_t now);
/* No SIGIO comes any more, and none is left waiting. */
void watch_end(struct watching *watching);

#endif
