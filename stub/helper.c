/*
 * stub/helper.c - found, started, told and ended.
 *
 * A helper is started before the backend, so that both get ready at the same time,
 * with one socket and nothing else, in a session of its own: what the terminal sends
 * to the program's group is not for it.  When we are gone the kernel kills it.
 */
#include "stub/helper.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "stub/backend.h"
#include "stub/launch.h"
#include "stub/load.h"
#include "stub/out.h"
#include "stub/sys.h"

#define END_MS    1000
#define MINDED_MS 12000

/* ---- before the launch ------------------------------------------------------------ */

static _Noreturn void become(const struct helper *helper, int socket, pid_t parent)
{
	char *words[] = { mem_string(strrchr(helper->path, '/') + 1), NULL }, *none[] = { NULL };
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	sigset_t all;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent || null < 0 || chdir("/"))
		_exit(EXIT_REFUSED);
	setsid();
	for (int number = 1; number < 64; number++)
		signal(number, SIG_DFL);
	memset(&all, 0, sizeof(all));
	sigprocmask(SIG_SETMASK, &all, NULL);
	for (int stream = 0; stream < 3; stream++)
		dup2(null, stream);
	if (dup2(socket, SBX_HELPER_WIRE_FD) < 0 || fcntl(SBX_HELPER_WIRE_FD, F_SETFD, 0) ||
	    sys_close_range(SBX_HELPER_WIRE_FD + 1, ~0u, 0))
		_exit(EXIT_REFUSED);
	execve(helper->path, words, none);
	_exit(EXIT_NOT_RUN);
}

/* Long before it is told anything: to load its libraries takes it longer than us to make
 * the plan.  Where that is refused, it ends with us. */
static void spawn(struct helper *helper)
{
	pid_t parent = getpid();
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		refuse("cannot prepare %s: %s", helper->name, out_error(errno));
	helper->pid = sys_fork();
	if (helper->pid < 0)
		refuse("cannot start %s: %s", helper->name, out_error(errno));
	if (helper->pid == 0)
		become(helper, pair[1], parent);
	close(pair[1]);
	helper->socket = pair[0];
}

void helper_missing(struct launch *launch, const char *path, const char *statement,
		    const struct sbx_head *head)
{
	launch_obstacle(launch, "%s needs %s: %s (%s): install it", statement, path,
			out_error(errno), launch_place(launch, head->loc));
}

void helper_find(struct launch *launch, struct helper *helper, const char *program,
		 const char *statement, const struct sbx_head *head)
{
	const char *path = path_join(path_parent(launch->vars.value[SBX_VAR_LAUNCHER]), program);
	struct stat st;
	int fd;

	helper->path = path;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0 || fstat(fd, &st) || access(path, X_OK))
		helper_missing(launch, path, statement, head);
	else if (!S_ISREG(st.st_mode) || !owner_trusted(&st, fd, true))
		launch_obstacle(launch,
				"%s is neither yours nor root's alone (uid %u, mode %o): not "
				"trusted; install it again",
				path, (unsigned)st.st_uid, (unsigned)(st.st_mode & 07777));
	close(fd);
	if (!launch->options.check && !launch->options.dry_run)
		spawn(helper);
}

static bool writes(const struct launch *launch, const char *path)
{
	enum sbx_fs_verb verb;

	return fsview_origin(launch, path, SBX_WRITE, &verb) && verb == SBX_FS_GRANT;
}

const char *helper_may_be_written(const struct launch *launch, const char *path)
{
	struct walk walk;

	walk_path(path, &walk);
	for (size_t i = 0; i < walk.hop_count; i++)
		if (writes(launch, path_parent(walk.hops[i].path)))
			return path;
	if (writes(launch, walk.path) || writes(launch, path_parent(walk.path)))
		return path;
	for (size_t i = 0; i < launch->view.nodes.count; i++) {
		const char *within = launch->view.nodes.items[i].path;

		if (path_within(within, walk.path) && writes(launch, within))
			return out_string("%s, beneath %s,", within, path);
	}
	return NULL;
}

void helper_check_log(struct launch *launch, struct helper *helper, const char *path)
{
	const char *option = helper->log_option, *name;
	struct walk dir;

	if (!path)
		return;
	if (!helper->path)
		refuse("%s %s: only %s writes one, and the policy has none", option, path,
		       helper->name);
	if (*path != '/')
		path = path_join(launch->cwd, path);
	name = strrchr(path, '/') + 1;
	walk_path(path_parent(path), &dir);
	if (!*name || dir.error || dir.missing)
		refuse("%s %s: %s", option, path, out_error(dir.error ? dir.error : ENOENT));
	helper->log = path_join(dir.path, name);
	if (helper_may_be_written(launch, path) || helper_may_be_written(launch, helper->log))
		refuse("%s %s: the policy lets it be written inside: name a file elsewhere", option,
		       path);
}

