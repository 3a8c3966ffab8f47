/*
 * stub/resolve.c - walking paths.
 *
 * Most paths are plain, with a plain link in them at most (places.c).  Where one is
 * not, or must be seen as it is now, the walk goes component by component: each one is opened by O_PATH | O_NOFOLLOW beneath the descriptor
 * of its parent, a link is read from its own descriptor, so what is recorded is
 * what was crossed.
 */
#include "stub/resolve.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "stub/mem.h"
#include "stub/out.h"
#include "stub/sys.h"


bool path_within(const char *path, const char *dir)
{
	size_t length = strlen(dir);

	if (length == 1)
		return true;
	return !strncmp(path, dir, length) && (!path[length] || path[length] == '/');
}

const char *path_parent(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash == path ? "/" : mem_copy(path, (size_t)(slash - path));
}

const char *path_join(const char *dir, const char *name)
{
	size_t length = strlen(dir);
	char *path;

	if (length == 1)
		length = 0;
	path = mem_get(length + strlen(name) + 2);
	memcpy(path, dir, length);
	path[length] = '/';
	strcpy(path + length + 1, name);
	return path;
}

bool path_is_odd(const char *path)
{
	size_t length;

	do {
		path++;
		length = strcspn(path, "/");
		if (!length || (length <= 2 && !memcmp(path, "..", length)))
			return true;
		path += length;
	} while (*path);
	return false;
}

int path_compare(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	if (*a == *b)
		return 0;
	if (!*a || !*b)
		return *a ? 1 : -1;
	if (*a == '/' || *b == '/')
		return *a == '/' ? -1 : 1;
	return (unsigned char)*a < (unsigned char)*b ? -1 : 1;
}

/* The canonical name so far, and what is still to be walked. */
struct state {
	char at[PATH_MAX];
	size_t length;
	char rest[2 * PATH_MAX];
};

static bool append(struct state *state, const char *name, size_t length)
{
	if (state->length + 1 + length >= sizeof(state->at))
		return false;
	if (state->length > 1)
		state->at[state->length++] = '/';
	memcpy(state->at + state->length, name, length);
	state->length += length;
	state->at[state->length] = '\0';
	return true;
}

static void go_up(struct state *state)
{
	while (state->length > 1 && state->at[state->length - 1] != '/')
		state->length--;
	if (state->length > 1)
		state->length--;
	state->at[state->length] = '\0';
}

static void fail(struct walk *out, struct state *state, int error)
{
	if (out->fd >= 0)
		close(out->fd);
	out->fd = -1;
	out->error = error;
	out->path = mem_copy(state->at, state->length);
	out->have = state->length;
}

void walk_add_hop(struct walk *out, const char *path, const char *target, const struct stat *st)
{
	if (!(out->hop_count % 2)) { /* mostly there is one */
		struct hop *hops = mem_get((out->hop_count + 2) * sizeof(*hops));

		if (out->hop_count)
			memcpy(hops, out->hops, out->hop_count * sizeof(*hops));
		out->hops = hops;
	}
	out->hops[out->hop_count++] = (struct hop){ .path = path, .target = target, .st = *st };
}

/* The link @fd at @state: records it, and puts its text before the rest. */
static int follow(struct state *state, int fd, const char *name, size_t length,
		  const struct stat *st, struct walk *out)
{
	char target[PATH_MAX];
	ssize_t size = readlinkat(fd, "", target, sizeof(target) - 1);
	size_t rest = strlen(state->rest);

	if (size <= 0)
		return size ? errno : ENOENT;
	if (out->hop_count == HOPS_MAX)
		return ELOOP;
	if ((size_t)size + 1 + rest >= sizeof(state->rest))
		return ENAMETOOLONG;
	target[size] = '\0';
	walk_add_hop(out, path_join(state->at, mem_copy(name, length)),
		     mem_copy(target, (size_t)size), st);
	memmove(state->rest + size + 1, state->rest, rest + 1);
	memcpy(state->rest, target, (size_t)size);
	state->rest[size] = '/';
	if (target[0] == '/') {
		state->length = 1;
		state->at[1] = '\0';
	}
	return 0;
}

