/*
 * chaperon/rebuild.h - from what was checked: the real command line, the job's envelope
 * and the script that is submitted in the place of the client's.  Pure.
 */
#ifndef SBX_CHAPERON_REBUILD_H
#define SBX_CHAPERON_REBUILD_H

#include "chaperon/ask.h"
#include "chaperon/text.h"

/* What of a session goes into its jobs. */
struct job_frame {
	const char *session, *backend, *workspace;
	const char *jobs;   /* the directory of envelopes: see job_path_is_plain() */
	const char *policy; /* that the job runs under: digest of its blob, in hexadecimal */
	const struct sbx_blob *blob;
	const struct sbx_vars *vars; /* the session's, with the params of @blob that are given */
	const char *cwd;    /* of the client, absolute */
	const char *job;    /* that it is a step of; NULL: it is a job */
};

#define JOB_TAG_SIZE 40
/* "sbx-" and 32 hexadecimal digits: names the envelope, and stands in the real comment. */
bool job_tag(char tag[JOB_TAG_SIZE]);
/* Only such a name can stand in a script between quotes. */
bool job_path_is_plain(const char *path);

/* The options that were given, as --NAME=VALUE (or KEY=VALUE), without those that the
 * chaperon gives itself: directory, files, environment, comment, script. */
void rebuild_options(const struct ask *ask, struct strings *line);
/* What every job gets; `sbatch` alone: where Slurm's own words about the job go. */
bool rebuild_job(struct ask *ask, const struct job_frame *frame, const char *tag,
		 struct strings *line);
/* The envelope, as blob/job_wire.h has it.  @script: its digest, or NULL. */
bool rebuild_envelope(struct ask *ask, const struct job_frame *frame, const char *script,
		      struct strings *envelope);
/* The digest of an envelope, in hexadecimal. */
void rebuild_digest(const struct strings *envelope, char digest[65]);
/* The shell script that sbatch is given. */
bool rebuild_wrapper(const char *directory, const char *digest, char *out, size_t size);

/* What a listing shows: with `show` in the policy only such columns, named one by one.
 * @option: the command's own for them, added where none is given. */
bool rebuild_columns(struct ask *ask, const char *option, struct strings *line);

#endif
