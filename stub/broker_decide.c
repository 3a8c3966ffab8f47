/*
 * stub/broker_decide.c - may this socket be connected to that address?
 *
 * What counts is the socket that was fetched, not the family that the address
 * claims.  A path is looked up as the kernel would for the caller, beneath the
 * caller's root; what it leads to is held by a descriptor, judged by its inode
 * and connected to through that descriptor, so it does not matter what happens
 * to the names meanwhile.
 *
 * Allowed is a socket on a file system that is the session's alone; on the
 * landlock backend one in the session's own directory, into which Landlock lets
 * nothing be moved that was made elsewhere; and what `allow unix` names.
 */
#include "stub/broker_call.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "stub/broker.h"
#include "stub/launch.h"
#include "stub/out.h"
#include "stub/sys.h"

enum { PATH_AT = offsetof(struct sockaddr_un, sun_path), TRIES = 16, SAID_EACH_SECOND = 4 };
enum { NETLINK_WHO = 4, NETLINK_SIZE = 12 }; /* struct sockaddr_nl: process and groups, all of it */

struct broker_socket {
	const char *path;
	int fd; /* O_PATH: what it was at the start, so that its number is not used again */
};

int broker_refuse(const struct launch *launch, struct broker *broker, const char *what,
		  const char *why)
{
	time_t now;

	broker->refused++;
	if (!launch->options.verbose)
		return EACCES;
	now = (time_t)(sys_now_ms() / 1000);
	if (broker->said_at != now)
		broker->said = 0;
	broker->said_at = now;
	if (broker->said++ < SAID_EACH_SECOND)
		note("connect refused: %s: %s", what, why);
	return EACCES;
}

/* ---- what a path leads to --------------------------------------------------------- */

const char *call_path(const struct call *call, char text[static 109])
{
	size_t length = call->length - PATH_AT;

	if (call->domain != AF_UNIX || call->length <= PATH_AT ||
	    call->length > sizeof(struct sockaddr_un) || call->address.any.sa_family != AF_UNIX ||
	    !call->address.path.sun_path[0])
		return NULL;
	memcpy(text, call->address.path.sun_path, length);
	text[length] = '\0';
	return text;
}

/* The name of what @fd is, as it is in its own mount namespace. */
static bool name_of(int fd, char name[static PATH_MAX])
{
	char link[32];
	ssize_t length;

	out_text(link, sizeof(link), "/proc/self/fd/%d", fd);
	length = readlink(link, name, PATH_MAX);
	if (length < 0 || length >= PATH_MAX)
		return false;
	name[length] = '\0';
	return true;
}

/* /proc/self is the caller's own and not ours, so its links lead nowhere. */
static int look(int dir, const char *path, uint64_t resolve)
{
	int fd = -1, tries = TRIES;

	/* EAGAIN: somebody renames while ".." is followed; EINTR: our timer. */
	do
		fd = sys_openat2(dir, path, O_PATH, resolve | UAPI_RESOLVE_NO_MAGICLINKS);
	while (fd < 0 && (errno == EAGAIN || errno == EINTR) && --tries);
	return fd;
}