/* What does not exist: taken as text, ".." too. */
static void append_missing(struct state *state, struct walk *out)
{
	out->have = state->length;
	for (char *name = state->rest; *name;) {
		size_t length = strcspn(name, "/");

		if (length == 2 && !memcmp(name, "..", 2))
			go_up(state);
		else if (length && !(length == 1 && *name == '.') && !append(state, name, length)) {
			fail(out, state, ENAMETOOLONG);
			return;
		}
		name += length;
		name += *name == '/';
	}
	if (state->length < out->have)
		out->have = state->length;
	out->missing = out->have < state->length;
	out->path = mem_copy(state->at, state->length);
}

/* One component; returns false when the walk is over. */
static bool step(struct state *state, struct walk *out)
{
	char name[NAME_MAX + 1];
	size_t length = strcspn(state->rest, "/");
	const char *next = state->rest + length;
	struct stat st;
	int fd, error;

	if (length > NAME_MAX) {
		fail(out, state, ENAMETOOLONG);
		return false;
	}
	memcpy(name, state->rest, length);
	name[length] = '\0';
	next += *next == '/';
	if (!length || !strcmp(name, ".")) {
		memmove(state->rest, next, strlen(next) + 1);
		return true;
	}
	fd = openat(out->fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 && (errno == ENOENT || errno == ENOTDIR)) {
		append_missing(state, out);
		return false;
	}
	if (fd < 0 || fstat(fd, &st)) {
		fail(out, state, errno);
		return false;
	}
	memmove(state->rest, next, strlen(next) + 1);
	if (S_ISLNK(st.st_mode)) {
		error = follow(state, fd, name, length, &st, out);
		close(fd);
		if (error) {
			fail(out, state, error);
			return false;
		}
		if (state->length == 1) {
			close(out->fd);
			out->fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
		}
		return true;
	}
	close(out->fd);
	out->fd = fd;
	out->st = st;
	if (!strcmp(name, ".."))
		go_up(state);
	else if (!append(state, name, length)) {
		fail(out, state, ENAMETOOLONG);
		return false;
	}
	return true;
}

void walk_afresh(const char *path, struct walk *out)
{
	struct state state = { .at = "/", .length = 1 };

	memset(out, 0, sizeof(*out));
	out->fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (out->fd < 0 || strlen(path) >= PATH_MAX) {
		fail(out, &state, out->fd < 0 ? errno : ENAMETOOLONG);
		return;
	}
	strcpy(state.rest, path + 1);
	while (state.rest[0])
		if (!step(&state, out))
			break;
	if (out->error)
		return;
	fstat(out->fd, &out->st);
	if (!out->path) {
		out->path = mem_copy(state.at, state.length);
		out->have = state.length;
	}
}

void walk_path(const char *path, struct walk *out)
{
	memset(out, 0, sizeof(*out));
	out->fd = -1;
	if (walk_places(path, out))
		return;
	walk_afresh(path, out);
	walk_close(out);
}

void walk_close(struct walk *walk)
{
	if (walk->fd >= 0)
		close(walk->fd);
	walk->fd = -1;
}

bool walk_name(const char *path, char *out, size_t size)
{
	struct walk walk;
	bool fits;

	walk_path(path, &walk);
	fits = !walk.error && strlen(walk.path) < size;
	if (fits)
		strcpy(out, walk.path);
	return fits;
}

const char *walk_kernel_name(const char *path)
{
	int fd = openat(AT_FDCWD, path, O_PATH | O_CLOEXEC);
	ssize_t length = -1;
	char name[PATH_MAX];
	struct walk walk;

	if (fd >= 0) {
		length = readlink(out_string("/proc/self/fd/%d", fd), name, sizeof(name) - 1);
		close(fd);
	}
	if (length > 0)
		return mem_copy(name, (size_t)length);
	walk_path(path, &walk);
	return walk.error ? NULL : walk.path;
}
