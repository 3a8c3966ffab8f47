/*
 * stub/proxy.c - sbx-proxy: found, started, told and ended.
 *
 * It is started before the backend, so that both get ready at the same time, with
 * one socket and nothing else, in a session of its own: what the terminal sends
 * to the program's group is not for it.  When we are gone the kernel kills it.
 * It serves whoever reaches the socket that it is handed.  Where that lies in a
 * network namespace this is the program alone; on the host's loopback everybody
 * could, so there each connection of the program's is announced (broker_proxy.c).
 */
#include "stub/proxy.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "stub/backend.h"
#include "stub/launch.h"
#include "stub/load.h"
#include "stub/out.h"
#include "stub/sys.h"

#define BACKLOG 4096
#define END_MS  1000
#define NAMED_MAX 5u /* hosts, without -v */
/* For room in its queue, where a burst of connections comes before it does. */
#define LOOK_MS   10
#define EXPECT_MS 2000
#define FORGET_MS 5000

/* ---- before the launch ------------------------------------------------------------ */

/* Its name, as every launch has another: number and time. */
static void name_bundle(struct launch *launch)
{
	const char *home = launch->vars.value[SBX_VAR_HOME];
	struct timespec now;
	struct walk walk;

	if (!home)
		refuse("net { mode proxy } keeps the session's roots of trust in the home "
		       "directory, and there is none: see that passwd has one");
	walk_path(path_join(home, ".local/state/sbx/sessions"), &walk);
	sys_clock(CLOCK_BOOTTIME, &now);
	launch->proxy.bundle = out_string("%s/" BUNDLE_PREFIX "%d-%llu", walk.path, getpid(),
					  (unsigned long long)now.tv_sec * 1000000000ull +
					      (unsigned long long)now.tv_nsec);
}

static _Noreturn void become(const struct proxy *proxy, int socket, pid_t parent)
{
	char *words[] = { mem_string("sbx-proxy"), NULL }, *none[] = { NULL };
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
	if (dup2(socket, SBX_PROXY_WIRE_FD) < 0 || fcntl(SBX_PROXY_WIRE_FD, F_SETFD, 0) ||
	    sys_close_range(SBX_PROXY_WIRE_FD + 1, ~0u, 0))
		_exit(EXIT_REFUSED);
	execve(proxy->path, words, none);
	_exit(EXIT_NOT_RUN);
}

/* Long before it is told anything: to load its libraries takes it longer than us to make
 * the plan.  Where that is refused, it ends with us. */
static void spawn(struct proxy *proxy)
{
	pid_t parent = getpid();
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		refuse("cannot prepare the proxy: %s", out_error(errno));
	proxy->pid = sys_fork();
	if (proxy->pid < 0)
		refuse("cannot start the proxy: %s", out_error(errno));
	if (proxy->pid == 0)
		become(proxy, pair[1], parent);
	close(pair[1]);
	proxy->socket = pair[0];
}

void proxy_find(struct launch *launch)
{
	const struct sbx_meta *meta = sbx_meta(&launch->blob);
	struct proxy *proxy = &launch->proxy;
	struct stat st;
	int fd;

	proxy->listener = proxy->socket = -1;
	if (meta->net_mode != SBX_NET_PROXY)
		return;
	proxy->path = path_join(path_parent(launch->vars.value[SBX_VAR_LAUNCHER]), "sbx-proxy");
	name_bundle(launch);
	fd = open(proxy->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0 || fstat(fd, &st) || access(proxy->path, X_OK))
		launch_obstacle(launch, "net { mode proxy } needs %s: %s (%s): install it",
				proxy->path, out_error(errno),
				launch_place(launch, meta->net_mode_head.loc));
	else if (!S_ISREG(st.st_mode) || !owner_trusted(&st, fd, true))
		launch_obstacle(launch,
				"%s is neither yours nor root's alone (uid %u, mode %o): not "
				"trusted; install it again",
				proxy->path, (unsigned)st.st_uid, (unsigned)(st.st_mode & 07777));
	close(fd);
	if (!launch->options.check && !launch->options.dry_run)
		spawn(proxy);
}

static bool writes(const struct launch *launch, const char *path)
{
	enum sbx_fs_verb verb;

	return fsview_origin(launch, path, SBX_WRITE, &verb) && verb == SBX_FS_GRANT;
}

