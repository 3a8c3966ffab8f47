/*
 * proxy/command.c - the command of a `source exec`.
 *
 * Its end is that of the process itself: what it leaves running in the background may
 * hold its output open for ever, and is killed then.
 *
 * Between it and the keeper is a process that minds it: it holds one end of a pipe whose
 * other end the keeper alone has.  When that closes, by whatever end of the keeper's, it
 * kills the command and all that the command started, in whatever group or session: whose
 * parent has ended is given to it by the kernel.  It ends as the command does.
 */
#include <errno.h>
#include <fcntl.h>
#include <openssl/crypto.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proxy/source.h"

#define KILL_SECONDS 2
#define SAID_ROUNDS  64 /* more than a pipe holds */
#define LINE_SHOWN   256u

static _Noreturn void become(char *const *argv, char *const *env, int out, int err, pid_t parent)
{
	int null = open("/dev/null", O_RDONLY);
	sigset_t none;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	setpgid(0, 0);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);
	if (chdir("/") == 0 && dup2(null, 0) == 0 && dup2(out, 1) == 1 && dup2(err, 2) == 2) {
		syscall(SYS_close_range, 3u, ~0u, 0u);
		execve(argv[0], argv, env);
	}
	dprintf(2, "it cannot be started: %s\n", strerror(errno));
	_exit(127);
}

/* All that has no parent but us, until there is none left. */
static void kill_children(void)
{
	char text[4096], *at, *end;
	pid_t child;

	do {
		FILE *file = fopen("/proc/thread-self/children", "re");
		size_t size = file ? fread(text, 1, sizeof(text) - 1, file) : 0;

		if (file)
			fclose(file);
		text[size] = '\0';
		/* A number that the room cuts off has no blank behind it. */
		for (at = text; (child = (pid_t)strtol(at, &end, 10)) > 0 && *end == ' '; at = end)
			kill(child, SIGKILL);
	} while (waitpid(-1, NULL, 0) > 0);
}

static _Noreturn void mind(char *const *argv, char *const *env, int out, int err, int life)
{
	struct pollfd polled[2] = { { life, POLLIN, 0 }, { -1, POLLIN, 0 } };
	pid_t self = getpid(), command;
	int status = 0;

	prctl(PR_SET_NAME, "sbx-minder");
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	setpgid(0, 0); /* who kills the keeper's group does not mean us */
	command = fork();
	if (command == 0)
		become(argv, env, out, err, self);
	if (command < 0)
		dprintf(err, "no process for it: %s\n", strerror(errno));
	syscall(SYS_close_range, 0u, (unsigned)life - 1, 0u);
	syscall(SYS_close_range, (unsigned)life + 1, ~0u, 0u);
	polled[1].fd = command > 0 ? (int)syscall(SYS_pidfd_open, command, 0u) : -1;
	while (polled[1].fd >= 0 && poll(polled, 2, -1) < 0 && errno == EINTR)
		;
	alarm(KILL_SECONDS); /* what hangs in the kernel holds up nobody */
	if (!polled[1].revents) {
		if (command > 0)
			kill(-command, SIGKILL);
		kill_children();
		_exit(127);
	}
	waitpid(command, &status, 0);
	kill_children();
	if (WIFSIGNALED(status)) {
		signal(WTERMSIG(status), SIG_DFL);
		raise(WTERMSIG(status));
	}
	_exit(WEXITSTATUS(status));
}

static void close_pipe(int pipe[2])
{
	close(pipe[0]);
	close(pipe[1]);
}

enum source_result command_start(struct command *command, char *const *argv, char *const *env,
				 char *why, size_t why_size)
{
	int out[2], err[2], life[2];

	memset(command, 0, sizeof(*command));
	if (access(argv[0], X_OK) != 0) {
		snprintf(why, why_size, "it is no program that you may run: %s", strerror(errno));
		return errno == ENOENT || errno == ENOTDIR ? SOURCE_ABSENT : SOURCE_BAD;
	}
	if (pipe2(out, O_CLOEXEC | O_NONBLOCK) != 0) {
		snprintf(why, why_size, "no pipe: %s", strerror(errno));
		return SOURCE_BAD;
	}
	if (pipe2(err, O_CLOEXEC | O_NONBLOCK) != 0) {
		snprintf(why, why_size, "no pipe: %s", strerror(errno));
		close_pipe(out);
		return SOURCE_BAD;
	}
	if (pipe2(life, O_CLOEXEC) != 0) {
		snprintf(why, why_size, "no pipe: %s", strerror(errno));
		close_pipe(out);
		close_pipe(err);
		return SOURCE_BAD;
	}
	/* Ours are read without blocking; its own ends are as a program expects them. */
	fcntl(out[1], F_SETFL, 0);
	fcntl(err[1], F_SETFL, 0);
	command->pid = fork();
	if (command->pid == 0) {
		close(life[1]);
		mind(argv, env, out[1], err[1], life[0]);
	}
	close(life[0]);
	if (command->pid > 0)
		command->pidfd = (int)syscall(SYS_pidfd_open, command->pid, 0u);
	if (command->pid < 0 || command->pidfd < 0) {
		snprintf(why, why_size, "no process for it: %s", strerror(errno));
		close(life[1]);
		if (command->pid > 0)
			waitpid(command->pid, NULL, 0);
		close_pipe(out);
		close_pipe(err);
		return SOURCE_BAD;
	}
	command->life = life[1];
	close(out[1]);
	close(err[1]);
	command->out = out[0];
	command->err = err[0];
	return SOURCE_READ;
}

