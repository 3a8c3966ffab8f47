/*
 * chaperon/record.h - which jobs are a project's: a file outside, of JSON lines.
 *
 * STATE/PROJECT.jsonl, PROJECT being the digest of the workspace's name.  A job is
 * written down before it is submitted, with the tag that its real comment holds, and
 * again with the id that Slurm gave it.  That a job is ours takes both: its id stands
 * here, and the job has the tag.
 *
 * Sessions of one project share the file under flock(2).  A line that could not be written
 * whole is taken back; now and then the file is written anew, a line for each job, but of the
 * many that srun had, which cost a session nothing, only the newest have one.  What cannot be
 * read is never taken for nothing: see @wrong.
 */
#ifndef SBX_CHAPERON_RECORD_H
#define SBX_CHAPERON_RECORD_H

#include "chaperon/session.h"

#include <sys/types.h>
#include <time.h>

struct job {
	uint32_t id; /* 0: not known yet, or never submitted */
	bool failed; /* it never was one */
	bool ended;  /* of srun: over, whether or not its id was learnt */
	bool sum;    /* no job, but what many of srun that ended come to: see record_sum() */
	bool mine;   /* this process began it */
	bool lost;   /* the file has it no more: the next line about it says all */
	uint64_t known; /* record->lines once its id was: so long it may not be in the queue */
	char tag[JOB_TAG_SIZE];
	char *session, *comment; /* comment NULL: none */
	time_t submitted;
	uint64_t tasks; /* of an array; else 1 */
	uint64_t cpu_s, gpu_s; /* asked for; 0: not counted */
};

struct record {
	int fd; /* -1: there is none yet */
	char path[4200];
	const struct session *session;
	struct job *jobs;
	size_t count, room;
	uint32_t *index; /* of @jobs by their tags, from 1; twice @room and more */
	size_t index_size;
	ino_t inode;    /* of the file that @jobs are from; 0: none */
	off_t seen;     /* of it */
	size_t at_line; /* the same in lines */
	uint64_t lines; /* read so far: a clock, which goes on when the file is written anew */
	unsigned held;  /* record_lock() within record_lock() */
	size_t retry;   /* the line at which to try again to write it anew */
	char wrong[200]; /* why it cannot be read, and what helps; then nothing is decided; "" */
	int error;       /* of the last line that could not be written: errno */
};

/* Each directory of @path that is missing, for the user alone. */
bool directories_make(const char *path);
/* NULL, or why there is none. */
const char *record_open(struct record *record, const struct session *session);
/* What other sessions have written since.  Pointers to jobs end here, as with each line that
 * is written. */
void record_refresh(struct record *record);
/* Between these no other session writes. */
void record_lock(struct record *record);
void record_unlock(struct record *record);
/* Each: false, with @error, where it is not on the disk afterwards. */
bool record_begin(struct record *record, const char *tag, uint64_t tasks, const char *comment);
bool record_submitted(struct record *record, const char *tag, uint32_t id);
bool record_hours(struct record *record, const char *tag, uint64_t cpu_s, uint64_t gpu_s);
void record_ended(struct record *record, const char *tag);
void record_failed(struct record *record, const char *tag);

/* The job with that id, if it is in @scope ("session", "project", "user": of the project). */
const struct job *record_find(const struct record *record, uint32_t id, const char *scope);
/* The same, of one that may have no id yet. */
bool record_counts_in(const struct record *record, const struct job *job, const char *scope);
bool record_is_in(const struct record *record, const struct job *job, const char *scope);
/* Why nothing can be decided or written, in the words that follow the name of the file. */
const char *record_trouble(const struct record *record);
const struct job *record_tagged(const struct record *record, const char *tag);

#endif
