/*
 * prove/scratch.c - a home, a workspace and listeners of prove's own.
 *
 *	TOP/home     what $home is
 *	TOP/work     the workspace: a repository, so that rules about git hold
 *	TOP/sbx-sibling
 *	TOP/blobs    outside all that a policy could grant
 *
 * TOP lies in the caller's home directory: a policy grants that as a whole to
 * nobody, while /tmp is often replaced by an empty one.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <glob.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "blob/contest.h"
#include "prove/prove.h"

#define SWEEP_SECONDS 60

bool scratch_has(const struct prove *prove, const char *path)
{
	return sbx_path_beneath(prove->scratch.top, path) >= 0 &&
	       sbx_path_beneath(prove->scratch.blobs, path) < 0;
}

const char *scratch_shown(const struct prove *prove, const char *path)
{
	const struct {
		const char *top, *name;
	} known[] = { { prove->scratch.home, "~" },
		      { prove->scratch.work, "$workspace" },
		      { prove->scratch.sibling, "$sibling" },
		      { prove->scratch.blobs, "$policy" } };

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (sbx_path_beneath(known[i].top, path) >= 0)
			return arena_printf(prove->arena, "%s%s", known[i].name,
					    path + strlen(known[i].top));
	return path;
}

static bool write_file(const char *path, const char *text, size_t size, mode_t mode)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
	bool good = fd >= 0 && write(fd, text, size) == (ssize_t)size;

	if (fd >= 0)
		close(fd);
	return good || errno == EEXIST;
}

/* The directories above @path, which lies beneath TOP. */
static void make_parents(const char *path)
{
	char text[PATH_MAX];

	snprintf(text, sizeof(text), "%s", path);
	for (char *slash = text + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		mkdir(text, 0700);
		*slash = '/';
	}
}

static bool copy_probe(const char *from, const char *to)
{
	int in = open(from, O_RDONLY | O_CLOEXEC);
	int out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0700);
	char buffer[65536];
	ssize_t got = -1;

	while (in >= 0 && out >= 0 && (got = read(in, buffer, sizeof(buffer))) > 0)
		if (write(out, buffer, (size_t)got) != got)
			break;
	if (in >= 0)
		close(in);
	if (out >= 0)
		close(out);
	return got == 0 || (out < 0 && errno == EEXIST);
}

/* A bait can be read, written and executed: what is executed is sbx-probe. */
const char *scratch_path(struct prove *prove, const char *path, bool directory, const char *text)
{
	bool good;

	make_parents(path);
	if (directory)
		good = mkdir(path, 0700) == 0 || errno == EEXIST;
	else if (text)
		good = write_file(path, text, strlen(text), 0600);
	else
		good = copy_probe(prove->probe, path);
	return good ? NULL : arena_printf(prove->arena, "%s: %s", path, strerror(errno));
}

static const char *make_repository(struct prove *prove)
{
	static const struct {
		const char *name, *text; /* NULL: a directory */
	} parts[] = {
		{ "objects", NULL },
		{ "refs", NULL },
		{ "hooks", NULL },
		{ "HEAD", "ref: refs/heads/main\n" },
		{ "config", "[core]\n\trepositoryformatversion = 0\n\tbare = false\n" },
	};
	const char *error = NULL;

	for (size_t i = 0; !error && i < sizeof(parts) / sizeof(parts[0]); i++)
		error = scratch_path(
		    prove,
		    arena_printf(prove->arena, "%s/.git/%s", prove->scratch.work, parts[i].name),
		    !parts[i].text, parts[i].text);
	return error;
}

static int listen_at(const struct sockaddr *address, socklen_t length)
{
	int fd = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd >= 0 && (bind(fd, address, length) || listen(fd, 64))) {
		close(fd);
		return -1;
	}
	return fd;
}

static int listen_local(const char *name, size_t at)
{
	struct sockaddr_un here = { .sun_family = AF_UNIX };
	size_t length = strlen(name);

	if (at + length >= sizeof(here.sun_path))
		return -1;
	memcpy(here.sun_path + at, name, length);
	return listen_at((const void *)&here,
			 (socklen_t)(offsetof(struct sockaddr_un, sun_path) + at + length));
}

void scratch_socket(struct prove *prove, const char *path)
{
	int fd;

	make_parents(path);
	fd = listen_local(path, 0);
	if (fd >= 0)
		*VEC_PUSH(prove->arena, &prove->scratch.sockets) = fd;
}