/* Out of the directory by ".." or by a link: from the root, by the directory's name. */
static int look_around(const struct call *call, const char *path)
{
	char name[PATH_MAX + 128], root[PATH_MAX];
	size_t skip, length;

	if (!name_of(call->directory, name) || !name_of(call->root, root)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	skip = root[1] ? strlen(root) : 0;
	if (!path_within(name, root)) {
		errno = ENOENT;
		return -1;
	}
	length = strlen(name);
	out_text(name + length, sizeof(name) - length, "/");
	memcpy(name + length + 1, path, strlen(path) + 1);
	return look(call->root, name + skip, UAPI_RESOLVE_IN_ROOT);
}

static int find_target(const struct call *call, const char *path)
{
	int fd;

	if (*path == '/')
		return look(call->root, path, UAPI_RESOLVE_IN_ROOT);
	fd = look(call->directory, path, UAPI_RESOLVE_BENEATH);
	return fd < 0 && errno == EXDEV ? look_around(call, path) : fd;
}

/* ---- is it allowed? --------------------------------------------------------------- */

static bool same_file(int fd, const struct stat *st)
{
	struct stat other;

	return fd >= 0 && !fstat(fd, &other) && other.st_ino == st->st_ino &&
	       other.st_dev == st->st_dev;
}

static bool on_own_device(const struct broker *broker, const struct stat *st)
{
	for (size_t i = 0; i < broker->device_count; i++)
		if (broker->devices[i] == st->st_dev)
			return true;
	return false;
}

/* Beneath the very directory that was made for the session, whatever has that name
 * now; Landlock lets nothing from elsewhere be moved or linked into it. */
static bool in_own_directory(const struct broker *broker, int fd, const struct stat *st)
{
	char name[PATH_MAX], own[PATH_MAX];
	int found = -1;
	bool same;

	if (broker->own < 0 || !name_of(fd, name) || !name_of(broker->own, own) ||
	    !path_within(name, own) || !name[strlen(own)])
		return false;
	found = look(broker->own, name + strlen(own) + 1,
		     UAPI_RESOLVE_BENEATH | UAPI_RESOLVE_NO_SYMLINKS);
	same = same_file(found, st);
	if (found >= 0)
		close(found);
	return same;
}

/* Could the session have put something else there? */
static bool may_be_exchanged(const struct launch *launch, const char *path)
{
	const struct plan *plan = &launch->plan;

	for (size_t i = 0; i < plan->rules.count; i++)
		if (plan->rules.items[i].rights & SBX_WRITE &&
		    strcmp(path, plan->rules.items[i].path) &&
		    path_within(path, plan->rules.items[i].path))
			return true;
	return false;
}

/* A service that starts anew makes its socket anew: that counts, if it was the
 * host that put it there.  Looked up on the host, whatever the caller mounted. */
static bool is_named(const struct launch *launch, const struct broker *broker,
		     const struct stat *st)
{
	for (size_t i = 0; i < broker->socket_count; i++) {
		const struct broker_socket *named = &broker->sockets[i];
		bool same = same_file(named->fd, st);
		int now = -1;

		if (!same && !may_be_exchanged(launch, named->path)) {
			now = sys_openat2(AT_FDCWD, named->path, O_PATH | O_NOFOLLOW,
					  UAPI_RESOLVE_NO_SYMLINKS);
			same = same_file(now, st);
		}
		if (now >= 0)
			close(now);
		if (same)
			return true;
	}
	return false;
}

void broker_find_sockets(const struct launch *launch, struct broker *broker)
{
	const struct fsview *view = &launch->view;

	broker->own = launch->direct.tmp
			  ? open(launch->direct.tmp, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
			  : -1;
	broker->sockets = mem_get((view->nodes.count + 1) * sizeof(*broker->sockets));
	for (size_t i = 0; i < view->nodes.count; i++) {
		const struct node *node = &view->nodes.items[i];
		int fd;

		if (node->kind != NODE_SOCKET)
			continue;
		fd = sys_openat2(AT_FDCWD, node->path, O_PATH | O_NOFOLLOW,
				 UAPI_RESOLVE_NO_SYMLINKS);
		if (fd >= 0 && !same_file(fd, &node->st)) {
			close(fd);
			fd = -1;
		}
		broker->sockets[broker->socket_count++] =
		    (struct broker_socket){ .path = node->path, .fd = fd };
	}
}

static int decide_path(const struct launch *launch, struct broker *broker, struct call *call,
		       const char *path)
{
	char name[PATH_MAX];
	struct stat st;

	call->target = find_target(call, path);
	if (call->target < 0)
		return errno;
	if (fstat(call->target, &st) || !S_ISSOCK(st.st_mode))
		return ECONNREFUSED; /* as the kernel has it */
	if (!on_own_device(broker, &st) && !in_own_directory(broker, call->target, &st) &&
	    !is_named(launch, broker, &st))
		return broker_refuse(launch, broker, name_of(call->target, name) ? name : path,
				     "a socket of the host's, which no `allow unix` names");
	call->length =
	    (unsigned)(PATH_AT + 1 +
		       out_text(call->address.path.sun_path, sizeof(call->address.path.sun_path),
				"/proc/self/fd/%d", call->target));
	return 0;
}

static int decide_abstract(const struct launch *launch, struct broker *broker,
			   const struct call *call)
{
	const struct plan *plan = &launch->plan;
	size_t length = call->length - PATH_AT - 1;
	char name[1 + sizeof(call->address.path.sun_path)] = "@";
	struct sbx_net_verdict verdict = { false, SBX_NONE };

	/* They are the network namespace's. */
	if (plan->backend != SBX_LANDLOCK && !plan->share_net)
		return 0;
	memcpy(name + 1, call->address.path.sun_path + 1, length);
	name[1 + length] = '\0';
	if (strlen(name + 1) == length)
		sbx_net_decide_abstract(&launch->blob, name + 1, &verdict);
	if (verdict.allowed)
		return 0;
	return broker_refuse(launch, broker, name,
			     "an abstract socket, which no `allow abstract` names");
}

int broker_decide(const struct launch *launch, struct broker *broker, struct call *call)
{
	const struct plan *plan = &launch->plan;
	const sa_family_t family = call->address.any.sa_family;
	char text[109];
	const char *path = call_path(call, text);

	if (path)
		return decide_path(launch, broker, call, path);
	if (call->domain == AF_UNIX && family == AF_UNIX && call->length > PATH_AT &&
	    call->length <= sizeof(struct sockaddr_un))
		return decide_abstract(launch, broker, call);
	/* Without namespaces the network is the host's. */
	if ((call->domain == AF_INET || call->domain == AF_INET6) && family != AF_UNSPEC &&
	    plan->backend == SBX_LANDLOCK && !plan->share_net)
		return call_names_proxy(call) && plan->proxy
			   ? broker_to_proxy(launch, broker, call)
			   : broker_refuse(launch, broker, call_address(call, text),
					   plan->proxy ? "only the proxy is (net)"
						       : "no network (net)");
	/* Of the kernel alone: a process or group may be let through to us that is not to the
	 * program. */
	if (call->domain == AF_NETLINK && call->length >= NETLINK_SIZE) {
		uint32_t who[2];

		memcpy(who, call->address.bytes + NETLINK_WHO, sizeof(who));
		if (who[0] || who[1])
			return broker_refuse(launch, broker, "a netlink address",
					     "not the kernel's");
	}
	/* Nothing that names anybody outside; the kernel says what is wrong with it. */
	return 0;
}