/* What goes beyond @room is read all the same, and lost: true. */
static bool take(int *fd, char *text, size_t room, size_t *size)
{
	char rest[512];
	bool lost = false;

	while (*fd >= 0) {
		bool full = *size == room;
		ssize_t got =
		    read(*fd, full ? rest : text + *size, full ? sizeof(rest) : room - *size);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0 && errno == EAGAIN)
			break;
		if (got <= 0) {
			close(*fd);
			*fd = -1;
			break;
		}
		lost |= full;
		*size += full ? 0 : (size_t)got;
		if (lost)
			break; /* its time is over: it may print for ever */
	}
	OPENSSL_cleanse(rest, sizeof(rest));
	return lost;
}

/* Of what it says the end counts.  So many rounds: it may go on for ever. */
static void take_said(struct command *command)
{
	const size_t half = sizeof(command->said) / 2;

	for (int round = 0; command->err >= 0 && round < SAID_ROUNDS; round++) {
		ssize_t got;

		if (command->said_size == sizeof(command->said)) {
			memmove(command->said, command->said + half, half);
			command->said_size = half;
			command->cut = true;
		}
		got = read(command->err, command->said + command->said_size,
			   sizeof(command->said) - command->said_size);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0 && errno == EAGAIN)
			return;
		if (got <= 0) {
			close(command->err);
			command->err = -1;
			return;
		}
		command->said_size += (size_t)got;
	}
}

void command_read(struct command *command)
{
	command->too_much |=
	    take(&command->out, command->text, sizeof(command->text), &command->size);
	take_said(command);
}

/*
 * Its own words: the last line that has any, where programs put what it comes down to.
 * Were the value among them, it is not shown; nor is a line whose beginning is lost, which
 * might begin within the value.
 */
static void quote_error(struct command *command, char *why, size_t why_size)
{
	const char *end = command->said + command->said_size, *line;
	size_t value = command->size, size;
	char *found;

	while (value && (command->text[value - 1] == '\n' || command->text[value - 1] == '\r'))
		value--;
	while (value >= 4 &&
	       (found = memmem(command->said, command->said_size, command->text, value)))
		memset(found, '*', value);
	while (end > command->said && strchr(" \t\r\n", end[-1]))
		end--;
	for (line = end; line > command->said && line[-1] != '\n'; line--)
		;
	size = (size_t)(end - line);
	if (!size || (line == command->said && command->cut) || strlen(why) + 8 > why_size)
		return;
	strcat(why, ": ");
	escape_text(why, why_size, line, size < LINE_SHOWN ? size : LINE_SHOWN);
}

enum source_result command_end(struct command *command, bool late, struct secret *out, char *why,
			       size_t why_size)
{
	enum source_result result = SOURCE_BAD;
	int status = 0;

	out->size = 0;
	close(command->life); /* where it runs still, it is killed */
	while (waitpid(command->pid, &status, 0) < 0 && errno == EINTR)
		;
	command_read(command);
	why[0] = '\0';
	if (command->too_much) {
		snprintf(why, why_size, "it printed more than 65536 bytes");
	} else if (late) {
		snprintf(why, why_size, "it was not done after %u seconds",
			 command->seconds);
		quote_error(command, why, why_size);
	} else if (WIFSIGNALED(status)) {
		snprintf(why, why_size, "it was killed by signal %d", WTERMSIG(status));
	} else if (WEXITSTATUS(status)) {
		snprintf(why, why_size, "it ended with status %d", WEXITSTATUS(status));
		quote_error(command, why, why_size);
	} else {
		char wrong[256];

		if (source_take(command->text, command->size, out, wrong, sizeof(wrong)))
			result = SOURCE_READ;
		else
			snprintf(why, why_size, "what it printed is no value: %s", wrong);
	}
	if (command->out >= 0)
		close(command->out);
	if (command->err >= 0)
		close(command->err);
	close(command->pidfd);
	OPENSSL_cleanse(command, sizeof(*command));
	return result;
}
