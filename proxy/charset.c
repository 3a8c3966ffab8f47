/*
 * proxy/charset.c - see charset.h.
 */
#include "proxy/charset.h"

#include <stddef.h>
#include <string.h>
#include <strings.h>

static const char *const readable[] = {
#define CHARSET(...) __VA_ARGS__,
#include "proxy/charsets.def"
};

/* What registries, programs and servers spell in several ways.  Nothing else is passed over:
 * `charset*=utf-8''utf-16` names the one behind (RFC 8187). */
static const char *skip(const char *at, const char *end)
{
	while (at < end && strchr("-_.:+()", *at))
		at++;
	return at;
}

static bool same(const char *one, const char *name, size_t size)
{
	const char *one_end = one + strlen(one), *end = name + size;

	for (;; one++, name++) {
		one = skip(one, one_end);
		name = skip(name, end);
		if (one == one_end || name == end)
			return one == one_end && name == end;
		if (strncasecmp(one, name, 1) != 0)
			return false;
	}
}

static bool is_readable(const char *name, size_t size)
{
	if (!size)
		return true; /* as where none is named */
	for (size_t i = 0; i < sizeof(readable) / sizeof(readable[0]); i++)
		if (same(readable[i], name, size))
			return true;
	return false;
}

/* Each `charset=NAME`, also where it stands within another parameter: of two, one may be
 * overlooked by us and the other by the program. */
static bool type_is_read(struct span type)
{
	static const char word[] = "charset";
	const char *at = type.at, *end = at + type.size;

	for (; end - at >= (ptrdiff_t)sizeof(word) - 1; at++) {
		const char *name = at + sizeof(word) - 1;
		size_t size = 0;

		if (strncasecmp(at, word, sizeof(word) - 1) != 0)
			continue;
		while (name < end && strchr(" \t=:\"'", *name))
			name++;
		while (name + size < end && !strchr(" \t;,\"'", name[size]))
			size++;
		if (!is_readable(name, size))
			return false;
	}
	return true;
}

bool charset_is_read(const struct head *head)
{
	for (unsigned i = 0; i < head->field_count; i++)
		if (span_is(head->field[i].name, "content-type") &&
		    !type_is_read(head->field[i].value))
			return false;
	return true;
}
