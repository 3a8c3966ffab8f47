/*
 * Any bytes as a git configuration, which a program may have written: what git finds
 * in it, the launcher must find too.  SBX_FUZZ_GIT=1 asks git itself each time, some
 * hundred times a second; without, only that reading it is safe.
 */
#include "tests/fuzz/launcher.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "stub/git.h"

/* The exit status of git, and what it prints. */
static int ask_git(const char *text, size_t length, char *value, size_t size)
{
	char words[][19] = { "git",    "config",        "--file", "/proc/self/fd/100",
			     "--null", "core.hookspath" };
	char *argv[] = { words[0], words[1], words[2], words[3], words[4], words[5], NULL };
	int config = memfd_create("config", MFD_CLOEXEC),
	    answer = memfd_create("answer", MFD_CLOEXEC);
	int silent = open("/dev/null", O_RDWR | O_CLOEXEC), status, error;
	posix_spawn_file_actions_t actions;
	ssize_t got;
	pid_t child;

	if (write(config, text, length) != (ssize_t)length)
		fuzz_fault("no file for git");
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, config, 100);
	posix_spawn_file_actions_adddup2(&actions, answer, 1);
	posix_spawn_file_actions_adddup2(&actions, silent, 2);
	error = posix_spawnp(&child, "git", &actions, NULL, argv, environ);
	if (error)
		fuzz_fault("git cannot be run: %s", strerror(error));
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		; /* the fuzzer has an alarm */
	posix_spawn_file_actions_destroy(&actions);
	got = pread(answer, value, size - 1, 0);
	value[got > 0 ? got : 0] = '\0';
	close(config);
	close(answer);
	close(silent);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

struct input {
	const uint8_t *data;
	size_t size;
};

static void read_config(void *data)
{
	const struct input *in = data;
	char *text = malloc(in->size + 1), value[4096];
	const char *found;
	bool includes;

	memcpy(text, in->data, in->size);
	for (size_t i = 0; i < in->size; i++)
		if (!text[i])
			text[i] = '#'; /* as git.c reads it */
	text[in->size] = '\0';
	found = git_config_core(text, "hookspath", &includes);
	if (found && strlen(found) > in->size)
		fuzz_fault("a value longer than the file");
	/* One that git does not take as a whole it does not use at all. */
	if (getenv("SBX_FUZZ_GIT") && !ask_git(text, in->size, value, sizeof(value)) &&
	    (!found ? *value != '\0' : strcmp(found, value) != 0))
		fuzz_fault("git finds '%s', we '%s'", value, found ? found : "(nothing)");
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, size };

	if (launcher_run(read_config, &in) >= 0)
		fuzz_fault("it refused");
	return 0;
}
