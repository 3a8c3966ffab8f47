/*
 * proxy/charset.c - see charset.h.
 */
#include "proxy/charset.h"

#include <stddef.h>
#include <string.h>
#include <strings.h>

/* How their names begin: IANA's registry of character sets. */
static const char *const readable[] = {
	"utf-8", "utf8",   "us-ascii", "ascii",     "iso-8859-", "iso8859-", "latin",
	"gb2312", "gbk",   "gb18030",  "windows-12", "euc-",     "koi8-",    "big5",
	"shift_jis",
};

static bool is_readable(const char *name, size_t size)
{
	for (size_t i = 0; i < sizeof(readable) / sizeof(readable[0]); i++)
		if (size >= strlen(readable[i]) &&
		    !strncasecmp(name, readable[i], strlen(readable[i])))
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

		if (strncasecmp(at, word, sizeof(word) - 1) != 0)
			continue;
		while (name < end && strchr(" \t=\"'", *name))
			name++;
		if (!is_readable(name, (size_t)(end - name)))
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
