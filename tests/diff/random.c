/*
 * tests/diff/random.c - is any difference missed, or one reported that is none?
 *
 *	random COUNT SEED
 *
 * Makes pairs of small random policies and asks both about many paths, names,
 * hosts and calls, one by one, by the verdict functions and the whole blobs.  Where
 * they answer differently, diff must have a finding of that section and direction
 * by those two rules.  And each witness of diff's, read back from its text, must be
 * answered differently by the whole policies.
 */
#include "tests/diff/random.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "blob/match.h"
#include "compiler/stages.h"

struct verdict {
	bool allowed;
	enum sbx_section_id section;
	uint32_t rule;
};

static unsigned long differences[4], findings, failures;
static unsigned long pair_number;
static const char *const parts[] = { "files", "environment", "network", "syscalls" };

__attribute__((format(printf, 2, 3))) static void fail(const struct pair *pair, const char *fmt,
						       ...)
{
	va_list args;

	if (++failures > 5)
		return;
	printf("pair %lu: ", pair_number);
	va_start(args, fmt);
	vprintf(fmt, args);
	va_end(args);
	putchar('\n');
	for (size_t i = 0; i < pair->lines; i++)
		printf("    %s\n", pair->history[i]);
}

/* ---- is each difference found? ------------------------------------------------------ */

static void expect(struct pair *pair, unsigned part, const struct verdict verdict[2],
		   const char *what)
{
	enum diff_direction direction = diff_order(verdict[0].allowed, verdict[1].allowed);
	bool near = false;

	if (verdict[0].allowed == verdict[1].allowed)
		return;
	differences[part]++;
	for (size_t i = 0; i < pair->diff.findings.count; i++) {
		const struct diff_finding *finding = pair->diff.findings.items[i];

		if (strcmp(finding->part, parts[part]) || !(finding->direction & direction))
			continue;
		near = true;
		if (finding->says[0].rule == verdict[0].rule &&
		    finding->says[1].rule == verdict[1].rule)
			return;
	}
	fail(pair, "missed%s: %s: %s, by rules %d and %d",
	     near ? " (but others like it are found)" : "", what,
	     direction == DIFF_WIDENED ? "widened" : "narrowed", (int)verdict[0].rule,
	     (int)verdict[1].rule);
}

static void ask_file(const struct pair *pair, const char *path, unsigned right,
		     struct verdict both[2])
{
	for (unsigned side = 0; side < 2; side++) {
		const struct sbx_fs_set *set = &pair->set[side];
		struct sbx_fs_verdict verdict;

		sbx_fs_decide(set, *path ? path : "/", right, &verdict);
		both[side] =
		    (struct verdict){ verdict.allowed, SBX_SEC_FS,
				      verdict.point == SBX_NONE ? SBX_NONE
								: set->points[verdict.point].rule };
	}
}

/* Where a directory above differs in the same way, its rules are those to be named. */
static void expect_file(struct pair *pair, const char *path, unsigned right)
{
	struct verdict both[2], above[2];

	for (ask_file(pair, path, right, both); *path; memcpy(both, above, sizeof(both))) {
		const char *up =
		    arena_copy(&pair->arena, path, (size_t)(strrchr(path, '/') - path));

		ask_file(pair, up, right, above);
		if (above[0].allowed != both[0].allowed || above[1].allowed != both[1].allowed)
			break;
		path = up;
	}
	expect(pair, 0, both, arena_printf(&pair->arena, "right %u of %s", right, path));
}

static void sample_files(struct pair *pair)
{
	static const char *const names[] = { "a",  "b",   "c",  "ab", "\xc3\xa9", "a[1]", "z",
					     "cb", "q.k", "ax", "bx", "zz",       "ac",   "b.k" };

	for (unsigned i = 0; i < 60; i++) {
		const char *path = "";

		for (unsigned n = below(6); n-- > 0;)
			path = arena_printf(&pair->arena, "%s/%s", path, PICK(names));
		for (unsigned right = SBX_READ; right <= SBX_EXEC; right <<= 1)
			expect_file(pair, path, right);
	}
}

