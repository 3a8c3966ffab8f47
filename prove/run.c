/*
 * prove/run.c - sbx-probe inside sbx-exec.
 *
 * The environment handed to sbx-exec is bait: one value for every name that the
 * policy speaks of.  A descriptor that it must close is left open.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <pty.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "compiler/stages.h"
#include "compiler/text.h"
#include "prove/prove.h"

#define PATIENCE_MS 200 /* a signal may have come to another thread */

enum { TO, FROM, SAID, PIPES };

struct session {
	pid_t pid;
	int pipe[PIPES]; /* our ends */
	const char *rest;
	size_t left;
	struct text answers, said;
};

static char **make_environment(struct prove *prove)
{
	uint32_t credentials = SBX_COUNT(&prove->blob, CREDENTIALS);
	char **names =
	    arena_array(prove->arena, prove->claims.count + credentials + 2, sizeof(*names));
	size_t count = 0;

	names[count++] = arena_printf(prove->arena, "PATH=" BAIT_PATH);
	for (size_t i = 0; i < prove->claims.count; i++) {
		const struct claim *claim = &prove->claims.items[i];
		bool twice = claim->section != SBX_SEC_ENV || !claim->object;
		char *entry;

		if (twice)
			continue;
		entry = arena_printf(prove->arena, "%s=" BAIT_VALUE, claim->object);
		for (size_t n = 0; n < count; n++)
			twice |= !strncmp(names[n], entry, strlen(claim->object) + 1);
		if (!twice)
			names[count++] = entry;
	}
	for (uint32_t i = 0; i < credentials; i++)
		if (keys_variable(prove, i))
			names[count++] =
			    arena_printf(prove->arena, "%s=" BAIT_VALUE, keys_variable(prove, i));
	return names;
}

_Noreturn static void become(struct prove *prove, const char *blob, char *const *environment)
{
	const char **argv = arena_array(prove->arena, 11 + 2 * prove->define_count, sizeof(*argv));
	size_t n = 0;

	if (blob) {
		argv[n++] = prove->launcher;
		argv[n++] = "-q";
		argv[n++] = "--backend";
		argv[n++] = sbx_backend_name(prove->target.backend);
		argv[n++] = "--workspace";
		argv[n++] = prove->scratch.work;
		for (size_t i = 0; i < prove->define_count; i++) {
			argv[n++] = "-D";
			argv[n++] = arena_printf(prove->arena, "%s=%s", prove->defines[i].name,
						 prove->defines[i].value);
		}
		argv[n++] = blob;
		argv[n++] = "--";
		argv[n++] = prove->scratch.probe;
	} else {
		argv[n++] = prove->probe;
	}
	argv[n] = NULL;
	signal(SIGXFSZ, SIG_DFL); /* as main() found it, mostly */
	execve(argv[0], (char *const *)(uintptr_t)argv, environment);
	fprintf(stderr, "%s: %s\n", argv[0], strerror(errno));
	_exit(125);
}

/* Standard error, as a pipe or as a terminal: both ends; what is said comes as it is. */
static bool make_said(const struct prove *prove, int ends[2])
{
	struct termios raw;

	if (!prove->terminal)
		return pipe2(ends, O_CLOEXEC) == 0;
	if (openpty(&ends[0], &ends[1], NULL, NULL, NULL))
		return false;
	for (int i = 0; i < 2; i++)
		fcntl(ends[i], F_SETFD, FD_CLOEXEC);
	tcgetattr(ends[1], &raw);
	cfmakeraw(&raw);
	return tcsetattr(ends[1], TCSANOW, &raw) == 0;
}

static bool start(struct prove *prove, const char *blob, struct session *session)
{
	char **environment = make_environment(prove);
	int pairs[PIPES][2];

	for (int i = 0; i < PIPES; i++)
		if (i == SAID ? !make_said(prove, pairs[i]) : pipe2(pairs[i], O_CLOEXEC) != 0)
			return false;
	session->pid = fork();
	if (session->pid == 0) {
		dup2(pairs[TO][0], STDIN_FILENO);
		dup2(pairs[FROM][1], STDOUT_FILENO);
		dup2(pairs[SAID][1], STDERR_FILENO);
		dup2(STDIN_FILENO, BAIT_FD);
		if (chdir(prove->scratch.work) == 0)
			become(prove, blob, environment);
		_exit(125);
	}
	close(pairs[TO][0]);
	close(pairs[FROM][1]);
	close(pairs[SAID][1]);
	session->pipe[TO] = pairs[TO][1];
	session->pipe[FROM] = pairs[FROM][0];
	session->pipe[SAID] = pairs[SAID][0];
	fcntl(session->pipe[TO], F_SETFL, O_NONBLOCK);
	return session->pid > 0;
}

