/*
 * prove/claims_other.c - network, process, limits.
 *
 * Connections go to listeners that prove itself has on this host: any address
 * outside stands or falls with them.  What the proxy decides is claims_hosts.c's.
 */
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "compiler/render.h"
#include "prove/prove.h"

static struct claim *add(struct prove *prove, enum sbx_section_id section, uint32_t rule,
			 bool through, const char *request, const char *tried)
{
	struct claim *claim = claim_add(prove, section, rule);

	claim->through = through;
	claim->request = request;
	claim->tried = tried;
	claim->outside = true;
	return claim;
}

static bool may_call(const struct prove *prove, uint32_t nr)
{
	struct sbx_sys_verdict verdict;
	bool depends;

	sbx_sys_decide_name(&prove->blob, PROVE_ARCH, nr, &verdict, &depends);
	return verdict.action == SBX_ACT_ALLOW || depends;
}

/* ---- network ------------------------------------------------------------------------ */

/* What the network lets through, the system calls may not: then it says nothing. */
static void need_sockets(const struct prove *prove, struct claim *claim)
{
	if (claim->through && (!may_call(prove, SYS_socket) || !may_call(prove, SYS_connect)))
		claim->why = "the policy does not allow the system calls that connect";
}

static void add_tcp(struct prove *prove, enum sbx_section_id section, uint32_t rule)
{
	static const char *const modes[] = { "mode none", "mode proxy", "mode host" };
	uint32_t mode = sbx_meta(&prove->blob)->net_mode;
	struct claim *claim = add(prove, section, rule, mode == SBX_NET_HOST,
				  arena_printf(prove->arena, "tcp %u", prove->scratch.port),
				  "connect to a port of this host");

	if (prove->scratch.tcp < 0)
		claim->why = "no listener could be made on this host";
	need_sockets(prove, claim);
	if (!claim->rule)
		claim->rule = modes[mode];
}

static void add_unix(struct prove *prove, enum sbx_section_id section, uint32_t rule,
		     const char *path)
{
	struct sbx_net_verdict verdict;
	struct claim *claim;
	struct stat st;

	sbx_net_decide_unix(&prove->blob, &prove->view.vars, path, &verdict);
	claim = add(prove, section, rule, verdict.allowed,
		    arena_printf(prove->arena, "unix %s", claim_escaped(prove->arena, path)),
		    arena_printf(prove->arena, "connect unix:%s", scratch_shown(prove, path)));
	claim->object = path;
	if (stat(path, &st) || !S_ISSOCK(st.st_mode))
		claim->why = "this host has no such socket";
	need_sockets(prove, claim);
	if (!claim->rule)
		claim->rule = "no socket that is not named";
}

static void add_abstract(struct prove *prove, uint32_t rule, const char *name, bool own)
{
	struct sbx_net_verdict verdict;
	struct claim *claim;

	sbx_net_decide_abstract(&prove->blob, name, &verdict);
	claim = add(prove, SBX_SEC_NET, rule, verdict.allowed,
		    arena_printf(prove->arena, "abstract %s", claim_escaped(prove->arena, name)),
		    arena_printf(prove->arena, "connect abstract:%s", own ? "NAME" : name));
	claim->object = arena_printf(prove->arena, "@%s", name);
	if (prove->scratch.abstract < 0)
		claim->why = "no listener could be made on this host";
	need_sockets(prove, claim);
	if (!claim->rule)
		claim->rule = "no abstract socket that is not named";
}

static void add_listen(struct prove *prove, uint32_t index, const struct sbx_net_rule *rule)
{
	const char *path = NULL, *tried;
	struct claim *claim;
	bool wild = false;
	struct stat st;

	if (rule->kind == SBX_NETK_UNIX)
		path = claim_expand(prove, rule->path, &wild);
	if (rule->kind == SBX_NETK_UNIX && (!path || wild))
		return;
	tried = path ? arena_printf(prove->arena, "listen in %s", scratch_shown(prove, path))
		     : arena_printf(prove->arena, "listen on port %u", rule->port);
	claim = add(prove, SBX_SEC_NET, index, true,
		    path ? arena_printf(prove->arena, "bind %s", claim_escaped(prove->arena, path))
			 : arena_printf(prove->arena, "listen %u", rule->port),
		    tried);
	if (path && (stat(path, &st) || !S_ISDIR(st.st_mode)))
		claim->why = "this host has no such directory";
	if (!may_call(prove, SYS_socket) || !may_call(prove, SYS_bind) ||
	    !may_call(prove, SYS_listen))
		claim->why = "the policy does not allow the system calls that listen";
}