static void make_listeners(struct prove *prove)
{
	struct sockaddr_in here = { .sin_family = AF_INET,
				    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t length = sizeof(here);
	struct scratch *scratch = &prove->scratch;

	scratch->tcp = listen_at((const void *)&here, sizeof(here));
	if (scratch->tcp >= 0 && getsockname(scratch->tcp, (void *)&here, &length) == 0)
		scratch->port = ntohs(here.sin_port);
	scratch->socket = arena_printf(prove->arena, "%s/sbx-listener", scratch->work);
	scratch->local = listen_local(scratch->socket, 0);
	scratch->name = strrchr(scratch->top, '/') + 2; /* "sbx-prove-XXXXXX" */
	scratch->abstract = listen_local(scratch->name, 1);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)ftw;
	return type == FTW_DP || type == FTW_DNR ? rmdir(path) : unlink(path);
}

static void remove_all(const char *path)
{
	nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}

/* One that prove was killed in: nobody holds it any more, and it is not just being made. */
static void sweep_one(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (fd < 0)
		return;
	if (!fstat(fd, &st) && st.st_uid == geteuid() && st.st_mtime < time(NULL) - SWEEP_SECONDS &&
	    !flock(fd, LOCK_EX | LOCK_NB))
		remove_all(path);
	close(fd);
}

static void sweep(struct prove *prove)
{
	glob_t found;

	if (!glob(arena_printf(prove->arena, "%s/.sbx-prove-??????", prove->parent), GLOB_NOSORT,
		  NULL, &found))
		for (size_t i = 0; i < found.gl_pathc; i++)
			sweep_one(found.gl_pathv[i]);
	globfree(&found);
}

const char *scratch_make(struct prove *prove)
{
	char *top = arena_printf(prove->arena, "%s/.sbx-prove-XXXXXX", prove->parent),
	     real[PATH_MAX];
	struct scratch *scratch = &prove->scratch;
	const char *error = NULL;

	*scratch = (struct scratch){ .lock = -1, .tcp = -1, .local = -1, .abstract = -1 };
	sweep(prove);
	if (!mkdtemp(top) || !realpath(top, real))
		return arena_printf(prove->arena, "%s: %s", top, strerror(errno));
	scratch->top = arena_copy(prove->arena, real, strlen(real));
	scratch->lock = open(real, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (scratch->lock >= 0)
		flock(scratch->lock, LOCK_EX | LOCK_NB); /* it is in use: see sweep_one() */
	scratch->home = arena_printf(prove->arena, "%s/home", real);
	scratch->work = arena_printf(prove->arena, "%s/work", real);
	scratch->sibling = arena_printf(prove->arena, "%s/sbx-sibling", real);
	scratch->blobs = arena_printf(prove->arena, "%s/blobs", real);
	const char *const directories[] = { scratch->home, scratch->work, scratch->sibling,
					    scratch->blobs };
	for (size_t i = 0; !error && i < sizeof(directories) / sizeof(directories[0]); i++)
		error = scratch_path(prove, directories[i], true, NULL);
	if (!error)
		error = make_repository(prove);
	if (!error)
		make_listeners(prove);
	return error;
}

/* Where @path is while it is hidden: a short name, however long that one is. */
static const char *hidden(struct prove *prove, const char *path)
{
	unsigned long long hash = 14695981039346656037u;

	for (const char *p = path; *p; p++)
		hash = (hash ^ (unsigned char)*p) * 1099511628211u;
	return arena_printf(prove->arena, "%s/%016llx", prove->scratch.blobs, hash);
}

void scratch_hide(struct prove *prove, const char *path)
{
	const char *to = hidden(prove, path);

	/* Again: what holds the name since was made by a session, and may be kept. */
	if (access(to, F_OK) == 0)
		remove_all(path);
	else
		rename(path, to);
}

void scratch_show(struct prove *prove, const char *path)
{
	const char *from = hidden(prove, path);

	if (rename(from, path) && errno != ENOENT) {
		remove_all(path);
		rename(from, path);
	}
}

void scratch_remove(struct prove *prove)
{
	int *const listening[] = { &prove->scratch.tcp, &prove->scratch.local,
				   &prove->scratch.abstract, &prove->scratch.lock };

	for (size_t i = 0; i < sizeof(listening) / sizeof(listening[0]); i++)
		if (*listening[i] >= 0)
			close(*listening[i]);
	for (size_t i = 0; i < prove->scratch.sockets.count; i++)
		close(prove->scratch.sockets.items[i]);
	if (prove->scratch.top)
		remove_all(prove->scratch.top);
}
