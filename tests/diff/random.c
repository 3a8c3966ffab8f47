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
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "blob/match.h"
#include "compiler/diff.h"
#include "compiler/stages.h"
#include "tests/lib/model.h"

static uint64_t random_state;
static unsigned below(unsigned limit)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (unsigned)(random_state >> 11) % limit;
}
#define PICK(array) ((array)[below(sizeof(array) / sizeof(*(array)))])

struct pair {
	struct arena arena;
	struct policy *policy[2];
	struct emitted out[2];
	struct sbx_blob blob[2];
	struct diff diff;
	struct sbx_fs_set set[2];
	const char *history[512];
	size_t lines;
};
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

static void note(struct pair *pair, char *line)
{
	if (pair->lines < 512)
		pair->history[pair->lines++] = line;
}

/* ---- random rules ------------------------------------------------------------------- */

static const char *const plain_names[] = { "a", "b", "c", "ab", "\xc3\xa9", "a[1]" };
static const char *const pieces[] = { "*",        "**", "?", "a*",  "[ab]", "[!a]",  "*b",
				      "a\\[1\\]", "b",  "c", "*.k", "??",   "[a-c]x" };

static struct tmpl random_path(struct arena *arena, bool wild, const char **text)
{
	struct seg *seg = ARENA_NEW(arena, struct seg);
	unsigned count = 1 + below(4);
	bool star = false;
	const char *path = "";

	for (unsigned i = 0; i < count; i++) {
		const char *piece = wild ? PICK(pieces) : PICK(plain_names);

		if (i + 1 == count && !strcmp(piece, "**"))
			piece = "?";
		star |= strpbrk(piece, "*?") || (*piece == '[');
		path = arena_printf(arena, "%s/%s", path, piece);
	}
	if (wild && !star)
		path = arena_printf(arena, "%s/*", path);
	*text = path;
	*seg = (struct seg){ .kind = wild ? SBX_SEG_GLOB : SBX_SEG_TEXT, .text = str_from(path) };
	return (struct tmpl){ seg, 1 };
}

static void add_file(struct pair *pair, unsigned sides)
{
	static const enum sbx_fs_verb verbs[] = { SBX_FS_GRANT, SBX_FS_GRANT, SBX_FS_GRANT,
						  SBX_FS_COPY,  SBX_FS_TMP,   SBX_FS_DENY,
						  SBX_FS_DENY,  SBX_FS_DENY,  SBX_FS_SEAL };
	enum sbx_fs_verb verb = PICK(verbs);
	bool gives = verb < SBX_FS_DENY;
	static const unsigned granted[] = { 1, 5, 3, 7 }, taken[] = { 2, 4, 7 };
	unsigned rights = verb == SBX_FS_COPY || verb == SBX_FS_TMP ? 3
			  : gives                                   ? PICK(granted)
								    : PICK(taken);
	const char *text, *except = NULL;
	struct tmpl path = random_path(&pair->arena, below(2), &text);
	struct tmpl *excepts = NULL;

	if (verb == SBX_FS_SEAL && below(2)) {
		excepts = ARENA_NEW(&pair->arena, struct tmpl);
		*excepts = random_path(&pair->arena, false, &except);
	}
	note(pair, arena_printf(&pair->arena, "sides %u: fs verb %d rights %u %s except %s", sides,
				verb, rights, text, except ? except : "-"));
	for (unsigned side = 0; side < 2; side++) {
		struct fs_rule *rule;

		if (!(sides & 1u << side))
			continue;
		rule = model_fs(&pair->arena, pair->policy[side], verb, rights, path);
		if (excepts)
			rule->excepts = (struct tmpls){ excepts, 1 };
	}
}

static const char *const env_names[] = { "A", "AB", "AB_TOKEN", "X_TOKEN", "B", "_TOKEN", "ABBA" };
static const char *const env_patterns[] = { "*",   "A*",  "*_TOKEN", "*B*", "**",
					    "A*B", "X*N", "A",       "B",   "AB_TOKEN" };

