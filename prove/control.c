/*
 * prove/control.c - the policy as it is tried, and the same without its refusals.
 *
 * A refusal is shown by what happens without it.  Most are said twice: a seal of
 * what nothing grants would be refused without the seal, too.  So the control
 * run takes out every deny and seal at once, and where a claim is closed still,
 * what it speaks of is granted.  Each probe speaks of one name, so the probes do
 * not get in each other's way.
 */
#include <errno.h>
#include <string.h>

#include "blob/bpf.h"
#include "blob/match.h"
#include "emit/emit.h"
#include "prove/edit.h"
#include "prove/prove.h"

static struct sbx_head no_head(unsigned verb)
{
	return (struct sbx_head){ .loc = SBX_NONE, .note = SBX_NONE16, .verb = (uint8_t)verb };
}

static void grant_path(struct edit *edit, const char *path, unsigned rights)
{
	struct sbx_fs_rule rule = {
		.head = no_head(SBX_FS_GRANT),
		.path.text = edit_string(edit, path),
		.rights = (uint8_t)(rights | SBX_READ),
		.extra = SBX_NONE16,
	};

	edit_add(edit, SBX_SEC_FS, &rule);
}

/* What is being proven cannot have been. */
static void lift_proof(struct edit *edit)
{
	for (uint32_t i = EDIT_COUNT(edit, REQUIRE, sbx_require_rule); i-- > 0;)
		if (EDIT_AT(edit, REQUIRE, sbx_require_rule, i)->what == SBX_REQUIRE_PROOF)
			edit_drop(edit, SBX_SEC_REQUIRE, i);
}

const char *control_plain(struct prove *prove)
{
	const struct view_options options = {
		.workspace = prove->scratch.work,
		.blob_path = arena_printf(prove->arena, "%s/tried.sbx", prove->scratch.blobs),
		.launcher = prove->launcher,
		.defines = prove->defines,
		.define_count = prove->define_count,
	};
	const char *error;
	struct edit edit;

	edit_begin(&edit, prove->arena, prove->given);
	edit_rebase_home(&edit, prove->scratch.home);
	lift_proof(&edit);
	error = keys_replace(prove, &edit);
	if (!error)
		error = edit_end(&edit, &prove->blob);
	if (!error)
		error = view_make(&prove->view, prove->arena, &prove->blob, &options);
	if (!error)
		error = keys_make(prove);
	if (error)
		return error;
	claims_baits(prove);
	/* Where the policy lets nothing in the workspace be executed, one name more is. */
	prove->scratch.probe = arena_printf(prove->arena, "%s/sbx-probe", prove->scratch.work);
	if (!sbx_fs_allows(&prove->view.set, prove->scratch.probe, SBX_EXEC)) {
		prove->scratch.probe =
		    arena_printf(prove->arena, "%s/probe/sbx-probe", prove->scratch.top);
		grant_path(&edit, prove->scratch.probe, SBX_EXEC);
		error = edit_end(&edit, &prove->blob);
	}
	if (!error)
		error = scratch_path(prove, prove->scratch.probe, false, NULL);
	/* Anew, now that all names are there. */
	return error ? error : view_make(&prove->view, prove->arena, &prove->blob, &options);
}

/* ---- filters -------------------------------------------------------------------------- */

/* sbx-exec sees by a call that a policy refuses whether its filter is there at all; so
 * that one has to stay refused. */
static uint32_t call_kept(const struct prove *prove, bool shared)
{
	uint32_t call =
	    sbx_sys_tell(&prove->blob, PROVE_ARCH, shared, prove->target.backend == SBX_LANDLOCK);

	return call ? call : SBX_SYS_ABSENT;
}

/* In place of a filter: all calls but that one about descriptor or process -1 get through. */
static void open_filter(struct edit *edit, enum sbx_section_id id, uint32_t kept)
{
	const struct sbx_bpf program[] = {
		{ SBX_BPF_LOAD, 0, 0, SBX_DATA_NR },
		{ SBX_BPF_JEQ, 0, 3, kept },
		{ SBX_BPF_LOAD, 0, 0, SBX_DATA_ARG(0) },
		{ SBX_BPF_JEQ, 0, 1, UINT32_MAX },
		{ SBX_BPF_RET, 0, 0, SBX_RET_ERRNO | EPERM },
		{ SBX_BPF_RET, 0, 0, SBX_RET_ALLOW },
	};

	if (!edit->section[id].count)
		return;
	edit_clear(edit, id);
	for (size_t i = 0; i < sizeof(program) / sizeof(program[0]); i++)
		edit_add(edit, id, &program[i]);
}