static void finish(struct session *session, int which)
{
	if (session->pipe[which] >= 0)
		close(session->pipe[which]);
	session->pipe[which] = -1;
}

static void give(struct session *session)
{
	ssize_t done = write(session->pipe[TO], session->rest, session->left);

	if (done > 0) {
		session->rest += done;
		session->left -= (size_t)done;
	}
	if (!session->left || (done < 0 && errno != EAGAIN && errno != EINTR))
		finish(session, TO);
}

static void take(struct session *session, int which, struct text *text)
{
	char buffer[4096];
	ssize_t got = read(session->pipe[which], buffer, sizeof(buffer));

	if (got < 0 && errno == EINTR)
		return;
	for (ssize_t i = 0; i < got; i++)
		text_byte(text, buffer[i]);
	if (got <= 0)
		finish(session, which);
}

static void talk(struct session *session)
{
	bool told = false;

	while (session->pipe[FROM] >= 0 || session->pipe[SAID] >= 0) {
		struct pollfd fds[PIPES] = { { session->pipe[TO], POLLOUT, 0 },
					     { session->pipe[FROM], POLLIN, 0 },
					     { session->pipe[SAID], POLLIN, 0 } };

		if (prove_stopped && !told)
			told = kill(session->pid, SIGTERM) == 0;
		if (poll(fds, PIPES, PATIENCE_MS) < 0)
			continue;
		if (fds[TO].revents)
			give(session);
		if (fds[FROM].revents)
			take(session, FROM, &session->answers);
		if (fds[SAID].revents)
			take(session, SAID, &session->said);
	}
	finish(session, TO);
}

static const char **split(struct prove *prove, const char *text, size_t count)
{
	const char **answers = arena_array(prove->arena, count + 1, sizeof(*answers));

	for (size_t i = 0; i < count && *text; i++) {
		size_t length = strcspn(text, "\n");

		answers[i] = arena_copy(prove->arena, text, length);
		text += length + (text[length] == '\n');
	}
	return answers;
}

/* sbx-exec's first line, without its name. */
static const char *first_line(struct prove *prove, const char *said)
{
	static const char name[] = "sbx-exec: ";

	/* Of the name in LD_PRELOAD that a session may not see: whatever else starts says so. */
	while (!strncmp(said, "ERROR: ld.so: ", 14))
		said += strcspn(said, "\n") + (said[strcspn(said, "\n")] == '\n');
	if (!strncmp(said, name, sizeof(name) - 1))
		said += sizeof(name) - 1;
	return *said ? arena_copy(prove->arena, said, strcspn(said, "\n"))
		     : "the probe did not answer";
}

const char **run_probe(struct prove *prove, const struct sbx_blob *blob,
		       const char *const *requests, size_t count, const char **why)
{
	struct session session = { .answers.arena = prove->arena, .said.arena = prove->arena };
	struct text lines = { .arena = prove->arena };
	const char *path = NULL;
	int status = 0;

	prove->runs++;
	if (prove->progress)
		fprintf(stderr, "\r\33[Ksbxc prove: %s: run %u",
			sbx_backend_name(prove->target.backend), prove->runs);
	*why = "it was interrupted";
	if (prove_stopped)
		return NULL;
	if (blob) {
		path = arena_printf(prove->arena, "%s/tried.sbx", prove->scratch.blobs);
		if (!output_write(path, blob->base, blob->size)) {
			*why = arena_printf(prove->arena, "%s could not be written", path);
			return NULL;
		}
	}
	for (size_t i = 0; i < count; i++)
		text_add(&lines, "%s\n", requests[i]);
	session.rest = text_end(&lines);
	session.left = strlen(session.rest);
	if (!start(prove, path, &session)) {
		*why = arena_printf(prove->arena, "%s could not be started: %s",
				    blob ? prove->launcher : prove->probe, strerror(errno));
		return NULL;
	}
	talk(&session);
	while (waitpid(session.pid, &status, 0) < 0 && errno == EINTR)
		;
	*why = first_line(prove, text_end(&session.said));
	if (!session.answers.bytes.count && count)
		return NULL;
	return split(prove, text_end(&session.answers), count);
}
