/*
 * compiler/explain_call.c - call NAME [ARGUMENT=VALUE ...].
 *
 * Without arguments the answer is the one where no `where` holds, and the
 * statements that could change it are listed.  An argument is called what the
 * policy's signatures call it, or arg0 to arg5.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "compiler/explain.h"
#include "compiler/map.h"
#include "compiler/render.h"
#include "compiler/text.h"

static const char *const arch_names[SBX_ARCH_COUNT] = { "x86_64", "aarch64" };

static bool find_numbers(const struct question *question, uint16_t nr[SBX_ARCH_COUNT])
{
	const struct sbx_blob *blob = question->blob;

	for (uint32_t i = 0; i < SBX_COUNT(blob, SYS_NAMES); i++) {
		const struct sbx_sys_name *name = SBX_AT(blob, SYS_NAMES, sbx_sys_name, i);

		if (strcmp(sbx_string(blob, name->name), question->object))
			continue;
		nr[SBX_X86_64] = nr[SBX_AARCH64] = (uint16_t)name->nr;
		return true;
	}
	return emit_syscall_numbers(question->object, nr);
}

static bool speaks_of(const struct sbx_sys_entry *entry, const uint16_t nr[SBX_ARCH_COUNT])
{
	for (unsigned arch = 0; arch < SBX_ARCH_COUNT; arch++)
		if (nr[arch] != SBX_SYS_ABSENT && entry->nr[arch] == nr[arch])
			return true;
	return false;
}

/* The position of the argument that the rules about this call call @name, or -1 and which
 * names they have for others: "domain, type". */
static int find_argument(const struct question *question, const uint16_t nr[SBX_ARCH_COUNT],
			 const char *name, size_t length, const char **others)
{
	const struct sbx_blob *blob = question->blob;
	struct map known = { 0 };
	struct text text = { .arena = question->arena };

	if (length == 4 && !strncmp(name, "arg", 3) && name[3] >= '0' && name[3] <= '5')
		return name[3] - '0';
	for (uint32_t i = 0; i < SBX_COUNT(blob, SYS_ENTRIES); i++) {
		const struct sbx_sys_entry *entry = SBX_AT(blob, SYS_ENTRIES, sbx_sys_entry, i);
		const struct sbx_sys_stmt *stmt =
		    SBX_AT(blob, SYS_STMTS, sbx_sys_stmt, entry->stmt);

		for (uint32_t n = 0; speaks_of(entry, nr) && n < stmt->cond_count; n++) {
			const struct sbx_sys_cond *cond =
			    SBX_AT(blob, SYS_CONDS, sbx_sys_cond, stmt->cond_first + n);
			const char *other = sbx_string(blob, cond->name);
			void **slot = map_put(question->arena, &known, str_from(other));

			if (strlen(other) == length && !strncmp(other, name, length))
				return cond->arg;
			if (!*slot)
				text_add(&text, "%s%s", text.bytes.count ? ", " : "", other);
			*slot = &known;
		}
	}
	*others = text_end(&text);
	return -1;
}

/* As in a policy: decimal without leading zeros, or 0x; and below zero.  NULL, or what is wrong. */
static const char *read_number(struct arena *arena, const char *text, uint64_t *out)
{
	bool below = *text == '-';
	const char *digits = text + below;
	bool hex = digits[0] == '0' && digits[1] == 'x';
	char *end;

	if (strspn(digits, hex ? "0123456789abcdefABCDEFx" : "0123456789") != strlen(digits) ||
	    !*digits || (!hex && digits[0] == '0' && digits[1]))
		return arena_printf(arena, "`%s` is not a number: they are written as 10, -1 or 0x1f",
				    text);
	errno = 0;
	*out = below ? (uint64_t)strtoll(text, &end, 0) : strtoull(text, &end, 0);
	if (*end)
		return arena_printf(arena, "`%s` is not a number: they are written as 10, -1 or 0x1f",
				    text);
	return errno ? arena_printf(arena, "`%s` is more than 64 bits hold", text) : NULL;
}

