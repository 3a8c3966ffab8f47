/*
 * chaperon/inside/job.c - sbx-job: the first program of a job, inside.
 *
 * Output, error and input of a batch job are opened by slurmstepd where the job is not
 * confined, and so they would be anybody's files.  sbx-exec gives slurmstepd's streams to
 * this instead, which opens the real ones with the rights of the job and then becomes the
 * script.  Names and first lines mean what they mean to slurmstepd and to execve(2).
 *
 * The envelope comes as a memory file, checked by sbx-exec: see blob/job_wire.h.
 */
#include "chaperon/inside/job.h"

#include "blob/job_wire.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define FIRST_LINE 255 /* bytes of it that execve(2) looks at */
#define WIDTH_MAX  10  /* of a number in a pattern: sbatch(1) */

struct job {
	char *envelope; /* strings, each ended by NUL */
	size_t size;
	int script; /* a memory file; -1: none */
};

static _Noreturn void fail(int status, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static _Noreturn void fail(int status, const char *format, ...)
{
	va_list arguments;

	fputs("sbx: ", stderr);
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fputc('\n', stderr);
	exit(status);
}

/* ---- the envelope ----------------------------------------------------------------------- */

/* Behind @at (NULL: the first), what stands behind @key and a blank; NULL: none is left. */
static char *next_value(const struct job *job, char *at, const char *key)
{
	const char *end = job->envelope + job->size;
	size_t length = strlen(key);

	for (at = at ? at + strlen(at) + 1 : job->envelope; at < end; at += strlen(at) + 1)
		if (!strncmp(at, key, length) && at[length] == ' ')
			return at + length + 1;
	return NULL;
}

static const char *value_of(const struct job *job, const char *key)
{
	return next_value(job, NULL, key);
}

static int descriptor(const char *text)
{
	int fd = atoi(text);

	if (fd < 3 || fcntl(fd, F_GETFD) < 0)
		fail(SBX_JOB_EXIT, "sbx-job is started by sbx-exec, in a job");
	return fd;
}

static void read_envelope(struct job *job, int fd)
{
	struct stat status;
	void *at = MAP_FAILED;

	if (!fstat(fd, &status) && status.st_size > 0)
		at = mmap(NULL, (size_t)status.st_size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	if (at == MAP_FAILED)
		fail(SBX_JOB_EXIT, "sbx-job is started by sbx-exec, in a job");
	close(fd);
	job->envelope = at;
	job->size = (size_t)status.st_size;
}

/* ---- names of files ------------------------------------------------------------------------ */

static const char *variable(const char *name, const char *otherwise)
{
	const char *value = getenv(name);

	return value ? value : otherwise;
}

/* What stands for one letter of a pattern; NULL: nothing, and it stays as it is. */
static const char *letter_value(const struct job *job, char letter, bool *number)
{
	static char host[256];
	const char *id = variable("SLURM_JOB_ID", "0");

	*number = strchr("aAjnt", letter) != NULL;
	switch (letter) {
	case 'a': /* of what is no array: NO_VAL, as slurmstepd has it */
		return variable("SLURM_ARRAY_TASK_ID", "4294967294");
	case 'A':
		return variable("SLURM_ARRAY_JOB_ID", id);
	case 'J':
	case 'j':
		return id;
	case 'N':
		gethostname(host, sizeof(host) - 1);
		host[strcspn(host, ".")] = '\0';
		return host;
	case 'n':
		return variable("SLURM_NODEID", "0");
	case 's':
		return "batch";
	case 't':
		return variable("SLURM_PROCID", "0");
	case 'u':
		return variable("SLURM_JOB_USER", "");
	case 'x':
		return value_of(job, "name");
	default:
		return NULL;
	}
}

static void append(char *out, size_t size, const char *text, size_t length)
{
	size_t used = strlen(out);

	if (length >= size - used)
		fail(SBX_JOB_EXIT, "the name of a file is too long");
	memcpy(out + used, text, length);
	out[used + length] = '\0';
}

/* One % and what belongs to it; returns what comes behind. */
static const char *expand_one(const struct job *job, const char *at, char *out, size_t size)
{
	const char *behind = at + 1 + strspn(at + 1, "0123456789");
	unsigned long width = strtoul(at + 1, NULL, 10);
	bool number = false;
	const char *value = *behind ? letter_value(job, *behind, &number) : NULL;
	char padded[32];

	if (*behind == '%') {
		append(out, size, "%", 1);
		return behind + 1;
	}
	if (!value) { /* of a width that nothing follows, slurmstepd drops the % alone */
		at += behind > at + 1;
		append(out, size, at, (size_t)(behind - at));
		return behind;
	}
	if (number && width) {
		snprintf(padded, sizeof(padded), "%0*lu",
			 (int)(width < WIDTH_MAX ? width : WIDTH_MAX), strtoul(value, NULL, 10));
		value = padded;
	}
	append(out, size, value, strlen(value));
	return behind + 1;
}

static void expand(const struct job *job, const char *pattern, char *out, size_t size)
{
	*out = '\0';
	while (*pattern) {
		size_t plain = strcspn(pattern, "%");

		append(out, size, pattern, plain);
		pattern += plain;
		if (*pattern)
			pattern = expand_one(job, pattern, out, size);
	}
}

static void open_stream(const struct job *job, const char *pattern, int flags, int stream)
{
	static const char *const streams[] = { "input", "output", "error" };
	char path[PATH_MAX];
	int fd;

	expand(job, pattern, path, sizeof(path));
	fd = open(strcmp(path, "none") ? path : "/dev/null", flags | O_NOCTTY | O_CLOEXEC, 0666);
	if (fd < 0)
		fail(SBX_JOB_EXIT, "%s %s of the job cannot be opened inside its policy: %s",
		     streams[stream], path, strerror(errno));
	if (fd != stream)
		dup2(fd, stream);
	if (fd > 2)
		close(fd);
}

/* Standard error last, since it is where to complain. */
static void open_streams(const struct job *job)
{
	const char *input = value_of(job, "input"), *output = value_of(job, "output");
	const char *error = value_of(job, "error"), *mode = value_of(job, "open-mode");
	int flags = O_WRONLY | O_CREAT | (mode && *mode == 'a' ? O_APPEND : O_TRUNC);

	if (!output)
		output = getenv("SLURM_ARRAY_TASK_ID") ? "slurm-%A_%a.out" : "slurm-%j.out";
	open_stream(job, input ? input : "/dev/null", O_RDONLY, STDIN_FILENO);
	open_stream(job, output, flags, STDOUT_FILENO);
	if (error && strcmp(error, output))
		open_stream(job, error, flags, STDERR_FILENO);
	else
		dup2(STDOUT_FILENO, STDERR_FILENO);
}

/* ---- what it becomes ------------------------------------------------------------------------ */

/* @argv with room for @more words in front. */
static char **arguments(const struct job *job, size_t more)
{
	char *at = NULL;
	size_t count = more;
	char **words;

	while ((at = next_value(job, at, "argument")))
		count++;
	words = calloc(count + 1, sizeof(*words));
	if (!words)
		fail(SBX_JOB_EXIT, "no memory");
	for (count = more; (at = next_value(job, at, "argument")); count++)
		words[count] = at;
	return words;
}

/* "#!INTERPRETER [ONE ARGUMENT]", which may hold blanks, as the kernel reads it. */
static bool read_first_line(int fd, char line[FIRST_LINE + 1], char **interpreter, char **argument)
{
	ssize_t size = pread(fd, line, FIRST_LINE, 0);
	char *end;

	if (size < 3 || line[0] != '#' || line[1] != '!')
		return false;
	line[size] = '\0';
	line[strcspn(line, "\n")] = '\0';
	for (end = line + strlen(line); end > line && strchr(" \t", end[-1]); end--)
		end[-1] = '\0';
	*interpreter = line + 2 + strspn(line + 2, " \t");
	*argument = *interpreter + strcspn(*interpreter, " \t");
	if (**argument) {
		*(*argument)++ = '\0';
		*argument += strspn(*argument, " \t");
	}
	return **interpreter;
}

/* What cannot be executed ends with the error's number, as slurmstepd has it. */

/* Its file has no name but that of the descriptor, which stays open for that. */
static _Noreturn void become_script(const struct job *job)
{
	char line[FIRST_LINE + 1], file[32], *interpreter, *argument, **words = arguments(job, 3);

	snprintf(file, sizeof(file), "/proc/self/fd/%d", job->script);
	if (!read_first_line(job->script, line, &interpreter, &argument))
		fail(126, "the script does not begin with #! and an interpreter");
	words += !*argument;
	words[0] = interpreter;
	if (*argument)
		words[1] = argument;
	words[*argument ? 2 : 1] = file;
	execv(interpreter, words);
	fail(errno, "%s, the interpreter of the script: %s", interpreter, strerror(errno));
}

static _Noreturn void become_program(const struct job *job)
{
	char **words = arguments(job, 0);

	if (!words[0])
		fail(SBX_JOB_EXIT, "the job has neither script nor program");
	execvp(words[0], words);
	fail(errno, "%s: %s", words[0], strerror(errno));
}

_Noreturn void job_run(int argc, char **argv)
{
	struct job job = { .script = -1 };
	const char *directory;

	if (argc < 2)
		fail(2, "sbx-job is started by sbx-exec, in a job");
	read_envelope(&job, descriptor(argv[1]));
	if (argc > 2)
		job.script = descriptor(argv[2]);
	directory = value_of(&job, "cwd");
	if (!directory || chdir(directory))
		fail(SBX_JOB_EXIT, "the job's directory %s cannot be entered inside its policy: %s",
		     directory ? directory : "", strerror(errno));
	if (getenv("PWD"))
		setenv("PWD", directory, 1);
	if (job.script < 0)
		become_program(&job);
	open_streams(&job);
	become_script(&job);
}
