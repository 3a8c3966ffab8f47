/*
 * tests/bpf/compare.c - the programs of a blob against its own tables.
 *
 * The tables say what a filter has to answer (blob/sys_verdict.c reads them),
 * the program is what the kernel would run; here every place where an error
 * of either could hide is tried: each value that a condition mentions and its
 * neighbours, the same with bits set that the kernel does not read or that a
 * mask removes, the boundaries of widths and signs.
 */
#include "tests/bpf/compare.h"

#include <stdio.h>
#include <stdlib.h>

#include "emit/emit.h"
#include "tests/lib/sim.h"

#define POOL_MAX 4096
#define SAMPLES  300

static const uint32_t audit_arch[SBX_ARCH_COUNT] = { SBX_AUDIT_X86_64, SBX_AUDIT_AARCH64 };

struct comparison {
	const struct sbx_blob *blob;
	const char *name;
	enum sbx_arch arch;
	void (*decide)(const struct sbx_blob *blob, enum sbx_arch arch, uint32_t nr,
		       const uint64_t args[6], struct sbx_sys_verdict *out);
	const struct sbx_bpf *insns;
	uint32_t count;
	unsigned differences;
	unsigned long runs;
	uint64_t random;
	uint64_t pool[POOL_MAX];
	size_t pool_size;
};

static uint64_t next_random(struct comparison *c)
{
	c->random ^= c->random << 13;
	c->random ^= c->random >> 7;
	c->random ^= c->random << 17;
	return c->random;
}

static void add_value(struct comparison *c, uint64_t value)
{
	if (c->pool_size < POOL_MAX)
		c->pool[c->pool_size++] = value;
}

static void add_around(struct comparison *c, uint64_t value)
{
	static const uint64_t flips[] = { 0,          1ull << 31,          1ull << 32, 1ull << 63,
					  1ull << 30, 0xffffffff00000000u, UINT64_MAX };

	for (int step = -1; step <= 1; step++)
		for (size_t i = 0; i < sizeof(flips) / sizeof(flips[0]); i++)
			add_value(c, (value + (uint64_t)step) ^ flips[i]);
}

/* The values that matter to the conditions on @nr. */
static bool fill_pool(struct comparison *c, uint32_t nr)
{
	static const uint64_t edges[] = { 0, INT32_MAX, UINT32_MAX, INT64_MAX };
	bool conditional = false;

	c->pool_size = 0;
	for (size_t i = 0; i < sizeof(edges) / sizeof(edges[0]); i++)
		add_around(c, edges[i]);
	for (uint32_t i = 0; i < SBX_COUNT(c->blob, SYS_ENTRIES); i++) {
		const struct sbx_sys_entry *entry = SBX_AT(c->blob, SYS_ENTRIES, sbx_sys_entry, i);
		const struct sbx_sys_stmt *stmt =
		    SBX_AT(c->blob, SYS_STMTS, sbx_sys_stmt, entry->stmt);

		for (uint32_t n = 0; entry->nr[c->arch] == nr && n < stmt->cond_count; n++) {
			const struct sbx_sys_cond *cond =
			    SBX_AT(c->blob, SYS_CONDS, sbx_sys_cond, stmt->cond_first + n);
			const uint64_t *values = c->blob->section[SBX_SEC_VALUES].records;

			conditional = true;
			for (uint32_t v = 0; v < cond->value_count; v++) {
				add_around(c, values[cond->value_first + v]);
				add_value(c, values[cond->value_first + v] | ~cond->mask);
				add_value(c, values[cond->value_first + v] & cond->mask);
			}
			add_value(c, cond->mask);
			add_value(c, ~cond->mask);
		}
	}
	return conditional;
}

static void compare_one(struct comparison *c, uint32_t nr, const uint64_t args[6])
{
	struct sim_data data = { .nr = nr, .arch = audit_arch[c->arch], .ip = next_random(c) };
	struct sbx_sys_verdict want;
	uint32_t answer, expected;

	for (unsigned i = 0; i < 6; i++)
		data.args[i] = args[i];
	answer = sim_run(c->insns, c->count, &data).answer;
	c->decide(c->blob, c->arch, nr, args, &want);
	expected = want.action == SBX_ACT_ALLOW   ? SBX_RET_ALLOW
		   : want.action == SBX_ACT_ERRNO ? SBX_RET_ERRNO | want.error
						  : SBX_RET_KILL_PROCESS;
	c->runs++;
	if (answer == expected)
		return;
	if (c->differences++ < 5)
		fprintf(stderr,
			"%s: %s%s call %u (%#llx %#llx %#llx): program %#x, tables %#x "
			"(statement %u)\n",
			c->name, c->arch == SBX_X86_64 ? "x86_64" : "aarch64",
			c->decide == sbx_sys_decide ? "" : ", shared,", nr,
			(unsigned long long)args[0], (unsigned long long)args[1],
			(unsigned long long)args[2], answer, expected, want.stmt);
}

