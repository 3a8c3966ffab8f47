/*
 * stub/watch.h - what the host does to the files under the masks.
 *
 * A mask goes when somebody outside replaces or removes the name it lies on.
 * The parents of masked names are watched by inotify; where a mask is gone it
 * is laid again, in the sandbox's mount namespace, and that is said.
 */
#ifndef SBX_STUB_WATCH_H
#define SBX_STUB_WATCH_H

#include <stdbool.h>

struct launch;
struct watching {
	int events; /* inotify; -1: nothing is watched */
	int inner;  /* a process of the sandbox, as numbered outside */
	unsigned lifted; /* masks that were laid again, or could not be */
};
/* Before the sandbox is ready, so that no change is missed. */
void watch_start(const struct launch *launch, struct watching *watching);
/* Looks at what happened; lays again what was lifted. */
void watch_look(struct launch *launch, struct watching *watching);

#endif