static void sample_env(struct pair *pair)
{
	static const char *const more[] = {
		"Z", "AXB", "XYN", "A_TOKEN", "BA", "CBC", "AB_TOKENS"
	};

	const unsigned known = ENV_NAMES + sizeof(more) / sizeof(*more);

	for (unsigned i = 0; i < known + 20; i++) {
		const char *name = i < ENV_NAMES ? env_names[i]
				   : i < known	 ? more[i - ENV_NAMES]
						 : "";
		struct verdict both[2];

		for (unsigned n = i < known ? 0 : 1 + below(6); n-- > 0;)
			name = arena_printf(&pair->arena, "%s%c", name, "ABC_Z"[below(5)]);
		for (unsigned side = 0; side < 2; side++) {
			struct sbx_env_verdict verdict;

			sbx_env_decide(&pair->blob[side], name, &verdict);
			both[side] = (struct verdict){ verdict.visible, SBX_SEC_ENV, verdict.rule };
		}
		expect(pair, 1, both, name);
	}
}

static void sample_net(struct pair *pair)
{
	static const char *const hosts[] = { "a.test",   "b.a.test", "c.b.a.test", "nota.test",
					     "x.net",    "z.test",   "q.a.test",   "10.1.2.3",
					     "10.9.9.9", "1.1.1.1",  "8.8.8.8",    "10.255.7.7",
					     "255.3.3.3" };
	static const unsigned ports[] = { 443, 80, 22 };

	for (unsigned i = 0; i < 40; i++) {
		const char *host = PICK(hosts), *at = hosts[7 + below(6)];
		unsigned port = PICK(ports);
		struct verdict both[2], resolved[2];
		uint8_t address[16];

		sbx_host_kind(at, address);
		for (unsigned side = 0; side < 2; side++) {
			struct sbx_net_verdict verdict;

			sbx_net_decide(&pair->blob[side], host, port, &verdict);
			both[side] = (struct verdict){ verdict.allowed, SBX_SEC_NET, verdict.rule };
			sbx_net_decide_address(&pair->blob[side], host, address, port, &verdict);
			resolved[side] =
			    (struct verdict){ verdict.allowed, SBX_SEC_NET, verdict.rule };
		}
		expect(pair, 2, both, arena_printf(&pair->arena, "%s:%u", host, port));
		if (both[0].allowed && both[1].allowed && host < hosts[7] &&
		    sbx_host_kind(host, address) == SBX_HOST_NAME)
			expect(pair, 2, resolved,
			       arena_printf(&pair->arena, "%s:%u at %s", host, port, at));
	}
}

static void sample_calls(struct pair *pair)
{
	static const uint64_t wide[] = {
		0,          1,          2,          3,          5,
		6,          7,          9,          0x7fffffff, 0x80000000,
		0xffffffff, 0xfffffffe, 1ull << 32, 1ull << 63, UINT64_MAX
	};

	for (unsigned i = 0; i < 120; i++) {
		const char *name = PICK(call_names);
		uint64_t args[6] = { PICK(wide), PICK(wide) };
		uint16_t nr[SBX_ARCH_COUNT];
		enum sbx_arch arch = (enum sbx_arch)below(2);
		struct verdict both[2];

		emit_syscall_numbers(name, nr);
		if (nr[arch] == SBX_SYS_ABSENT)
			continue;
		for (unsigned side = 0; side < 2; side++) {
			struct sbx_sys_verdict verdict;

			sbx_sys_decide(&pair->blob[side], arch, nr[arch], args, &verdict);
			both[side] = (struct verdict){ verdict.action == SBX_ACT_ALLOW,
						       SBX_SEC_SYS_STMTS, verdict.stmt };
		}
		expect(pair, 3, both,
		       arena_printf(&pair->arena, "%s(%#llx, %#llx) arch %d", name,
				    (unsigned long long)args[0], (unsigned long long)args[1],
				    arch));
	}
}

/* ---- is each finding a difference? -------------------------------------------------- */

static bool file_differs(const struct pair *pair, const char *witness)
{
	const char *path = strchr(witness, '/');
	unsigned right = *witness == 'r' ? SBX_READ : *witness == 'w' ? SBX_WRITE : SBX_EXEC;
	struct sbx_fs_verdict was, is;

	if (*witness == 'i')
		return true;
	sbx_fs_decide(&pair->set[0], path, right, &was);
	sbx_fs_decide(&pair->set[1], path, right, &is);
	/* Both can be allowed, one on a copy: by other rules then. */
	return was.allowed != is.allowed || (was.allowed && is.allowed);
}

