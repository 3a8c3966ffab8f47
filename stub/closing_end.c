/*
 * stub/closing_end.c - nothing runs on.
 *
 * Where the backend made a process namespace, the kernel has ended all of it
 * with its first process, and there is nothing left to do.  Where it made none,
 * whatever the program left behind hangs below us, since we are the subreaper:
 * daemons and orphans too.  The whole tree is killed at a time, not only our own
 * children: who is being killed forks no more, and so a fork bomb does not grow
 * back.  Each round finds who was made since the last.  A number may be given
 * anew at any time, so it is held by a pidfd while its parent is looked at.
 *
 * Who execs us may have children, which are ours then.  Theirs is every process
 * older than the session, whatever it looks like; a backend with a process
 * namespace needs nobody else ended either.  What they start later and leave
 * behind falls to us like the session's own: only who is confined is ended.
 */
#include "stub/closing.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "stub/launch.h"
#include "stub/out.h"
#include "stub/proc.h"
#include "stub/sys.h"

#define TICKS     100 /* a second, in /proc: USER_HZ */
#define ROUND_MS  2
#define ROUND_MAX 2500 /* then something cannot be killed */

struct tree {
	VEC(pid_t) members; /* in this round, ascending as /proc lists them */
	uint64_t since;     /* older ones are not of the session; 0: there are none */
	bool unseen;        /* something could not be looked at */
};

static bool is_member(const struct tree *tree, pid_t pid)
{
	size_t low = 0, high = tree->members.count;

	if (pid == getpid())
		return true;
	while (low < high) {
		size_t middle = (low + high) / 2;

		if (tree->members.items[middle] == pid)
			return true;
		if (tree->members.items[middle] < pid)
			low = middle + 1;
		else
			high = middle;
	}
	return false;
}

static uint64_t ticks_now(void)
{
	struct timespec now;

	sys_clock(CLOCK_BOOTTIME, &now);
	return (uint64_t)now.tv_sec * TICKS + (uint64_t)now.tv_nsec / (1000000000 / TICKS);
}

void closing_note_strangers(struct launch *launch)
{
	const struct timespec pause = { 0, 1000000 };
	uint64_t now = ticks_now();

	if (waitpid(-1, NULL, WNOHANG) < 0)
		return;
	while (ticks_now() == now) /* the session's are of later ticks */
		nanosleep(&pause, NULL);
	launch->session_since = now + 1;
}

/* Of descriptors or memory: who could not be looked at may be there. */
static bool is_short(void)
{
	return errno == EMFILE || errno == ENFILE || errno == ENOMEM;
}

/* Of /proc/@pid, into @text; false: not there, or that is not known. */
static bool look(struct tree *tree, pid_t pid, const char *name, char *text, size_t size)
{
	char path[32];

	out_text(path, sizeof(path), "/proc/%d/%s", pid, name);
	if (proc_read(path, text, size))
		return true;
	tree->unseen |= is_short();
	return false;
}

/* When it was made, in ticks: the 20th word behind the name in parentheses. */
static uint64_t born(struct tree *tree, pid_t pid)
{
	char text[1024];
	const char *at = look(tree, pid, "stat", text, sizeof(text)) ? strrchr(text, ')') : NULL;

	for (unsigned word = 0; at && word < 20; word++)
		at = strchr(at + 1, ' ');
	return at ? out_read_number(at + 1, &at) : 0;
}

/* Is @pid below us, and alive? */
static bool is_ours(struct tree *tree, pid_t pid)
{
	char text[2048];

	if (!look(tree, pid, "status", text, sizeof(text)) ||
	    !is_member(tree, (pid_t)proc_number(text, "\nPPid:", 10)) ||
	    out_find(text, "\nState:\tZ"))
		return false;
	return !tree->since || (born(tree, pid) >= tree->since &&
				/* Nobody inside can be without these. */
				proc_number(text, "\nNoNewPrivs:", 10) == 1 &&
				proc_number(text, "\nSeccomp:", 10) == 2);
}

static void end(struct tree *tree, pid_t pid)
{
	int fd = (int)syscall(SYS_pidfd_open, pid, 0);

	if (fd < 0) {
		tree->unseen |= is_short();
		return;
	}
	if (is_ours(tree, pid)) {
		syscall(SYS_pidfd_send_signal, fd, SIGKILL, NULL, 0);
		*vec_add(&tree->members) = pid;
	}
	close(fd);
}

/* True: somebody was there to be killed. */
static bool end_round(struct tree *tree)
{
	_Alignas(struct uapi_dirent) char buffer[8192];
	int dir = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	long got;

	tree->members.count = 0;
	tree->unseen = dir < 0;
	while (dir >= 0 && (got = syscall(SYS_getdents64, dir, buffer, sizeof(buffer))) > 0)
		for (long at = 0; at < got;) {
			const struct uapi_dirent *entry = (const void *)(buffer + at);
			const char *rest;
			pid_t pid = (pid_t)out_read_number(entry->name, &rest);

			at += entry->length;
			if (!*rest)
				end(tree, pid);
		}
	if (dir >= 0)
		close(dir);
	return tree->members.count;
}

void closing_end_all(const struct launch *launch)
{
	struct tree tree = { .since = launch->session_since };
	const struct timespec pause = { 0, ROUND_MS * 1000000l };

	for (unsigned round = 0; round < ROUND_MAX; round++) {
		pid_t pid;

		while ((pid = waitpid(-1, NULL, WNOHANG)) > 0)
			;
		if (pid < 0 && errno == ECHILD)
			return;
		/* With a process namespace, all is over. */
		if (tree.since && launch->plan.backend != SBX_LANDLOCK)
			return;
		if (!end_round(&tree) && tree.since && !tree.unseen)
			return;
		nanosleep(&pause, NULL);
	}
	note("a process of the session cannot be ended, and runs on, confined: look for it in ps");
}
