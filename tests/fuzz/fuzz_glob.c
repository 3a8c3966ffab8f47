/*
 * A pattern and a path against a matcher that cannot be wrong: one that tries
 * everything.  Where fnmatch(3) means the same, against that too.
 */
#include <fnmatch.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "blob/match.h"

/* Trying everything takes its time. */
#define STARS_MAX 5
#define PATH_MAX_ 48

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define fault(...) (fprintf(stderr, __VA_ARGS__), fputc('\n', stderr), abort())

/* ---- the reference: spec.md, "Patterns" --------------------------------------------- */

/* Bytes of the character at @s: a UTF-8 sequence as the kernel's console takes it, or
 * one byte. */
static size_t char_length(const char *s)
{
	unsigned char first = (unsigned char)*s;
	size_t length = first >= 0xf0 && first < 0xf8   ? 4
			: first >= 0xe0 && first < 0xf0 ? 3
			: first >= 0xc2 && first < 0xe0 ? 2
							: 1;

	for (size_t i = 1; i < length; i++)
		if (((unsigned char)s[i] & 0xc0) != 0x80)
			return 1;
	return length;
}

/* Its number; of a byte that is none: above all. */
static uint32_t char_value(const char *s)
{
	size_t length = char_length(s);
	uint32_t value = (unsigned char)*s;

	if (length == 1)
		return value < 0x80 ? value : 0x110000u + value;
	value &= 0x7fu >> length;
	for (size_t i = 1; i < length; i++)
		value = value << 6 | ((unsigned char)s[i] & 0x3fu);
	return value;
}

/* Behind the ] of the set at @p, or NULL. */
static const char *set_close(const char *p)
{
	const char *first = ++p;

	if (*p == '!' || *p == '^')
		first = ++p;
	for (; *p && *p != '/'; p++) {
		if (*p == ']' && p != first)
			return p + 1;
		if (*p == '\\' && p[1] && p[1] != '/')
			p++;
	}
	return NULL;
}

static bool in_set(const char *p, const char *close, uint32_t value)
{
	bool negated = p[1] == '!' || p[1] == '^', found = false;

	for (p += negated ? 2 : 1; p < close - 1;) {
		uint32_t low, high;

		p += *p == '\\';
		low = high = char_value(p);
		p += char_length(p);
		if (*p == '-' && p + 1 < close - 1) {
			p++;
			p += *p == '\\';
			high = char_value(p);
			p += char_length(p);
		}
		found |= low <= value && value <= high;
	}
	return found != negated;
}

/* Components without their slashes: @p up to @pe, @t up to @te. */
static bool component(const char *p, const char *pe, const char *t, const char *te)
{
	if (p == pe)
		return t == te;
	if (*p == '*') {
		for (;; t += char_length(t)) {
			if (component(p + 1, pe, t, te))
				return true;
			if (t == te)
				return false;
		}
	}
	if (t == te)
		return false;
	if (*p == '?')
		return component(p + 1, pe, t + char_length(t), te);
	if (*p == '[' && set_close(p))
		return in_set(p, set_close(p), char_value(t)) &&
		       component(set_close(p), pe, t + char_length(t), te);
	if (*p == '\\' && p + 1 < pe)
		p++;
	return *p == *t && component(p + 1, pe, t + 1, te);
}

static const char *end_of(const char *s)
{
	return s + strcspn(s, "/");
}

static const char *behind(const char *s)
{
	return s + strspn(s, "/");
}

static bool whole(const char *pattern, const char *path)
{
	const char *pe, *te;

	pattern = behind(pattern);
	path = behind(path);
	pe = end_of(pattern);
	te = end_of(path);
	if (!*pattern)
		return !*path;
	if (pe - pattern == 2 && !memcmp(pattern, "**", 2))
		return whole(pe, path) || (*path && whole(pattern, te));
	return *path && component(pattern, pe, path, te) && whole(pe, te);
}

/* ---- fnmatch(3) ------------------------------------------------------------------- */

/* Only what both mean alike: no slash, no byte that its locale decides on, no escape
 * at the end, no class, no set that has no end. */
static bool is_plain(const char *pattern, const char *name)
{
	for (const char *s = name; *s; s++)
		if (*s == '/' || (unsigned char)*s >= 0x80)
			return false;
	for (const char *s = pattern; *s; s++) {
		if (*s == '/' || (unsigned char)*s >= 0x80 || *s == '\\')
			return false;
		if (*s == '[' && (!set_close(s) || strpbrk(s, ":.=")))
			return false;
		if (*s == '[')
			s = set_close(s) - 1;
	}
	return *pattern && *name && strcmp(pattern, "**") != 0;
}

/* A range from high to low is empty here and none there. */
static bool has_range(const char *pattern)
{
	const char *set = strchr(pattern, '[');

	return set && strchr(set, '-');
}

/* ---- what is asked ------------------------------------------------------------------ */

/* By cutting @path at each of its components, the longest first. */
static int longest(const char *pattern, const char *path)
{
	char cut[PATH_MAX_ + 1];
	int best = -1, depth = 0;

	for (const char *at = path;; at = end_of(behind(at))) {
		memcpy(cut, path, (size_t)(at - path));
		cut[at - path] = '\0';
		if (whole(pattern, cut))
			best = depth;
		if (!*behind(at))
			return best;
		depth++;
	}
}

static void check(const char *pattern, const char *path)
{
	bool match = sbx_glob_match(pattern, path);
	int deep = sbx_glob_longest(pattern, path);

	if (match != whole(pattern, path))
		fault("'%s' %s '%s'", pattern, match ? "matches" : "does not match", path);
	if (deep != longest(pattern, path))
		fault("'%s' matches %d components of '%s', not %d", pattern, longest(pattern, path),
		      path, deep);
	if (match && sbx_glob_literal_depth(pattern) > deep)
		fault("'%s': deeper than what it matches", pattern);
	if (is_plain(pattern, path) && !has_range(pattern) && match != !fnmatch(pattern, path, 0))
		fault("'%s' and '%s': not as fnmatch(3)", pattern, path);
}

static unsigned stars(const char *pattern)
{
	unsigned count = 0;

	for (; *pattern; pattern++)
		count += *pattern == '*';
	return count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t length = strnlen((const char *)data, size);
	char *pattern = strndup((const char *)data, length), *path;

	length += length < size;
	path = strndup((const char *)data + length, size - length);
	if (stars(pattern) <= STARS_MAX && strlen(path) <= PATH_MAX_)
		check(pattern, path);
	else
		sbx_glob_match(pattern, path);
	free(pattern);
	free(path);
	return 0;
}
