/*
 * stub/bwrap.c - the plan as bubblewrap's arguments.
 *
 * Bubblewrap is taken from its fixed places only, and gets an empty
 * environment, so nothing that was planted can make another program of it.
 * Its arguments go through --args, its sources are descriptors that were
 * opened when the path was checked, and its command is this very program,
 * through a descriptor.
 */
#include "stub/backend.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "stub/launch.h"
#include "stub/load.h"
#include "stub/out.h"
#include "stub/protocol.h"
#include "stub/sys.h"

#define ARGS_MAX 8900 /* bubblewrap takes 9,000 */

const char *backend_find(const char **why)
{
#ifdef SBX_BWRAP_PATH /* tests: a program that claims to be bubblewrap */
	static const char places[][32] = { SBX_BWRAP_PATH };
#else
	static const char places[][32] = { "/usr/bin/bwrap", "/usr/local/bin/bwrap" };
#endif
	struct stat st;

	*why = "bubblewrap is not installed (/usr/bin/bwrap): install the package bubblewrap";
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		int fd = open(places[i], O_RDONLY | O_CLOEXEC);
		bool good = fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode) &&
			    owner_trusted(&st, fd, false);

		if (fd >= 0)
			close(fd);
		if (good)
			return places[i];
		if (fd >= 0)
			*why = out_string("%s is not root's alone (uid %u, mode %o): not trusted; "
					  "reinstall the package bubblewrap",
					  places[i], (unsigned)st.st_uid,
					  (unsigned)(st.st_mode & 07777));
	}
	return NULL;
}

static void add(struct backend *out, const char *arg)
{
	*vec_add(&out->args) = arg;
}

static void add3(struct backend *out, const char *a, const char *b, const char *c)
{
	add(out, a);
	add(out, b);
	if (c)
		add(out, c);
}

static void add_bind(struct backend *out, const struct plan_mount *mount, bool by_fd)
{
	bool writable = mount->rights & SBX_WRITE;

	if (by_fd) {
		add3(out, writable ? "--bind-fd" : "--ro-bind-fd", out_number((unsigned)mount->fd),
		     mount->path);
		*vec_add(&out->fds) = mount->fd;
	} else {
		/* Older versions take a name; that it was this very inode is
		 * verified from inside. */
		add3(out, writable ? "--bind" : "--ro-bind", mount->path, mount->path);
	}
}

static void add_mount(struct backend *out, const struct plan_mount *mount, bool by_fd)
{
	int empty;

	switch (mount->kind) {
	case MOUNT_BIND:
		add_bind(out, mount, by_fd);
		break;
	case MOUNT_TMP:
		if (mount->size)
			add3(out, "--size", out_number(mount->size), NULL);
		add3(out, "--tmpfs", mount->path, NULL);
		break;
	case MOUNT_PROC:
		add3(out, "--proc", mount->path, NULL);
		break;
	case MOUNT_DEV:
		add3(out, "--dev", mount->path, NULL);
		break;
	case MOUNT_DEVICE:
		add3(out, "--dev-bind", mount->path, mount->path);
		break;
	case MOUNT_LINK:
		add3(out, "--symlink", mount->target, mount->path);
		break;
	case MOUNT_DIR:
		add3(out, "--dir", mount->path, NULL);
		break;
	case MOUNT_FILE:
		empty = open("/dev/null", O_RDONLY | O_CLOEXEC);
		add3(out, "--file", out_number((unsigned)empty), mount->path);
		*vec_add(&out->fds) = empty;
		break;
	}
}