static void add_env(struct pair *pair, unsigned sides)
{
	enum sbx_env_verb verb = (enum sbx_env_verb)below(4);
	const char *name = verb == SBX_ENV_SET ? PICK(env_names) : PICK(env_patterns);

	note(pair, arena_printf(&pair->arena, "sides %u: env verb %d %s", sides, verb, name));
	for (unsigned side = 0; side < 2; side++)
		if (sides & 1u << side)
			*VEC_PUSH(&pair->arena, &pair->policy[side]->env) =
			    (struct env_rule){ .verb = verb,
					       .name = str_from(name),
					       .value = verb == SBX_ENV_SET
							    ? model_text(&pair->arena, "v")
							    : (struct tmpl){ 0 } };
}

/* So many that they are told apart two at a time. */
static void add_many_env(struct pair *pair)
{
	for (unsigned i = 0; i < 40; i++) {
		static const enum sbx_env_verb verbs[] = { SBX_ENV_PASS, SBX_ENV_PASS, SBX_ENV_DENY,
							   SBX_ENV_SEAL };
		static const unsigned sides[] = { 3, 3, 3, 3, 3, 3, 3, 1, 2 };
		enum sbx_env_verb verb = verbs[below(100) ? below(3) : 3];
		unsigned on = PICK(sides);
		const char *name = "";

		for (unsigned n = 1 + below(6); n-- > 0;)
			name = arena_printf(&pair->arena, "%s%c", name, "ABC_**"[below(6)]);
		if (!strpbrk(name, "ABC_"))
			continue;
		note(pair, arena_printf(&pair->arena, "sides %u: env verb %d %s", on, verb, name));
		for (unsigned side = 0; side < 2; side++)
			if (on & 1u << side)
				*VEC_PUSH(&pair->arena, &pair->policy[side]->env) =
				    (struct env_rule){ .verb = verb, .name = str_from(name) };
	}
}

static const char *const rule_hosts[] = { "a.test", "b.a.test", "c.b.a.test", "nota.test" };
static const char *const suffixes[] = { "a.test", "test", "b.a.test" };
static const char *const ranges[] = { "10.0.0.0/8", "10.1.0.0/16",   "10.1.2.3/32", "0.0.0.0/0",
				      "1.1.1.1/32", "10.255.0.0/16", "255.0.0.0/8" };

static struct sbx_cidr random_range(void)
{
	const char *text = PICK(ranges), *slash = strchr(text, '/');
	char address[32];
	struct sbx_cidr cidr = { 0 };

	snprintf(address, sizeof(address), "%.*s", (int)(slash - text), text);
	sbx_host_kind(address, cidr.address);
	cidr.bits = 96 + (uint32_t)atoi(slash + 1);
	return cidr;
}

static void add_net(struct pair *pair, unsigned sides)
{
	static const unsigned ports[] = { 0, 443, 80 };
	struct net_rule rule = { .verb = (enum sbx_net_verb)(below(5) / 2),
				 .kind = (enum sbx_net_kind)below(4),
				 .port = PICK(ports) };

	if (rule.kind == SBX_NETK_HOST)
		rule.host = str_from(PICK(rule_hosts));
	if (rule.kind == SBX_NETK_SUFFIX)
		rule.host = str_from(PICK(suffixes));
	if (rule.kind == SBX_NETK_ADDRESS)
		rule.cidr = random_range();
	if (rule.kind != SBX_NETK_ADDRESS && rule.verb == SBX_NETV_ALLOW && !below(3)) {
		struct sbx_cidr *at = ARENA_NEW(&pair->arena, struct sbx_cidr);

		*at = random_range();
		rule.at = at;
		rule.at_count = 1;
	}
	note(pair,
	     arena_printf(&pair->arena, "sides %u: net verb %d kind %d port %u %.*s bits %u at %zu",
			  sides, rule.verb, rule.kind, rule.port, STR_ARG(rule.host),
			  rule.cidr.bits, rule.at_count));
	for (unsigned side = 0; side < 2; side++)
		if (sides & 1u << side)
			*VEC_PUSH(&pair->arena, &pair->policy[side]->net) = rule;
}

static const char *const call_names[] = { "read", "ioctl", "socket", "open", "mount" };
static const uint64_t numbers[] = { 0, 1, 2, 3, 4, 7, 8, 0x7fffffff, 0x80000000, 0xffffffff };