static void lift_calls(struct edit *edit, const struct prove *prove)
{
	open_filter(edit, SBX_SEC_BPF_X86_64, call_kept(prove, false));
	open_filter(edit, SBX_SEC_BPF_AARCH64, call_kept(prove, false));
	open_filter(edit, SBX_SEC_BPF_SHARED_X86_64, call_kept(prove, true));
	open_filter(edit, SBX_SEC_BPF_SHARED_AARCH64, call_kept(prove, true));
}

const char *control_marked(struct prove *prove, struct sbx_blob *out)
{
	struct edit edit;

	edit_begin(&edit, prove->arena, &prove->blob);
	for (unsigned id = SBX_SEC_BPF_X86_64; id <= SBX_SEC_BPF_SHARED_AARCH64; id++) {
		struct sbx_bpf *insn = (void *)edit.section[id].items;
		size_t count = edit.section[id].count / sizeof(*insn);

		for (size_t i = 0; i < count; i++)
			if (insn[i].code == SBX_BPF_RET &&
			    (insn[i].k & SBX_RET_ACTION) == SBX_RET_ERRNO)
				insn[i].k = SBX_RET_ERRNO | MARK;
	}
	return edit_end(&edit, out);
}

const char *control_timed(struct prove *prove, struct sbx_blob *out)
{
	struct edit edit;

	edit_begin(&edit, prove->arena, &prove->blob);
	for (uint32_t i = 0; i < EDIT_COUNT(&edit, LIMITS, sbx_limit_rule); i++) {
		struct sbx_limit_rule *rule = EDIT_AT(&edit, LIMITS, sbx_limit_rule, i);

		if (rule->limit == SBX_LIMIT_WALL_TIME)
			rule->value = SHORT_TIME_S;
	}
	return edit_end(&edit, out);
}

static bool is_entry(const struct edit *edit, uint32_t index, const uint16_t nr[SBX_ARCH_COUNT])
{
	const struct sbx_sys_entry *entry = EDIT_AT(edit, SYS_ENTRIES, sbx_sys_entry, index);
	const struct sbx_sys_stmt *stmt = EDIT_AT(edit, SYS_STMTS, sbx_sys_stmt, entry->stmt);

	return entry->nr[SBX_X86_64] == nr[SBX_X86_64] &&
	       entry->nr[SBX_AARCH64] == nr[SBX_AARCH64] && !(stmt->head.flags & SBX_F_SHARED);
}

/* Puts the last entry where it belongs: they are sorted. */
static void sort_in(struct edit *edit)
{
	struct sbx_sys_entry *entries = EDIT_AT(edit, SYS_ENTRIES, sbx_sys_entry, 0), last;
	uint32_t at = EDIT_COUNT(edit, SYS_ENTRIES, sbx_sys_entry) - 1;

	last = entries[at];
	while (at && (entries[at - 1].nr[SBX_X86_64] > last.nr[SBX_X86_64] ||
		      (entries[at - 1].nr[SBX_X86_64] == last.nr[SBX_X86_64] &&
		       entries[at - 1].nr[SBX_AARCH64] > last.nr[SBX_AARCH64]))) {
		entries[at] = entries[at - 1];
		at--;
	}
	entries[at] = last;
}

/* By these statements, and not by the filter, sbx-exec tells whether it has to answer
 * the program's connections. */
