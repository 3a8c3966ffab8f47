/*
 * stub/stdio.c - the descriptors that are handed on.
 *
 * A directory as standard input is a door: openat(0, "../.ssh/id_rsa") walks
 * out of any mount namespace.  An O_PATH descriptor is one too, and a device is
 * whatever its driver says.  A terminal, a pipe, a socket, a regular file and
 * /dev/null are only themselves.
 */
#include "stub/prepare.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "stub/launch.h"
#include "stub/out.h"
#include "stub/sys.h"

void stdio_guard(void)
{
	for (int fd = 0; fd < 3; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDWR) != fd)
			_exit(EXIT_REFUSED);
	if (sys_close_range(3, ~0u, UAPI_CLOSE_RANGE_CLOEXEC))
		for (int fd = 3; fd < 65536; fd++)
			fcntl(fd, F_SETFD, FD_CLOEXEC);
}

/* NULL: it may be handed on. */
static const char *objection(int fd)
{
	struct stat st;
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0 || fstat(fd, &st))
		return "not open";
	if (flags & O_PATH)
		return "an O_PATH descriptor: a way into the host's files";
	if (S_ISDIR(st.st_mode))
		return "a directory: a way into the host's files";
	if (S_ISREG(st.st_mode) || S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode))
		return NULL;
	if (S_ISCHR(st.st_mode) && (st.st_rdev == makedev(1, 3) || isatty(fd)))
		return NULL;
	/* memfd and the like are regular files; what is left has no type at all
	 * (epoll, signalfd) or is a device. */
	return S_ISCHR(st.st_mode) || S_ISBLK(st.st_mode) ? "a device" : "of no kind that is known";
}

void stdio_check(const struct launch *launch)
{
	static const char names[][16] = { "standard input", "standard output", "standard error" };

	for (int fd = 0; fd < 3; fd++) {
		const char *why = objection(fd);

		if (why)
			refuse("%s is %s: redirect it to a file, a pipe or /dev/null", names[fd],
			       why);
	}
	for (uint32_t i = 0; i < SBX_COUNT(&launch->blob, PROCESS); i++) {
		const struct sbx_process_rule *rule =
		    SBX_AT(&launch->blob, PROCESS, sbx_process_rule, i);
		const char *place = launch_place(launch, rule->head.loc);

		if (rule->what == SBX_PROCESS_TERMINAL_NONE)
			for (int fd = 0; fd < 3; fd++)
				if (isatty(fd))
					refuse("%s is a terminal, and the policy wants none (%s): "
					       "redirect it",
					       names[fd], place);
		if (rule->what == SBX_PROCESS_PASS_FD && objection((int)rule->value))
			refuse(
			    "descriptor %u is %s (%s): open it for sbx-exec, or take the rule out",
			    rule->value, objection((int)rule->value), place);
	}
}
