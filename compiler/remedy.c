/*
 * compiler/remedy.c - --why-not: what would have to be said.
 *
 * The smallest statement for a policy that extends this one: there `override`
 * lifts what any of its files denies.  Nothing added lifts a seal; what would
 * have to be changed is said as what it is.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "blob/match.h"
#include "compiler/explain.h"
#include "compiler/render.h"
#include "compiler/render_words.h"
#include "emit/emit.h"

void remedy_add(const struct question *question, struct remedy *remedy, const char *fmt, ...)
{
	char text[4096];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	for (size_t i = 0; i < remedy->add.count; i++)
		if (!strcmp(remedy->add.items[i], text))
			return;
	*VEC_PUSH(question->arena, &remedy->add) = arena_copy(question->arena, text, strlen(text));
}

void remedy_note(const struct question *question, struct remedy *remedy, const char *fmt, ...)
{
	char text[4096];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	*VEC_PUSH(question->arena, &remedy->notes) =
	    arena_copy(question->arena, text, strlen(text));
}

void remedy_claim(const struct question *question, struct remedy *remedy, uint32_t index)
{
	const struct sbx_head *head = render_head(question->blob, SBX_SEC_ASSERTS, index);

	remedy_note(question, remedy,
		    "an assertion speaks against it: `%s` at %s, which no longer holds unless an "
		    "override answers it",
		    render_rule(question->arena, question->blob, SBX_SEC_ASSERTS, index, 0),
		    head->loc == SBX_NONE
			? "its place"
			: render_places(question->arena, question->blob, head->loc));
}

/* Assertions about the very object; those about paths are remedy_path.c's. */
static void find_claims(const struct question *question, const struct answer *answer,
			struct remedy *remedy)
{
	static const char *const actions[] = { [SBX_DO_CONNECT] = "connect",
					       [SBX_DO_CALL] = "call",
					       [SBX_DO_SEE] = "see",
					       [SBX_DO_SUBMIT] = "submit",
					       [SBX_DO_USE] = "use" };

	for (uint32_t i = 0; i < SBX_COUNT(question->blob, ASSERTS); i++) {
		const struct sbx_assert *claim = SBX_AT(question->blob, ASSERTS, sbx_assert, i);
		const char *object;

		if (claim->head.verb == SBX_CAN || claim->action < SBX_DO_CONNECT ||
		    claim->is_path ||
		    strcmp(actions[claim->action],
			   !strcmp(question->action, "slurm") ? "submit" : question->action))
			continue;
		object = sbx_string(question->blob, claim->object.text);
		if (claim->port)
			object = arena_printf(question->arena, "%s:%u", object, claim->port);
		if (!strcmp(object, answer->object))
			remedy_claim(question, remedy, i);
	}
}

void remedy_seal(const struct question *question, struct remedy *remedy,
		 enum sbx_section_id section, uint32_t rule, const char *instead)
{
	static const char parts[] = "std/secrets/";
	const struct sbx_blob *blob = question->blob;
	uint32_t loc = render_head(blob, section, rule)->loc;
	const char *place =
	    loc == SBX_NONE ? "its place" : render_places(question->arena, blob, loc);
	const char *old = render_rule(question->arena, blob, section, rule, 4);

	*VEC_PUSH(question->arena, &remedy->seals) =
	    instead ? arena_printf(question->arena, "`%s` at %s would have to be `%s`", old, place,
				   instead)
		    : arena_printf(question->arena, "`%s` at %s would have to go", old, place);
	if (!strncmp(place, parts, sizeof(parts) - 1))
		remedy_note(question, remedy,
			    "or import the parts of std/secrets that it does not need opened, in "
			    "the place of what imports %.*s",
			    (int)strcspn(place, "."), place);
}

/* ---- calls ------------------------------------------------------------------------------ */

static enum sbx_sys_rank rank_of(const struct question *question, uint32_t stmt,
				 const uint16_t nr[SBX_ARCH_COUNT])
{
	enum sbx_sys_rank rank = SBX_RANK_DEFAULT;

	for (uint32_t i = 0; i < SBX_COUNT(question->blob, SYS_ENTRIES); i++) {
		const struct sbx_sys_entry *entry =
		    SBX_AT(question->blob, SYS_ENTRIES, sbx_sys_entry, i);

		if (entry->stmt == stmt &&
		    (entry->nr[SBX_X86_64] == nr[SBX_X86_64] ||
		     entry->nr[SBX_AARCH64] == nr[SBX_AARCH64]) &&
		    entry->rank > rank)
			rank = entry->rank;
	}
	return rank;
}

