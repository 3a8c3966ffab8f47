/*
 * stub/placeholders.h - what stands on the host for a denied name that is
 * absent, while sessions run.
 */
#ifndef SBX_STUB_PLACEHOLDERS_H
#define SBX_STUB_PLACEHOLDERS_H

struct launch;

/* Makes the plan's placeholders, or joins in those of other sessions. */
void placeholders_make(struct launch *launch);
/* Removes those that no other session uses and that nobody changed; and what
 * sessions that were killed left behind. */
void placeholders_remove(struct launch *launch);

#endif
