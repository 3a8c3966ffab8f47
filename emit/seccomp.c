/*
 * emit/seccomp.c - the seccomp program of one architecture.
 *
 * libseccomp builds the dispatch: a check of the architecture (foreign ones
 * and x32 are killed) and a binary tree over the numbers.  It cannot say what
 * we need behind that: comparisons of 32-bit arguments, of signed ones, lists
 * of values, several rules in an order.  So a call that depends on arguments
 * gets a placeholder, RET TRACE|n, and in the exported program each such
 * return becomes a jump to block n, which we append:
 *
 *	libseccomp's program      ... JA block 1 ... RET ERRNO ... RET KILL
 *	block 1                   conditions, RET; conditions, RET; RET
 *	...
 *	tail                      calls libseccomp does not know; the default
 *
 * The tail is there only if there are such calls; then libseccomp's default
 * action is the placeholder for it.
 */
#include <errno.h>
#include <seccomp.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "blob/check.h"
#include "emit/conditions.h"
#include "emit/calls.h"
#include "emit/parts.h"

#define TAIL 0 /* the placeholder of the default action; blocks count from 1 */

static const uint32_t library_arch[SBX_ARCH_COUNT] = {
	[SBX_X86_64] = SCMP_ARCH_X86_64,
	[SBX_AARCH64] = SCMP_ARCH_AARCH64,
};

struct build {
	struct arena *arena;
	enum sbx_arch arch;
	const struct call *calls;
	const char **names; /* what libseccomp calls each, NULL where it does not */
	size_t call_count;
	uint32_t default_answer;
	bool has_tail;
	scmp_filter_ctx filter;
	const char *error;
};

static bool failed(struct build *build, const char *what, int rc)
{
	if (rc >= 0)
		return false;
	build->error = arena_printf(build->arena, "libseccomp: %s: %s", what, strerror(-rc));
	return true;
}

/* A name counts only if libseccomp means the same number by it. */
static void find_names(struct build *build)
{
	build->names = arena_array(build->arena, build->call_count, sizeof(*build->names));
	for (size_t i = 0; i < build->call_count; i++) {
		const char *name = str_cstr(build->arena, build->calls[i].name);
		int nr = seccomp_syscall_resolve_name_arch(library_arch[build->arch], name);

		if (nr == (int)build->calls[i].nr)
			build->names[i] = name;
		else
			build->has_tail = true;
	}
}

static uint32_t library_answer(const struct build *build, size_t index)
{
	const struct call *call = &build->calls[index];

	return call->count > 1 ? SBX_RET_TRACE | (uint32_t)(index + 1)
			       : calls_answer(call->tries[0]);
}

/* libseccomp takes numbers of the machine it runs on and translates them. */
static bool add_calls(struct build *build)
{
	for (size_t i = 0; i < build->call_count; i++) {
		const char *name = build->names[i];
		uint32_t answer = library_answer(build, i);

		if (!name || answer == build->default_answer)
			continue;
		if (failed(build, name,
			   seccomp_rule_add(build->filter, answer,
					    seccomp_syscall_resolve_name(name), 0)))
			return false;
	}
	return true;
}

