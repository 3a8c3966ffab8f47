/*
 * chaperon/record.c - see record.h.
 */
#include "chaperon/record.h"

#include "chaperon/record_jobs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_MAX_BYTES (64 << 20)
#define SPARE_LINES    4096 /* so many more lines than jobs make it worth to write it anew */

bool directories_make(const char *path)
{
	char part[4096];

	if (snprintf(part, sizeof(part), "%s", path) >= (int)sizeof(part))
		return false;
	for (char *at = part + 1; *at; at++)
		if (*at == '/') {
			*at = '\0';
			if (mkdir(part, 0700) && errno != EEXIST)
				return false;
			*at = '/';
		}
	return !mkdir(part, 0700) || errno == EEXIST;
}

/* A project that submits nothing leaves none: only @create makes it. */
static bool open_file(struct record *record, bool create)
{
	if (record->fd < 0)
		record->fd =
		    open(record->path,
			 O_RDWR | O_APPEND | O_NOFOLLOW | O_CLOEXEC | (create ? O_CREAT : 0), 0600);
	return record->fd >= 0;
}

const char *record_open(struct record *record, const struct session *session)
{
	struct sbx_sha256 sum;
	uint8_t digest[32];
	char *path = record->path;
	const size_t size = sizeof(record->path);
	size_t length;

	*record = (struct record){ .fd = -1, .session = session };
	if (!directories_make(session->state))
		return "the directory of the records of jobs cannot be made";
	sbx_sha256_init(&sum);
	sbx_sha256_add(&sum, session->workspace, strlen(session->workspace));
	sbx_sha256_end(&sum, digest);
	length = (size_t)snprintf(path, size, "%.4000s/", session->state);
	for (size_t i = 0; i < 16; i++)
		length += (size_t)snprintf(path + length, size - length, "%02x", digest[i]);
	snprintf(path + length, size - length, ".jsonl");
	record_refresh(record);
	return NULL; /* what is wrong with it each command says */
}

/* ---- reading ------------------------------------------------------------------------- */

static bool wrong(struct record *record, const char *what, int error)
{
	snprintf(record->wrong, sizeof(record->wrong), "%s%s%s", what, error ? ": " : "",
		 error ? strerror(error) : "");
	return false;
}

static void read_lines(struct record *record, const char *text, size_t size)
{
	const char *end;

	for (const char *at = text; (end = memchr(at, '\n', (size_t)(text + size - at)));
	     at = end + 1) {
		if (!record_take(record, at, (size_t)(end - at))) {
			snprintf(record->wrong, sizeof(record->wrong),
				 "cannot be understood: mend or remove line %zu",
				 record->at_line--);
			return;
		}
		record->seen += end + 1 - at;
	} /* a line that is being written: the next time */
}

static bool read_on(struct record *record, off_t end)
{
	size_t size = (size_t)(end - record->seen), have = 0;
	char *text;
	ssize_t got = 1;

	if (end > FILE_MAX_BYTES)
		return wrong(record,
			     "has more than 64 MiB: move it away when the project has no job in "
			     "the queue; its budgets begin anew then",
			     0);
	if (!size)
		return true;
	text = malloc(size);
	if (!text)
		return wrong(record, "cannot be read", ENOMEM);
	while (have < size && got > 0) {
		got = pread(record->fd, text + have, size - have, record->seen + (off_t)have);
		have += got > 0 ? (size_t)got : 0;
	}
	if (got < 0)
		wrong(record, "cannot be read", errno);
	else
		read_lines(record, text, have);
	free(text);
	return !*record->wrong;
}

/* Another session has written it anew, or somebody has moved it away. */
static bool is_replaced(const struct record *record)
{
	struct stat here, there;

	if (record->fd < 0 || fstat(record->fd, &here))
		return false;
	if (lstat(record->path, &there))
		return errno == ENOENT;
	return here.st_ino != there.st_ino;
}

static void shut(struct record *record)
{
	close(record->fd);
	record->fd = -1;
}