/* `deny ioctl where request in 1 2 with EPERM` is lifted by the very same condition. */
static void lift_condition(const struct question *question, const struct answer *answer,
			   struct remedy *remedy)
{
	const char *where = strstr(answer->by, " where "),
		   *with = where ? strstr(where, " with ") : NULL;

	if (!with || strstr(answer->by, " (one of ")) {
		remedy_note(question, remedy,
			    "nothing added lifts it: the statement is about several calls at once, "
			    "and has to be changed where it stands");
		return;
	}
	remedy_add(question, remedy, "allow %s%.*s override compat \"WHY\"", question->object,
		   (int)(with - where), where);
	remedy_note(question, remedy,
		    "opens the call for all arguments that this condition is true of");
}

static void remedy_call(const struct question *question, const struct answer *answer,
			struct remedy *remedy)
{
	const struct sbx_sys_stmt *stmt = NULL;
	uint16_t nr[SBX_ARCH_COUNT] = { SBX_SYS_ABSENT, SBX_SYS_ABSENT };
	enum sbx_sys_rank rank;

	remedy->section = "syscalls";
	if (answer->rule == SBX_NONE) {
		remedy_note(question, remedy, "nothing helps: no machine that sbx knows has it");
		return;
	}
	emit_syscall_numbers(question->object, nr);
	stmt = SBX_AT(question->blob, SYS_STMTS, sbx_sys_stmt, answer->rule);
	rank = rank_of(question, answer->rule, nr);
	if (stmt->head.flags & SBX_F_SHARED) {
		remedy_note(question, remedy,
			    "nothing overrides what holds without namespaces: use --backend bwrap");
	} else if (stmt->head.verb == SBX_SYS_SEAL) {
		remedy_seal(question, remedy, SBX_SEC_SYS_STMTS, answer->rule, NULL);
		remedy_add(question, remedy, "allow %s", question->object);
	} else if (stmt->cond_count) {
		lift_condition(question, answer, remedy);
	} else if (rank == SBX_RANK_NAME) {
		remedy_add(question, remedy, "allow %s override compat \"WHY\"", question->object);
		remedy_note(question, remedy, "opens this call, whatever its arguments");
	} else {
		remedy_add(question, remedy, "allow %s", question->object);
		remedy_note(question, remedy, "opens this call, whatever its arguments%s",
			    rank == SBX_RANK_GROUP ? "; the rest of its group stays refused" : "");
	}
}

/* ---- network -------------------------------------------------------------------------------- */

static void remedy_socket(const struct question *question, const struct answer *answer,
			  struct remedy *remedy)
{
	const char *path = strchr(answer->object, ':') + 1;
	const struct sbx_net_rule *rule =
	    answer->rule == SBX_NONE ? NULL
				     : SBX_AT(question->blob, NET, sbx_net_rule, answer->rule);
	struct text word = { .arena = question->arena };
	bool same = false;

	if (!strncmp(answer->object, "abstract:", 9)) {
		words_name(&word, path);
		remedy_add(question, remedy, "allow abstract %s compat \"WHY\"", text_end(&word));
		if (sbx_meta(question->blob)->net_mode != SBX_NET_HOST)
			remedy_note(
			    question, remedy,
			    "where the network is the session's own nothing of the host's has "
			    "such a name: it takes `mode host` too, which opens every host");
	} else {
		if (rule && sbx_present(rule->path)) {
			const char *text = render_tmpl(question->arena, question->blob, rule->path);
			const char *full = view_path(question->view, text);

			same = full && !strcmp(view_real(question->arena, full), path);
			if (same)
				text_add(&word, "%s", text);
		}
		if (!same)
			text_add(&word, strpbrk(path, " \t*?[]{},\\\"'#;$=") ? "\"%s\"" : "%s",
				 path);
		remedy_add(question, remedy, "allow unix %s%s compat \"WHY\"", text_end(&word),
			   same ? " override" : "");
	}
	remedy_note(question, remedy,
		    "opens all that the service behind it does for whoever asks: often files, "
		    "programs or the whole machine");
}

