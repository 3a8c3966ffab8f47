/*
 * compiler/diff_any.c - paths with a param in them, whatever value it is given.
 *
 * Who starts a session chooses the values with -D, so a policy is within a site only if
 * it is with each of them.  A text stands for a part of one component (sbx-exec takes no
 * slash there), and so for `*`; a path for any number of components.  What such a rule
 * gives is taken to be given by every value, what it takes by none.
 */
#include <limits.h>
#include <string.h>

#include "compiler/diff.h"

#define ANY_TEXT "sbx-any-text"
#define ANY_PATH "sbx-any-path"

bool diff_any_value(struct diff *diff)
{
	const struct sbx_blob *blob = diff->side[DIFF_NEW].blob;
	struct sbx_vars *vars = &diff->side[DIFF_NEW].vars;
	bool any = false;

	for (uint32_t i = 0; i < SBX_COUNT(blob, PARAMS) && !diff->side[DIFF_NEW].fixed; i++) {
		const struct sbx_param *param = SBX_AT(blob, PARAMS, sbx_param, i);
		const char *under;
		bool wild;

		if (param->choice_count)
			continue;
		any = true;
		vars->value[SBX_VAR_PARAM + i] = ANY_TEXT;
		if (param->type != SBX_PARAM_PATH)
			continue;
		under = diff_expand(diff, DIFF_NEW, param->under, &wild);
		vars->value[SBX_VAR_PARAM + i] = arena_printf(
		    diff->arena, "%s/" ANY_PATH, under && strcmp(under, "/") ? under : "");
	}
	return any;
}

static void set_param(struct diff *diff, unsigned side, const char *name, const char *value)
{
	const struct sbx_blob *blob = diff->side[side].blob;

	for (uint32_t i = 0; i < SBX_COUNT(blob, PARAMS) && !diff->side[side].fixed; i++)
		if (!strcmp(sbx_string(blob, SBX_AT(blob, PARAMS, sbx_param, i)->name), name))
			diff->side[side].vars.value[SBX_VAR_PARAM + i] = value;
}

const char *diff_choice(struct diff *diff, unsigned index)
{
	const struct sbx_blob *blob = diff->side[DIFF_NEW].blob;

	for (uint32_t i = 0; i < SBX_COUNT(blob, PARAMS) && !diff->side[DIFF_NEW].fixed; i++) {
		const struct sbx_param *param = SBX_AT(blob, PARAMS, sbx_param, i);
		const char *name = sbx_string(blob, param->name), *value;

		if (index >= param->choice_count) {
			index -= param->choice_count;
			continue;
		}
		diff_machine(diff, 0);
		value = diff_words(diff, DIFF_NEW, param->choice_first + index, 1);
		for (unsigned side = 0; side < DIFF_SIDES; side++)
			set_param(diff, side, name, value);
		return arena_printf(diff->arena, "with %s=%s", name, value);
	}
	return NULL;
}

static bool has_any(const char *path)
{
	return strstr(path, ANY_TEXT) || strstr(path, "/" ANY_PATH);
}

/* Components that @path has at least, so the depth of what it names. */
static int depth_of(const char *path)
{
	int depth = 0;

	if (strstr(path, "/" ANY_PATH))
		return INT_MAX; /* as deep as one likes */
	for (; *path; path++)
		if (*path == '/' && path[1] && strncmp(path, "/**", 3))
			depth++;
	return depth;
}

/* A path that ends in any path is also what that lies under: a grant covers the rest. */
static void make_pattern(struct arena *arena, struct sbx_fs_point *point)
{
	const char *from = point->path, *end = strstr(from, "/" ANY_PATH);
	char *out = arena_alloc(arena, 2 * strlen(from) + 2), *to = out;

	if (end && !end[sizeof("/" ANY_PATH) - 1] && !strstr(from, ANY_TEXT)) {
		point->path = end == from ? "/" : arena_copy(arena, from, (size_t)(end - from));
		point->length = 0;
		return;
	}
	while (*from) {
		if (!strncmp(from, ANY_TEXT, sizeof(ANY_TEXT) - 1)) {
			from += sizeof(ANY_TEXT) - 1;
			*to++ = '*';
		} else if (!strncmp(from, ANY_PATH, sizeof(ANY_PATH) - 1)) {
			from += sizeof(ANY_PATH) - 1;
			*to++ = '*';
			if (*from)
				*to++ = '*'; /* `**` ends no pattern */
		} else {
			if (!point->wild && strchr("*?[]\\", *from))
				*to++ = '\\';
			*to++ = *from++;
		}
	}
	*to = '\0';
	point->path = out;
	point->wild = true;
	point->length = 0;
}

static bool except_has_any(const struct sbx_fs_set *set, const struct sbx_fs_point *point)
{
	for (uint32_t i = 0; i < point->except_count; i++)
		if (has_any(set->excepts[point->except_first + i]))
			return true;
	return false;
}

bool diff_any_points(const struct diff *diff, struct sbx_fs_set *set)
{
	struct sbx_fs_point *points = arena_array(diff->arena, set->count, sizeof(*points));
	int deepest = -1;

	for (size_t i = 0; i < set->count; i++)
		if (set->points[i].verb < SBX_FS_DENY && has_any(set->points[i].path) &&
		    depth_of(set->points[i].path) > deepest)
			deepest = depth_of(set->points[i].path);
	for (size_t i = 0; i < set->count; i++) {
		struct sbx_fs_point *point = &points[i];
		bool any;

		*point = set->points[i];
		any = has_any(point->path);
		/* Other grants are judged as they are; a pattern weighs less than a value would. */
		if (any ? point->verb >= SBX_FS_DENY || point->verb == SBX_FS_TMP
			: point->verb < SBX_FS_DENY ||
			      (point->verb == SBX_FS_DENY &&
			       depth_of(point->path) < deepest + point->wild) ||
			      except_has_any(set, point))
			point->rights = 0;
		if (!any || !point->rights)
			continue;
		if (point->verb == SBX_FS_COPY) {
			point->verb = SBX_FS_GRANT;
			point->rights &= SBX_READ | SBX_EXEC;
		}
		make_pattern(diff->arena, point);
	}
	set->points = points;
	return deepest >= 0;
}
