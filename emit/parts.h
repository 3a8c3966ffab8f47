/*
 * emit/parts.h - one function a group of sections; emit.c calls them in order.
 */
#ifndef SBX_EMIT_PARTS_H
#define SBX_EMIT_PARTS_H

#include "emit/writer.h"

struct programs {
	struct bpf_program main[SBX_ARCH_COUNT], shared[SBX_ARCH_COUNT];
};

/* Returns where @policy's workspace rule went (SBX_NONE: there is none). */
uint32_t emit_files(struct writer *writer, const struct policy *policy);
void emit_environment(struct writer *writer, const struct policy *policy);
/* Statements, entries, programs; returns the default's statement. */
uint32_t emit_syscalls(struct writer *writer, const struct policy *policy,
		       const struct programs *programs);
void emit_network(struct writer *writer, const struct policy *policy);
void emit_credentials(struct writer *writer, const struct policy *policy);
void emit_limits(struct writer *writer, const struct policy *policy);
void emit_slurm(struct writer *writer, const struct policy *policy);
void emit_assertions(struct writer *writer, const struct policy *policy);
void emit_landlock(struct writer *writer, const struct policy *policy);

/* The default action that holds: ENOSYS where a policy does not say. */
struct sys_stmt emit_default(const struct policy *policy);

#endif
