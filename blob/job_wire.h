/*
 * blob/job_wire.h - what sbx-chaperon leaves for sbx-exec on a job's node.
 *
 * A job's command is `sbx-exec --job DIRECTORY --digest SHA256`, put there by
 * sbx-chaperon whatever the client gave.  The directory lies below the session's `jobs`
 * directory, which is on the nodes, too, and outside every write grant; the digest, which
 * slurmctld keeps, is that of its file `envelope`: strings, each ended by NUL.
 *
 *	version N             SBX_JOB_VERSION
 *	blob DIGEST           ../DIGEST.sbx; the policy itself has the digest: the session's,
 *	                      or the one that it names for jobs
 *	session ID            that submitted it
 *	backend NAME          the job's must enforce at least as much
 *	var NAME=VALUE        frozen: $cwd, $workspace and the others, as in the session
 *	param NAME=VALUE      -D of the session, where the policy is its own
 *	cwd PATH              where the command starts, inside
 *	name TEXT             of the job: %x
 *	output PATTERN        files that sbx-exec opens inside, with Slurm's % signs; absent:
 *	error PATTERN         slurm-%j.out, slurm-%A_%a.out of an array; of `output`; /dev/null
 *	input PATTERN
 *	open-mode append|truncate
 *	export NAME=VALUE     a variable that the job is to get, if its policy passes it
 *	interactive yes       of `srun --pty`: it has an sbx-chaperon, as a batch job has
 *	script DIGEST         the file `script` beside; it is run as its first line says
 *	argument TEXT         of the script; without one: the program and its arguments
 */
#ifndef SBX_BLOB_JOB_WIRE_H
#define SBX_BLOB_JOB_WIRE_H

#define SBX_JOB_VERSION "1"
#define SBX_JOB_POLICY ".sbx" /* behind the digest */
#define SBX_JOB_ENVELOPE "envelope"
#define SBX_JOB_SCRIPT "script"
/* sbx-slurm by this name is the first program of a job: its arguments are the numbers of
 * two memory files, the envelope and, of a batch job, the script. */
#define SBX_JOB_RUNNER "sbx-job"
/*
 * All that Slurm is given to run: a script with directory and digest in it, whose second
 * line ends what sbatch reads as directives; of srun `/bin/sh -c STEP sbx-job DIRECTORY
 * DIGEST`.  No word of a client's is in either.
 */
#define SBX_JOB_FIND(directory, digest)                                                            \
	"for sbx in /usr/bin/sbx-exec /usr/local/bin/sbx-exec; do\n\t"                             \
	"[ ! -x \"$sbx\" ] || exec \"$sbx\" --job " directory " --digest " digest "\n"              \
	"done\n"                                                                                   \
	"echo 'sbx: no sbx-exec in /usr/bin or /usr/local/bin of this node: nothing is run' >&2\n" \
	"exit 125\n"
#define SBX_JOB_WRAPPER "#!/bin/sh\n:\n" SBX_JOB_FIND("%s", "%s")
#define SBX_JOB_STEP SBX_JOB_FIND("\"$1\"", "\"$2\"")
/* The job does not run: no launcher, another digest, a backend that enforces less. */
#define SBX_JOB_EXIT 125

#endif
