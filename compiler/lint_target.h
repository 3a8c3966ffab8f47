/*
 * compiler/lint_target.h - sbxc lint --target: a policy against a backend.
 */
#ifndef SBX_COMPILER_LINT_TARGET_H
#define SBX_COMPILER_LINT_TARGET_H

#include "compiler/compiler.h"
#include "compiler/targets.h"

/* Queues an error for each duty that one of @targets does not hold; what the policy
 * can do without is listed on standard output, unless @quiet. */
void lint_targets(struct compilation *c, struct targets *targets, bool quiet);

/* Adds the backends that @policy requires one of, on the Landlock ABI that it requires or on
 * this kernel's: it says that it runs there. */
void targets_required(struct arena *arena, struct targets *targets, const struct policy *policy);

#endif
