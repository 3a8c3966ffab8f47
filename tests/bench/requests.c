/*
 * tests/bench/requests.c - how long a command takes, and how often it can be run.
 *
 *	requests WORD...                              one for each line of the input
 *	requests RATE SECONDS CLIENTS WANT WORD...    RATE of them a second
 *
 * The first says microseconds and status.  The second says how many were run, how many
 * of them did not say WANT, and median and 99th percentile of their microseconds.  It is
 * the same program inside a session and outside.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MOST 100000

extern char **environ;

struct tally {
	unsigned done, wrong;
	long took[MOST];
};

static long now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000 + time.tv_nsec / 1000;
}

/* All that it says, cut where @text is full. */
static int run(char **words, char *text, size_t size)
{
	posix_spawn_file_actions_t actions;
	size_t length = 0;
	char rest[4096];
	int ends[2], status = -1;
	ssize_t got;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC))
		exit(2);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
	posix_spawn_file_actions_adddup2(&actions, ends[1], 2);
	if (posix_spawnp(&pid, words[0], &actions, NULL, words, environ))
		exit(2);
	posix_spawn_file_actions_destroy(&actions);
	close(ends[1]);
	while ((got = read(ends[0], rest, sizeof(rest))) > 0)
		for (ssize_t at = 0; at < got && length + 1 < size; at++)
			text[length++] = rest[at];
	text[length] = '\0';
	close(ends[0]);
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

/* One client: its next command is due @every microseconds after the last, or at once. */
static void repeat(struct tally *tally, char **words, const char *want, long first, long every,
		   long end)
{
	static char text[65536];

	for (long due = first; due < end; due += every) {
		long began = now();
		unsigned mine;

		if (began < due)
			usleep((useconds_t)(due - began));
		began = now();
		if (began >= end)
			return;
		run(words, text, sizeof(text));
		mine = __atomic_fetch_add(&tally->done, 1, __ATOMIC_SEQ_CST);
		if (mine < MOST)
			tally->took[mine] = now() - began;
		if (!strstr(text, want))
			__atomic_fetch_add(&tally->wrong, 1, __ATOMIC_SEQ_CST);
	}
}

static int compare(const void *a, const void *b)
{
	long one = *(const long *)a, other = *(const long *)b;

	return (one > other) - (one < other);
}

static void sustain(long rate, long seconds, long clients, const char *want, char **words)
{
	struct tally *tally = mmap(NULL, sizeof(*tally), PROT_READ | PROT_WRITE,
				   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	long begin = now() + 50000, every = 1000000 * clients / rate;
	unsigned kept;

	if (tally == MAP_FAILED)
		exit(2);
	for (long client = 0; client < clients; client++)
		if (!fork()) {
			repeat(tally, words, want, begin + client * every / clients, every,
			       begin + seconds * 1000000);
			_exit(0);
		}
	while (wait(NULL) > 0)
		;
	kept = tally->done < MOST ? tally->done : MOST;
	qsort(tally->took, kept, sizeof(long), compare);
	printf("%u %u %ld %ld\n", tally->done, tally->wrong, tally->took[kept / 2],
	       tally->took[kept - 1 - kept / 100]);
}

int main(int argc, char **argv)
{
	static char line[64], text[65536];

	if (argc > 5 && atoi(argv[1])) {
		sustain(atol(argv[1]), atol(argv[2]), atol(argv[3]), argv[4], argv + 5);
		return 0;
	}
	while (argc > 1 && fgets(line, sizeof(line), stdin)) {
		long began = now();
		int status = run(argv + 1, text, sizeof(text));

		printf("%ld %d\n", now() - began, status);
		fflush(stdout);
	}
	return 0;
}
