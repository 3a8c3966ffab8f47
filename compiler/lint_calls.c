/*
 * compiler/lint_calls.c - what the system calls that pass can do.
 *
 * The x86-64 table answers: both are made from the same statements.
 */
#include <string.h>

#include "compiler/lint.h"

static bool number_of(struct lint *lint, const char *name, uint32_t *nr)
{
	uint16_t known[SBX_ARCH_COUNT];

	if (emit_syscall_numbers(name, known) && known[SBX_X86_64] != SBX_SYS_ABSENT) {
		*nr = known[SBX_X86_64];
		return true;
	}
	for (uint32_t i = 0; i < SBX_COUNT(&lint->blob, SYS_NAMES); i++) {
		const struct sbx_sys_name *entry = SBX_AT(&lint->blob, SYS_NAMES, sbx_sys_name, i);

		if (strcmp(sbx_string(&lint->blob, entry->name), name) == 0) {
			*nr = entry->nr;
			return true;
		}
	}
	return false;
}

static bool allowed(struct lint *lint, const char *name, const uint64_t args[6])
{
	struct sbx_sys_verdict verdict;
	uint32_t nr;

	if (!number_of(lint, name, &nr))
		return false;
	sbx_sys_decide(&lint->blob, SBX_X86_64, nr, args, &verdict);
	return verdict.action == SBX_ACT_ALLOW;
}

static void find_nothing_starts(struct lint *lint)
{
	static const uint64_t args[6];

	if (!allowed(lint, "execve", args))
		lint_find(lint, &lint->policy->head, DIAG_L0201,
			  "execve is refused, so nothing can start: import std/syscalls and allow "
			  "@default");
}

static void find_terminal(struct lint *lint)
{
	/* asm-generic/ioctls.h */
	static const struct {
		uint64_t request;
		const char *name;
	} injects[] = { { 0x5412, "TIOCSTI" }, { 0x541c, "TIOCLINUX" } };
	static const uint64_t tcgets[6] = { 0, 0x5401 };

	for (size_t i = 0; i < sizeof(injects) / sizeof(*injects); i++) {
		uint64_t args[6] = { 0, injects[i].request };

		if (allowed(lint, "ioctl", args))
			lint_find(lint, &lint->policy->head, DIAG_L0202,
				  "ioctl %s is allowed: it can type into your terminal; import "
				  "std/syscalls",
				  injects[i].name);
	}
	for (size_t i = 0; i < lint->policy->process.count; i++)
		if (lint->policy->process.items[i].what == SBX_PROCESS_TERMINAL_NONE)
			return;
	if (!allowed(lint, "ioctl", tcgets))
		lint_find(
		    lint, &lint->policy->head, DIAG_L0205,
		    "no terminal works: ioctl is refused; allow it, or say `terminal none` in "
		    "process { }");
}

static void find_second_interfaces(struct lint *lint)
{
	static const char *const calls[] = {
		"io_uring_setup", "bpf",           "userfaultfd", "perf_event_open",
		"kexec_load",     "init_module",   "mount",       "open_by_handle_at",
		"keyctl",         "fanotify_init", "ptrace",      "process_vm_writev",
	};
	static const uint64_t args[6];

	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
		if (allowed(lint, calls[i], args))
			lint_find(lint, &lint->policy->head, DIAG_L0203,
				  "%s is allowed: it goes around what the filter refuses",
				  calls[i]);
}

static void find_namespaces(struct lint *lint)
{
	/* linux/sched.h: CLONE_NEWUSER. */
	static const uint64_t args[6] = { 0x10000000 };

	for (size_t i = 0; i < lint->policy->process.count; i++) {
		const struct process_rule *rule = &lint->policy->process.items[i];

		if (rule->what != SBX_PROCESS_USERNS)
			continue;
		if (!rule->head.compat.ptr)
			lint_find(lint, &rule->head, DIAG_L0204,
				  "user namespaces are allowed without a reason: add compat "
				  "\"why\"");
		return;
	}
	if (allowed(lint, "unshare", args) || allowed(lint, "clone", args))
		lint_find(lint, &lint->policy->head, DIAG_L0204,
			  "user namespaces can be made inside: deny @namespaces, or say why in "
			  "process { }");
}

/* ---- twins ------------------------------------------------------------------------------ */

struct twins {
	const char *shut, *open, *why;
};

static const struct twins twins[] = {
#define TWINS(shut, open, why) { shut, open, why },
#include "compiler/twins.def"
#undef TWINS
};

/* The next of the words at *@at, or NULL. */
static const char *next_word(struct arena *arena, const char **at)
{
	size_t length = strcspn(*at, " ");
	const char *word = *at;

	if (!length)
		return NULL;
	*at += length + ((*at)[length] == ' ');
	return arena_copy(arena, word, length);
}

/* What decides about @name where no `where` holds; false: there is no such call. */
static bool decide(struct lint *lint, const char *name, struct sbx_sys_verdict *verdict)
{
	uint32_t nr;
	bool depends;

	if (!number_of(lint, name, &nr))
		return false;
	sbx_sys_decide_name(&lint->blob, SBX_X86_64, nr, verdict, &depends);
	return true;
}

/* The statement that refuses @name by a word for it; what the default refuses, nobody
 * meant to. */
static const struct rule_head *refusal(struct lint *lint, const char *name)
{
	struct sbx_sys_verdict verdict;
	const struct sbx_sys_stmt *stmt;

	if (!decide(lint, name, &verdict) || verdict.action == SBX_ACT_ALLOW)
		return NULL;
	stmt = SBX_AT(&lint->blob, SYS_STMTS, sbx_sys_stmt, verdict.stmt);
	if (stmt->head.verb != SBX_SYS_DENY && stmt->head.verb != SBX_SYS_SEAL)
		return NULL;
	return lint_head(lint, SBX_SEC_SYS_STMTS, verdict.stmt);
}

static void find_open_twin(struct lint *lint, const struct twins *pair, const char *shut,
			   const struct rule_head *head)
{
	const char *at = pair->open, *name;
	struct sbx_sys_verdict verdict;

	while ((name = next_word(lint->arena, &at)) != NULL) {
		if (strcmp(name, shut) == 0 || !decide(lint, name, &verdict) ||
		    verdict.action != SBX_ACT_ALLOW)
			continue;
		lint_find(lint, head, DIAG_L0206, "`%s` is refused, but `%s` is allowed: it %s",
			  shut, name, pair->why);
		return;
	}
}

static void find_twins(struct lint *lint)
{
	for (size_t i = 0; i < sizeof(twins) / sizeof(*twins); i++) {
		const char *at = twins[i].shut, *name;

		while ((name = next_word(lint->arena, &at)) != NULL) {
			const struct rule_head *head = refusal(lint, name);

			if (head)
				find_open_twin(lint, &twins[i], name, head);
		}
	}
}

void lint_calls(struct lint *lint)
{
	find_nothing_starts(lint);
	find_terminal(lint);
	find_second_interfaces(lint);
	find_namespaces(lint);
	find_twins(lint);
}