void backend_translate(struct launch *launch, bool by_fd, struct backend *out)
{
	const struct plan *plan = &launch->plan;
	bool dev = false;

	out->args.count = out->fds.count = 0;
	add(out, "--unshare-all");
	if (plan->share_net)
		add(out, "--share-net");
	add(out, "--die-with-parent");
	add(out, "--as-pid-1");
	add3(out, "--cap-drop", "ALL", NULL);
	/* Root may map its own id once more, for the masks' user namespace,
	 * only if it could set file capabilities (user_namespaces(7), since
	 * Linux 5.12); the inner stage drops this one with the rest. */
	if (getuid() == 0)
		add3(out, "--cap-add", "CAP_SETFCAP", NULL);
	for (size_t i = 0; i < plan->mounts.count; i++) {
		add_mount(out, &plan->mounts.items[i], by_fd);
		dev |= plan->mounts.items[i].kind == MOUNT_DEV;
	}
	if (dev)
		add3(out, "--remount-ro", "/dev", NULL);
	add3(out, "--remount-ro", "/", NULL);
	add3(out, "--chdir", "/", NULL);
	if (out->args.count > ARGS_MAX)
		refuse(
		    "the policy grants %llu separate trees, more than bubblewrap can mount: grant "
		    "a directory above them",
		    (unsigned long long)plan->mounts.count);
	for (size_t i = 0; i < plan->masks.count; i++)
		if (plan->masks.items[i].copy_fd >= 0)
			*vec_add(&out->fds) = plan->masks.items[i].copy_fd;
	for (size_t i = 0; i < plan->pass_fds.count; i++)
		*vec_add(&out->fds) = (int)plan->pass_fds.items[i];
}

static int args_file(const struct backend *backend)
{
	int fd = memfd_create("sbx-args", MFD_CLOEXEC);
	size_t size = 0, at = 0;
	char *all;

	for (size_t i = 0; i < backend->args.count; i++)
		size += strlen(backend->args.items[i]) + 1;
	all = mem_get(size);
	for (size_t i = 0; i < backend->args.count; i++) {
		strcpy(all + at, backend->args.items[i]);
		at += strlen(all + at) + 1;
	}
	if (fd < 0 || write(fd, all, size) != (ssize_t)size || lseek(fd, 0, SEEK_SET))
		refuse("no memory file for bubblewrap's arguments: %s", out_error(errno));
	return fd;
}

static void keep(int fd)
{
	fcntl(fd, F_SETFD, 0);
}

static _Noreturn void become(const struct backend *backend, int args, int self, int plan,
			     int socket)
{
	static const int for_program[] = { SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2 };
	char *none[] = { NULL };
	sigset_t nothing;
	int error = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
	const char *argv[] = { "bwrap",
			       "--args",
			       out_number((unsigned)args),
			       "--",
			       out_string("/proc/self/fd/%d", self),
			       INNER_WORD,
			       out_number((unsigned)plan),
			       out_number((unsigned)socket),
			       out_number((unsigned)error),
			       NULL };
	char *words[sizeof(argv) / sizeof(*argv)];

	memcpy(words, argv, sizeof(argv)); /* execve() takes them as not const */
	for (size_t i = 0; i < backend->fds.count; i++)
		keep(backend->fds.items[i]);
	keep(args);
	keep(self);
	keep(plan);
	keep(socket);
	keep(error);
	dup2(backend->capture, STDERR_FILENO);
	/* These are for the program; bubblewrap must outlive it. */
	for (size_t i = 0; i < sizeof(for_program) / sizeof(*for_program); i++)
		signal(for_program[i], SIG_IGN);
	sigemptyset(&nothing);
	sigprocmask(SIG_SETMASK, &nothing, NULL);
	execve(backend->path, words, none);
	out_print(STDERR_FILENO, "exec: %s\n", out_error(errno));
	_exit(EXIT_REFUSED);
}

void backend_start(struct backend *backend, int plan_fd)
{
	int args = args_file(backend), pair[2], one = 1;
	int self = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	backend->capture = memfd_create("sbx-stderr", MFD_CLOEXEC);
	if (self < 0 || backend->capture < 0 ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) ||
	    setsockopt(pair[0], SOL_SOCKET, SO_PASSCRED, &one, sizeof(one)))
		refuse("cannot prepare the sandbox: %s", out_error(errno));
	backend->socket = pair[0];
	backend->pid = sys_fork();
	if (backend->pid < 0)
		refuse("cannot start bubblewrap: %s", out_error(errno));
	if (backend->pid == 0)
		become(backend, args, self, plan_fd, pair[1]);
	close(args);
	close(self);
	close(pair[1]);
}

bool backend_go_on(const struct backend *backend)
{
	return write(backend->socket, "g", 1) == 1;
}
