/*
 * blob/glob.c - patterns, without backtracking that could explode.
 *
 * A path pattern is components; each but `**` matches exactly one component,
 * `**` any number.  So a pattern is blocks of single components with `**`
 * between them: the first block stands at the front, each middle block at the
 * first place where it fits, and the last one either where it ends the path
 * or, where the longest part of the path is wanted, at the last place where
 * it fits.  Within a component `*` remembers only its last place, which is
 * enough for one component.  Both are at worst quadratic, whatever the
 * pattern; the text may be hostile.
 *
 * `?` and `[..]` take one character: a UTF-8 sequence, or one byte that is not
 * part of a valid one.
 */
#include "blob/match.h"

#include <string.h>

/* The character at *p, which moves on; a stray byte is none that UTF-8 has. */
static uint32_t next_char(const char **p)
{
	const unsigned char *s = (const unsigned char *)*p;
	unsigned more = s[0] >= 0xf0 && s[0] < 0xf8 ? 3 : s[0] >= 0xe0 ? 2 : 1;
	uint32_t c = s[0];

	if (s[0] >= 0xc2 && s[0] < 0xf8) {
		c = s[0] & (0x3fu >> more);
		for (unsigned i = 1; i <= more; i++) {
			if ((s[i] & 0xc0) != 0x80) {
				c = 0;
				break;
			}
			c = c << 6 | (s[i] & 0x3fu);
		}
		if (c) {
			*p += more + 1;
			return c;
		}
	}
	*p += 1;
	return s[0] < 0x80 ? s[0] : 0x110000u + s[0];
}

static bool ends(char c)
{
	return c == '\0' || c == '/';
}

/*
 * The end of the set that opens at @p ("[...]"), or NULL: then the bracket is
 * an ordinary byte.  A ] that comes first is a member.
 */
static const char *set_end(const char *p)
{
	p++;
	if (*p == '!' || *p == '^')
		p++;
	if (*p == ']')
		p++;
	for (; !ends(*p) && *p != ']'; p++)
		if (*p == '\\' && !ends(p[1]))
			p++;
	return *p == ']' ? p + 1 : NULL;
}

static uint32_t set_member(const char **p)
{
	if (**p == '\\')
		++*p;
	return next_char(p);
}

static bool set_has(const char *p, const char *end, uint32_t c)
{
	bool negated = p[1] == '!' || p[1] == '^', found = false;

	p += negated ? 2 : 1;
	for (end--; p < end;) {
		uint32_t low = set_member(&p), high = low;

		if (*p == '-' && p + 1 < end) {
			p++;
			high = set_member(&p);
		}
		found |= low <= c && c <= high;
	}
	return found != negated;
}

/* One step that is not `*`: *pattern and *text move on if they agree. */
static bool match_one(const char **pattern, const char **text)
{
	const char *p = *pattern, *t = *text, *end;

	if (*p == '?') {
		p++;
		next_char(&t);
	} else if (*p == '[' && (end = set_end(p))) {
		if (!set_has(p, end, next_char(&t)))
			return false;
		p = end;
	} else {
		if (*p == '\\' && !ends(p[1]))
			p++;
		if (*p++ != *t++)
			return false;
	}
	*pattern = p;
	*text = t;
	return true;
}

/* The components at @p and @t; both end at a slash or the end. */
static bool match_component(const char *p, const char *t)
{
	const char *star = NULL, *resume = NULL;

	while (!ends(*t)) {
		if (*p == '*') {
			star = ++p;
			resume = t;
			continue;
		}
		if (!ends(*p) && match_one(&p, &t))
			continue;
		if (!star)
			return false;
		p = star;
		next_char(&resume);
		t = resume;
	}
	while (*p == '*')
		p++;
	return ends(*p);
}

static const char *skip_component(const char *p)
{
	while (!ends(*p))
		p++;
	return p;
}

static const char *skip_slashes(const char *p)
{
	while (*p == '/')
		p++;
	return p;
}

static bool is_any_depth(const char *p)
{
	return p[0] == '*' && p[1] == '*' && ends(p[2]);
}

/*
 * Matches the block of single components at *p against the path at *t (both
 * at the start of a component).  Both move behind it if it fits.
 */
static bool match_block(const char **pattern, const char **text)
{
	const char *p = *pattern, *t = *text;

	while (*p && !is_any_depth(p)) {
		if (!*t || !match_component(p, t))
			return false;
		p = skip_slashes(skip_component(p));
		t = skip_slashes(skip_component(t));
	}
	*pattern = p;
	*text = t;
	return true;
}

/*
 * Where the longest part of @path that @pattern matches ends, or NULL.  With
 * @whole only a match of all of it counts.
 */
static const char *match_path(const char *pattern, const char *path, bool whole)
{
	const char *p = skip_slashes(pattern), *t = skip_slashes(path), *found = NULL;

	if (!match_block(&p, &t))
		return NULL;
	while (*p) { /* at a `**`: find a place for the block behind it */
		const char *block;
		bool last, fits;

		while (is_any_depth(p))
			p = skip_slashes(p + 2);
		if (!*p)
			return t + strlen(t);
		for (block = p; *block && !is_any_depth(block);)
			block = skip_slashes(skip_component(block));
		last = !*block;
		for (found = NULL; *t; t = skip_slashes(skip_component(t))) {
			const char *p_end = p, *t_end = t;

			fits = match_block(&p_end, &t_end) && (!last || !whole || !*t_end);
			if (fits)
				found = t_end;
			if (fits && !last)
				break;
		}
		if (!found || last)
			return found;
		p = block;
		t = found;
	}
	return whole && *t ? NULL : t;
}

static int depth_between(const char *from, const char *to)
{
	int depth = 0;

	for (from = skip_slashes(from); from < to; from = skip_slashes(skip_component(from)))
		depth++;
	return depth;
}

int sbx_glob_longest(const char *pattern, const char *path)
{
	const char *end = match_path(pattern, path, false);

	return end ? depth_between(path, end) : -1;
}

bool sbx_glob_match(const char *pattern, const char *path)
{
	return match_path(pattern, path, true) != NULL;
}

int sbx_glob_literal_depth(const char *pattern)
{
	int depth = 0;

	for (const char *p = skip_slashes(pattern); *p; p = skip_slashes(p)) {
		for (; !ends(*p); p++) {
			if (*p == '*' || *p == '?' || (*p == '[' && set_end(p)))
				return depth;
			if (*p == '\\' && !ends(p[1]))
				p++;
		}
		depth++;
	}
	return depth;
}

bool sbx_star_match(const char *pattern, const char *text)
{
	const char *star = NULL, *resume = NULL;

	while (*text) {
		if (*pattern == '*') {
			star = ++pattern;
			resume = text;
		} else if (*pattern == *text) {
			pattern++;
			text++;
		} else if (star) {
			pattern = star;
			text = ++resume;
		} else {
			return false;
		}
	}
	while (*pattern == '*')
		pattern++;
	return !*pattern;
}
