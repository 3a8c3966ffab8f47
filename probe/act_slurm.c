/*
 * probe/act_slurm.c - does sbx-chaperon answer to a client of Slurm?
 *
 * The client is what PATH has under that name, asked for an option that no table has:
 * sbx-chaperon refuses that before it asks anybody, and it alone says it like this.  A
 * real client says something else, and so does ours where nobody answers it.
 */
#include "probe/act.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "probe/protocol.h"

#define WORDS_MAX 4 /* "scontrol show job", and the option */

/* What was said is in the pipe, or why nothing was. */
static _Noreturn void become(char *words[], int said, int failed)
{
	int error;

	dup2(said, STDOUT_FILENO);
	dup2(said, STDERR_FILENO);
	close(STDIN_FILENO);
	execvp(words[0], words);
	error = errno;
	if (write(failed, &error, sizeof(error)) < 0)
		_exit(126);
	_exit(127);
}

static void take_text(int fd, char *text, size_t size)
{
	size_t have = 0;
	char rest[512];
	ssize_t got;

	while ((got = read(fd, rest, sizeof(rest))) > 0)
		for (ssize_t i = 0; i < got && have + 1 < size; i++)
			text[have++] = rest[i];
	text[have] = '\0';
}

/* The answer to @words, in @text; 0, or why they could not be run. */
static int run(char *words[], char *text, size_t size)
{
	int said[2], failed[2], error = 0;
	pid_t child;

	if (pipe2(said, O_CLOEXEC) || pipe2(failed, O_CLOEXEC))
		return errno;
	child = fork();
	if (child < 0)
		return errno;
	if (!child)
		become(words, said[1], failed[1]);
	close(said[1]);
	close(failed[1]);
	take_text(said[0], text, size);
	if (read(failed[0], &error, sizeof(error)) < 0)
		error = errno;
	waitpid(child, NULL, 0);
	return error;
}

int act_slurm(const char *command)
{
	char name[64], option[] = PROBE_SLURM_OPTION, text[1024];
	char *words[WORDS_MAX + 1] = { 0 }, *rest;
	size_t count = 0;
	int error;

	if (strlen(command) >= sizeof(name))
		return ENAMETOOLONG;
	strcpy(name, command);
	for (char *word = strtok_r(name, "-", &rest); word && count + 1 < WORDS_MAX;
	     word = strtok_r(NULL, "-", &rest))
		words[count++] = word;
	words[count] = option;
	error = run(words, text, sizeof(text));
	if (error)
		return error;
	/* Ours would have said its own name first. */
	return !strncmp(text, "sbx: ", 5) && strstr(text, option) ? 0 : ECONNREFUSED;
}
