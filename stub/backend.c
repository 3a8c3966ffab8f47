/*
 * stub/backend.c - what the backends have in common: where their programs are
 * found, how they are started and what they inherit.
 */
#include "stub/backend.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "stub/launch.h"
#include "stub/load.h"
#include "stub/out.h"
#include "stub/sys.h"

const char *backend_find_program(const char *places, size_t count, size_t size, const char *package,
				 const char **why)
{
	struct stat st;

	*why = out_string("%s is not installed (%s): install the package %s", package, places,
			  package);
	for (size_t i = 0; i < count; i++) {
		const char *place = places + i * size;
		int fd = open(place, O_RDONLY | O_CLOEXEC);
		bool good = fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode) &&
			    owner_trusted(&st, fd, false);

		if (fd >= 0)
			close(fd);
		if (good)
			return place;
		if (fd < 0 && errno != ENOENT && errno != ENOTDIR)
			*why = out_string("%s: %s: correct it", place, out_error(errno));
		else if (fd >= 0)
			*why = out_string("%s is not root's alone (uid %u, mode %o): not trusted; "
					  "reinstall the package %s",
					  place, (unsigned)st.st_uid,
					  (unsigned)(st.st_mode & 07777), package);
	}
	return NULL;
}

/* ---- one of three -------------------------------------------------------------- */

const char *backend_find(enum sbx_backend kind, const char **why)
{
	switch (kind) {
	case SBX_BWRAP:
		return bwrap_find(why);
	case SBX_FIREJAIL:
		return firejail_find(why);
	default:
		return direct_find(why);
	}
}

void backend_translate(struct launch *launch, struct backend *out)
{
	out->args.count = out->fds.count = 0;
	switch (out->kind) {
	case SBX_BWRAP:
		bwrap_translate(launch, out);
		break;
	case SBX_FIREJAIL:
		firejail_translate(launch, out);
		break;
	default:
		direct_translate(launch, out);
		break;
	}
}

const char *backend_explain(const struct backend *backend, const char *text, bool *unable)
{
	const char *why = NULL;

	if (backend->kind == SBX_BWRAP)
		why = bwrap_explain(text);
	else if (backend->kind == SBX_FIREJAIL)
		why = firejail_explain(text);
	*unable = why;
	if (why)
		return why;
	if (backend->kind == SBX_LANDLOCK)
		return "the sandbox ended while it was made: start again";
	if (strstr(text, "Race condition binding dirfd"))
		return "a granted name changed while starting: start again";
	if (!*text)
		return out_string("%s ended without a word and without starting the sandbox: "
				  "reinstall its package",
				  backend->path);
	return out_string("%s failed, and why is not known; its words are above: see %s(1)",
			  backend->path, sbx_backend_name(backend->kind));
}

/* The backend's own words end where a path begins: who names files must not choose
 * the reason, and with it whether another backend is tried.  "/ " is a path, too,
 * but always the same. */
static const char *own_words(const char *text)
{
	size_t length = 0;

	while (text[length] && (text[length] != '/' || text[length + 1] == ' '))
		length++;
	return mem_copy(text, length);
}

const char *backend_known(const char *known, const char *text)
{
	const char *words = own_words(text);

	for (const char *at = known; *at;) {
		const char *reason = at + strlen(at) + 1;

		if (out_find(words, at))
			return reason;
		at = reason + strlen(reason) + 1;
	}
	return NULL;
}

/* ---- starting ------------------------------------------------------------------ */

int backend_sealed_file(const char *name, const void *data, size_t size)
{
	int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd < 0 || write(fd, data, size) != (ssize_t)size || lseek(fd, 0, SEEK_SET) ||
	    fcntl(fd, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE))
		refuse("no memory file (%s): %s", name, out_error(errno));
	return fd;
}

int backend_args_file(const struct backend *backend, char end)
{
	size_t size = 0, at = 0;
	char *all;
	int fd;

	for (size_t i = 0; i < backend->args.count; i++)
		size += strlen(backend->args.items[i]) + 1;
	all = mem_get(size + 1);
	for (size_t i = 0; i < backend->args.count; i++) {
		strcpy(all + at, backend->args.items[i]);
		at += strlen(all + at);
		all[at++] = end;
	}
	fd = backend_sealed_file("sbx-args", all, size);
	fcntl(fd, F_SETFD, 0);
	return fd;
}

_Noreturn void backend_exec(const struct backend *backend, const struct handover *inherit,
			    const char *const argv[], size_t count)
{
	static const int for_program[] = { SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2 };
	const int keep[] = { inherit->self, inherit->plan, inherit->socket, inherit->error };
	char **words = mem_get(count * sizeof(*words)), *none[] = { NULL };
	sigset_t waiting;

	memcpy(words, argv, count * sizeof(*words)); /* execve() takes them as not const */
	for (size_t i = 0; i < backend->fds.count; i++)
		fcntl(backend->fds.items[i], F_SETFD, 0);
	for (size_t i = 0; i < sizeof(keep) / sizeof(*keep); i++)
		fcntl(keep[i], F_SETFD, 0);
	/* These are for the program; the backend must outlive it.  firejail has handlers
	 * of its own for some, but leaves what is blocked blocked. */
	sigemptyset(&waiting);
	for (size_t i = 0; i < sizeof(for_program) / sizeof(*for_program); i++) {
		signal(for_program[i], SIG_IGN);
		if (backend->kind == SBX_FIREJAIL)
			sigaddset(&waiting, for_program[i]);
	}
	sigprocmask(SIG_SETMASK, &waiting, NULL);
	execve(backend->path, words, none);
	out_print(STDERR_FILENO, "exec: %s\n", out_error(errno));
	_exit(EXIT_REFUSED);
}

static _Noreturn void become(const struct launch *launch, const struct backend *backend,
			     const struct handover *inherit)
{
	/* What stops it before it becomes the backend is told like what stops that. */
	if (backend->kind != SBX_LANDLOCK)
		dup2(backend->capture, STDERR_FILENO);
	switch (backend->kind) {
	case SBX_BWRAP:
		bwrap_become(backend, inherit);
	case SBX_FIREJAIL:
		firejail_become(backend, inherit);
	default:
		direct_become(launch, inherit);
	}
}

void backend_start(struct launch *launch, struct backend *backend, int plan_fd)
{
	struct handover inherit = { .plan = plan_fd };
	int pair[2], one = 1;

	inherit.self = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	inherit.error = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
	backend->capture = memfd_create("sbx-stderr", MFD_CLOEXEC);
	if (inherit.self < 0 || inherit.error < 0 || backend->capture < 0 ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) ||
	    setsockopt(pair[0], SOL_SOCKET, SO_PASSCRED, &one, sizeof(one)))
		refuse("cannot prepare the sandbox: %s", out_error(errno));
	backend->socket = pair[0];
	inherit.socket = pair[1];
	backend->pid = sys_fork();
	if (backend->pid < 0)
		refuse("cannot start the sandbox: %s", out_error(errno));
	if (backend->pid == 0)
		become(launch, backend, &inherit);
	close(inherit.self);
	close(inherit.error);
	close(inherit.socket);
}

bool backend_go_on(const struct backend *backend)
{
	return write(backend->socket, "g", 1) == 1;
}

void backend_drop_process_limit(struct plan *plan)
{
	size_t count = 0;

	for (size_t i = 0; i < plan->limits.count; i++)
		if (plan->limits.items[i].resource != RLIMIT_NPROC)
			plan->limits.items[count++] = plan->limits.items[i];
	plan->limits.count = count;
}
