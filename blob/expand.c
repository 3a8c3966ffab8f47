/*
 * blob/expand.c - templates and variables to text.
 *
 * A template without a wildcard becomes plain bytes.  With one it becomes a
 * pattern: then everything that is not pattern syntax (literal bytes, and
 * above all the values of variables) is escaped, so that a directory named
 * "a[1]" or "*" in $workspace stays that one directory.
 */
#include "blob/verdict.h"

#include <string.h>

static const char names[SBX_VAR_COUNT][10] = {
	[SBX_VAR_HOME] = "home",
	[SBX_VAR_CWD] = "cwd",
	[SBX_VAR_WORKSPACE] = "workspace",
	[SBX_VAR_USER] = "user",
	[SBX_VAR_UID] = "uid",
	[SBX_VAR_RUNTIME] = "runtime",
	[SBX_VAR_GITDIR] = "gitdir",
	[SBX_VAR_GITCOMMON] = "gitcommon",
	[SBX_VAR_GITHOOKS] = "githooks",
	[SBX_VAR_CA_BUNDLE] = "ca-bundle",
	[SBX_VAR_POLICY] = "policy",
	[SBX_VAR_LAUNCHER] = "launcher",
	[SBX_VAR_SIBLING] = "sibling",
};

const char *sbx_var_name(const struct sbx_blob *blob, uint32_t var)
{
	if (var < SBX_VAR_COUNT)
		return names[var];
	if (var < SBX_VAR_PARAM || var - SBX_VAR_PARAM >= SBX_COUNT(blob, PARAMS))
		return "?";
	return sbx_string(blob, SBX_AT(blob, PARAMS, sbx_param, var - SBX_VAR_PARAM)->name);
}

struct output {
	char *text;
	size_t size, length;
};

static bool put(struct output *out, char byte, bool escape)
{
	if (escape && strchr("*?[]\\", byte) && !put(out, '\\', false))
		return false;
	if (out->length + 1 >= out->size)
		return false;
	out->text[out->length++] = byte;
	return true;
}

static bool put_value(struct output *out, const char *value, bool escape)
{
	for (; *value; value++)
		if (!put(out, *value, escape))
			return false;
	return true;
}

static bool has_wildcard(const char *at)
{
	unsigned mark, value;

	while ((at = sbx_piece(at, &mark, &value)))
		if (mark == SBX_MARK_WILD)
			return true;
	return false;
}

int sbx_expand(const struct sbx_blob *blob, struct sbx_tmpl tmpl, const struct sbx_vars *vars,
	       char *text, size_t size, bool *wild, uint32_t *unset)
{
	const char *start = sbx_string(blob, tmpl.text), *at = start, *next;
	struct output out = { text, size, 0 };
	bool fits = size > 0, at_root = false;
	unsigned mark, value;

	*wild = has_wildcard(start);
	*unset = SBX_NONE;
	for (; fits && (next = sbx_piece(at, &mark, &value)); at = next) {
		const char *piece = mark == SBX_MARK_VAR ? vars->value[value] : NULL;
		bool skip =
		    at_root && (mark == SBX_MARK_VAR ? piece && *piece == '/' : value == '/');

		/* "/" is the one directory whose name ends in a slash: a home of "/"
		 * makes ~/x "/x", not "//x". */
		at_root = false;
		if (mark == SBX_MARK_VAR && piece) {
			at_root = at == start && !strcmp(piece, "/");
			fits = put_value(&out, piece + skip, *wild);
		} else if (mark == SBX_MARK_VAR) {
			*unset = value;
			fits = false;
		} else if (!skip) {
			fits = put(&out, (char)value, *wild && mark != SBX_MARK_WILD);
		}
	}
	if (size)
		text[fits ? out.length : 0] = '\0';
	return fits ? (int)out.length : -1;
}
