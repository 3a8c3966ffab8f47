/*
 * stub/stdio.c - the descriptors that are handed on.
 *
 * A directory as standard input is a door: openat(0, "../.ssh/id_rsa") walks
 * out of any mount namespace.  An O_PATH descriptor is one too, and a device is
 * whatever its driver says.  A terminal, a pipe and /dev/null are only themselves,
 * and so is a socket that cannot be connected anew.  A regular file can be opened
 * anew through /proc/self/fd, on the mount of the host that it came by, which no
 * mask lies on: then only Landlock holds it, and Landlock takes nothing away
 * inside what it grants.
 */
#include "stub/prepare.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "stub/broker.h"
#include "stub/job.h"
#include "stub/launch.h"
#include "stub/out.h"
#include "stub/sys.h"

/* All but the standard streams.  Looked at by one more: what is around us may say yes
 * and do nothing. */
static bool close_on_exec(void)
{
	int one = fcntl(STDIN_FILENO, F_DUPFD, 3);
	bool done = !sys_close_range(3, ~0u, UAPI_CLOSE_RANGE_CLOEXEC) &&
		    (one < 0 || fcntl(one, F_GETFD) == FD_CLOEXEC);

	if (one >= 3)
		close(one);
	return done;
}

void stdio_guard(void)
{
	for (int fd = 0; fd < 3; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDWR) != fd)
			refuse("descriptor %d is closed, and /dev/null cannot stand in for it: %s",
			       fd, out_error(errno));
	if (!close_on_exec())
		for (int fd = 3; fd < 65536; fd++)
			fcntl(fd, F_SETFD, FD_CLOEXEC);
}

/* NULL: it may be handed on. */
static const char *objection(const struct launch *launch, int fd)
{
	struct stat st;
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0 || fstat(fd, &st))
		return "not open";
	if (flags & O_PATH)
		return "an O_PATH descriptor: a way into the host's files";
	if (S_ISDIR(st.st_mode))
		return "a directory: a way into the host's files";
	if (S_ISREG(st.st_mode) || S_ISFIFO(st.st_mode))
		return NULL;
	if (S_ISSOCK(st.st_mode))
		return broker_objection(launch, fd);
	/* isatty() is true of the other end too, from which one types: /dev/ptmx. */
	if (S_ISCHR(st.st_mode) &&
	    (st.st_rdev == makedev(1, 3) || (isatty(fd) && st.st_rdev != makedev(5, 2))))
		return NULL;
	/* memfd and the like are regular files; what is left has no type at all
	 * (epoll, signalfd) or is a device. */
	return S_ISCHR(st.st_mode) || S_ISBLK(st.st_mode) ? "a device" : "of no kind that is known";
}

void stdio_check(struct launch *launch)
{
	static const char names[][16] = { "standard input", "standard output", "standard error" };

	for (int fd = 0; fd < 3; fd++) {
		const char *why = objection(launch, fd);

		if (why)
			launch_obstacle(launch,
					"%s is %s: redirect it to a file, a pipe or /dev/null",
					names[fd], why);
	}
	for (uint32_t i = 0; i < SBX_COUNT(&launch->blob, PROCESS); i++) {
		const struct sbx_process_rule *rule =
		    SBX_AT(&launch->blob, PROCESS, sbx_process_rule, i);
		const char *place = launch_place(launch, rule->head.loc);

		if (rule->what == SBX_PROCESS_TERMINAL_NONE)
			for (int fd = 0; fd < 3; fd++)
				if (isatty(fd))
					launch_obstacle(launch,
							"%s is a terminal, and the policy wants "
							"none (%s): redirect it",
							names[fd], place);
		if (rule->what == SBX_PROCESS_PASS_FD && objection(launch, (int)rule->value))
			launch_obstacle(launch,
					"descriptor %u is %s (%s): open it for sbx-exec, or take "
					"the rule out",
					rule->value, objection(launch, (int)rule->value), place);
	}
}

static void check_file(struct launch *launch, int fd)
{
	char path[PATH_MAX];
	unsigned granted = 0, kept;
	enum sbx_fs_verb verb;
	struct stat st, named;
	ssize_t length;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		return;
	length = readlink(out_string("/proc/self/fd/%d", fd), path, sizeof(path) - 1);
	if (length <= 0)
		return;
	path[length] = '\0';
	if (stat(path, &named) || named.st_ino != st.st_ino || named.st_dev != st.st_dev)
		return; /* it has no name any more, or never had one */
	kept = fsview_rights(launch, path);
	for (size_t i = 0; i < launch->plan.rules.count; i++)
		if (path_within(path, launch->plan.rules.items[i].path))
			granted |= launch->plan.rules.items[i].rights;
	/* Beneath a `copy` or `tmp` the rights are to something else. */
	if (fsview_origin(launch, path, SBX_WRITE, &verb) && verb != SBX_FS_GRANT)
		kept = 0;
	if (granted & ~kept)
		launch_obstacle(launch,
				"descriptor %d is %s, which the policy closes, and through the "
				"descriptor it could be opened anew: put a pipe between (cat FILE "
				"| or | cat >FILE)",
				fd, path);
}

void stdio_check_files(struct launch *launch)
{
	for (int fd = 0; fd < 3 && !job_is_batch(launch); fd++)
		check_file(launch, fd);
	for (uint32_t i = 0; i < SBX_COUNT(&launch->blob, PROCESS); i++) {
		const struct sbx_process_rule *rule =
		    SBX_AT(&launch->blob, PROCESS, sbx_process_rule, i);

		if (rule->what == SBX_PROCESS_PASS_FD)
			check_file(launch, (int)rule->value);
	}
}
