/*
 * sbx-probe: tries what a policy claims, inside the sandbox.
 *
 * It needs no library, no loader and no file.  Each request is done by a child
 * of its own, so that one which the filter kills, or which never comes back,
 * is an answer like any other.  Where a policy refuses fork(2), it is done here.
 */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "probe/act.h"
#include "probe/protocol.h"
#include "probe/self.h"

#define REQUESTS_SIZE (4u << 20)
#define PATIENCE_S    5 /* for a call that waits: on a busy machine others take long, too */
#define CALL_WORDS    7
#define PROBE_SAID_SIZE 768 /* of a refusal: its rule and place stand at its beginning */

static char requests[REQUESTS_SIZE];

/* Shared with the child.  Each request has one of its own: a call that made a process
 * has two who answer, and the second may come late. */
struct result {
	volatile int done;
	volatile int error;
	char said[PROBE_SAID_SIZE];
};

/* %XX back into bytes, in place. */
static void unescape(char *word)
{
	char *to = word;

	for (const char *from = word; *from; from++) {
		char digits[3] = { 0 };

		if (*from == '%' && from[1] && from[2]) {
			memcpy(digits, from + 1, 2);
			*to++ = (char)strtoul(digits, NULL, 16);
			from += 2;
		} else {
			*to++ = *from;
		}
	}
	*to = '\0';
}

/* By the kernel's own entry: a library would look at the arguments first. */
static int act_call(char *words)
{
	long word[CALL_WORDS] = { 0 };
	long result;

	for (size_t i = 0; i < CALL_WORDS && *words; i++)
		word[i] = (long)strtoull(words, &words, 0);
	result = syscall(word[0], word[1], word[2], word[3], word[4], word[5], word[6]);
	return result == -1 ? errno : 0;
}

static int act(const char *verb, char *object, char said[PROBE_SAID_SIZE])
{
	static const struct {
		const char *verb;
		int (*act)(const char *object);
	} plain[] = {
		{ "read", act_read }, { "write", act_write },       { "make", act_make },
		{ "move", act_move }, { "exchange", act_exchange }, { "exec", act_exec },
		{ "run", act_run },   { "unix", act_unix },         { "abstract", act_abstract },
		{ "use", act_use },   { "link", act_link },         { "unlink", act_unlink },
		{ "bind", act_bind }, { "over", act_over },         { "displace", act_displace },
		{ "mkdir", act_mkdir }, { "slurm", act_slurm },
	};
	char *more;

	if (!strcmp(verb, "call"))
		return act_call(object);
	if (!strcmp(verb, "limit") && (more = strchr(object, ' '))) {
		*more = '\0';
		return act_limit(object, strtoull(more + 1, NULL, 10));
	}
	unescape(object);
	if (!strcmp(verb, "proxy"))
		return act_proxy(object, said, PROBE_SAID_SIZE);
	if (!strcmp(verb, "tcp"))
		return act_tcp((unsigned)strtoul(object, NULL, 10));
	if (!strcmp(verb, "listen"))
		return act_listen((unsigned)strtoul(object, NULL, 10));
	if (!strcmp(verb, "port"))
		return act_port((unsigned)strtoul(object, NULL, 10));
	if (!strcmp(verb, "wait"))
		return act_wait((unsigned)strtoul(object, NULL, 10));
	if (!strcmp(verb, "fd"))
		return act_fd(atoi(object));
	for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++)
		if (!strcmp(verb, plain[i].verb))
			return plain[i].act(object);
	return act_kind(verb, object);
}

static void answer_text(const char *word, const char *text)
{
	printf("%s ", word);
	for (; *text; text++)
		printf(*text > ' ' && *text < 0x7f && *text != '%' ? "%c" : "%%%02x",
		       (unsigned char)*text);
	putchar('\n');
}

static void answer_env(const char *name)
{
	const char *value = getenv(name);

	if (value)
		answer_text("value", value);
	else
		printf("error %d\n", ENOENT);
}

/* The child's end, or nothing after a while: then it is ended. */
static int wait_for(pid_t child, bool *late)
{
	const struct timespec patience = { .tv_sec = PATIENCE_S };
	int status = 0;
	sigset_t ends;

	sigemptyset(&ends);
	sigaddset(&ends, SIGCHLD);
	while (waitpid(child, &status, WNOHANG) == 0) {
		if (sigtimedwait(&ends, NULL, &patience) >= 0)
			continue;
		*late = true;
		kill(child, SIGKILL);
		waitpid(child, &status, 0);
		break;
	}
	return status;
}

static void answer(struct result *result, const char *verb, char *object)
{
	bool late = false;
	pid_t child;
	int status;

	child = fork();
	if (child <= 0) {
		result->error = act(verb, object, result->said);
		result->done = 1;
		if (child == 0)
			_exit(0);
	}
	status = child > 0 ? wait_for(child, &late) : 0;
	if (result->done && result->error == ACT_REFUSED)
		answer_text("refused", result->said);
	else if (result->done && result->error)
		printf("error %d\n", result->error);
	else if (result->done)
		puts("ok");
	else if (WIFSIGNALED(status) && !late)
		printf("signal %d\n", WTERMSIG(status));
	else if (WIFEXITED(status) && WEXITSTATUS(status) == 0 && !strcmp(verb, "run"))
		puts("ok");
	else
		puts("gone");
}

static void answer_all(void)
{
	size_t have = 0, count = 1;
	struct result *results;
	ssize_t got;
	sigset_t ends;

	sigemptyset(&ends);
	sigaddset(&ends, SIGCHLD);
	sigprocmask(SIG_BLOCK, &ends, NULL);
	while ((got = read(STDIN_FILENO, requests + have, REQUESTS_SIZE - 1 - have)) > 0)
		have += (size_t)got;
	for (size_t i = 0; i < have; i++)
		count += requests[i] == '\n';
	results = mmap(NULL, count * sizeof(*results), PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (results == MAP_FAILED)
		return;
	for (char *line = requests, *end; (end = strchr(line, '\n')); line = end + 1) {
		char *object = line;

		*end = '\0';
		object += strcspn(line, " ");
		if (*object)
			*object++ = '\0';
		if (!strcmp(line, "env"))
			answer_env(object);
		else
			answer(results++, line, object);
		fflush(stdout); /* a later request may end us */
	}
}

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], PROBE_QUIET))
		return 0;
	if (argc == 2 && !strcmp(argv[1], "--self"))
		return self_report();
	if (argc == 2 && !strcmp(argv[1], "--version")) {
		puts("sbx-probe " SBX_VERSION);
		return 0;
	}
	if (argc != 1) {
		fputs("usage: sbx-probe [--self]\n"
		      "Tries what it is asked on standard input, for sbxc prove.\n"
		      "  --self   is this process confined, and by what?  By trying.\n",
		      argc == 2 && !strcmp(argv[1], "--help") ? stdout : stderr);
		return argc == 2 && !strcmp(argv[1], "--help") ? 0 : 2;
	}
	answer_all();
	return 0;
}