static const char *read_arguments(const struct question *question,
				  const uint16_t nr[SBX_ARCH_COUNT], uint64_t args[6])
{
	const char *given[6] = { NULL };

	for (size_t i = 0; i < question->arg_count; i++) {
		const char *text = question->args[i], *value = strchr(text, '='), *others, *error;
		int length = value ? (int)(value - text) : 0, arg;

		if (!length)
			return "an argument is written NAME=VALUE";
		arg = find_argument(question, nr, text, (size_t)length, &others);
		if (arg < 0 && *others)
			return arena_printf(question->arena,
					    "no rule about this call looks at an argument `%.*s`: they "
					    "look at %s; or write arg0 to arg5",
					    length, text, others);
		if (arg < 0)
			return arena_printf(question->arena,
					    "no rule looks at what this call is given: leave `%s` "
					    "out, or write arg0 to arg5",
					    text);
		if (given[arg])
			return arena_printf(question->arena, "`%s` and `%s` are the same argument",
					    given[arg], text);
		given[arg] = text;
		error = read_number(question->arena, value + 1, &args[arg]);
		if (error)
			return error;
	}
	return NULL;
}

static const char *how(const struct question *question, const struct sbx_sys_verdict *verdict)
{
	struct sbx_sys_stmt stmt = { .action = (uint8_t)verdict->action,
				     .error = (uint16_t)verdict->error };

	if (verdict->action == SBX_ACT_ALLOW)
		return NULL;
	if (verdict->action == SBX_ACT_KILL)
		return "the process is killed";
	return render_answer(question->arena, &stmt);
}

static void note_statement(const struct question *question, const char *prefix, uint32_t index,
			   const uint16_t nr[SBX_ARCH_COUNT], struct answer *answer)
{
	uint32_t loc = SBX_AT(question->blob, SYS_STMTS, sbx_sys_stmt, index)->head.loc;

	answer_note(question, answer, "%s %s  %s", prefix,
		    render_rule_for_call(question->arena, question->blob, index, nr),
		    loc == SBX_NONE ? "" : render_places(question->arena, question->blob, loc));
}

static bool is_on_landlock(const struct question *question)
{
	return question->only && question->only->backend == SBX_LANDLOCK;
}

/* @prefix, then each statement, of the second program with @shared SBX_F_SHARED, that could change
 * the answer. */
static void list_statements(const struct question *question, const uint16_t nr[SBX_ARCH_COUNT],
			    unsigned shared, const char *prefix, struct answer *answer)
{
	for (uint32_t i = 0; i < SBX_COUNT(question->blob, SYS_ENTRIES); i++) {
		const struct sbx_sys_entry *entry =
		    SBX_AT(question->blob, SYS_ENTRIES, sbx_sys_entry, i);
		const struct sbx_sys_stmt *stmt =
		    SBX_AT(question->blob, SYS_STMTS, sbx_sys_stmt, entry->stmt);

		if (speaks_of(entry, nr) &&
		    (stmt->cond_count || (shared && !is_on_landlock(question))) &&
		    (stmt->head.flags & SBX_F_SHARED) == shared)
			note_statement(question, prefix, entry->stmt, nr, answer);
	}
}

/* What the second program says, where it is stricter. */
static void explain_shared(const struct question *question, enum sbx_arch arch,
			   const uint16_t nr[SBX_ARCH_COUNT], const uint64_t args[6],
			   struct answer *answer)
{
	static const char prefix[] = "on a backend without namespaces:";
	struct sbx_sys_verdict shared;

	if (!question_asks(question, SBX_LANDLOCK))
		return;
	if (!question->arg_count) {
		list_statements(question, nr, SBX_F_SHARED,
				is_on_landlock(question) ? "unless" : prefix, answer);
		return;
	}
	sbx_sys_decide_shared(question->blob, arch, nr[arch], args, &shared);
	if (shared.stmt != SBX_NONE && answer->allowed && !is_on_landlock(question))
		note_statement(question, prefix, shared.stmt, nr, answer);
}

/* Where that is the only backend, both programs decide, and the stricter answer is
 * taken: true, the second one's. */