void record_refresh(struct record *record)
{
	struct stat status = { 0 };
	struct record old;

	*record->wrong = '\0';
	if (!record->held && is_replaced(record))
		shut(record);
	if (!open_file(record, false) && errno != ENOENT) {
		wrong(record, "cannot be opened", errno);
	} else if (record->fd >= 0 && fstat(record->fd, &status)) {
		wrong(record, "cannot be read", errno);
	} else if (status.st_ino == record->inode && status.st_size >= record->seen) {
		read_on(record, status.st_size);
	} else {
		record_forget(record, &old);
		record->inode = status.st_ino;
		read_on(record, status.st_size);
		record_forget_end(record, &old);
	}
}

const char *record_trouble(const struct record *record)
{
	return *record->wrong ? record->wrong : strerror(record->error);
}

/* ---- writing ---------------------------------------------------------------------------- */

/* One line, a JSON object, with its newline; to be freed. */
static char *line_text(const json_t *line, size_t *size)
{
	char *text = json_dumps(line, JSON_COMPACT | JSON_ENSURE_ASCII);

	if (text) {
		*size = strlen(text) + 1;
		text[*size - 1] = '\n'; /* in the place of its NUL */
	}
	return text;
}

/* What follows the last whole line is of a writer that died: none is there under the lock. */
static bool cut_tail(struct record *record)
{
	struct stat status;

	return !fstat(record->fd, &status) &&
	       (status.st_size == record->seen || !ftruncate(record->fd, record->seen));
}

/* All of it is on the disk, or nothing. */
static bool put(struct record *record, const char *text, size_t size)
{
	ssize_t written;

	do
		written = write(record->fd, text, size);
	while (written < 0 && errno == EINTR);
	if (written == (ssize_t)size && (!fdatasync(record->fd) || errno == EINVAL))
		return true;
	record->error = written < 0 || written == (ssize_t)size ? errno : ENOSPC;
	(void)cut_tail(record); /* else the next one does */
	return false;
}

/* What is known of the job and @line says more of, in one. */
static json_t *whole_line(const struct job *job, json_t *line)
{
	json_t *whole = job ? record_line(job) : json_object();

	json_object_update(whole, line);
	if (json_object_get(line, "job"))
		json_object_del(whole, "failed"); /* sbatch said so, and Slurm has it */
	return whole;
}

/* Of @line and @whole the one that the file needs: it may have been moved away since the job
 * began, or been written anew without one that had failed, and more about a job that it does
 * not have nobody could read.  NULL, with @error: nothing is known of it here, either. */
static char *fitting_text(struct record *record, const char *tag, const json_t *line,
			  const json_t *whole, size_t *size)
{
	const struct job *job = record_job(record, tag);
	char *text = NULL;

	record->error = ENOENT;
	if (job && !job->lost)
		whole = line;
	else if (!json_object_get(whole, "time"))
		return NULL;
	text = line_text(whole, size);
	record->error = text ? EIO : ENOMEM;
	return text;
}

/* @line is about the job @tag; it is let go. */
static bool append(struct record *record, const char *tag, json_t *line)
{
	json_t *whole = whole_line(record_job(record, tag), line);
	size_t size = 0;
	bool written;
	char *text;

	record_lock(record);
	text = fitting_text(record, tag, line, whole, &size);
	written = text && !*record->wrong && record->fd >= 0 && cut_tail(record) &&
		  put(record, text, size);
	record_refresh(record);
	record_unlock(record);
	json_decref(whole);
	json_decref(line);
	free(text);
	return written;
}

/* ---- writing anew ------------------------------------------------------------------------- */

static bool is_worth_it(const struct record *record)
{
	size_t kept = 0;

	if (*record->wrong || record->at_line < SPARE_LINES || record->at_line < record->retry)
		return false;
	for (size_t i = 0; i < record->count; i++)
		kept += record_keeps(&record->jobs[i]);
	kept -= record_spare(record);
	return record->at_line - kept > SPARE_LINES && record->at_line / 3 * 2 > kept;
}