static void add_call(struct pair *pair, unsigned sides)
{
	static const unsigned errors[] = { 1, 1, 38 };
	enum sbx_sys_verb verb = (enum sbx_sys_verb)below(3);
	enum sbx_sys_action action = verb == SBX_SYS_ALLOW ? SBX_ACT_ALLOW
				     : below(4)            ? SBX_ACT_ERRNO
							   : SBX_ACT_KILL;
	unsigned error = action == SBX_ACT_ERRNO ? PICK(errors) : 0, count = below(3);
	const char *name = PICK(call_names), *said = "";
	struct sys_cond *conds = arena_array(&pair->arena, 2, sizeof(*conds));
	enum sbx_sys_rank rank = verb == SBX_SYS_SEAL ? SBX_RANK_SEAL
				 : count              ? SBX_RANK_WHERE
						      : (enum sbx_sys_rank)(1 + below(2));
	bool shared = verb != SBX_SYS_ALLOW && !below(6);

	for (unsigned i = 0; i < count; i++) {
		uint64_t *values = arena_array(&pair->arena, 2, sizeof(*values));
		bool wide = below(2);

		values[0] = PICK(numbers);
		values[1] = PICK(numbers);
		conds[i] = (struct sys_cond){ .arg = below(2),
					      .width = wide ? 8 : 4,
					      .is_signed = below(2),
					      .op = (enum sbx_cond_op)below(7),
					      .mask = wide ? UINT64_MAX : UINT32_MAX,
					      .values = values,
					      .value_count = 1 };
		if (conds[i].op == SBX_IN)
			conds[i].value_count = 2;
		if ((conds[i].op == SBX_EQ || conds[i].op == SBX_NE) && below(2)) {
			conds[i].mask = PICK(numbers) | 1;
			values[0] &= conds[i].mask;
		}
		said =
		    arena_printf(&pair->arena, "%s arg%u&%#llx op %d %#llx width %u signed %d",
				 said, conds[i].arg, (unsigned long long)conds[i].mask, conds[i].op,
				 (unsigned long long)values[0], conds[i].width, conds[i].is_signed);
	}
	note(pair, arena_printf(&pair->arena,
				"sides %u: sys verb %d action %d error %u %s rank %d shared %d%s",
				sides, verb, action, error, name, rank, shared, said));
	for (unsigned side = 0; side < 2; side++) {
		struct sys_stmt *stmt;

		if (!(sides & 1u << side))
			continue;
		stmt = model_sys(&pair->arena, pair->policy[side], verb, action, error);
		stmt->conds = conds;
		stmt->cond_count = count;
		if (shared) {
			stmt->head.flags = SBX_F_SHARED;
			stmt->without = SBX_WITHOUT_NAMESPACES;
		}
		model_use(&pair->arena, stmt, name, rank);
	}
}

/* Mostly on both sides, since policies that are compared are alike. */
static unsigned random_sides(void)
{
	static const unsigned sides[] = { 3, 3, 3, 1, 2 };

	return PICK(sides);
}

static void make_pair(struct pair *pair)
{
	static void (*const adders[])(struct pair * pair, unsigned sides) = { add_file, add_env,
									      add_net, add_call };

	for (unsigned side = 0; side < 2; side++) {
		pair->policy[side] = model_new(&pair->arena);
		pair->policy[side]->net_mode = SBX_NET_PROXY;
		pair->policy[side]->sys_default_said = true;
		pair->policy[side]->sys_default.action = SBX_ACT_ERRNO;
		pair->policy[side]->sys_default.error = 38;
	}
	for (unsigned kind = 0; kind < 4; kind++)
		for (unsigned i = below(7); i-- > 0;)
			adders[kind](pair, random_sides());
	if (!below(25))
		add_many_env(pair);
	pair->diff.arena = &pair->arena;
	for (unsigned side = 0; side < 2; side++) {
		model_open(&pair->arena, pair->policy[side], false, &pair->out[side],
			   &pair->blob[side]);
		pair->diff.side[side].blob = &pair->blob[side];
	}
	diff_run(&pair->diff);
	diff_machine(&pair->diff, 0);
	for (unsigned side = 0; side < 2; side++)
		model_fs_set(&pair->arena, &pair->blob[side], &pair->diff.side[side].vars,
			     &pair->set[side]);
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

	for (unsigned i = 0; i < 34; i++) {
		const char *name = i < 7 ? env_names[i] : i < 14 ? more[i - 7] : "";
		struct verdict both[2];

		for (unsigned n = i < 14 ? 0 : 1 + below(6); n-- > 0;)
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

	random_state = seed * 0x9e3779b97f4a7c15u + 1;
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
