/*
 * compiler/show_calls.c - the system calls, by what they are for.
 *
 * Groups do not survive compilation, and a reviewer asks something else
 * anyway: can it mount, trace, load code into the kernel?  So the calls that
 * matter are asked about by area, with the verdict function; the rest is
 * counted.  Where a `where` could change an answer, the statement is shown.
 */
#include <string.h>

#include "compiler/render.h"
#include "compiler/show.h"
#include "emit/emit.h"

#define SHOWN_CALLS 6 /* of a statement with a condition */

static const struct {
	const char *name, *calls;
} areas[] = {
	{ "mounts", "mount umount2 move_mount open_tree mount_setattr pivot_root chroot fsopen" },
	{ "namespaces", "unshare setns clone3 clone" },
	{ "other processes",
	  "ptrace process_vm_readv process_vm_writev pidfd_getfd kcmp process_madvise" },
	{ "code in the kernel",
	  "init_module finit_module delete_module kexec_load kexec_file_load bpf" },
	{ "rings", "io_uring_setup io_uring_enter io_uring_register" },
	{ "faults and counters", "perf_event_open userfaultfd lookup_dcookie" },
	{ "the user's keys", "add_key request_key keyctl" },
	{ "files by handle", "open_by_handle_at name_to_handle_at fanotify_init" },
	{ "identity", "setuid setgid setresuid setresgid setgroups capset" },
	{ "modes and owners", "chmod fchmodat chown fchownat setxattr mknodat" },
	{ "sockets", "socket socketpair connect bind listen accept4 sendmsg" },
	{ "shared memory and queues", "shmget semget msgget mq_open" },
	{ "terminals and devices", "ioctl iopl ioperm" },
	{ "scheduling", "sched_setscheduler sched_setaffinity setpriority ioprio_set prlimit64" },
	{ "the machine", "reboot swapon sethostname setdomainname acct quotactl syslog" },
	{ "the clock", "settimeofday clock_settime adjtimex" },
	{ "personality", "personality modify_ldt" },
	{ "files", "openat openat2 read write renameat2 unlinkat truncate" },
	{ "programs", "execve execveat fork exit_group kill" },
};

struct outcome {
	const char *state;
	enum show_tone tone;
};

static struct outcome outcome_of(const struct show *show, const char *name)
{
	uint16_t nr[SBX_ARCH_COUNT];
	struct sbx_sys_verdict verdict;
	struct sbx_sys_stmt answer;
	bool depends;
	enum sbx_arch arch = SBX_X86_64;

	if (!emit_syscall_numbers(name, nr))
		return (struct outcome){ NULL, SHOW_PLAIN };
	if (nr[arch] == SBX_SYS_ABSENT)
		arch = SBX_AARCH64;
	if (nr[arch] == SBX_SYS_ABSENT)
		return (struct outcome){ NULL, SHOW_PLAIN };
	sbx_sys_decide_name(show->blob, arch, nr[arch], &verdict, &depends);
	if (depends)
		return (struct outcome){ "depends", SHOW_DEVICE };
	answer.action = (uint8_t)verdict.action;
	answer.error = (uint16_t)verdict.error;
	return (struct outcome){ verdict.action == SBX_ACT_ALLOW
				     ? "open"
				     : render_answer(show->arena, &answer),
				 verdict.action == SBX_ACT_ALLOW  ? SHOW_EXEC
				 : verdict.action == SBX_ACT_KILL ? SHOW_SEALED
								  : SHOW_SHUT };
}

static const char *words_for(const char *state)
{
	if (!strcmp(state, "depends"))
		return "by their arguments";
	return strcmp(state, "kill") ? state : "killed";
}

