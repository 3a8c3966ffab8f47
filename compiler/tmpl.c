/*
 * Templates as texts: for messages, for comparing them, and where nothing of
 * them is left to the launch.
 */
#include "compiler/words.h"

static struct str append(struct arena *arena, struct str text, const char *between, struct str more)
{
	size_t middle = strlen(between);
	char *all = arena_alloc(arena, text.len + middle + more.len + 1);

	memcpy(all, text.ptr, text.len);
	memcpy(all + text.len, between, middle);
	memcpy(all + text.len + middle, more.ptr, more.len);
	return (struct str){ all, text.len + middle + more.len };
}

bool tmpl_has_wild(struct tmpl tmpl)
{
	for (size_t i = 0; i < tmpl.count; i++) {
		if (tmpl.segs[i].kind == SBX_SEG_GLOB)
			return true;
	}
	return false;
}

bool tmpl_plain(struct arena *arena, struct tmpl tmpl, struct str *out)
{
	if (tmpl.count == 1 && tmpl.segs[0].kind == SBX_SEG_TEXT) {
		*out = tmpl.segs[0].text;
		return true;
	}
	struct str all = STR_LIT("");
	for (size_t i = 0; i < tmpl.count; i++) {
		if (tmpl.segs[i].kind == SBX_SEG_VAR)
			return false;
		all = append(arena, all, "", tmpl.segs[i].text);
	}
	*out = all;
	return true;
}

struct str tmpl_key(struct arena *arena, struct tmpl tmpl)
{
	struct {
		VEC_OF(char)
	} out = { 0 };
	bool wild = tmpl_has_wild(tmpl);

	if (tmpl.count == 1 && tmpl.segs[0].kind == SBX_SEG_TEXT)
		return tmpl.segs[0].text;
	for (size_t i = 0; i < tmpl.count; i++) {
		const struct seg *seg = &tmpl.segs[i];

		if (seg->kind == SBX_SEG_VAR) {
			if (i == 0)
				*VEC_PUSH(arena, &out) = '/';
			*VEC_PUSH(arena, &out) = '\001';
			*VEC_PUSH(arena, &out) = (char)('a' + seg->var / 16);
			*VEC_PUSH(arena, &out) = (char)('a' + seg->var % 16);
		}
		for (size_t j = 0; j < seg->text.len; j++) {
			char c = seg->text.ptr[j];

			if (wild && seg->kind == SBX_SEG_TEXT && c && strchr("*?[]\\", c))
				*VEC_PUSH(arena, &out) = '\\';
			*VEC_PUSH(arena, &out) = c;
		}
	}
	*VEC_PUSH(arena, &out) = '\0';
	return (struct str){ out.items, out.count - 1 };
}

static struct str var_label(struct arena *arena, const struct scope *scope, unsigned id)
{
	for (size_t i = 0; scope && i < scope->count; i++) {
		if (!scope->items[i].folded && scope->items[i].id == id)
			return scope->items[i].name;
	}
	if (id < SBX_VAR_COUNT)
		return str_from(builtin_vars[id].name);
	return str_from(arena_printf(arena, "param-%u", id - SBX_VAR_PARAM));
}

const char *tmpl_show(struct arena *arena, const struct scope *scope, struct tmpl tmpl)
{
	struct str all = STR_LIT("");

	for (size_t i = 0; i < tmpl.count; i++) {
		const struct seg *seg = &tmpl.segs[i];

		if (seg->kind != SBX_SEG_VAR)
			all = append(arena, all, "", seg->text);
		else if (i == 0 && seg->var == SBX_VAR_HOME)
			all = STR_LIT("~");
		else
			all = append(arena, all, "$", var_label(arena, scope, seg->var));
	}
	return str_cstr(arena, all);
}
