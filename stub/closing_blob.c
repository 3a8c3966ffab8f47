/*
 * stub/closing_blob.c - is a file what git has under this name?
 *
 * The name is the SHA-1, or in a newer repository the SHA-256, of a short head
 * and the contents.  Git would run the repository's filters over a file first,
 * commands of anybody's choice; so it is not git who reads it.  What lies there
 * counts, but that git may have written line ends as CR LF.
 */
#include "stub/closing.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "blob/blob.h"
#include "stub/mem.h"
#include "stub/out.h"
#include "stub/sys.h"

#define SHA1_DIGITS 40u

/* ---- SHA-1 (FIPS 180-4): a name here, and proof of nothing ------------------------- */

static uint32_t turn(uint32_t value, unsigned by)
{
	return value << by | value >> (32 - by);
}

static void sha1_block(uint32_t state[5], const uint8_t *block)
{
	static const uint32_t constant[] = { 0x5a827999, 0x6ed9eba1, 0x8f1bbcdc, 0xca62c1d6 };
	uint32_t w[80], s[5];

	for (unsigned i = 0; i < 80; i++)
		w[i] = i < 16 ? (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 |
				    (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3]
			      : turn(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
	memcpy(s, state, sizeof(s));
	for (unsigned i = 0; i < 80; i++) {
		uint32_t mix = i < 20   ? (s[1] & s[2]) | (~s[1] & s[3])
			       : i < 40 ? s[1] ^ s[2] ^ s[3]
			       : i < 60 ? (s[1] & s[2]) | (s[1] & s[3]) | (s[2] & s[3])
					: s[1] ^ s[2] ^ s[3];
		uint32_t next = turn(s[0], 5) + mix + s[4] + constant[i / 20] + w[i];

		memmove(s + 1, s, 4 * sizeof(*s));
		s[0] = next;
		s[2] = turn(s[2], 30);
	}
	for (unsigned i = 0; i < 5; i++)
		state[i] += s[i];
}

/* Of @size bytes, behind which there is room for padding: 72 more. */
static void sha1(uint8_t *data, size_t size, uint8_t digest[20])
{
	uint32_t state[] = { 0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0 };
	size_t padded = (size + 8) / 64 * 64 + 64;

	memset(data + size, 0, padded - size);
	data[size] = 0x80;
	for (unsigned i = 0; i < 8; i++)
		data[padded - 1 - i] = (uint8_t)((uint64_t)size * 8 >> 8 * i);
	for (size_t at = 0; at < padded; at += 64)
		sha1_block(state, data + at);
	for (unsigned i = 0; i < 20; i++)
		digest[i] = (uint8_t)(state[i / 4] >> (24 - i % 4 * 8));
}

/* ---- blobs -------------------------------------------------------------------------- */

#define HEAD_ROOM 32u /* "blob SIZE" and a NUL */
#define END_ROOM  72u

/* @contents lie between room for the head and for padding. */
static bool has_name(uint8_t *contents, size_t size, const char *name)
{
	static const char digits[] = "0123456789abcdef";
	size_t length = strcspn(name, "\t");
	char head[HEAD_ROOM];
	size_t before = out_text(head, sizeof(head), "blob %llu", (unsigned long long)size) + 1;
	uint8_t digest[32], *start = contents - before;

	memcpy(start, head, before);
	if (length == SHA1_DIGITS) {
		sha1(start, before + size, digest);
	} else {
		struct sbx_sha256 sum;

		sbx_sha256_init(&sum);
		sbx_sha256_add(&sum, start, before + size);
		sbx_sha256_end(&sum, digest);
	}
	for (size_t i = 0; i < length && i < 2 * sizeof(digest); i++)
		if (name[i] != digits[digest[i / 2] >> (i % 2 ? 0 : 4) & 0xf])
			return false;
	return true;
}

static size_t without_returns(uint8_t *text, size_t size)
{
	size_t to = 0;

	for (size_t i = 0; i < size; i++)
		if (text[i] != '\r' || i + 1 == size || text[i + 1] != '\n')
			text[to++] = text[i];
	return to;
}

/* How much of @fd there is: a link's text, or a file's contents.  -1: not to be had. */
static ssize_t read_all(int fd, bool link, uint8_t *to, size_t size)
{
	char path[32];
	ssize_t got, all = 0;
	int file;

	if (link)
		return readlinkat(fd, "", (char *)to, size);
	out_text(path, sizeof(path), "/proc/self/fd/%d", fd);
	file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	got = file < 0 ? -1 : 0;
	while (file >= 0 && (size_t)all < size &&
	       (got = read(file, to + all, size - (size_t)all)) > 0)
		all += got;
	if (file >= 0)
		close(file);
	return got < 0 ? -1 : all;
}

static bool is_blob(int fd, bool link, const char *name, size_t *budget)
{
	uint8_t *room, *contents;
	size_t most, size;
	struct stat st;
	ssize_t got;

	if (fstat(fd, &st) || (link ? !S_ISLNK(st.st_mode) : !S_ISREG(st.st_mode)))
		return false;
	most = link ? PATH_MAX : (size_t)st.st_size;
	if (most > *budget)
		return true;
	*budget -= most;
	room = mem_get(HEAD_ROOM + most + END_ROOM);
	contents = room + HEAD_ROOM;
	got = read_all(fd, link, contents, most);
	if (got < 0)
		return true;
	if (has_name(contents, (size_t)got, name))
		return true;
	size = link ? (size_t)got : without_returns(contents, (size_t)got);
	return size != (size_t)got && has_name(contents, size, name);
}

bool closing_is_blob(const char *path, bool link, const char *name, size_t *budget)
{
	int fd = sys_openat2(AT_FDCWD, path, O_PATH | O_NOFOLLOW, UAPI_RESOLVE_NO_SYMLINKS);
	bool is;

	/* Behind a link, to git, there is nothing. */
	if (fd < 0)
		return errno != ENOENT && errno != ENOTDIR && errno != ELOOP;
	is = is_blob(fd, link, name, budget);
	close(fd);
	return is;
}
