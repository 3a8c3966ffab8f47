/*
 * stub/watch.h - what the host does to the files under the masks.
 *
 * A mask goes when somebody outside replaces or removes the name it lies on.
 * The parents of masked names are watched by inotify; where a mask is gone it
 * is laid again, in the sandbox's mount namespace, and that is said.
 */
#ifndef SBX_STUB_WATCH_H
#define SBX_STUB_WATCH_H

#include <stdint.h>

#include "stub/mem.h"

struct launch;
struct watched {
	const char *dir;
	int descriptor; /* inotify's; -1: nobody but root can change what is in it */
};
struct watching {
	int events; /* inotify; -1: nothing is watched */
	int inner;  /* a process of the sandbox, as numbered outside; 0: not yet */
	unsigned lifted; /* masks that were laid again, or could not be */
	uint64_t due;    /* when to look without an event (milliseconds); 0: never */
	VEC(struct watched) dirs;
	uint8_t *state; /* of each mask: enum mask_state; shared with children */
};
/* Before the sandbox is ready, so that no change is missed. */
void watch_start(struct launch *launch, struct watching *watching);
/* Looks at what happened, at the time @now; lays again what was lifted.  NULL, or
 * why the session must end. */
const char *watch_look(struct launch *launch, struct watching *watching, uint64_t now);
void watch_stop(struct watching *watching);

#endif