bool proxy_may_be_written(const struct launch *launch, const char *path)
{
	struct walk walk;

	walk_path(path, &walk);
	for (size_t i = 0; i < walk.hop_count; i++)
		if (writes(launch, path_parent(walk.hops[i].path)))
			return true;
	return writes(launch, walk.path) || writes(launch, path_parent(walk.path));
}

void proxy_check_log(struct launch *launch)
{
	const char *path = launch->options.net_log, *name;
	struct walk dir;

	if (!path)
		return;
	if (!launch->proxy.path)
		refuse("--net-log %s: only the proxy writes one, and the policy's net mode is "
		       "another",
		       path);
	if (*path != '/')
		path = path_join(launch->cwd, path);
	name = strrchr(path, '/') + 1;
	walk_path(name - 1 == path ? "/" : mem_copy(path, (size_t)(name - 1 - path)), &dir);
	if (!*name || dir.error || dir.missing)
		refuse("--net-log %s: %s", path, out_error(dir.error ? dir.error : ENOENT));
	launch->proxy.log = path_join(dir.path, name);
	if (proxy_may_be_written(launch, path) || proxy_may_be_written(launch, launch->proxy.log))
		refuse("--net-log %s: the policy lets it be written inside: name a file elsewhere",
		       path);
}

/* The caller's own, and only by this name; -1 where none is wanted. */
static int open_log(const struct launch *launch)
{
	const char *path = launch->proxy.log;
	struct stat st;
	int fd;

	if (!path)
		return -1;
	fd = open(path,
		  O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC,
		  0600);
	if (fd < 0 || fstat(fd, &st))
		refuse("--net-log %s: %s", path,
		       errno == ELOOP ? "a symbolic link" : out_error(errno));
	if (!S_ISREG(st.st_mode) || st.st_uid != launch->uid || st.st_nlink != 1 ||
	    st.st_mode & (S_IWGRP | S_IWOTH))
		refuse("--net-log %s: not a file of your own that has one name and that only you "
		       "may write: name another",
		       path);
	return fd;
}

void proxy_prepare(struct launch *launch)
{
	if (!launch->proxy.path)
		return;
	launch->proxy.log_fd = open_log(launch);
	bundle_make(launch);
}

/* ---- messages --------------------------------------------------------------------- */

/* Nobody waits for it: what it does not take at once it does not get. */
static bool tell(int socket, enum proxy_message_kind kind, int value, const int *fds, size_t count)
{
	struct proxy_message message = { .kind = kind, .value = value };
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(4 * sizeof(int))] = { 0 };
	struct iovec part = { &message, offsetof(struct proxy_message, text) + 1 };
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
	return sendmsg(socket, &head, MSG_NOSIGNAL | MSG_DONTWAIT) > 0;
}

int proxy_hear(struct proxy *proxy, struct proxy_message *message)
{
	ssize_t size;

	memset(message, 0, sizeof(*message));
	size = recv(proxy->socket, message, sizeof(*message) - 1, MSG_DONTWAIT);
	if (size < 0 && (errno == EAGAIN || errno == EINTR))
		return -1;
	if (size >= (ssize_t)offsetof(struct proxy_message, text))
		return (int)message->kind;
	close(proxy->socket);
	proxy->socket = -1;
	return 0;
}

/* 0; EAGAIN: it took nothing all that time; or another error: it has ended. */
static int tell_port(const struct proxy *proxy, enum proxy_message_kind kind, unsigned port,
		     int wait_ms)
{
	struct pollfd fd = { proxy->socket, POLLOUT, 0 };

	for (int waited = 0; !tell(proxy->socket, kind, (int)port, NULL, 0); waited += LOOK_MS) {
		if (errno != EAGAIN || waited >= wait_ms)
			return errno;
		poll(&fd, 1, LOOK_MS);
	}
	return 0;
}

int proxy_expect(const struct proxy *proxy, unsigned port)
{
	return tell_port(proxy, PROXY_EXPECT, port, EXPECT_MS);
}

/* The port may be anybody's next: better no proxy than one that serves it. */
void proxy_forget(const struct proxy *proxy, unsigned port)
{
	if (tell_port(proxy, PROXY_FORGET, port, FORGET_MS))
		shutdown(proxy->socket, SHUT_RDWR);
}

/* ---- its socket ------------------------------------------------------------------- */