/* In a network of one's own no port is taken yet. */
static void add_ports(struct prove *prove)
{
	struct claim *claim;

	if (sbx_meta(&prove->blob)->net_mode != SBX_NET_NONE)
		return;
	claim = add(prove, SBX_SEC_NET, SBX_NONE, false,
		    arena_printf(prove->arena, "port %u", prove->scratch.port),
		    "meet a port that is taken on this host");
	claim->rule = "mode none";
	claim->object = BAIT_PORT;
	if (prove->scratch.tcp < 0)
		claim->why = "no listener could be made on this host";
}

static void add_net_rule(struct prove *prove, uint32_t index)
{
	const struct sbx_net_rule *rule = SBX_AT(&prove->blob, NET, sbx_net_rule, index);
	const char *path = NULL;
	bool wild = false;

	if (rule->head.verb == SBX_NETV_LISTEN) {
		add_listen(prove, index, rule);
	} else if (rule->kind == SBX_NETK_UNIX) {
		path = claim_expand(prove, rule->path, &wild);
		if (path && !wild)
			add_unix(prove, SBX_SEC_NET, index, path);
	} else if (rule->kind == SBX_NETK_ABSTRACT) {
		add_abstract(prove, index, sbx_string(&prove->blob, rule->host), false);
	}
}

void net_baits(struct prove *prove)
{
	for (uint32_t i = 0; i < SBX_COUNT(&prove->blob, NET); i++) {
		const struct sbx_net_rule *rule = SBX_AT(&prove->blob, NET, sbx_net_rule, i);
		bool wild = false;
		const char *path = rule->kind == SBX_NETK_UNIX && rule->head.verb != SBX_NETV_LISTEN
				       ? claim_expand(prove, rule->path, &wild)
				       : NULL;

		if (path && !wild && scratch_has(prove, path))
			scratch_socket(prove, path);
	}
}

void claims_net(struct prove *prove)
{
	bool proxy = sbx_meta(&prove->blob)->net_mode == SBX_NET_PROXY;

	add_tcp(prove, SBX_SEC_NET, SBX_NONE);
	add_ports(prove);
	add_unix(prove, SBX_SEC_NET, SBX_NONE, prove->scratch.socket);
	add_abstract(prove, SBX_NONE, prove->scratch.name, true);
	for (uint32_t i = 0; i < SBX_COUNT(&prove->blob, NET); i++)
		add_net_rule(prove, i);
	if (proxy)
		claims_hosts(prove);
	for (uint32_t i = 0; i < SBX_COUNT(&prove->blob, ASSERTS); i++) {
		const struct sbx_assert *said = SBX_AT(&prove->blob, ASSERTS, sbx_assert, i);
		bool wild;
		const char *path;

		if (said->action == SBX_DO_SUBMIT)
			add(prove, SBX_SEC_ASSERTS, i, said->head.verb == SBX_CAN, NULL, "submit")
			    ->why = "sbx-chaperon decides it, and no job is submitted to see";
		if (said->action != SBX_DO_CONNECT)
			continue;
		path = said->is_path ? claim_expand(prove, said->object, &wild) : NULL;
		if (path)
			add_unix(prove, SBX_SEC_ASSERTS, i, path);
		else if (!said->is_path && proxy)
			claim_host(prove, SBX_SEC_ASSERTS, i,
				   sbx_string(&prove->blob, said->object.text), said->port);
		else if (!said->is_path)
			add_tcp(prove, SBX_SEC_ASSERTS, i);
	}
}

/* ---- process and limits --------------------------------------------------------------- */

static bool says(const struct prove *prove, enum sbx_process what)
{
	for (uint32_t i = 0; i < SBX_COUNT(&prove->blob, PROCESS); i++)
		if (SBX_AT(&prove->blob, PROCESS, sbx_process_rule, i)->what == what)
			return true;
	return false;
}

static void add_use(struct prove *prove, enum sbx_section_id section, uint32_t rule,
		    const char *what)
{
	bool namespaces = !strcmp(what, "user-namespaces");
	bool through =
	    namespaces ? says(prove, SBX_PROCESS_USERNS) : !says(prove, SBX_PROCESS_TERMINAL_NONE);
	struct claim *claim =
	    add(prove, section, rule, through, arena_printf(prove->arena, "use %s", what),
		arena_printf(prove->arena, "use %s", what));
	enum sbx_duty duty = namespaces ? SBX_DUTY_USER_NAMESPACES : SBX_DUTY_TERMINALS;

	if (!strcmp(what, "terminal"))
		claim->apart = APART_TERMINAL;
	else if (through && !target_holds(&prove->target, duty))
		claim->why = arena_printf(prove->arena, "not held on %s: %s",
					  sbx_backend_name(prove->target.backend),
					  sbx_lack_why(duty, prove->target.backend));
}

