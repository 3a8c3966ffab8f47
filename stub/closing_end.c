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

#define ROUND_MS  2
#define ROUND_MAX 2500 /* then something cannot be killed */

struct tree {
	VEC(pid_t) members; /* in this round, ascending as /proc lists them */
	bool strangers;     /* among our children are some that are not of the session */
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

/* Is @pid below us, and alive? */
static bool is_ours(const struct tree *tree, pid_t pid)
{
	char text[2048], path[32];

	out_text(path, sizeof(path), "/proc/%d/status", pid);
	if (!proc_read(path, text, sizeof(text)))
		return false;
	return is_member(tree, (pid_t)proc_number(text, "\nPPid:", 10)) &&
	       !out_find(text, "\nState:\tZ") &&
	       /* Nobody inside can be without it, and few outside have it. */
	       (!tree->strangers || proc_number(text, "\nNoNewPrivs:", 10) == 1);
}

static void end(struct tree *tree, pid_t pid)
{
	int fd = (int)syscall(SYS_pidfd_open, pid, 0);

	if (fd < 0)
		return;
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
	while ((got = syscall(SYS_getdents64, dir, buffer, sizeof(buffer))) > 0)
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
	struct tree tree = { .strangers = launch->had_children };
	const struct timespec pause = { 0, ROUND_MS * 1000000l };

	for (unsigned round = 0; round < ROUND_MAX; round++) {
		pid_t pid;

		while ((pid = waitpid(-1, NULL, WNOHANG)) > 0)
			;
		if (pid < 0 && errno == ECHILD)
			return;
		if (!end_round(&tree) && tree.strangers)
			return;
		nanosleep(&pause, NULL);
	}
	note("a process of the session cannot be ended, and runs on, confined: look for it in ps");
}