static void allow_sockets(struct edit *edit)
{
	static const char *const names[] = { "socket", "socketpair", "connect" };
	const struct sbx_sys_stmt allow = { .head = no_head(SBX_SYS_ALLOW) };
	struct sbx_sys_entry entry = { .rank = SBX_RANK_NAME };

	entry.stmt = EDIT_COUNT(edit, SYS_STMTS, sbx_sys_stmt) & (SBX_SYS_STMTS_MAX - 1);
	edit_add(edit, SBX_SEC_SYS_STMTS, &allow);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		emit_syscall_numbers(names[i], entry.nr);
		for (uint32_t n = EDIT_COUNT(edit, SYS_ENTRIES, sbx_sys_entry); n-- > 0;)
			if (is_entry(edit, n, entry.nr))
				edit_drop(edit, SBX_SEC_SYS_ENTRIES, n);
		edit_add(edit, SBX_SEC_SYS_ENTRIES, &entry);
		sort_in(edit);
	}
}

/* ---- what is lifted ------------------------------------------------------------------- */

static void lift_files(struct edit *edit)
{
	for (uint32_t i = EDIT_COUNT(edit, FS, sbx_fs_rule); i-- > 0;)
		if (EDIT_AT(edit, FS, sbx_fs_rule, i)->head.verb >= SBX_FS_DENY)
			edit_drop(edit, SBX_SEC_FS, i);
}

static void lift_env(struct edit *edit)
{
	for (uint32_t i = 0; i < EDIT_COUNT(edit, ENV, sbx_env_rule); i++) {
		struct sbx_head *head = &EDIT_AT(edit, ENV, sbx_env_rule, i)->head;

		if (head->verb >= SBX_ENV_DENY)
			head->verb = SBX_ENV_PASS;
	}
}

static void lift_net(struct edit *edit)
{
	for (uint32_t i = EDIT_COUNT(edit, NET, sbx_net_rule); i-- > 0;) {
		unsigned verb = EDIT_AT(edit, NET, sbx_net_rule, i)->head.verb;

		if (verb == SBX_NETV_DENY || verb == SBX_NETV_SEAL)
			edit_drop(edit, SBX_SEC_NET, i);
	}
	EDIT_AT(edit, META, sbx_meta, 0)->net_mode = SBX_NET_HOST;
}

static void lift_terminal(struct edit *edit)
{
	for (uint32_t i = EDIT_COUNT(edit, PROCESS, sbx_process_rule); i-- > 0;)
		if (EDIT_AT(edit, PROCESS, sbx_process_rule, i)->what == SBX_PROCESS_TERMINAL_NONE)
			edit_drop(edit, SBX_SEC_PROCESS, i);
}

static void lift_all(struct edit *edit, struct prove *prove)
{
	edit_begin(edit, prove->arena, &prove->blob);
	lift_files(edit);
	lift_env(edit);
	lift_net(edit);
	lift_terminal(edit);
	lift_calls(edit, prove);
	allow_sockets(edit);
	edit_clear(edit, SBX_SEC_LIMITS);
	edit_clear(edit, SBX_SEC_ASSERTS); /* they would not hold */
}

/* ---- what is granted ------------------------------------------------------------------ */

static void pass_name(struct edit *edit, const char *name)
{
	struct sbx_env_rule rule = {
		.head = no_head(SBX_ENV_PASS),
		.name = edit_string(edit, name),
		.value.text = SBX_NONE,
	};

	edit_add(edit, SBX_SEC_ENV, &rule);
}

static struct sbx_net_rule net_rule(enum sbx_net_verb verb, enum sbx_net_kind kind, unsigned port)
{
	return (struct sbx_net_rule){
		.head = no_head(verb),
		.kind = (uint8_t)kind,
		.port = (uint16_t)port,
		.host = SBX_NONE,
		.path.text = SBX_NONE,
		.prefix.text = SBX_NONE,
	};
}

static void allow_socket(struct edit *edit, const char *name)
{
	bool abstract = *name == '@';
	uint32_t text = edit_string(edit, name + abstract);
	struct sbx_net_rule rule =
	    net_rule(SBX_NETV_ALLOW, abstract ? SBX_NETK_ABSTRACT : SBX_NETK_UNIX, 0);

	if (abstract)
		rule.host = text;
	else
		rule.path.text = text;
	edit_add(edit, SBX_SEC_NET, &rule);
}

/* Landlock tells ports apart; where nothing does, nobody need insist. */
static void listen_on(struct edit *edit, unsigned port)
{
	struct sbx_net_rule rule = net_rule(SBX_NETV_LISTEN, SBX_NETK_PORT, port);

	rule.head.flags = SBX_F_BEST_EFFORT;
	edit_add(edit, SBX_SEC_NET, &rule);
}

