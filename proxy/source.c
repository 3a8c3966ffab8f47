/*
 * proxy/source.c - files with a secret in them, and values that can stand in a header.
 *
 * jansson copies strings as it parses, so its memory is wiped as it is given back.
 */
#include "proxy/source.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <openssl/crypto.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define KEY_MAX 256

static bool fail(char *why, size_t size, const char *text)
{
	snprintf(why, size, "%s", text);
	return false;
}

void escape_text(char *out, size_t out_size, const char *text, size_t size)
{
	size_t at = strlen(out);

	for (size_t i = 0; i < size && at + 5 < out_size; i++) {
		unsigned char c = (unsigned char)text[i];

		if (c >= 0x20 && c < 0x7f)
			out[at++] = (char)c;
		else
			at += (size_t)snprintf(out + at, out_size - at, "\\x%02x", c);
	}
	out[at] = '\0';
}

bool source_take(const char *text, size_t size, struct secret *out, char *why, size_t why_size)
{
	out->size = 0;
	if (size && text[size - 1] == '\n')
		size--;
	if (size && text[size - 1] == '\r')
		size--;
	if (!size)
		return fail(why, why_size, "there is nothing in it");
	if (memchr(text, '\n', size))
		return fail(why, why_size, "it has more than one line: the value alone is wanted");
	for (size_t i = 0; i < size; i++)
		if (text[i] < 0x20 || text[i] > 0x7e)
			return fail(why, why_size, "a byte of it can stand in no HTTP header");
	if (text[0] == ' ' || text[size - 1] == ' ')
		return fail(why, why_size, "it begins or ends with a blank");
	if (size < KEEPER_VALUE_MIN)
		return fail(why, why_size,
			    "it has fewer than 8 bytes, which could not be told from other text in "
			    "an answer");
	if (size > KEEPER_VALUE_MAX)
		return fail(why, why_size, "it has more than 8192 bytes");
	memcpy(out->value, text, size);
	out->size = size;
	return true;
}

/* ---- JSON ------------------------------------------------------------------------------- */

struct block { /* before each piece of jansson's memory */
	size_t size;
	max_align_t data[];
};

static void *wiped_malloc(size_t size)
{
	struct block *block = malloc(sizeof(*block) + size);

	if (!block)
		return NULL;
	block->size = size;
	return block->data;
}

static void wiped_free(void *data)
{
	struct block *block;

	if (!data)
		return;
	block = (struct block *)(void *)((char *)data - offsetof(struct block, data));
	OPENSSL_cleanse(data, block->size);
	free(block);
}

/* The value at ".KEY.KEY" of @root; borrowed. */
static json_t *follow(json_t *root, const char *way)
{
	char key[KEY_MAX];

	while (root && *way == '.') {
		size_t size = strcspn(++way, ".");

		if (size >= sizeof(key))
			return NULL;
		memcpy(key, way, size);
		key[size] = '\0';
		root = json_object_get(root, key);
		way += size;
	}
	return root;
}

/* A file without that key is as good as none: some programs keep other logins in it, too. */
static enum source_result take_json(const char *text, size_t size, const char *way,
				    struct secret *out, char *why, size_t why_size)
{
	json_error_t error; /* its text may quote the file: only the line is shown */
	json_t *root, *found;
	enum source_result result = SOURCE_BAD;

	json_set_alloc_funcs(wiped_malloc, wiped_free);
	root = json_loadb(text, size, JSON_REJECT_DUPLICATES, &error);
	found = follow(root, way);
	if (!root)
		snprintf(why, why_size, "it is no JSON (line %d)", error.line);
	else if (!found)
		snprintf(why, why_size, "its JSON has no %s: log in again, or name the right key",
			 way);
	else if (!json_is_string(found))
		snprintf(why, why_size, "in its JSON, %s is no string", way);
	else if (source_take(json_string_value(found), json_string_length(found), out, why,
			     why_size))
		result = SOURCE_READ;
	if (root && !found)
		result = SOURCE_ABSENT;
	json_decref(root);
	OPENSSL_cleanse(&error, sizeof(error));
	return result;
}

/* ---- files ------------------------------------------------------------------------------ */

static void say_mode(const char *wrong, const char *path, char *why, size_t why_size)
{
	snprintf(why, why_size, "%s: chmod 600 ", wrong);
	escape_text(why, why_size, path, strlen(path));
}

static bool check_file(int fd, const char *path, char *why, size_t why_size)
{
	struct stat st;

	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
		return fail(why, why_size, "it is no regular file");
	if (st.st_uid != geteuid())
		return fail(why, why_size,
			    "it belongs to somebody else: only your own file is read");
	if (st.st_mode & 077) {
		say_mode("others can read or write it", path, why, why_size);
		return false;
	}
	if (st.st_nlink != 1)
		return fail(why, why_size,
			    "it has another name (hard link), which may lie where others write: cp "
			    "it to a file of its own");
	if (st.st_size > SOURCE_MAX)
		return fail(why, why_size, "it has more than 65536 bytes");
	return true;
}

enum source_result source_file(const char *path, const char *json, struct secret *out, char *why,
			       size_t why_size)
{
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	char text[SOURCE_MAX + 1];
	enum source_result result = SOURCE_BAD;
	size_t size = 0;
	ssize_t got;
	bool good;

	out->size = 0;
	if (fd < 0 && (errno == ENOENT || errno == ENOTDIR)) {
		fail(why, why_size,
		     json
			 ? "it is not there: log in first"
			 : "it is not there: put the value into it, in one line, and chmod 600 it");
		return SOURCE_ABSENT;
	}
	if (fd < 0) {
		if (errno == EACCES)
			say_mode("you may not read it", path, why, why_size);
		else
			fail(why, why_size,
			     errno == ELOOP ? "it is a symbolic link: name the file itself"
					    : strerror(errno));
		return SOURCE_BAD;
	}
	good = check_file(fd, path, why, why_size);
	while (good && size < sizeof(text)) {
		got = read(fd, text + size, sizeof(text) - size);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			good = fail(why, why_size, strerror(errno));
		if (got <= 0)
			break;
		size += (size_t)got;
	}
	close(fd);
	if (good && size > SOURCE_MAX)
		good = fail(why, why_size, "it has more than 65536 bytes");
	if (good && json)
		result = take_json(text, size, json, out, why, why_size);
	else if (good && source_take(text, size, out, why, why_size))
		result = SOURCE_READ;
	OPENSSL_cleanse(text, sizeof(text));
	return result;
}
