/*
 * probe/self.c - am I confined, and by what?
 *
 * By trying, in children: a variable, a file in /proc or the name of a program
 * can be made to say anything.
 *
 *	filter     a call that every policy of ours kills or refuses, and no kernel
 *	           answers so: x32 numbers are unknown to it, but not deadly
 *	Landlock   sixteen domains fit into each other: how many still do?
 *	mounts     can the root be changed by its owner's rights?
 *	processes  is there a process outside whose parent we can see?
 */
#include "probe/self.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "probe/act.h"

#define NO_ANSWER (-1)
#define KILLED    (-2)

/* What @try answers in a child (0-200), NO_ANSWER, or KILLED by the filter. */
static int in_child(int (*try)(void))
{
	int status = 0;
	pid_t child = fork();

	if (child == 0)
		_exit(try());
	if (child < 0 || waitpid(child, &status, 0) < 0)
		return NO_ANSWER;
	if (WIFSIGNALED(status))
		return WTERMSIG(status) == SIGSYS ? KILLED : NO_ANSWER;
	return WEXITSTATUS(status);
}

static int enter_domains(void)
{
	int count = act_domains();

	return count < 0 ? 100 : count;
}

/* A number that no kernel has: it answers ENOSYS, a filter of ours what it likes. */
static int call_x32(void)
{
#ifdef __x86_64__
	return syscall(0x40000000 | 39) == -1 ? errno : 0; /* getpid, x32's way in */
#else
	return ENOSYS;
#endif
}

static int call_mount(void)
{
	return syscall(SYS_mount, -1L, -1L, -1L, -1L, -1L) == -1 ? errno : 0;
}

static int make_in_root(void)
{
	return act_make("/sbx-probe-self");
}

static int signal_init(void)
{
	return kill(1, 0) ? errno : 0;
}

static int say(int confined, const char *layer, const char *text)
{
	printf("%-4s %-9s %s\n", confined ? "yes" : "no", layer, text);
	return confined;
}

static int say_landlock(int count)
{
	char text[96];

	if (count == KILLED || count >= 100)
		return say(0, "Landlock",
			   "cannot be told: the calls that would show it are refused");
	if (count == NO_ANSWER || count >= ACT_DOMAINS_MAX)
		return say(0, "Landlock", "none: sixteen more domains could be entered");
	snprintf(text, sizeof(text), "in %d domain%s: only %d more could be entered",
		 ACT_DOMAINS_MAX - count, count == ACT_DOMAINS_MAX - 1 ? "" : "s", count);
	return say(1, "Landlock", text);
}

int self_report(void)
{
	int confined = 0, x32 = in_child(call_x32), mounts = in_child(call_mount);
	int root = in_child(make_in_root), init = in_child(signal_init);

	/* Unconfined, mount(2) looks at its arguments before it asks for a right. */
	if (x32 == KILLED)
		confined |= say(1, "filter", "x32's way into the kernel is deadly here");
	else if (mounts == KILLED || mounts == EPERM || mounts == ENOSYS)
		confined |= say(1, "filter", "mount(2) is refused before its arguments are read");
	else
		say(0, "filter", "none that answers: mount(2) reads its arguments");
	confined |= say_landlock(in_child(enter_domains));
	if (root == EROFS)
		confined |= say(1, "mounts", "the root is read-only");
	else
		say(0, "mounts",
		    root == 0 ? "files can be made in the root" : "the root is an ordinary one");
	/* Signal 0 asks for the right alone, nothing is sent. */
	if (init == 0 && getuid() != 0)
		confined |= say(1, "processes", "process 1 is our own user's");
	else
		say(0, "processes", "process 1 is not ours");
	fflush(stdout);
	return confined ? 0 : 1;
}