static bool net_differs(const struct pair *pair, const char *witness)
{
	char host[128], at[64] = "";
	struct sbx_net_verdict verdict[2];
	uint8_t address[16];
	unsigned port;

	if (sscanf(witness, "connect %127[^:]:%u at %63s", host, &port, at) < 2)
		return strchr(witness, '['); /* behind the last IPv4 address is an IPv6 one */
	for (unsigned side = 0; side < 2; side++)
		if (*at && sbx_host_kind(at, address) == SBX_HOST_ADDRESS)
			sbx_net_decide_address(&pair->blob[side], host, address, port,
					       &verdict[side]);
		else
			sbx_net_decide(&pair->blob[side], host, port, &verdict[side]);
	return verdict[0].allowed != verdict[1].allowed;
}

static bool env_differs(const struct pair *pair, const char *witness)
{
	struct sbx_env_verdict was, is;

	sbx_env_decide(&pair->blob[0], witness + strlen("see "), &was);
	sbx_env_decide(&pair->blob[1], witness + strlen("see "), &is);
	return was.visible != is.visible || was.set != is.set;
}

static bool call_differs(const struct pair *pair, const struct diff_finding *finding)
{
	char name[64];
	uint64_t args[6] = { 0 };
	uint16_t nr[SBX_ARCH_COUNT];
	bool differs = false;

	sscanf(finding->witness, "call %63s", name);
	for (unsigned i = 0; i < 6; i++) {
		const char *at =
		    strstr(finding->witness, (char[]){ 'a', 'r', 'g', (char)('0' + i), '=', 0 });

		if (at)
			args[i] = strtoull(at + 5, NULL, 0);
	}
	if (!emit_syscall_numbers(name, nr))
		return false;
	for (unsigned arch = 0; arch < SBX_ARCH_COUNT; arch++) {
		struct sbx_sys_verdict verdict[2], shared;

		for (unsigned side = 0; nr[arch] != SBX_SYS_ABSENT && side < 2; side++) {
			sbx_sys_decide(&pair->blob[side], (enum sbx_arch)arch, nr[arch], args,
				       &verdict[side]);
			sbx_sys_decide_shared(&pair->blob[side], (enum sbx_arch)arch, nr[arch],
					      args, &shared);
			if (finding->when && strstr(finding->when, "namespaces") &&
			    shared.stmt != SBX_NONE && shared.action > verdict[side].action)
				verdict[side] = shared;
		}
		differs |= nr[arch] != SBX_SYS_ABSENT && (verdict[0].action != verdict[1].action ||
							  verdict[0].error != verdict[1].error);
	}
	return differs;
}

static void confirm(struct pair *pair)
{
	for (size_t i = 0; i < pair->diff.findings.count; i++) {
		const struct diff_finding *finding = pair->diff.findings.items[i];
		const char *witness = finding->witness;
		bool differs = true;

		findings++;
		if (!strcmp(finding->part, "files") && !finding->when)
			differs = file_differs(pair, witness);
		else if (!strcmp(finding->part, "environment"))
			differs = env_differs(pair, witness);
		else if (!strcmp(finding->part, "network"))
			differs = net_differs(pair, witness);
		else if (!strcmp(finding->part, "syscalls"))
			differs = call_differs(pair, finding);
		if (!differs)
			fail(pair, "no difference: %s", witness);
	}
	if (pair->diff.cut)
		fail(pair, "a search was cut short");
}

int main(int argc, char **argv)
{
	unsigned long count = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000;
	unsigned long seed = argc > 2 ? strtoul(argv[2], NULL, 10) : 1;

	random_seed(seed);
	for (pair_number = 0; pair_number < count; pair_number++) {
		struct pair pair = { 0 };

		make_pair(&pair);
		sample_files(&pair);
		sample_env(&pair);
		sample_net(&pair);
		sample_calls(&pair);
		confirm(&pair);
		arena_free(&pair.arena);
	}
	printf("%lu pairs, seed %lu: differences asked one by one: files %lu, environment %lu, "
	       "network %lu, syscalls %lu; %lu findings; %lu wrong\n",
	       count, seed, differences[0], differences[1], differences[2], differences[3],
	       findings, failures);
	return failures || !findings;
}