static void allow_host(struct edit *edit, const char *host, unsigned port)
{
	struct sbx_net_rule rule = net_rule(SBX_NETV_ALLOW, SBX_NETK_HOST, port);

	if (sbx_host_kind(host, rule.cidr.address) == SBX_HOST_ADDRESS) {
		rule.kind = SBX_NETK_ADDRESS;
		rule.cidr.bits = 128;
	} else {
		rule.host = edit_string(edit, host);
	}
	edit_add(edit, SBX_SEC_NET, &rule);
}

static void add_process(struct edit *edit, enum sbx_process what, uint32_t value)
{
	struct sbx_process_rule rule = { no_head(0), what, value };

	edit_add(edit, SBX_SEC_PROCESS, &rule);
}

static bool is_path(const struct claim *claim)
{
	return claim->right != 0;
}

/* All but files, which have to be there to be granted. */
static void grant_others(struct edit *edit, const struct prove *prove)
{
	for (size_t i = 0; i < prove->claims.count; i++) {
		const struct claim *claim = &prove->claims.items[i];

		if (!claim->lifted || is_path(claim) || claim->apart == APART_PROXY)
			continue;
		if (claim->section == SBX_SEC_ENV)
			pass_name(edit, claim->object);
		else if (claim->section == SBX_SEC_PROCESS)
			add_process(edit, SBX_PROCESS_PASS_FD, BAIT_FD);
		else if (!strcmp(claim->object, BAIT_PORT))
			listen_on(edit, prove->scratch.port);
		else
			allow_socket(edit, claim->object);
	}
}

const char *control_lifted(struct prove *prove, struct claim *const *lift, size_t count,
			   struct sbx_blob *out)
{
	struct edit edit;

	lift_all(&edit, prove);
	grant_others(&edit, prove);
	for (size_t i = 0; i < count; i++) {
		unsigned rights = lift[i]->right;
		bool again = false;

		for (size_t n = 0; n < count; n++)
			if (!strcmp(lift[n]->object, lift[i]->object)) {
				rights |= lift[n]->right;
				again |= n < i;
			}
		if (!again)
			grant_path(&edit, lift[i]->object, rights);
	}
	return edit_end(&edit, out);
}

const char *control_proxied(struct prove *prove, struct sbx_blob *out)
{
	struct edit edit;

	/* The calls stay as they are: the way to the proxy may hang on what is refused. */
	edit_begin(&edit, prove->arena, &prove->blob);
	lift_net(&edit);
	EDIT_AT(&edit, META, sbx_meta, 0)->net_mode = SBX_NET_PROXY;
	edit_clear(&edit, SBX_SEC_ASSERTS);
	allow_host(&edit, "127.0.0.1", prove->scratch.port);
	for (size_t i = 0; i < prove->claims.count; i++) {
		const struct claim *claim = &prove->claims.items[i];

		if (claim->apart == APART_PROXY && !claim->through && host_is_harmless(claim->object))
			allow_host(&edit, claim->object, claim->port);
	}
	return edit_end(&edit, out);
}

void control_find(struct prove *prove)
{
	const struct view_options options = {
		.workspace = prove->scratch.work,
		.blob_path = prove->view.vars.value[SBX_VAR_POLICY],
		.launcher = prove->launcher,
		.defines = prove->defines,
		.define_count = prove->define_count,
	};
	struct sbx_blob blob;
	struct edit edit;
	struct view view;

	lift_all(&edit, prove);
	if (edit_end(&edit, &blob) || view_make(&view, prove->arena, &blob, &options))
		return;
	for (size_t i = 0; i < prove->claims.count; i++) {
		struct claim *claim = &prove->claims.items[i];
		struct sbx_env_verdict variable;

		if (claim->through || !claim->object || claim->itself)
			continue;
		claim->lifted = true;
		if (is_path(claim)) {
			claim->lifted = !sbx_fs_allows(
			    &view.set, view_real(prove->arena, claim->object), claim->right);
		} else if (claim->section == SBX_SEC_ENV) {
			sbx_env_decide(&blob, claim->object, &variable);
			claim->lifted = !variable.visible;
		}
	}
}
