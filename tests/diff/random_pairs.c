/*
 * tests/diff/random_pairs.c - what random pairs of policies are made of: few names,
 * so that rules meet.
 */
#include "tests/diff/random.h"

#include <stdlib.h>
#include <string.h>

#include "blob/match.h"
#include "compiler/stages.h"

static uint64_t random_state;

void random_seed(unsigned long seed)
{
	random_state = seed * 0x9e3779b97f4a7c15u + 1;
}

unsigned below(unsigned limit)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (unsigned)(random_state >> 11) % limit;
}

static void note(struct pair *pair, char *line)
{
	if (pair->lines < 512)
		pair->history[pair->lines++] = line;
}

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

const char *const env_names[ENV_NAMES] = { "A", "AB", "AB_TOKEN", "X_TOKEN", "B", "_TOKEN", "ABBA" };
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

const char *const call_names[CALL_NAMES] = { "read", "ioctl", "socket", "open", "mount" };
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

void make_pair(struct pair *pair)
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
