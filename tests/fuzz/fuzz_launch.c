/*
 * Any bytes as a policy's blob, its digest put right: read from a file as sbx-exec does,
 * and, if it is one, planned on this machine up to what --dry-run prints.  It ends with
 * a plan or with 125, changes nothing, and prints nothing that a terminal would obey.
 */
#include "tests/fuzz/launcher.h"

#include <sched.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include "tests/lib/sweep.h"

/* What would ask this machine, or remember it from one run to the next. */
static long bounded(long number, ...);
int sbx_exec_main(int argc, char **argv, char **environment);
#define main sbx_exec_main
#include "stub/main.c"
#undef main
#include "stub/places.c"
#include "stub/user.h"
#define syscall  bounded
#define matches  pattern_matches
#define is_grant pattern_is_grant
#include "stub/patterns.c"
#undef syscall

#define DIRECTORIES_MAX 500 /* listed for patterns */
#define FIRST_OURS      8   /* descriptors below are the fuzzer's */

static char top[32];
static unsigned directories;
static int back; /* where the fuzzer works */

/* Only getdents64(2) is called so in patterns.c. */
static long bounded(long number, ...)
{
	va_list args;
	long fd, size;
	void *buffer;

	va_start(args, number);
	fd = va_arg(args, int);
	buffer = va_arg(args, void *);
	size = va_arg(args, long);
	va_end(args);
	return directories++ < DIRECTORIES_MAX ? syscall(number, fd, buffer, size) : 0;
}

const char *user_home(uid_t uid)
{
	static char home[sizeof(top) + 2];

	(void)uid;
	sprintf(home, "%s/h", top);
	return home;
}

const char *user_name(uid_t uid)
{
	(void)uid;
	return "u";
}

const char *broker_obstacle(const struct launch *launch)
{
	(void)launch;
	return NULL;
}

static void make(const char *name, const char *text)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		fuzz_fault("%s cannot be made", name);
	close(fd);
}

static void remove_top(void)
{
	char command[sizeof(top) + 16];

	sprintf(command, "rm -rf '%s'", top);
	if (system(command))
		fuzz_fault("%s stays", top);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	back = open(".", O_PATH | O_CLOEXEC);
	strcpy(top, "/mnt");
	/* Of a tmpfs in a user namespace without a map nobody may make a name. */
	if (getuid() || unshare(CLONE_NEWNS) ||
	    mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("tmpfs", top, "tmpfs", 0, NULL)) {
		strcpy(top, "/tmp/sbx-fuzz.XXXXXX");
		if (!mkdtemp(top))
			fuzz_fault("no directory");
		atexit(remove_top);
	}
	chmod(top, 0755);
	if (chdir(top) || mkdir("h", 0755) || mkdir("w", 0755) || mkdir("w/.git", 0755) ||
	    mkdir("w/.git/hooks", 0755) || mkdir("w/.git/objects", 0755) ||
	    mkdir("w/.git/refs", 0755) || symlink("/etc", "w/link"))
		fuzz_fault("no tree");
	make("w/.git/HEAD", "ref: refs/heads/main\n");
	make("w/.git/config", "[core]\n\thooksPath = hooks\n");
	make("w/.env", "");
	if (fchdir(back) || back >= FIRST_OURS)
		fuzz_fault("no way back");
	return 0;
}

struct input {
	const uint8_t *data;
	size_t size;
	enum sbx_backend kind;
};

static void write_blob(const struct input *in)
{
	char *copy = mem_get(in->size + 1);
	int fd = open("../blob.sbx", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	memcpy(copy, in->data, in->size);
	if (in->size >= sizeof(struct sbx_header))
		((struct sbx_header *)(void *)copy)->size = (uint32_t)in->size;
	sweep_fix_digest(copy, in->size);
	if (fd < 0 || write(fd, copy, in->size) != (ssize_t)in->size)
		fuzz_fault("no blob");
	close(fd);
}

static void plan(void *data)
{
	const struct input *in = data;
	struct launch *launch = mem_get(sizeof(*launch));
	struct backend backend = { .kind = in->kind, .path = "/usr/bin/backend", .capture = -1 };
	char words[][14] = { "sbx-exec", "--dry-run", "-v", "../blob.sbx", "true" };
	char *argv[] = { words[0], words[1], words[2], words[3], words[4], NULL };

	write_blob(in);
	launch->environ = environ;
	launch->uid = getuid();
	launch->gid = getgid();
	options_parse(argv, &launch->options);
	make_plan(launch);
	launch_settle(launch, &backend);
	report_plan(launch, &backend);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, size, (enum sbx_backend)(size % SBX_BACKEND_COUNT) };
	char work[sizeof(top) + 2];
	int status;

	sprintf(work, "%s/w", top);
	if (chdir(work))
		fuzz_fault("no work directory");
	directories = 0;
	status = launcher_run(plan, &in);
	if (status > 0 && status != EXIT_REFUSED)
		fuzz_fault("it ended with %d", status);
	memset(&places, 0, sizeof(places));
	if (fchdir(back) || sys_close_range(FIRST_OURS, ~0u, 0))
		fuzz_fault("no way back");
	return 0;
}
