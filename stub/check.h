/*
 * stub/check.h - what must hold before anything is started.
 */
#ifndef SBX_STUB_CHECK_H
#define SBX_STUB_CHECK_H

struct launch;

/* What the policy demands that this version or this machine cannot do. */
void check_requirements(struct launch *launch);
/* Assertions, on the real paths. */
void check_assertions(struct launch *launch);
/* Files that a deny or seal takes from, and that have another name (hard link). */
void check_hard_links(struct launch *launch);
/* What of that rules which are best-effort ask for: refuses, unless the backend does
 * not hold them anyway. */
void check_mendable(struct launch *launch);

#endif