static bool write_jobs(const struct record *record, int fd)
{
	FILE *file = fdopen(fd, "w");
	bool good = file;

	for (size_t i = 0; i < record->count && good; i++) {
		size_t size = 0;
		json_t *line;
		char *text;

		if (!record_keeps(&record->jobs[i]))
			continue;
		line = record_line(&record->jobs[i]);
		text = line_text(line, &size);
		good = text && fwrite(text, 1, size, file) == size;
		json_decref(line);
		free(text);
	}
	if (!file) {
		close(fd);
		return false;
	}
	good = good && !fflush(file) && !fsync(fd);
	return !fclose(file) && good;
}

/* A line for each job in the place of all that was said of it.  False: it stays as it was. */
static bool write_anew(struct record *record)
{
	char path[sizeof(record->path) + 8];
	int fd;

	snprintf(path, sizeof(path), "%s.new", record->path);
	unlink(path); /* of one that died; the lock is ours */
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd >= 0 && write_jobs(record, fd) && !rename(path, record->path))
		return true;
	unlink(path);
	record->retry = record->at_line + SPARE_LINES;
	return false;
}

/* ---- the lock ------------------------------------------------------------------------------ */

/* Of the file that has the name now. */
static bool lock_file(struct record *record)
{
	do {
		if (is_replaced(record))
			shut(record);
		while (open_file(record, true) && flock(record->fd, LOCK_EX))
			if (errno != EINTR)
				return false;
	} while (is_replaced(record));
	return record->fd >= 0;
}

void record_lock(struct record *record)
{
	bool locked;

	if (record->held++)
		return;
	locked = lock_file(record);
	if (!locked)
		record->error = errno;
	record_refresh(record);
	if (locked && is_worth_it(record) && record_sum(record) && write_anew(record)) {
		locked = lock_file(record);
		record_refresh(record);
	}
	if (!locked && !*record->wrong)
		wrong(record, "cannot be locked", record->error);
}

void record_unlock(struct record *record)
{
	if (!--record->held)
		flock(record->fd, LOCK_UN);
}

/* ---- what is written ------------------------------------------------------------------------ */

bool record_begin(struct record *record, const char *tag, uint64_t tasks, const char *comment)
{
	json_t *line = json_object();
	struct job *job;

	json_object_set_new(line, "tag", json_string(tag));
	json_object_set_new(line, "session", json_string(record->session->id));
	json_object_set_new(line, "time", json_integer((json_int_t)time(NULL)));
	json_object_set_new(line, "tasks", json_integer((json_int_t)tasks));
	if (comment && json_object_set_new(line, "comment", json_string(comment))) {
		json_decref(line);
		record->error = EILSEQ; /* it is no UTF-8 */
		return false;
	}
	if (!append(record, tag, line))
		return false;
	job = record_job(record, tag);
	if (job)
		job->mine = true;
	return job;
}

bool record_submitted(struct record *record, const char *tag, uint32_t id)
{
	json_t *line = json_object();
	struct job *job;
	bool written;

	json_object_set_new(line, "tag", json_string(tag));
	json_object_set_new(line, "job", json_integer(id));
	written = append(record, tag, line);
	job = record_job(record, tag);
	if (!written && job) { /* we know it all the same; other sessions learn it */
		job->id = id;
		job->known = record->lines;
	}
	return written;
}

bool record_hours(struct record *record, const char *tag, uint64_t cpu_s, uint64_t gpu_s)
{
	json_t *line = json_object();

	json_object_set_new(line, "tag", json_string(tag));
	json_object_set_new(line, "cpu_s", json_integer((json_int_t)cpu_s));
	json_object_set_new(line, "gpu_s", json_integer((json_int_t)gpu_s));
	return append(record, tag, line);
}

static void record_word(struct record *record, const char *tag, const char *word)
{
	json_t *line = json_object();

	json_object_set_new(line, "tag", json_string(tag));
	json_object_set_new(line, word, json_true());
	append(record, tag, line);
}

void record_ended(struct record *record, const char *tag)
{
	record_word(record, tag, "ended");
}

void record_failed(struct record *record, const char *tag)
{
	record_word(record, tag, "failed");
}
