/*
 * stub/terminal.c - job control across a process namespace.
 *
 * A program on a terminal expects to lead a process group it can name; the
 * caller's group has no number inside.  So where both ends of the program are
 * the terminal it gets a group of its own, and the terminal; Ctrl-C and Ctrl-Z
 * then reach it alone.  When it stops, we take the terminal back and stop as
 * the caller's shell expects of its job; when the shell continues us, it gets
 * both again.  In a pipeline it stays in the caller's group, since the other
 * members need the terminal too; and always where no process namespace is
 * between, since then that group is one it can name, and all reaches it there.
 */
#include "stub/supervise.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include "stub/launch.h"
#include "stub/out.h"
#include "stub/proc.h"

static struct {
	int fd; /* the terminal, or -1 */
	struct termios modes;
	int exclusive;  /* nobody else may open it */
	pid_t group;    /* the caller's */
	bool own_group; /* the program leads another */
	bool given;     /* the program, or what it made, has the terminal from us */
} terminal = { .fd = -1 };

/* Standard streams that are devices: the program may own what it was handed, and open
 * it to others, or give it away. */
static struct stat streams[3];

static void put_back_modes(void)
{
	struct stat now;

	for (int fd = 0; fd < 3; fd++) {
		const struct stat *was = &streams[fd];

		if (!S_ISCHR(was->st_mode) || fstat(fd, &now) || now.st_ino != was->st_ino ||
		    now.st_dev != was->st_dev)
			continue;
		if (now.st_uid != was->st_uid || now.st_gid != was->st_gid)
			fchown(fd, was->st_uid, was->st_gid);
		if (now.st_mode != was->st_mode)
			fchmod(fd, was->st_mode & 07777);
	}
}

void terminal_save(struct launch *launch)
{
	for (int fd = 0; fd < 3; fd++)
		fstat(fd, &streams[fd]);
	for (int fd = 0; fd < 3 && terminal.fd < 0; fd++)
		if (tcgetpgrp(fd) >= 0 && !tcgetattr(fd, &terminal.modes))
			terminal.fd = fd;
	if (terminal.fd < 0)
		return;
	ioctl(terminal.fd, TIOCGEXCL, &terminal.exclusive);
	terminal.group = getpgrp();
	terminal.own_group =
	    launch->plan.backend != SBX_LANDLOCK && terminal.fd == 0 && isatty(STDOUT_FILENO);
	terminal.given = tcgetpgrp(terminal.fd) == terminal.group;
	launch->plan.own_group = terminal.own_group;
	launch->plan.foreground = terminal.given;
}

bool terminal_is_gone(void)
{
	return terminal.fd >= 0 && tcgetpgrp(terminal.fd) < 0;
}

/* Does nobody live in the group any more? */
static bool group_is_gone(pid_t group)
{
	return kill(-group, 0) && errno == ESRCH;
}

void terminal_restore(bool killed)
{
	struct termios modes;
	bool flush;
	pid_t now;

	put_back_modes();
	if (terminal.fd < 0)
		return;
	/* What no modes tell: it was told to wait, or to be opened by nobody else. */
	tcflow(terminal.fd, TCOON);
	if (!terminal.exclusive)
		ioctl(terminal.fd, TIOCNXCL);
	now = tcgetpgrp(terminal.fd);
	if (now > 0 && now != terminal.group && !group_is_gone(now))
		return; /* another job has it by now */
	if (terminal.given)
		tcsetpgrp(terminal.fd, terminal.group);
	if (tcgetpgrp(terminal.fd) != terminal.group)
		return;
	/* Of a program that went with the modes changed, or was made to go, a question
	 * to the terminal may be open: what it answers must not reach the caller's
	 * shell.  After any other, what waits there the user has typed ahead. */
	flush = killed || tcgetattr(terminal.fd, &modes) ||
		modes.c_lflag != terminal.modes.c_lflag || modes.c_iflag != terminal.modes.c_iflag;
	tcsetattr(terminal.fd, TCSADRAIN, &terminal.modes);
	if (flush)
		tcflush(terminal.fd, TCIFLUSH);
}

static bool is_stopped(int program)
{
	char text[512], path[32];
	const char *end;

	out_text(path, sizeof(path), "/proc/%d/stat", program);
	if (!proc_read(path, text, sizeof(text)))
		return false;
	end = strrchr(text, ')');
	return end && end[1] == ' ' && end[2] == 'T';
}

void terminal_stop(void)
{
	sigset_t stop, before;

	raise(SIGTSTP);
	sigemptyset(&stop);
	sigaddset(&stop, SIGTSTP);
	sigprocmask(SIG_UNBLOCK, &stop, &before);
	sigprocmask(SIG_SETMASK, &before, NULL);
}

void terminal_follow_continue(int program)
{
	if (terminal.fd < 0 || !terminal.own_group || tcgetpgrp(terminal.fd) != terminal.group)
		return;
	terminal.given = !tcsetpgrp(terminal.fd, program);
	kill(-program, SIGCONT);
}

void terminal_follow_stop(int program, int signal)
{
	pid_t had = terminal.fd >= 0 ? tcgetpgrp(terminal.fd) : -1;

	if (!terminal.own_group) {
		/* The caller's group was stopped as one, and is continued as one; what
		 * is still stopped now did it by itself. */
		if (!is_stopped(program))
			return;
		terminal_stop();
		kill(program, SIGCONT);
		return;
	}
	if ((signal == SIGTTIN || signal == SIGTTOU) && had == terminal.group) {
		/* Started in the background, and now asked for by `fg`. */
		terminal_follow_continue(program);
		return;
	}
	if (terminal.given)
		tcsetpgrp(terminal.fd, terminal.group);
	terminal_stop();
	if (tcgetpgrp(terminal.fd) == terminal.group) {
		if (!terminal.given || had <= 0 || had == terminal.group || group_is_gone(had))
			had = program;
		terminal.given = !tcsetpgrp(terminal.fd, had);
		kill(-had, SIGCONT);
	} else {
		terminal.given = false;
	}
	kill(-program, SIGCONT);
}
