/*
 * chaperon/sweep.c - see sweep.h.
 *
 * A job may be requeued, so what it finds on its node stays when it ends.  Most days
 * nothing here is old, and then nothing is asked.
 */
#include "chaperon/sweep.h"

#include "chaperon/tables.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define OLD_SECONDS (30 * 24 * 3600)
#define TAGS_MAX    1024 /* the others have their turn another time */
#define QUEUE_SIZE  (4u << 20)

static bool is_tag(const char *name)
{
	return !strncmp(name, "sbx-", 4) && strlen(name) == 36 &&
	       strspn(name + 4, "0123456789abcdef") == 32;
}

static bool is_old(int jobs, const char *name)
{
	struct stat status;

	return is_tag(name) && !fstatat(jobs, name, &status, AT_SYMLINK_NOFOLLOW) &&
	       S_ISDIR(status.st_mode) && status.st_mtime < time(NULL) - OLD_SECONDS;
}

static size_t find_old(int jobs, char (*tags)[JOB_TAG_SIZE])
{
	DIR *directory = fdopendir(dup(jobs));
	const struct dirent *entry;
	size_t count = 0;

	while (directory && count < TAGS_MAX && (entry = readdir(directory)))
		if (is_old(jobs, entry->d_name))
			strcpy(tags[count++], entry->d_name);
	if (directory)
		closedir(directory);
	return count;
}

/* Files alone; whatever else lies there keeps it. */
static void remove_envelope(int jobs, const char *tag)
{
	int fd = openat(jobs, tag, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *directory = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;

	while (directory && (entry = readdir(directory)))
		unlinkat(fd, entry->d_name, 0);
	if (directory)
		closedir(directory);
	unlinkat(jobs, tag, AT_REMOVEDIR);
}

void sweep_envelopes(const struct session *session)
{
	static const char *const squeue[] = { "/usr/bin/squeue", "--me", "--noheader",
					      "--format=%k", NULL };
	static char tags[TAGS_MAX][JOB_TAG_SIZE];
	int jobs = open(session->jobs, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	size_t count = jobs < 0 ? 0 : find_old(jobs, tags);
	char *queue = count ? malloc(QUEUE_SIZE) : NULL;

	if (queue && tables_hear(session, squeue, queue, QUEUE_SIZE))
		for (size_t i = 0; i < count; i++)
			if (!strstr(queue, tags[i]))
				remove_envelope(jobs, tags[i]);
	free(queue);
	if (jobs >= 0)
		close(jobs);
}