static void compare_number(struct comparison *c, uint32_t nr)
{
	uint64_t args[6] = { 0 };
	bool conditional = fill_pool(c, nr);

	compare_one(c, nr, args);
	for (unsigned arg = 0; conditional && arg < 6; arg++) {
		for (size_t i = 0; i < c->pool_size; i++) {
			args[arg] = c->pool[i];
			compare_one(c, nr, args);
		}
		args[arg] = 0;
	}
	for (unsigned sample = 0; sample < (conditional ? SAMPLES : 2); sample++) {
		for (unsigned arg = 0; arg < 6; arg++)
			args[arg] = next_random(c) % 4 ? c->pool[next_random(c) % c->pool_size]
						       : next_random(c);
		compare_one(c, nr, args);
	}
}

static void compare_foreign(struct comparison *c)
{
	/* i386, arm, x86-64 without its 64-bit flag, big-endian aarch64, ... */
	static const uint32_t foreign[] = { 0x40000003, 0x40000028, 0x3e,       0x800000b7,
					    0,          UINT32_MAX, 0xc000003f, 0xc00000b6 };
	const size_t count = sizeof(foreign) / sizeof(foreign[0]);

	for (size_t i = 0; i <= count; i++)
		for (uint32_t nr = 0; nr < 512; nr++) {
			struct sim_data data = { .nr = nr,
						 .arch = i < count ? foreign[i]
								   : audit_arch[!c->arch] };

			c->runs++;
			if (sim_run(c->insns, c->count, &data).answer == SBX_RET_KILL_PROCESS)
				continue;
			if (c->differences++ < 5)
				fprintf(stderr, "%s: architecture %#x call %u is not killed\n",
					c->name, data.arch, nr);
		}
}

static void compare_section(struct comparison *c, uint32_t id)
{
	static const uint32_t odd[] = { SBX_X32_BIT - 1, 0x7fffffff, 0x80000000, UINT32_MAX - 1,
					UINT32_MAX,      0xffff,     0x10000 };

	c->insns = c->blob->section[id].records;
	c->count = c->blob->section[id].count;
	for (uint32_t nr = 0; nr < 1024; nr++) {
		compare_number(c, nr);
		compare_number(c, nr | SBX_X32_BIT);
	}
	for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++)
		compare_number(c, odd[i]);
}

unsigned compare_programs(const struct sbx_blob *blob, const char *name, unsigned long *runs)
{
	struct comparison *c = calloc(1, sizeof(*c));
	unsigned differences;

	*c = (struct comparison){ .blob = blob, .name = name, .random = 0x9e3779b97f4a7c15u };
	for (unsigned arch = 0; arch < SBX_ARCH_COUNT; arch++) {
		c->arch = (enum sbx_arch)arch;
		c->decide = sbx_sys_decide;
		compare_section(c, SBX_SEC_BPF_X86_64 + arch);
		compare_foreign(c);
		c->decide = sbx_sys_decide_shared;
		if (blob->section[SBX_SEC_BPF_SHARED_X86_64 + arch].count)
			compare_section(c, SBX_SEC_BPF_SHARED_X86_64 + arch);
	}
	differences = c->differences;
	*runs += c->runs;
	free(c);
	return differences;
}

unsigned print_depths(const struct sbx_blob *blob, const char *name)
{
	static const char *const hot[] = { "read",       "write",  "futex",  "mmap",
					   "close",      "openat", "fstat",  "lseek",
					   "epoll_wait", "ioctl",  "getpid", "clock_gettime" };
	unsigned most = 0;

	printf("%s: instructions %u (x86_64) %u (aarch64); comparisons:", name,
	       SBX_COUNT(blob, BPF_X86_64), SBX_COUNT(blob, BPF_AARCH64));
	for (size_t i = 0; i < sizeof(hot) / sizeof(hot[0]); i++) {
		struct sim_data data = { .arch = SBX_AUDIT_X86_64 };
		uint16_t nr[SBX_ARCH_COUNT];
		struct sim_result result;

		emit_syscall_numbers(hot[i], nr);
		data.nr = nr[SBX_X86_64];
		result = sim_run(blob->section[SBX_SEC_BPF_X86_64].records,
				 SBX_COUNT(blob, BPF_X86_64), &data);
		printf(" %s %u", hot[i], result.branches);
		most = result.branches > most ? result.branches : most;
	}
	printf("\n");
	return most;
}