static void remedy_connect(const struct question *question, const struct answer *answer,
			   struct remedy *remedy)
{
	const struct sbx_net_rule *rule =
	    answer->rule == SBX_NONE ? NULL
				     : SBX_AT(question->blob, NET, sbx_net_rule, answer->rule);
	uint32_t mode = sbx_meta(question->blob)->net_mode;
	const char *colon = strrchr(answer->object, ':');
	uint8_t address[16];

	remedy->section = "net";
	if (rule && rule->head.verb == SBX_NETV_SEAL) {
		remedy_seal(question, remedy, SBX_SEC_NET, answer->rule, NULL);
	}
	if (!strncmp(answer->object, "unix:", 5) || !strncmp(answer->object, "abstract:", 9)) {
		remedy_socket(question, answer, remedy);
		return;
	}
	if (mode == SBX_NET_NONE) {
		remedy_add(question, remedy, "mode host compat \"WHY\"");
		remedy_note(question, remedy,
			    "opens every host and port, and the services of this machine: nothing "
			    "narrows `mode host`");
		remedy_note(
		    question, remedy,
		    "`mode proxy; allow %s` opens this host alone",
		    answer->object);
		return;
	}
	if (answer->how && rule) {
		remedy_note(
		    question, remedy,
		    "the host is open for other requests: `%s` narrows it; another `allow` of "
		    "the host, with this method and prefix, opens these too",
		    render_rule(question->arena, question->blob, SBX_SEC_NET, answer->rule, 0));
		return;
	}
	if (rule && rule->head.verb == SBX_NETV_DENY &&
	    (rule->kind == SBX_NETK_HOST ||
	     (rule->kind == SBX_NETK_ADDRESS && rule->cidr.bits == 128))) {
		remedy_add(question, remedy, "allow %s override compat \"WHY\"", answer->object);
	} else {
		remedy_add(question, remedy, "allow %s", answer->object);
	}
	if (sbx_host_kind(
		arena_copy(question->arena, answer->object, (size_t)(colon - answer->object)),
		address) == SBX_HOST_ADDRESS)
		remedy_note(
		    question, remedy,
		    "opens that address for every request: `allow HOST at ADDRESS` opens it "
		    "for one host");
	else
		remedy_note(
		    question, remedy,
		    "opens that host and port alone; `method` and `prefix` make it narrower");
}

static void remedy_request(const struct question *question, const struct answer *answer,
			   struct remedy *remedy)
{
	struct answer host = *answer;

	host.object = explain_request_host(question);
	remedy_connect(question, &host, remedy);
}

/* ---- environment, process, Slurm ---------------------------------------------------------------
 */

static void remedy_see(const struct question *question, const struct answer *answer,
		       struct remedy *remedy)
{
	const struct sbx_env_rule *rule =
	    answer->rule == SBX_NONE ? NULL
				     : SBX_AT(question->blob, ENV, sbx_env_rule, answer->rule);
	struct text word = { .arena = question->arena };
	const char *how = "";

	remedy->section = "env";
	if (strchr(question->object, '=')) {
		remedy_note(question, remedy, "nothing helps: no variable has such a name");
		return;
	}
	words_name(&word, question->object);
	if (rule && rule->head.verb == SBX_ENV_SEAL)
		remedy_seal(question, remedy, SBX_SEC_ENV, answer->rule, NULL);
	else if (rule && strchr(sbx_string(question->blob, rule->name), '*'))
		how = " compat \"WHY\"";
	else if (rule)
		how = " override compat \"WHY\"";
	remedy_add(question, remedy, "pass %s%s", text_end(&word), how);
	remedy_note(question, remedy,
		    "opens this variable alone: the program can read and send it");
}

static void remedy_listen(const struct question *question, const struct answer *answer,
			  struct remedy *remedy)
{
	(void)answer;
	if (!strncmp(question->object, "unix:", 5)) {
		remedy_note(question, remedy,
			    "ask about `write`: where a socket can be made it can be listened on");
		return;
	}
	remedy->section = "net";
	remedy_add(question, remedy, "listen %s", question->object);
	remedy_note(question, remedy,
		    "opens that TCP port to whoever can reach it; best-effort where landlock is to "
		    "run it");
}

