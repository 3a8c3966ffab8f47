/*
 * chaperon/sweep.c - see sweep.h.
 *
 * A job may be requeued, so what it finds on its node stays when it ends.  Most days
 * nothing here is old, and then nothing is asked.  A policy goes when no job has been
 * submitted under it for as long, and no envelope names it any more.
 */
#include "chaperon/sweep.h"

#include "blob/job_wire.h"
#include "chaperon/tables.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define OLD_SECONDS (30 * 24 * 3600)
#define TAGS_MAX    1024 /* the others have their turn another time */
#define QUEUE_SIZE  (4u << 20)
#define POLICIES_MAX 64
#define HEX "0123456789abcdef"

static bool is_tag(const char *name)
{
	return !strncmp(name, "sbx-", 4) && strlen(name) == 36 &&
	       strspn(name + 4, HEX) == 32;
}

static bool is_old(int jobs, const char *name, mode_t type)
{
	struct stat status;

	return !fstatat(jobs, name, &status, AT_SYMLINK_NOFOLLOW) &&
	       (status.st_mode & S_IFMT) == type && status.st_mtime < time(NULL) - OLD_SECONDS;
}

/* ---- envelopes ------------------------------------------------------------------------ */

static size_t find_old(int jobs, char (*tags)[JOB_TAG_SIZE])
{
	DIR *directory = fdopendir(dup(jobs));
	const struct dirent *entry;
	size_t count = 0;

	while (directory && count < TAGS_MAX && (entry = readdir(directory)))
		if (is_tag(entry->d_name) && is_old(jobs, entry->d_name, S_IFDIR))
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

static void sweep_envelopes(const struct session *session, int jobs)
{
	static const char *const squeue[] = { "/usr/bin/squeue", "--me",        "--noheader",
					      "--all",           "--format=%k", NULL };
	static char tags[TAGS_MAX][JOB_TAG_SIZE];
	size_t count = find_old(jobs, tags);
	char *queue = count ? malloc(QUEUE_SIZE) : NULL;

	if (queue && tables_hear(session, squeue, queue, QUEUE_SIZE))
		for (size_t i = 0; i < count; i++)
			if (!strstr(queue, tags[i]))
				remove_envelope(jobs, tags[i]);
	free(queue);
}

/* ---- policies ------------------------------------------------------------------------- */

struct policies {
	char digests[POLICIES_MAX][65];
	bool named[POLICIES_MAX]; /* by an envelope that is there */
	size_t count;
};

static bool is_policy(const char *name)
{
	return strspn(name, HEX) == 64 && !strcmp(name + 64, SBX_JOB_POLICY);
}

/* One that a chaperon did not come to give its name. */
static bool is_half(const char *name)
{
	return *name == '.' && strspn(name + 1, HEX) == 64 && name[65] == '.';
}

static void find_policies(int jobs, DIR *directory, struct policies *old)
{
	const struct dirent *entry;

	while (old->count < POLICIES_MAX && (entry = readdir(directory))) {
		const char *name = entry->d_name;

		if ((!is_policy(name) && !is_half(name)) || !is_old(jobs, name, S_IFREG))
			continue;
		if (is_half(name))
			unlinkat(jobs, name, 0);
		else
			snprintf(old->digests[old->count++], 65, "%.64s", name);
	}
}

/* False: nobody can tell which one it names. */
static bool note_envelope(int jobs, const char *tag, struct policies *old)
{
	static const char head[] = "version " SBX_JOB_VERSION "\0blob ";
	char name[JOB_TAG_SIZE + sizeof(SBX_JOB_ENVELOPE) + 1], text[sizeof(head) + 64] = "";
	ssize_t size;
	int fd;

	snprintf(name, sizeof(name), "%.*s/" SBX_JOB_ENVELOPE, JOB_TAG_SIZE, tag);
	fd = openat(jobs, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT || errno == ENOTDIR; /* there is none */
	size = read(fd, text, sizeof(text));
	close(fd);
	if (size != sizeof(text) || memcmp(text, head, sizeof(head) - 1) != 0)
		return false;
	for (size_t i = 0; i < old->count; i++)
		old->named[i] |= !memcmp(text + sizeof(head) - 1, old->digests[i], 65);
	return true;
}

/* Each job that is submitted makes its policy young again. */
static void sweep_policies(int jobs)
{
	DIR *directory = fdopendir(dup(jobs));
	struct policies old = { 0 };
	const struct dirent *entry;
	bool told = true;

	if (!directory)
		return;
	rewinddir(directory);
	find_policies(jobs, directory, &old);
	rewinddir(directory);
	while (old.count && told && (entry = readdir(directory)))
		if (is_tag(entry->d_name))
			told = note_envelope(jobs, entry->d_name, &old);
	closedir(directory);
	for (size_t i = 0; i < old.count && told; i++) {
		char name[65 + sizeof(SBX_JOB_POLICY)];

		snprintf(name, sizeof(name), "%s" SBX_JOB_POLICY, old.digests[i]);
		if (!old.named[i] && is_old(jobs, name, S_IFREG))
			unlinkat(jobs, name, 0);
	}
}

void sweep_jobs(const struct session *session)
{
	int jobs = open(session->jobs, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (jobs < 0)
		return;
	sweep_envelopes(session, jobs);
	sweep_policies(jobs);
	close(jobs);
}
