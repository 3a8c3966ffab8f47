/*
 * emit/emit.h - the model as bytes.
 */
#ifndef SBX_EMIT_EMIT_H
#define SBX_EMIT_EMIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "ir/policy.h"

struct emitted {
	uint8_t *data; /* in the arena */
	size_t size;
	/* What each record of a section was made from; NULL: no rules. */
	const struct rule_head *const *heads[SBX_SEC_COUNT];
};

/*
 * Writes @policy as a blob.  The policy has passed every check of the
 * compiler.  Returns NULL, or a message for the user where the host is at
 * fault (libseccomp failing) or a limit of the format is met.
 * @strip leaves the source locations out.
 */
const char *emit_policy(struct arena *arena, const struct policy *policy,
			bool strip, struct emitted *out);

/*
 * The seccomp program of one architecture; same error convention.  A
 * statement's system calls with arguments become blocks behind the
 * dispatch tree (see emit/seccomp.c).
 */
struct bpf_program {
	struct sbx_bpf *insns;
	size_t count;
};
const char *emit_seccomp(struct arena *arena, const struct policy *policy,
			 enum sbx_arch arch, struct bpf_program *out);
/* The second one, for a backend without namespaces: only what SBX_F_SHARED
 * statements refuse; empty where there are none. */
const char *emit_seccomp_shared(struct arena *arena, const struct policy *policy,
				enum sbx_arch arch, struct bpf_program *out);

/*
 * The system call's number on each architecture (SBX_SYS_ABSENT where it has
 * none), from libseccomp's tables.  False: no architecture at all knows it.
 */
bool emit_syscall_numbers(const char *name, uint16_t nr[SBX_ARCH_COUNT]);
/* Its name on @arch, or NULL; the string is in the arena. */
const char *emit_syscall_name(struct arena *arena, enum sbx_arch arch,
			      unsigned nr);
/* The i-th name of any architecture, sorted; NULL at the end. */
const char *emit_syscall_name_at(size_t index);

#endif