static void remedy_device(const struct question *question, const struct answer *answer,
			  struct remedy *remedy)
{
	struct text word = { .arena = question->arena };

	if (answer->rule < SBX_COUNT(question->blob, FS) &&
	    SBX_AT(question->blob, FS, sbx_fs_rule, answer->rule)->head.verb >= SBX_FS_DENY) {
		remedy_note(
		    question, remedy,
		    "no device can be added where a rule refuses the path: ask about `read` "
		    "of it");
		return;
	}
	remedy->section = "fs";
	text_add(&word, strpbrk(answer->object, " \t*?[]{},\\\"'#;$=") ? "\"%s\"" : "%s",
		 answer->object);
	remedy_add(question, remedy, "device %s", text_end(&word));
	remedy_note(question, remedy,
		    "opens read, write and every ioctl call of the driver behind that node");
}

static void remedy_use(const struct question *question, const struct answer *answer,
		       struct remedy *remedy)
{
	remedy->section = "process";
	if (!strcmp(question->object, "user-namespaces")) {
		remedy_add(question, remedy, "allow user-namespaces compat \"WHY\"");
		remedy_note(
		    question, remedy,
		    "opens mounts and networks of its own to the program: the part of the "
		    "kernel where most of its holes were; system calls that the policy denies "
		    "stay denied");
	} else if (!strncmp(question->object, "fd:", 3)) {
		remedy_add(question, remedy, "pass fd %s", question->object + 3);
		remedy_note(question, remedy, "opens whatever the caller has open there");
	} else if (answer->rule != SBX_NONE) {
		remedy_add(question, remedy, "terminal pty");
		remedy_note(
		    question, remedy,
		    "replaces `terminal none`; opens the terminal that is handed over, and new "
		    "ones");
	}
}

/* Each thing that is refused has its line, or nothing helps. */
static void remedy_submit(const struct question *question, const struct answer *answer,
			  struct remedy *remedy)
{
	static const char variable[] = "env { ";

	remedy->section = "slurm";
	for (size_t i = 0; i < answer->lines.count; i++)
		if (!*answer->lines.items[i]) {
			remedy_note(question, remedy,
				    "nothing added helps: what refuses has to be changed where it "
				    "stands");
			return;
		}
	for (size_t i = 0; i < answer->lines.count; i++) {
		const char *line = answer->lines.items[i];

		if (!strncmp(line, variable, sizeof(variable) - 1)) {
			remedy->section = "env";
			line = arena_copy(question->arena, line + sizeof(variable) - 1,
					  strlen(line) - sizeof(variable) - 1);
		}
		remedy_add(question, remedy, "%s", line);
	}
	/* Commands are declared before they are allowed. */
	if (!SBX_COUNT(question->blob, SLURM))
		remedy->section = "import std/slurm; slurm";
}

void remedy_find(const struct question *question, const struct answer *answer,
		 struct remedy *remedy)
{
	static const struct {
		const char *action;
		void (*find)(const struct question *question, const struct answer *answer,
			     struct remedy *remedy);
	} finders[] = {
		{ "read", remedy_path },       { "write", remedy_path },
		{ "exec", remedy_path },       { "connect", remedy_connect },
		{ "request", remedy_request }, { "call", remedy_call },
		{ "see", remedy_see },         { "submit", remedy_submit },
		{ "slurm", remedy_submit },    { "use", remedy_use },
		{ "listen", remedy_listen },   { "device", remedy_device },
	};

	if (question->only && answer->how && !strncmp(answer->how, "on ", 3)) {
		remedy_note(
		    question, remedy,
		    "no statement helps there: the policy allows it, and %s cannot give it; "
		    "use another backend",
		    sbx_backend_name(question->only->backend));
		return;
	}
	for (size_t i = 0; i < sizeof(finders) / sizeof(finders[0]); i++)
		if (!strcmp(question->action, finders[i].action))
			finders[i].find(question, answer, remedy);
	find_claims(question, answer, remedy);
}