static bool decide(const struct question *question, enum sbx_arch arch, uint16_t nr,
		   const uint64_t args[6], struct sbx_sys_verdict *out, bool *depends)
{
	struct sbx_sys_verdict shared;

	*depends = false;
	if (question->arg_count)
		sbx_sys_decide(question->blob, arch, nr, args, out);
	else
		sbx_sys_decide_name(question->blob, arch, nr, out, depends);
	if (!is_on_landlock(question))
		return false;
	sbx_sys_decide_shared(question->blob, arch, nr, question->arg_count ? args : NULL, &shared);
	if (shared.stmt == SBX_NONE || shared.action <= out->action)
		return false;
	*out = shared;
	return true;
}

static bool may_call(const struct question *question, const char *name)
{
	uint16_t nr[SBX_ARCH_COUNT];
	struct sbx_sys_verdict verdict;
	bool depends;

	if (!emit_syscall_numbers(name, nr) || nr[SBX_X86_64] == SBX_SYS_ABSENT)
		return false;
	sbx_sys_decide_name(question->blob, SBX_X86_64, nr[SBX_X86_64], &verdict, &depends);
	return verdict.action == SBX_ACT_ALLOW || depends;
}

static bool may_send(const struct question *question)
{
	return may_call(question, "connect") || may_call(question, "sendto") ||
	       may_call(question, "sendmsg") || may_call(question, "sendmmsg");
}

/* Below the ABI from which Landlock holds sockets by their path, the launch itself
 * refuses what would reach one and is not connect(2). */
static const char *unseen_answer(const struct question *question, const uint64_t args[6])
{
	bool pair = !strcmp(question->object, "socketpair");
	unsigned type = (unsigned)args[1] & 0xf; /* SOCK_CLOEXEC and the like lie above */

	if (!strcmp(question->object, "io_uring_setup"))
		return "ENOSYS";
	if ((!pair && strcmp(question->object, "socket")) || !may_send(question) ||
	    (uint32_t)args[0] != AF_UNIX || type == SOCK_STREAM || type == SOCK_SEQPACKET)
		return NULL;
	return "EACCES";
}

static void explain_unseen(const struct question *question, const uint64_t args[6],
			   struct answer *answer)
{
	const char *error = unseen_answer(question, args);

	for (size_t i = 0; error && answer->allowed && i < question->targets->count; i++) {
		const struct sbx_enforcer *by =
		    target_holds(&question->targets->items[i], SBX_DUTY_PATH_SOCKETS);

		if (by && !strcmp(sbx_enforcer_by(by), "Landlock"))
			continue;
		answer_note(question, answer,
			    "on this kernel the launch refuses it (%s): it would reach a socket "
			    "past the connect broker",
			    error);
		if (question->only) {
			answer->allowed = false;
			answer->how = error;
		}
		return;
	}
}

const char *explain_call(const struct question *question, struct answer *answer)
{
	uint16_t nr[SBX_ARCH_COUNT];
	uint64_t args[6] = { 0 };
	const char *error;
	bool first = true;

	if (!find_numbers(question, nr))
		return "no architecture has a system call of that name";
	error = read_arguments(question, nr, args);
	if (error)
		return error;
	answer->section = SBX_SEC_SYS_STMTS;
	answer_held(question, answer, "seccomp filter");
	answer->nobody = "no architecture that sbx knows has it";
	for (unsigned arch = 0; arch < SBX_ARCH_COUNT; arch++) {
		struct sbx_sys_verdict verdict;
		bool depends, final;

		if (nr[arch] == SBX_SYS_ABSENT) {
			answer_note(question, answer, "%s has no such call", arch_names[arch]);
			continue;
		}
		final = decide(question, (enum sbx_arch)arch, nr[arch], args, &verdict, &depends);
		if (!first && verdict.stmt != answer->rule)
			answer_note(question, answer, "on %s: %s", arch_names[arch],
				    verdict.action == SBX_ACT_ALLOW ? "allowed"
								    : how(question, &verdict));
		if (!first)
			continue;
		first = false;
		answer->allowed = verdict.action == SBX_ACT_ALLOW;
		answer->how = how(question, &verdict);
		answer->rule = verdict.stmt;
		answer->by =
		    render_rule_for_call(question->arena, question->blob, verdict.stmt, nr);
		if (depends && !final)
			list_statements(question, nr, 0, "unless", answer);
		if (!final)
			explain_shared(question, (enum sbx_arch)arch, nr, args, answer);
	}
	explain_unseen(question, args, answer);
	return NULL;
}