/* A filter for the wanted architecture alone. */
static bool make_filter(struct build *build)
{
	uint32_t arch = library_arch[build->arch];
	int rc;

	build->filter =
	    seccomp_init(build->has_tail ? SBX_RET_TRACE | TAIL : build->default_answer);
	if (!build->filter) {
		build->error = "libseccomp: no filter can be made";
		return false;
	}
	if (arch != seccomp_arch_native()) {
		rc = seccomp_arch_add(build->filter, arch);
		if (failed(build, "architecture", rc))
			return false;
		rc = seccomp_arch_remove(build->filter, SCMP_ARCH_NATIVE);
		if (failed(build, "native architecture", rc))
			return false;
	}
	rc = seccomp_attr_set(build->filter, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
	if (failed(build, "foreign architectures", rc))
		return false;
	rc = seccomp_attr_set(build->filter, SCMP_FLTATR_CTL_OPTIMIZE, 2);
	return !failed(build, "binary tree", rc) && add_calls(build);
}

static bool export_filter(struct build *build, struct bpf_program *out)
{
	int fd = memfd_create("filter", MFD_CLOEXEC);
	ssize_t size = -1;

	if (fd >= 0 && !failed(build, "export", seccomp_export_bpf(build->filter, fd)))
		size = lseek(fd, 0, SEEK_END);
	if (size > 0) {
		out->count = (size_t)size / sizeof(struct sbx_bpf);
		out->insns = arena_array(build->arena, out->count, sizeof(struct sbx_bpf));
		if (pread(fd, out->insns, (size_t)size, 0) != size)
			size = -1;
	}
	if (size <= 0 && !build->error)
		build->error =
		    arena_printf(build->arena, "exporting a seccomp program: %s", strerror(errno));
	if (fd >= 0)
		close(fd);
	return size > 0;
}

/* The statements of a call in turn; the last has no condition. */
static void emit_tries(struct assembler *as, const struct call *call)
{
	for (size_t i = 0; i < call->count; i++) {
		const struct sys_stmt *stmt = call->tries[i];
		uint32_t next = stmt->cond_count ? assembler_label(as) : LABEL_NEXT;

		for (size_t n = 0; n < stmt->cond_count; n++)
			emit_condition(as, &stmt->conds[n], next);
		assembler_op(as, SBX_BPF_RET, calls_answer(stmt));
		if (next != LABEL_NEXT)
			assembler_place(as, next);
	}
}

/* What stands behind libseccomp's program; blocks[n] is where n starts. */
static struct assembler emit_blocks(struct build *build, uint32_t *blocks, bool far)
{
	struct assembler as = { .arena = build->arena, .far = far };

	for (size_t i = 0; i < build->call_count; i++) {
		const struct call *call = &build->calls[i];

		if (call->count == 1 || !build->names[i])
			continue;
		blocks[i + 1] = (uint32_t)as.insns.count;
		emit_tries(&as, call);
	}
	if (!build->has_tail)
		return as;
	blocks[TAIL] = (uint32_t)as.insns.count;
	for (size_t i = 0; i < build->call_count; i++) {
		const struct call *call = &build->calls[i];
		uint32_t other;

		if (build->names[i])
			continue;
		other = assembler_label(&as);
		assembler_op(&as, SBX_BPF_LOAD, SBX_DATA_NR);
		assembler_branch(&as, SBX_BPF_JEQ, call->nr, LABEL_NEXT, other);
		emit_tries(&as, call);
		assembler_place(&as, other);
	}
	assembler_op(&as, SBX_BPF_RET, build->default_answer);
	return as;
}

static bool append_blocks(struct build *build, struct bpf_program *out)
{
	uint32_t *blocks = arena_array(build->arena, build->call_count + 1, sizeof(*blocks));
	struct assembler as = emit_blocks(build, blocks, false);
	struct sbx_bpf *insns;
	size_t count;

	if (!assembler_link(&as)) {
		as = emit_blocks(build, blocks, true);
		if (!assembler_link(&as))
			BUG("a far jump is too short");
	}
	for (size_t i = 0; i < out->count; i++) {
		struct sbx_bpf *insn = &out->insns[i];

		if (insn->code != SBX_BPF_RET || (insn->k & SBX_RET_ACTION) != SBX_RET_TRACE)
			continue;
		insn->code = SBX_BPF_JA;
		insn->k = (uint32_t)(out->count - i - 1) + blocks[insn->k & SBX_RET_DATA];
	}
	count = out->count + as.insns.count;
	if (count > SBX_BPF_MAX) {
		build->error = arena_printf(build->arena,
					    "the system call rules need %zu instructions, "
					    "the kernel takes %d",
					    count, SBX_BPF_MAX);
		return false;
	}
	insns = arena_array(build->arena, count, sizeof(*insns));
	memcpy(insns, out->insns, out->count * sizeof(*insns));
	if (as.insns.count)
		memcpy(insns + out->count, as.insns.items, as.insns.count * sizeof(*insns));
	out->insns = insns;
	out->count = count;
	return true;
}

const char *emit_seccomp(struct arena *arena, const struct policy *policy, enum sbx_arch arch,
			 struct bpf_program *out)
{
	const struct sys_stmt default_stmt = emit_default(policy);
	struct build build = { .arena = arena, .arch = arch };

	build.default_answer = calls_answer(&default_stmt);
	build.calls = calls_plan(arena, policy, &default_stmt, arch, &build.call_count);
	if (build.call_count >= SBX_RET_DATA)
		return "too many system calls";
	find_names(&build);
	if (make_filter(&build) && export_filter(&build, out))
		append_blocks(&build, out);
	if (build.filter)
		seccomp_release(build.filter);
	return build.error;
}
