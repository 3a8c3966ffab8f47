/*
 * chaperon/minder.c - see minder.h.
 *
 * The real srun gives back its nodes when it is told to end, but that takes it some
 * answers of slurmctld's, and one that is killed outright leaves its job to its time
 * limit.  So the minder gives those that are left behind their time, then asks the queue,
 * and cancels what has their tags.
 */
#include "chaperon/minder.h"

#include "blob/chaperon_wire.h"
#include "chaperon/tables.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define HELD_MAX   (2 * CHAPERON_CLIENTS_MAX)
#define QUEUE_SIZE (4u << 20)
#define NEWS_FD    (SBX_HELPER_WIRE_FD + 1)
enum {
	END_MS = 6500,  /* srun waits 5 s for its step, and then gives back the job */
	ASK_MS = 500,   /* between two questions to a Slurm that does not answer */
	ALL_MS = 10000, /* then sbx-exec does not wait any more */
};

struct news {
	char tag[JOB_TAG_SIZE];
	pid_t pid; /* 0: it is released */
};
struct held {
	char tag[JOB_TAG_SIZE];
	int pidfd;
};

static int to_minder = -1; /* -1: there is none */

/* ---- the minder -------------------------------------------------------------------------- */

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static void drop(struct held *all, size_t *count, size_t which)
{
	if (all[which].pidfd >= 0)
		close(all[which].pidfd);
	all[which] = all[--*count];
}

static void take_news(struct held *all, size_t *count, const struct news *news)
{
	if (news->pid && *count < HELD_MAX) {
		struct held *held = &all[(*count)++];

		memcpy(held->tag, news->tag, sizeof(held->tag));
		held->pidfd = (int)syscall(SYS_pidfd_open, news->pid, 0);
	}
	for (size_t i = 0; !news->pid && i < *count; i++)
		if (!strcmp(all[i].tag, news->tag))
			drop(all, count, i--);
}

/* The kernel has told them to end, as their parent did. */
static void wait_for_ends(const struct held *all, size_t count, uint64_t until)
{
	for (size_t i = 0; i < count; i++) {
		struct pollfd fd = { all[i].pidfd, POLLIN, 0 };
		uint64_t now = now_ms();

		if (now < until && fd.fd >= 0)
			poll(&fd, 1, (int)(until - now));
	}
}

/* One line "JOB TAG" of the queue. */
static bool cancel(const struct session *session, const char *line, const struct held *all,
		   size_t count)
{
	char job[16], said[1024];
	const char *const scancel[] = { "/usr/bin/scancel", job, NULL };
	size_t digits = strspn(line, "0123456789"), length = strcspn(line, "\n");

	for (size_t i = 0; i < count; i++) {
		if (!digits || digits >= sizeof(job) || line[digits] != ' ' ||
		    length - digits - 1 != strlen(all[i].tag) ||
		    memcmp(line + digits + 1, all[i].tag, length - digits - 1) != 0)
			continue;
		snprintf(job, sizeof(job), "%.*s", (int)digits, line);
		return tables_hear(session, scancel, said, sizeof(said));
	}
	return true; /* not ours */
}

/* False: Slurm did not answer. */
static bool cancel_all(const struct session *session, const struct held *all, size_t count)
{
	static const char *const squeue[] = { "/usr/bin/squeue", "--me", "--noheader", "--all",
					      "--states=pending,configuring,running,suspended",
					      "--format=%A %k", NULL };
	char *queue = malloc(QUEUE_SIZE);
	bool done = queue && tables_hear(session, squeue, queue, QUEUE_SIZE);

	for (const char *at = queue; done && *at; at += strcspn(at, "\n") + (strchr(at, '\n') != NULL))
		done = cancel(session, at, all, count);
	free(queue);
	return done;
}

static _Noreturn void mind(const struct session *session)
{
	static struct held all[HELD_MAX];
	size_t count = 0;
	struct news news;
	uint64_t end;

	while (read(NEWS_FD, &news, sizeof(news)) == sizeof(news))
		take_news(all, &count, &news);
	end = now_ms() + ALL_MS;
	wait_for_ends(all, count, end - ALL_MS + END_MS);
	while (count && !cancel_all(session, all, count) && now_ms() < end)
		poll(NULL, 0, ASK_MS);
	_exit(0);
}

/* ---- sbx-chaperon's side ------------------------------------------------------------------ */

/* Nothing of the chaperon's is left in it but the launcher's socket. */
static void begin(const struct session *session)
{
	int ends[2];
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC | O_NONBLOCK))
		return;
	fcntl(ends[0], F_SETFL, 0); /* the minder waits; nobody waits for it */
	pid = fork();
	if (!pid) {
		signal(SIGCHLD, SIG_DFL);
		setsid();
		prctl(PR_SET_NAME, "sbx-minder");
		if (dup2(ends[0], NEWS_FD) != NEWS_FD || close_range(NEWS_FD + 1, ~0u, 0))
			_exit(1);
		mind(session);
	}
	close(ends[0]);
	if (pid > 0)
		to_minder = ends[1];
	else
		close(ends[1]);
}

static void tell(const char *tag, pid_t pid)
{
	struct news news = { .pid = pid };

	snprintf(news.tag, sizeof(news.tag), "%s", tag);
	if (write(to_minder, &news, sizeof(news)) != sizeof(news)) {
		close(to_minder); /* it is gone, and the next srun has another */
		to_minder = -1;
	}
}

void minder_hold(const struct session *session, const char *tag, pid_t pid)
{
	if (to_minder < 0)
		begin(session);
	if (to_minder >= 0)
		tell(tag, pid);
}

void minder_let_go(const char *tag)
{
	if (to_minder >= 0)
		tell(tag, 0);
}
