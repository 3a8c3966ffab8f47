/*
 * stub/watch.c - what the host does to the files under the masks.
 */
#include "stub/watch.h"

#include "stub/launch.h"

void watch_start(const struct launch *launch, struct watching *watching)
{
	(void)launch;
	watching->events = -1;
}

void watch_look(struct launch *launch, struct watching *watching)
{
	(void)launch;
	(void)watching;
}
