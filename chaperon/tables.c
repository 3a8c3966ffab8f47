/*
 * chaperon/tables.c - see tables.h.
 */
#include "chaperon/tables.h"

#include "helper/control.h"

#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <fcntl.h>

#define LIST_SIZE   16384
#define CLIENTS_MAX 16
#define WAIT_MS     5000

static struct list {
	char program[64];
	char text[LIST_SIZE]; /* what it said; "": nothing */
} lists[CLIENTS_MAX];
static size_t list_count;
static const struct session *of;

const char *tables_program(const char *path)
{
	struct stat status;

	if (stat(path, &status))
		return "is not installed";
	if (!S_ISREG(status.st_mode) || status.st_uid || status.st_mode & 022)
		return "can be changed by others than root";
	return NULL;
}

/* What @fd says within the time; it may be one that hangs.  True: all of it. */
static bool listen_to(int fd, char *text, size_t size)
{
	struct pollfd ready = { .fd = fd, .events = POLLIN };
	size_t length = 0;
	ssize_t got = 1;

	while (got > 0 && length + 1 < size && poll(&ready, 1, WAIT_MS) == 1) {
		got = read(fd, text + length, size - 1 - length);
		if (got > 0)
			length += (size_t)got;
	}
	text[length] = '\0';
	return !got;
}

bool tables_hear(const struct session *session, const char *const argv[], char *text, size_t size)
{
	posix_spawn_file_actions_t actions;
	bool whole = false;
	int ends[2], status = 1;
	pid_t pid;

	*text = '\0';
	if (tables_program(argv[0]) || pipe2(ends, O_CLOEXEC))
		return false;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
	posix_spawn_file_actions_adddup2(&actions, ends[1], 2);
	posix_spawn_file_actions_addclosefrom_np(&actions, 3);
	if (!posix_spawn(&pid, argv[0], &actions, NULL, (char *const *)(uintptr_t)argv,
			 session->environment.items)) {
		close(ends[1]);
		whole = listen_to(ends[0], text, size);
		if (!whole)
			kill(pid, SIGKILL);
		waitpid(pid, &status, 0);
	} else {
		close(ends[1]);
	}
	close(ends[0]);
	posix_spawn_file_actions_destroy(&actions);
	return whole && !status;
}

static void ask_client(const char *program, struct list *list)
{
	const char *const argv[] = { program, "--=x", NULL };

	tables_hear(of, argv, list->text, sizeof(list->text));
	if (!strstr(list->text, "possibilities:"))
		list->text[0] = '\0';
}

static struct list *list_for(const char *program)
{
	for (size_t i = 0; i < list_count; i++)
		if (!strcmp(lists[i].program, program))
			return &lists[i];
	if (list_count == CLIENTS_MAX || strlen(program) >= sizeof(lists[0].program))
		return NULL;
	strcpy(lists[list_count].program, program);
	return &lists[list_count++];
}

static bool lists_option(const struct list *list, const char *name)
{
	char quoted[80];

	return snprintf(quoted, sizeof(quoted), "'%s'", name) < (int)sizeof(quoted) &&
	       strstr(list->text, quoted) != NULL;
}

/* Does a rule speak of it that is not there to refuse it? */
static bool is_wanted(const struct sbx_blob *blob, const char *command, const char *option)
{
	for (uint32_t i = 0; i < SBX_COUNT(blob, SLURM); i++) {
		const struct sbx_slurm_rule *rule = SBX_AT(blob, SLURM, sbx_slurm_rule, i);

		if ((rule->head.verb == SBX_SLURM_ALLOW || rule->head.verb == SBX_SLURM_FORCE ||
		     rule->head.verb == SBX_SLURM_ADD) &&
		    !strcmp(sbx_string(blob, rule->command), command) &&
		    !strcmp(sbx_string(blob, rule->option), option))
			return true;
	}
	return false;
}

/* What the policy wants of @command's options and the real one has not. */
static void compare(const struct list *list, const char *command)
{
	const struct sbx_blob *blob = &of->blob;

	for (uint32_t i = 0; i < SBX_COUNT(blob, SLURM); i++) {
		const struct sbx_slurm_rule *rule = SBX_AT(blob, SLURM, sbx_slurm_rule, i);
		const char *name = sbx_string(blob, rule->option);

		if (rule->head.verb == SBX_SLURM_OPTION &&
		    !strcmp(sbx_string(blob, rule->command), command) &&
		    !lists_option(list, name) && is_wanted(blob, command, name))
			control_note("Slurm's %s of this machine has no %s: it is refused", command,
				     name);
	}
}

/* The command that rule @index allows, and its real client; NULL: it allows none. */
static const char *allowed_at(uint32_t index, char program[64])
{
	const struct sbx_slurm_rule *rule = SBX_AT(&of->blob, SLURM, sbx_slurm_rule, index);
	const char *command = sbx_string(&of->blob, rule->command);

	if (rule->head.verb != SBX_SLURM_ALLOW || rule->option != SBX_NONE)
		return NULL;
	return snprintf(program, 64, "/usr/bin/%.*s", (int)strcspn(command, "-"), command) < 64
		   ? command
		   : NULL;
}

/* One line, where none of them is there. */
static bool is_installed(void)
{
	char program[64], first[64] = "";

	for (uint32_t i = 0; i < SBX_COUNT(&of->blob, SLURM); i++) {
		if (!allowed_at(i, program))
			continue;
		if (!access(program, F_OK))
			return true;
		if (!*first)
			strcpy(first, program);
	}
	if (*first)
		control_note("no Slurm: %s is not installed, nor is another client that the "
			     "policy allows: each is refused",
			     first);
	return false;
}

void tables_ask(const struct session *session)
{
	const struct sbx_blob *blob = &session->blob;

	of = session;
	if (!is_installed())
		return;
	for (uint32_t i = 0; i < SBX_COUNT(blob, SLURM); i++) {
		char program[64];
		const char *command = allowed_at(i, program), *wrong;
		size_t before = list_count;
		struct list *list = command ? list_for(program) : NULL;

		if (list_count == before)
			continue; /* it was asked already */
		wrong = tables_program(program);
		if (wrong) {
			control_note("%s %s: %s is refused", program, wrong, command);
			continue;
		}
		ask_client(program, list);
		if (!list->text[0]) {
			/* Each would take its time to say so; they are asked again when they are
			 * used. */
			control_note(
			    "Slurm's %s does not list its options: is Slurm configured here?",
			    command);
			return;
		}
		if (!strchr(command, '-'))
			compare(list, command);
	}
}

bool tables_fit(struct ask *ask, const char *program)
{
	const char *wrong = tables_program(program);
	struct list *list = list_for(program);

	if (wrong)
		return ask_refuse(ask, "%s refused: %s %s", ask->request.command, program, wrong);
	if (list && !list->text[0])
		ask_client(program, list);
	if (!list || !list->text[0])
		return ask_refuse(
		    ask,
		    "%s refused: %s does not list its options, so nobody knows how it reads "
		    "them; is Slurm configured here?",
		    ask->request.command, program);
	for (unsigned i = 0; i < ask->request.given_count; i++) {
		const struct sbx_slurm_given *given = &ask->request.given[i];
		const char *name = ask_name(ask, given);

		if (strchr(ask->request.command, '-') && given->value)
			continue; /* a key of scontrol, not an option */
		if (!lists_option(list, name))
			return ask_refuse(ask, "%s refused: the real one here has no %s",
					  ask->request.command, name);
	}
	return true;
}
