/*
 * stub/landlock.h - the Landlock domain that every sandbox runs in.
 */
#ifndef SBX_STUB_LANDLOCK_H
#define SBX_STUB_LANDLOCK_H

#include <stdint.h>

struct plan;

/* What a kernel of this ABI knows. */
uint64_t landlock_known_fs(int abi);
uint64_t landlock_known_net(int abi);
uint64_t landlock_known_scoped(int abi);

/* Enters the domain.  Returns NULL, or what failed and why. */
const char *landlock_enter(const struct plan *plan);

#endif