int proxy_socket(unsigned port)
{
	const struct sockaddr_in here = { .sin_family = AF_INET,
					  .sin_port = htons((uint16_t)port),
					  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd >= 0 && !bind(fd, (const struct sockaddr *)&here, sizeof(here)) &&
	    !listen(fd, BACKLOG))
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

/* Without a network namespace it is the host's, at any port that is free. */
static void listen_here(struct proxy *proxy)
{
	struct sockaddr_in here = { 0 };
	socklen_t size = sizeof(here);

	proxy->listener = proxy_socket(0);
	if (proxy->listener < 0 || getsockname(proxy->listener, (struct sockaddr *)&here, &size))
		refuse("no place on 127.0.0.1 for the proxy: %s: start outside of a sandbox",
		       out_error(errno));
	proxy->port = ntohs(here.sin_port);
}

bool proxy_listen(struct launch *launch)
{
	struct proxy *proxy = &launch->proxy;
	bool told = tell(proxy->socket, PROXY_LISTEN, proxy->port ? PROXY_EXPECTED : 0,
			 &proxy->listener, 1);

	if (proxy->listener >= 0)
		close(proxy->listener);
	proxy->listener = -1;
	return told;
}

/* ---- the session ------------------------------------------------------------------ */

static void tell_session(const struct launch *launch)
{
	const struct proxy *proxy = &launch->proxy;
	const int fds[] = {
		[PROXY_FD_BLOB] =
		    backend_sealed_file("sbx-blob", launch->blob.base, launch->blob.size),
		[PROXY_FD_VALUES] = credentials_values(launch),
		[PROXY_FD_BUNDLE] = proxy->bundle_fd,
		[PROXY_FD_LOG] = proxy->log_fd,
	};

	/* Where that cannot be said it ends, and that is said. */
	if (!tell(proxy->socket, PROXY_SESSION, SBX_PROXY_WIRE_VERSION, fds,
		  proxy->log_fd < 0 ? 3 : 4))
		shutdown(proxy->socket, SHUT_RDWR);
	close(fds[PROXY_FD_BLOB]);
	close(fds[PROXY_FD_VALUES]);
}

void proxy_start(struct launch *launch)
{
	if (!launch->proxy.path)
		return;
	if (launch->plan.backend == SBX_LANDLOCK)
		listen_here(&launch->proxy);
	tell_session(launch);
	close(launch->proxy.log_fd);
}

/* Until it closes its end.  However much it has to say, the session ends. */
static void hear_summary(struct launch *launch)
{
	struct proxy *proxy = &launch->proxy;
	struct pollfd fd = { proxy->socket, POLLIN, 0 };
	struct proxy_message message;
	struct timespec begun, now;

	shutdown(proxy->socket, SHUT_WR);
	sys_clock(CLOCK_MONOTONIC, &begun);
	now = begun;
	while (proxy->socket >= 0 && now.tv_sec - begun.tv_sec < 2 && poll(&fd, 1, END_MS) == 1) {
		switch (proxy_hear(proxy, &message)) {
		case PROXY_NOTE:
			launch_remark(launch, "%s", message.text);
			break;
		case PROXY_SUMMARY:
			*vec_add(&proxy->summary) = mem_string(message.text);
			proxy->inexact |= message.value != 0;
		}
		sys_clock(CLOCK_MONOTONIC, &now);
	}
}

void proxy_report(const struct launch *launch)
{
	const struct proxy *proxy = &launch->proxy;
	size_t count = proxy->summary.count;
	size_t named = launch->options.verbose || count <= NAMED_MAX ? count : NAMED_MAX;

	for (size_t i = 0; i < named; i++)
		note("%s", proxy->summary.items[i]);
	if (named < count)
		note("... and %s%u more host%s (-v names them)", proxy->inexact ? "at least " : "",
		     (unsigned)(count - named), count - named == 1 ? "" : "s");
}

void proxy_stop(struct launch *launch)
{
	struct proxy *proxy = &launch->proxy;
	struct pollfd fd = { -1, POLLIN, 0 };

	if (proxy->socket >= 0 && !launch->options.quiet)
		hear_summary(launch);
	if (proxy->socket >= 0)
		close(proxy->socket);
	proxy->socket = -1;
	if (!proxy->pid)
		return;
	fd.fd = (int)syscall(SYS_pidfd_open, proxy->pid, 0);
	if (fd.fd < 0 || poll(&fd, 1, END_MS) != 1)
		kill(proxy->pid, SIGKILL);
	waitpid(proxy->pid, NULL, 0);
	close(fd.fd);
	proxy->pid = 0;
}