static void add_limit(struct prove *prove, uint32_t index)
{
	static const char *const names[SBX_LIMIT_COUNT] = {
		"memory",     "processes", "cpus",      "cpu-time",
		"open-files", "file-size", "core-size", "wall-time",
	};
	const struct sbx_limit_rule *rule = SBX_AT(&prove->blob, LIMITS, sbx_limit_rule, index);
	struct claim *claim =
	    add(prove, SBX_SEC_LIMITS, index, false,
		arena_printf(prove->arena, "limit %s %llu", names[rule->limit],
			     (unsigned long long)rule->value),
		arena_printf(prove->arena, "use more than the limit of %s", names[rule->limit]));

	if (rule->limit == SBX_LIMIT_WALL_TIME) {
		claim->apart = APART_TIME;
		claim->request = arena_printf(prove->arena, "wait %u", 2000 * SHORT_TIME_S);
		claim->tried = arena_printf(
		    prove->arena, "run longer than wall-time, made %u s for this", SHORT_TIME_S);
	} else if (rule->limit == SBX_LIMIT_PROCESSES &&
		   !target_holds(&prove->target, SBX_DUTY_PROCESS_COUNT))
		claim->why = arena_printf(
		    prove->arena, "not held on %s: %s", sbx_backend_name(prove->target.backend),
		    sbx_lack_why(SBX_DUTY_PROCESS_COUNT, prove->target.backend));
}

/* Every backend enters a Landlock domain, beside what else it has. */
static void add_domain(struct prove *prove)
{
	struct claim *claim = add(prove, SBX_SEC_PROCESS, SBX_NONE, false, "use landlock",
				  "enter sixteen Landlock domains");

	claim->rule = "a Landlock domain, which leaves room for fifteen";
	claim->itself = true; /* there is no rule to take out: outside it works */
	if (!may_call(prove, SYS_landlock_create_ruleset) ||
	    !may_call(prove, SYS_landlock_restrict_self))
		claim->why = "the policy refuses the calls that would show it";
}

void claims_process(struct prove *prove)
{
	struct claim *claim;

	add_domain(prove);

	claim =
	    add(prove, SBX_SEC_PROCESS, SBX_NONE, false,
		arena_printf(prove->arena, "fd %d", BAIT_FD), "use a descriptor left open outside");
	claim->rule = "no descriptor but 0, 1, 2 and those of `pass fd`";
	claim->object = "fd";
	for (uint32_t i = 0; i < SBX_COUNT(&prove->blob, PROCESS); i++) {
		const struct sbx_process_rule *rule =
		    SBX_AT(&prove->blob, PROCESS, sbx_process_rule, i);

		if (rule->what == SBX_PROCESS_PASS_FD && rule->value == BAIT_FD)
			claim->why = "the policy passes the one that is tried";
	}
	for (uint32_t i = 0; i < SBX_COUNT(&prove->blob, PROCESS); i++) {
		const struct sbx_process_rule *rule =
		    SBX_AT(&prove->blob, PROCESS, sbx_process_rule, i);

		if (rule->what == SBX_PROCESS_USERNS)
			add_use(prove, SBX_SEC_PROCESS, i, "user-namespaces");
		if (rule->what == SBX_PROCESS_TERMINAL || rule->what == SBX_PROCESS_TERMINAL_NONE)
			add_use(prove, SBX_SEC_PROCESS, i, "terminal");
		if (rule->what == SBX_PROCESS_TERMINAL || rule->what == SBX_PROCESS_TERMINAL_NONE)
			add_use(prove, SBX_SEC_PROCESS, i, "pty");
		if (rule->what == SBX_PROCESS_PASS_FD)
			add(prove, SBX_SEC_PROCESS, i, true, NULL, "use it")->why =
			    "what it is, whoever starts a session says";
	}
	for (uint32_t i = 0; i < SBX_COUNT(&prove->blob, ASSERTS); i++) {
		const struct sbx_assert *said = SBX_AT(&prove->blob, ASSERTS, sbx_assert, i);

		if (said->action == SBX_DO_USE)
			add_use(prove, SBX_SEC_ASSERTS, i,
				sbx_string(&prove->blob, said->object.text));
	}
	for (uint32_t i = 0; i < SBX_COUNT(&prove->blob, LIMITS); i++)
		add_limit(prove, i);
}
