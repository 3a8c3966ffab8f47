/*
 * blob/expand.c - templates and variables to text.
 *
 * A template without a wildcard becomes plain bytes.  With one it becomes a
 * pattern: then everything that is not pattern text (literal segments, and
 * above all the values of variables) is escaped, so that a directory named
 * "a[1]" or "*" in $workspace stays that one directory.
 */
#include "blob/verdict.h"

#include <string.h>

static const char *const names[SBX_VAR_COUNT] = {
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

static bool put(struct output *out, const char *text, bool escape)
{
	for (; *text; text++) {
		if (escape && strchr("*?[]\\", *text)) {
			if (out->length + 1 >= out->size)
				return false;
			out->text[out->length++] = '\\';
		}
		if (out->length + 1 >= out->size)
			return false;
		out->text[out->length++] = *text;
	}
	return true;
}

int sbx_expand(const struct sbx_blob *blob, struct sbx_tmpl tmpl, const struct sbx_vars *vars,
	       char *text, size_t size, bool *wild, uint32_t *unset)
{
	struct output out = { text, size, 0 };
	bool fits = size > 0, at_root = false;

	*wild = false;
	*unset = SBX_NONE;
	for (uint32_t i = 0; i < tmpl.count; i++)
		if (SBX_AT(blob, SEGS, sbx_seg, tmpl.first + i)->kind == SBX_SEG_GLOB)
			*wild = true;
	for (uint32_t i = 0; i < tmpl.count && fits; i++) {
		const struct sbx_seg *seg = SBX_AT(blob, SEGS, sbx_seg, tmpl.first + i);
		const char *piece;

		if (seg->kind == SBX_SEG_VAR)
			piece = vars->value[seg->ref];
		else
			piece = sbx_string(blob, seg->ref);
		if (!piece) {
			*unset = seg->ref;
			fits = false;
			break;
		}
		/* "/" is the one directory whose name ends in a slash: a home of "/"
		 * makes ~/x "/x", not "//x". */
		if (at_root && *piece == '/')
			piece++;
		at_root = i == 0 && seg->kind == SBX_SEG_VAR && !strcmp(piece, "/");
		fits = put(&out, piece, *wild && seg->kind != SBX_SEG_GLOB);
	}
	if (size)
		text[fits ? out.length : 0] = '\0';
	return fits ? (int)out.length : -1;
}