/* Open first, then by how they are refused. */
static void count_all(struct show *show, struct show_part *part)
{
	struct {
		struct outcome outcome;
		unsigned count;
	} counts[32];
	struct text text = { .arena = show->arena };
	size_t kinds = 0, n;
	const char *name, *between = "";

	for (size_t i = 0; (name = emit_syscall_name_at(i)); i++) {
		struct outcome outcome = outcome_of(show, name);

		if (!outcome.state)
			continue;
		for (n = 0; n < kinds && strcmp(counts[n].outcome.state, outcome.state); n++)
			;
		if (n == sizeof(counts) / sizeof(counts[0]))
			continue;
		if (n == kinds)
			counts[kinds++].count = 0;
		counts[n].outcome = outcome;
		counts[n].count++;
	}
	for (enum show_tone tone = SHOW_WRITE; tone < SHOW_TONE_COUNT; tone++)
		for (n = 0; n < kinds; n++) {
			if (counts[n].outcome.tone != tone)
				continue;
			text_add(&text, "%s%u %s", between, counts[n].count,
				 words_for(counts[n].outcome.state));
			between = ", ";
		}
	part->lead = arena_printf(show->arena, "Of all known calls: %s.", text_end(&text));
}

static void show_areas(struct show *show, struct show_part *part)
{
	for (size_t i = 0; i < sizeof(areas) / sizeof(areas[0]); i++) {
		char *calls = arena_copy(show->arena, areas[i].calls, strlen(areas[i].calls)),
		     *rest;
		size_t first = part->rows.count;

		for (char *call = strtok_r(calls, " ", &rest); call;
		     call = strtok_r(NULL, " ", &rest)) {
			struct outcome outcome = outcome_of(show, call);
			size_t n = first;

			if (!outcome.state)
				continue;
			while (n < part->rows.count &&
			       strcmp(part->rows.items[n].state, outcome.state))
				n++;
			if (n == part->rows.count)
				show_row(show, part, outcome.tone, outcome.state, NULL)->label =
				    areas[i].name;
			show_name(show, &part->rows.items[n], call);
		}
	}
}

/* "deny a b where x with EPERM without namespaces" as "a b" and "where x with EPERM". */
static void add_statement(struct show *show, struct show_part *part, uint32_t index)
{
	static const char shared_words[] = " without namespaces";
	const struct sbx_sys_stmt *stmt = SBX_AT(show->blob, SYS_STMTS, sbx_sys_stmt, index);
	const char *text =
	    render_rule(show->arena, show->blob, SBX_SEC_SYS_STMTS, index, SHOWN_CALLS);
	bool allows = stmt->action == SBX_ACT_ALLOW, shared = stmt->head.flags & SBX_F_SHARED;
	struct show_row like = { .tone = allows ? SHOW_EXEC : SHOW_SHUT,
				 .state = allows   ? "open"
					  : shared ? "shared"
						   : "refused" };
	const char *calls = strchr(text, ' ') + 1, *rest = strstr(text, " where "), *end;

	if (!rest)
		rest = strstr(text, " with ");
	if (!rest)
		rest = text + strlen(text);
	end = strstr(rest, shared_words);
	show_head(show, &like, &stmt->head);
	like.more_places = 0;
	like.hole = NULL;
	like.said = NULL;
	show_say(show, &like.said,
		 arena_copy(show->arena, rest + (*rest != 0),
			    end ? (size_t)(end - rest) - 1 : strlen(rest + (*rest != 0))));
	show_gather(show, part, &like, arena_copy(show->arena, calls, (size_t)(rest - calls)));
}

static void show_conditions(struct show *show)
{
	struct show_part *part = show_part(
	    show, "conditions", "Calls that depend on their arguments", "Verdict", "Calls");

	part->detail = true;
	for (uint32_t i = 0; i < SBX_COUNT(show->blob, SYS_STMTS); i++) {
		const struct sbx_sys_stmt *stmt = SBX_AT(show->blob, SYS_STMTS, sbx_sys_stmt, i);

		if (stmt->cond_count || stmt->head.flags & SBX_F_SHARED)
			add_statement(show, part, i);
	}
	if (SBX_COUNT(show->blob, BPF_SHARED_X86_64))
		part->lead =
		    "What is shared is refused on landlock alone, where no namespace keeps "
		    "the session apart from the user's other processes.";
	if (!part->rows.count)
		show->parts.count--;
}

void show_calls(struct show *show)
{
	struct show_part *part = show_part(show, "calls", "System calls", "Answer", "Calls");

	if (show_unbounded(show, part, SBX_UNBOUNDED_SYSCALLS))
		return;
	count_all(show, part);
	show_areas(show, part);
	show_conditions(show);
}
