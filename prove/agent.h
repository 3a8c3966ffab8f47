/*
 * prove/agent.h - which program the policy was proven for.
 */
#ifndef SBX_PROVE_AGENT_H
#define SBX_PROVE_AGENT_H

#include "base/arena.h"
#include "blob/blob.h"

/* "/usr/bin/agent SHA-256 1.2.3": the policy's command as PATH finds it, and what the
 * package.json of its package calls the version; or why there is none. */
const char *agent_here(struct arena *arena, const struct sbx_blob *blob);

#endif
