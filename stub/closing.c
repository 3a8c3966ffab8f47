/*
 * stub/closing.c - the end of a session: nothing runs on, and what to look at.
 */
#include "stub/closing.h"

#include "stub/launch.h"
#include "stub/supervise.h"

void closing_remember(struct launch *launch)
{
	(void)launch;
}

void closing_report(struct launch *launch, const struct outcome *outcome)
{
	(void)launch;
	(void)outcome;
}