/* The caller's own, and only by this name. */
void helper_open_log(const struct launch *launch, struct helper *helper)
{
	const char *path = helper->log, *option = helper->log_option;
	struct stat st;
	int fd;

	helper->log_fd = -1;
	if (!path)
		return;
	fd = open(path,
		  O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC,
		  0600);
	if (fd < 0 || fstat(fd, &st))
		refuse("%s %s: %s", option, path,
		       errno == ELOOP ? "a symbolic link" : out_error(errno));
	if (!S_ISREG(st.st_mode) || st.st_uid != launch->uid || st.st_nlink != 1 ||
	    st.st_mode & (S_IWGRP | S_IWOTH))
		refuse("%s %s: not a file of your own that has one name and that only you "
		       "may write: name another",
		       option, path);
	helper->log_fd = fd;
}

/* ---- messages --------------------------------------------------------------------- */

/* Nobody waits for it: what it does not take at once it does not get. */
bool helper_tell(const struct helper *helper, unsigned kind, int value, const int *fds,
		 size_t count)
{
	struct helper_message message = { .kind = kind, .value = value };
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(HELPER_FDS * sizeof(int))] = { 0 };
	struct iovec part = { &message, offsetof(struct helper_message, text) + 1 };
	struct msghdr head = { .msg_iov = &part, .msg_iovlen = 1 };

	if (count) {
		struct cmsghdr *cmsg;

		head.msg_control = control;
		head.msg_controllen = (socklen_t)CMSG_SPACE(count * sizeof(int));
		cmsg = CMSG_FIRSTHDR(&head);
		cmsg->cmsg_level = SOL_SOCKET;
		cmsg->cmsg_type = SCM_RIGHTS;
		cmsg->cmsg_len = (socklen_t)CMSG_LEN(count * sizeof(int));
		memcpy(CMSG_DATA(cmsg), fds, count * sizeof(int));
	}
	return sendmsg(helper->socket, &head, MSG_NOSIGNAL | MSG_DONTWAIT) > 0;
}

void helper_add(struct backend *values, const char *what, const char *name, const char *value)
{
	if (value)
		*vec_add(&values->args) =
		    mem_join(mem_join(what, name), name[0] ? mem_join("=", value) : value);
}

void helper_add_variables(const struct launch *launch, struct backend *values)
{
	for (uint32_t i = 0; i < SBX_VAR_COUNT; i++)
		helper_add(values, "var ", sbx_var_name(&launch->blob, i), launch->vars.value[i]);
	for (uint32_t i = 0; i < SBX_COUNT(&launch->blob, PARAMS); i++)
		helper_add(values, "param ", sbx_var_name(&launch->blob, SBX_VAR_PARAM + i),
			   launch->vars.value[SBX_VAR_PARAM + i]);
}

void helper_tell_session(const struct launch *launch, struct helper *helper, int version,
			 int values, int file)
{
	int fds[HELPER_FDS], blob, count = 0;

	blob = backend_sealed_file("sbx-blob", launch->blob.base, launch->blob.size);
	fds[count++] = blob;
	fds[count++] = values;
	if (file >= 0)
		fds[count++] = file;
	if (helper->log_fd >= 0)
		fds[count++] = helper->log_fd;
	/* Where that cannot be said it ends, and that is said. */
	if (!helper_tell(helper, HELPER_SESSION, version, fds, (size_t)count))
		shutdown(helper->socket, SHUT_RDWR);
	close(blob);
	close(values);
	close(helper->log_fd);
}

int helper_hear(struct helper *helper, struct helper_message *message)
{
	ssize_t size;

	memset(message, 0, sizeof(*message));
	size = recv(helper->socket, message, sizeof(*message) - 1, MSG_DONTWAIT);
	if (size < 0 && (errno == EAGAIN || errno == EINTR))
		return -1;
	if (size >= (ssize_t)offsetof(struct helper_message, text))
		return (int)message->kind;
	close(helper->socket);
	helper->socket = -1;
	return 0;
}

bool helper_listen(struct helper *helper, int value)
{
	bool told = helper_tell(helper, HELPER_LISTEN, value, &helper->listener, 1);

	if (helper->listener >= 0)
		close(helper->listener);
	helper->listener = -1;
	return told;
}

void helper_stop(struct helper *helper)
{
	struct pollfd fd = { -1, POLLIN, 0 };

	if (helper->socket >= 0)
		shutdown(helper->socket, SHUT_WR);
	if (helper->pid) {
		fd.fd = (int)syscall(SYS_pidfd_open, helper->pid, 0);
		if (fd.fd < 0 || poll(&fd, 1, END_MS) != 1)
			kill(helper->pid, SIGKILL);
		waitpid(helper->pid, NULL, 0);
		close(fd.fd);
		helper->pid = 0;
	}
	/* Whoever holds the other end still has something to give back: chaperon/minder.h. */
	fd = (struct pollfd){ helper->socket, 0, 0 };
	if (helper->socket < 0)
		return;
	poll(&fd, 1, MINDED_MS);
	close(helper->socket);
	helper->socket = -1;
}
