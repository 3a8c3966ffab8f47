/*
 * emit/seccomp.c - the seccomp program of one architecture.
 *
 * libseccomp decides: its program checks the architecture (foreign ones and
 * x32 are killed) and answers each number.  It cannot say what we need behind
 * that: comparisons of 32-bit arguments, of signed ones, lists of values,
 * several rules in an order.  So a call that depends on arguments gets a
 * placeholder, RET TRACE|n, for block n.
 *
 * What it answers is then written again as a shorter program, since a filter
 * runs before every call and the kernel goes through it for every number when
 * it is attached:
 *
 *	prologue   another architecture: killed
 *	tree       over ranges of numbers with the same answer (tree.c)
 *	block 1    conditions, RET; conditions, RET; ...
 *	...
 *	returns    one of each answer
 */
#include <errno.h>
#include <seccomp.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "blob/bpf.h"
#include "emit/assemble.h"
#include "emit/parts.h"

/* libseccomp's tokens for architectures are the kernel's. */
static const uint32_t library_arch[SBX_ARCH_COUNT] = {
	[SBX_X86_64] = SBX_AUDIT_X86_64,
	[SBX_AARCH64] = SBX_AUDIT_AARCH64,
};

struct build {
	struct arena *arena;
	enum sbx_arch arch;
	const struct call *calls;
	const char **names; /* what libseccomp calls each, NULL where it does not */
	size_t call_count;
	uint32_t default_answer;
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
	}
}

/* libseccomp takes numbers of the machine it runs on and translates them. */
static bool add_calls(struct build *build)
{
	for (size_t i = 0; i < build->call_count; i++) {
		const char *name = build->names[i];
		uint32_t answer = calls_answer_at(build->calls, i);

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

	build->filter = seccomp_init(build->default_answer);
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

/* What libseccomp's program answers, and our answers to what it does not know. */
static bool find_ranges(struct build *build, struct ranges *ranges)
{
	struct bpf_program program;

	if (!export_filter(build, &program))
		return false;
	/* libseccomp does not look at what write(2) says. */
	if (!ranges_is_whole(&program)) {
		build->error = "libseccomp's program was cut while it was written: is there a "
			       "limit on the size of files (ulimit -f)?";
		return false;
	}
	if (!ranges_of_program(build->arena, &program, library_arch[build->arch], ranges)) {
		build->error = "libseccomp: it wrote a program that is not understood here";
		return false;
	}
	for (size_t i = 0; i < build->call_count; i++)
		if (!build->names[i])
			ranges_set(build->arena, ranges, build->calls[i].nr,
				   calls_answer_at(build->calls, i));
	return true;
}

static void build_program(struct build *build, struct bpf_program *out)
{
	struct ranges ranges = { 0 };
	const struct filter filter = {
		.audit_arch = library_arch[build->arch],
		.calls = build->calls,
		.count = build->call_count,
		.ranges = &ranges,
	};

	if (find_ranges(build, &ranges))
		build->error = assemble_filter(build->arena, &filter, out);
}

const char *emit_seccomp(struct arena *arena, const struct policy *policy, enum sbx_arch arch,
			 struct bpf_program *out)
{
	const struct sys_stmt default_stmt = emit_default(policy);
	struct build build = { .arena = arena, .arch = arch };

	build.default_answer = calls_answer(&default_stmt);
	build.calls = calls_plan(arena, policy, &default_stmt, 0, arch, &build.call_count);
	if (build.call_count >= SBX_RET_DATA)
		return "too many system calls";
	find_names(&build);
	if (make_filter(&build))
		build_program(&build, out);
	if (build.filter)
		seccomp_release(build.filter);
	return build.error;
}

/*
 * The second program: a handful of refusals among what is allowed, so nothing
 * for libseccomp to decide.  Another architecture's calls and x32's are killed
 * by the first, beside which it always runs.
 */
const char *emit_seccomp_shared(struct arena *arena, const struct policy *policy,
				enum sbx_arch arch, struct bpf_program *out)
{
	static const struct sys_stmt allow = { .verb = SBX_SYS_DEFAULT };
	struct ranges ranges = { 0 };
	struct filter filter = { .ranges = &ranges };

	*out = (struct bpf_program){ 0 };
	filter.calls = calls_plan(arena, policy, &allow, SBX_F_SHARED, arch, &filter.count);
	if (!filter.count)
		return NULL;
	*VEC_PUSH(arena, &ranges) = (struct range){ 0, SBX_RET_ALLOW };
	for (size_t i = 0; i < filter.count; i++)
		ranges_set(arena, &ranges, filter.calls[i].nr, calls_answer_at(filter.calls, i));
	return assemble_filter(arena, &filter, out);
}
