/*
 * stub/firejail.c - firejail: found, started, and why it failed.
 *
 * It is set-uid root, reads files below the user's home and copies what it is
 * given into its process 1.  So it gets an empty environment, "/" as its
 * directory, one profile in a sealed memory file, which includes nothing, and
 * no terminal: it would empty the queue of the keyboard when it ends.  Command,
 * environment and streams reach the inner stage past it, by descriptor.
 */
#include "stub/backend.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "stub/launch.h"
#include "stub/out.h"
#include "stub/protocol.h"

const char *firejail_find(const char **why)
{
#ifdef SBX_FIREJAIL_PATH /* tests: a program that claims to be firejail */
	static const char places[][40] = { SBX_FIREJAIL_PATH };
#else
	static const char places[][40] = { "/usr/bin/firejail", "/usr/local/bin/firejail" };
#endif
	const char *place;
#ifndef SBX_FIREJAIL_PATH
	struct statvfs fs;
	struct stat st;
#endif

	place = backend_find_program(*places, sizeof(places) / sizeof(*places), sizeof(*places),
				     "firejail", why);
	if (!place)
		return NULL;
	if (!getuid())
		*why = "it leaves root what root can do by being root: use --backend bwrap";
	else if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1)
		*why = "no_new_privs is set here, as inside another sandbox, so that no set-uid "
		       "program works: start outside it, or use --backend bwrap";
#ifndef SBX_FIREJAIL_PATH
	else if (stat(place, &st) || st.st_uid || !(st.st_mode & S_ISUID))
		*why = out_string("%s is not set-uid root: reinstall the package firejail", place);
	else if (statvfs(place, &fs) || fs.f_flag & ST_NOSUID)
		*why = out_string("%s lies on a file system mounted nosuid: use --backend bwrap",
				  place);
#endif
	else
		return place;
	return NULL;
}

/* ---- starting ------------------------------------------------------------------ */

static int stream_copy(int stream)
{
	int copy = fcntl(stream, F_DUPFD, 3), none = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (copy < 3 || none < 0 || dup2(none, stream) != stream) {
		out_print(STDERR_FILENO, "streams: %s\n", out_error(errno));
		_exit(EXIT_REFUSED);
	}
	return copy;
}

_Noreturn void firejail_become(const struct backend *backend, const struct handover *inherit)
{
	struct backend mine = *backend;
	int input = stream_copy(STDIN_FILENO), output = stream_copy(STDOUT_FILENO), profile;

	if (chdir("/"))
		_exit(EXIT_REFUSED);
	*vec_add(&mine.args) = out_string("keep-fd %d,%d,%d,%d,%d,%d", inherit->self, inherit->plan,
					  inherit->socket, inherit->error, input, output);
	profile = backend_args_file(&mine, '\n');
	const char *argv[] = { "firejail",
			       "--quiet",
			       out_string("--profile=/proc/self/fd/%d", profile),
			       out_string("/proc/self/fd/%d", inherit->self),
			       INNER_WORD,
			       out_number((unsigned)inherit->plan),
			       out_number((unsigned)inherit->socket),
			       out_number((unsigned)inherit->error),
			       out_number((unsigned)input),
			       out_number((unsigned)output),
			       NULL };

	backend_exec(&mine, inherit, argv, sizeof(argv) / sizeof(*argv));
}

/* ---- failing ------------------------------------------------------------------- */

/* Pairs, as in bwrap_explain.c. */
static const char known[] =
    "invalid --\0"
    "firejail is too old: install 0.9.72 or newer\0"
    "is invalid\0"
    "firejail is too old: install 0.9.72 or newer\0"
    "not allowed to use\0"
    "this user is not in /etc/firejail/firejail.users: have root add it\0"
    "is disabled in\0"
    "/etc/firejail/firejail.config turns off what is needed: have root turn it on\0"
    "user directory\0"
    "firejail wants the home that passwd names: make it, or use --backend bwrap\0"
    "not correctly installed\0"
    "reinstall the package firejail\0"
    "exec: \0"
    "firejail could not be executed: reinstall the package firejail\0"
    "mounting\0"
    "mounting is forbidden here, as inside a container: start outside it\0"
    "rror clone\0"
    "new namespaces, or more processes, are forbidden here: allow them\0"
    "rror fork\0"
    "no more processes may be made here: raise the limit\0";

const char *firejail_explain(const char *text)
{
	return backend_known(known, text);
}
