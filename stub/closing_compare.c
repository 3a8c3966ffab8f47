/*
 * stub/closing_compare.c - is a name, with all beneath it, what it was?
 *
 * It is looked through twice.  First what costs no reading: names, kinds, inodes,
 * sizes and times of all that is there.  The time of the last change (ctime) is
 * the kernel's: who changes a file and puts everything back leaves that.  Then,
 * where it is little enough, the contents, so that a file which was written anew
 * as it was is not spoken of.
 *
 * Each name has bounds of its own: whoever fills one directory hides nothing in
 * another, and in that one only what lies past the bounds of the first look,
 * which is said.
 */
#include "stub/closing.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "blob/blob.h"
#include "stub/mem.h"
#include "stub/sys.h"

#define ENTRIES_MAX 100000u
#define DEPTH_MAX   256u  /* a descriptor each */
#define FILES_MAX   2000u /* whose contents are read */
#define BYTES_MAX   (8u << 20)

struct pass {
	struct sbx_sha256 sum;
	bool contents;
	bool partial; /* something was left out */
	unsigned entries;
	uint64_t bytes;
	char buffer[4096]; /* of a file, or where a link leads */
};

static void read_file(struct pass *p, int fd)
{
	ssize_t size;

	while ((size = read(fd, p->buffer, sizeof(p->buffer))) > 0 && p->bytes <= BYTES_MAX) {
		sbx_sha256_add(&p->sum, p->buffer, (size_t)size);
		p->bytes += (uint64_t)size;
	}
	p->partial |= size != 0;
}

static void take_entry(struct pass *p, int dir, const char *name, unsigned depth);

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* What lies too deep hides nothing beside it. */
static bool may_go_on(const struct pass *p)
{
	return p->entries < ENTRIES_MAX && !(p->contents && p->partial);
}

/* Contents by name.  The order in which a directory lists them is good enough for
 * the other: it changes only with the directory, and thus with its times. */
static void read_directory(struct pass *p, int fd, unsigned depth)
{
	_Alignas(struct uapi_dirent) char buffer[2048];
	VEC(const char *) names = { 0 };
	long got;

	while ((got = syscall(SYS_getdents64, fd, buffer, sizeof(buffer))) > 0 && may_go_on(p))
		for (long at = 0; at < got;) {
			const struct uapi_dirent *entry = (const void *)(buffer + at);

			at += entry->length;
			if (!strcmp(entry->name, ".") || !strcmp(entry->name, ".."))
				continue;
			if (!p->contents)
				take_entry(p, fd, entry->name, depth);
			else if (names.count < FILES_MAX)
				*vec_add(&names) = mem_string(entry->name);
			else
				p->partial = true;
		}
	p->partial |= got != 0;
	mem_sort(names.items, names.count, sizeof(*names.items), by_name);
	for (size_t i = 0; i < names.count; i++)
		take_entry(p, fd, names.items[i], depth);
}

static void add_looks(struct pass *p, const struct stat *st)
{
	sbx_sha256_add(&p->sum, &st->st_mode, sizeof(st->st_mode));
	if (p->contents) {
		sbx_sha256_add(&p->sum, &st->st_size,
			       S_ISREG(st->st_mode) ? sizeof(st->st_size) : 0);
		return;
	}
	sbx_sha256_add(&p->sum, &st->st_dev, sizeof(st->st_dev));
	sbx_sha256_add(&p->sum, &st->st_ino, sizeof(st->st_ino));
	sbx_sha256_add(&p->sum, &st->st_size, sizeof(st->st_size));
	sbx_sha256_add(&p->sum, &st->st_mtim, sizeof(st->st_mtim));
	sbx_sha256_add(&p->sum, &st->st_ctim, sizeof(st->st_ctim));
	if (S_ISREG(st->st_mode))
		p->bytes += (uint64_t)st->st_size;
}

/* A link is its text; whatever is no file or directory, its kind. */
static void take_entry(struct pass *p, int dir, const char *name, unsigned depth)
{
	struct stat st = { 0 };
	ssize_t size;
	int fd;

	if (p->entries == ENTRIES_MAX || depth > DEPTH_MAX) {
		p->partial = true;
		return;
	}
	p->entries++;
	fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW);
	sbx_sha256_add(&p->sum, name, strlen(name) + 1);
	add_looks(p, &st);
	if (S_ISLNK(st.st_mode)) {
		size = readlinkat(dir, name, p->buffer, sizeof(p->buffer));
		sbx_sha256_add(&p->sum, p->buffer, size > 0 ? (size_t)size : 0);
		return;
	}
	if (!S_ISDIR(st.st_mode) && !(p->contents && S_ISREG(st.st_mode)))
		return;
	fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0) {
		/* To look into what is closed the program has to open it first, too,
		 * which changes its times. */
		p->partial |= p->contents || errno != EACCES;
		return;
	}
	if (S_ISDIR(st.st_mode))
		read_directory(p, fd, depth + 1);
	else
		read_file(p, fd);
	close(fd);
}

/* False: not all of it. */
static bool take(struct pass *p, const char *path, uint8_t digest[32])
{
	sbx_sha256_init(&p->sum);
	take_entry(p, AT_FDCWD, path, 0);
	sbx_sha256_end(&p->sum, digest);
	return !p->partial;
}

void closing_look_through(const char *path, struct insides *out)
{
	struct pass looks = { 0 }, contents = { .contents = true };

	out->partial = !take(&looks, path, out->looks);
	out->read = !out->partial && looks.entries <= FILES_MAX && looks.bytes <= BYTES_MAX &&
		    take(&contents, path, out->contents);
	out->empty = out->read && looks.entries == 1 && !looks.bytes;
}

bool closing_is_same(const struct insides *before, const struct insides *now)
{
	if (before->read && now->read)
		return !memcmp(before->contents, now->contents, sizeof(now->contents));
	return !memcmp(before->looks, now->looks, sizeof(now->looks));
}
