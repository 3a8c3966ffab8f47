/*
 * stub/places.c - every name on the way is asked for once.
 *
 * Hundreds of rules name places in a few dozen directories, most of them for
 * things that are not there.  So each component of a path is looked at once,
 * relative to a descriptor of the directory it lies in, and remembered until
 * the plan is made.  What lies before a link is canonical, so a plain text in
 * it is put in its place and looked at in turn.  A text with `..` in it, or a
 * name that cannot be looked at, is for the slow walk of resolve.c.
 */
#include "stub/resolve.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "stub/mem.h"

#define BUCKETS     256u /* a power of 2 */
#define ENTERED_MAX 200u /* directories that are kept open */
#define NOWHERE     UINT32_MAX

struct place {
	const char *name;
	uint32_t parent, next; /* the next in its bucket */
	int fd;                /* of a directory that was entered, or -1 */
	const struct stat *st; /* NULL: there is nothing of this name */
};
static struct {
	VEC(struct place) list; /* [0] is the root */
	uint32_t bucket[BUCKETS];
	unsigned entered;
} places;

static bool begin(void)
{
	struct stat *st = mem_get(sizeof(*st));
	int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (root < 0 || fstat(root, st))
		return false;
	for (size_t i = 0; i < BUCKETS; i++)
		places.bucket[i] = NOWHERE;
	*vec_add(&places.list) = (struct place){ .name = "/", .fd = root, .st = st };
	places.entered = 1;
	return true;
}

void walk_forget(void)
{
	for (size_t i = 0; i < places.list.count; i++)
		if (places.list.items[i].fd >= 0)
			close(places.list.items[i].fd);
	places.list.count = 0;
}

/* O_PATH of the directory @at; -1: it cannot be had. */
static int enter(uint32_t at)
{
	struct place *place = &places.list.items[at];
	int above;

	if (place->fd >= 0)
		return place->fd;
	if (places.entered == ENTERED_MAX)
		return -1;
	above = enter(place->parent);
	if (above >= 0)
		place->fd =
		    openat(above, place->name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	places.entered += place->fd >= 0;
	return place->fd;
}

/* The place of that name in the directory @at; NOWHERE: it cannot be looked at. */
static uint32_t find(uint32_t at, const char *name, size_t length)
{
	uint32_t hash = at * 31u, index, *bucket;
	struct stat st, *known = NULL;
	const char *copy;
	bool found;
	int dir;

	for (size_t i = 0; i < length; i++)
		hash = (hash ^ (unsigned char)name[i]) * 16777619u;
	bucket = &places.bucket[(hash ^ hash >> 16) & (BUCKETS - 1)];
	for (index = *bucket; index != NOWHERE; index = places.list.items[index].next) {
		const struct place *place = &places.list.items[index];

		if (place->parent == at && !strncmp(place->name, name, length) &&
		    !place->name[length])
			return index;
	}
	dir = enter(at);
	copy = mem_copy(name, length);
	if (dir < 0)
		return NOWHERE;
	found = !fstatat(dir, copy, &st, AT_SYMLINK_NOFOLLOW);
	if (!found && errno != ENOENT)
		return NOWHERE;
	if (found) {
		known = mem_get(sizeof(*known));
		*known = st;
	}
	index = (uint32_t)places.list.count;
	*vec_add(&places.list) =
	    (struct place){ .name = copy, .parent = at, .next = *bucket, .fd = -1, .st = known };
	*bucket = index;
	return index;
}

/* As far as the first link, whose place is then *link; else 0.  False: it cannot be
 * looked at. */
static bool look(const char *path, struct walk *out, uint32_t *link)
{
	uint32_t at = 0, next = 0;
	size_t end = 0, length;

	*link = 0;
	out->have = 1;
	do {
		length = strcspn(path + end + 1, "/");
		if (length > NAME_MAX)
			return false;
		next = S_ISDIR(places.list.items[at].st->st_mode) ? find(at, path + end + 1, length)
								  : 0;
		if (next == NOWHERE)
			return false;
		if (!next || !places.list.items[next].st)
			break;
		at = next;
		end += 1 + length;
		out->have = end;
		if (S_ISLNK(places.list.items[at].st->st_mode)) {
			*link = at;
			return true;
		}
	} while (path[end]);
	out->missing = path[end];
	out->st = *places.list.items[at].st;
	out->path = mem_string(path);
	return true;
}

/* Where @path leads over the link that ends at out->have, all before it being
 * canonical; NULL: by a way that is not for this file. */
static const char *follow(const char *path, uint32_t link, struct walk *out)
{
	const struct place *place = &places.list.items[link];
	const char *name = mem_copy(path, out->have), *next;
	char target[PATH_MAX];
	ssize_t size;
	int dir = enter(place->parent);

	size = dir < 0 ? -1 : readlinkat(dir, place->name, target, sizeof(target) - 1);
	if (size <= 0 || out->hop_count == HOPS_MAX)
		return NULL;
	target[size] = '\0';
	next = *target == '/' ? mem_string(target) : path_join(path_parent(name), target);
	next = mem_join(next, path + out->have);
	if (path_is_odd(next) || strlen(next) >= PATH_MAX)
		return NULL;
	walk_add_hop(out, name, mem_copy(target, (size_t)size), place->st);
	return next;
}

bool walk_places(const char *path, struct walk *out)
{
	uint32_t link;

	if (!path[1] && (places.list.count || begin())) {
		out->path = "/";
		out->have = 1;
		out->st = *places.list.items[0].st;
		return true;
	}
	if (path_is_odd(path) || strlen(path) >= PATH_MAX || (!places.list.count && !begin()))
		return false;
	do
		if (!look(path, out, &link))
			return false;
	while (link && (path = follow(path, link, out)));
	return path;
}
