/*
 * compiler/view.c - a policy as it would stand here: variables and points.
 *
 * A rule has a point for its name as written and, where that leads elsewhere
 * through a symbolic link, one for what it resolves to; a pattern's literal
 * beginning is resolved the same way.  A rule whose variable has no value is
 * void: there is no repository, or it is optional.
 */
#include "compiler/view.h"

#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/source.h"
#include "blob/match.h"

#define TEXT_SIZE (2 * PATH_MAX)
#define LINKS_MAX 40 /* as many as the kernel follows */

/* "/a/./b//../c" as "/a/c": for the part of a path that does not exist. */
static const char *without_dots(struct arena *arena, const char *path)
{
	char *out = arena_alloc(arena, strlen(path) + 2), *end = out;

	for (const char *p = path; *p;) {
		size_t length;

		p += strspn(p, "/");
		length = strcspn(p, "/");
		if (length == 2 && !strncmp(p, "..", 2)) {
			while (end > out && *--end != '/')
				;
		} else if (length && !(length == 1 && *p == '.')) {
			*end++ = '/';
			memcpy(end, p, length);
			end += length;
		}
		p += length;
	}
	if (end == out)
		*end++ = '/';
	*end = '\0';
	return out;
}

/* The longest beginning of @path that exists, resolved; *rest: what comes after it. */
static const char *real_beginning(struct arena *arena, const char *path, const char **rest)
{
	size_t length = strlen(path);
	char real[PATH_MAX];

	for (; length; length = (size_t)(*rest - path)) {
		*rest = path + length;
		if (realpath(arena_copy(arena, path, length), real))
			return arena_copy(arena, strcmp(real, "/") ? real : "", strlen(real));
		while (*rest > path && (*rest)[-1] != '/')
			--*rest;
		while (*rest > path && (*rest)[-1] == '/')
			--*rest;
	}
	*rest = path;
	return "";
}

/* A link that leads to nothing is followed like any other: what is made by its name lies
 * where it leads. */
const char *view_real(struct arena *arena, const char *path)
{
	const char *rest, *real = real_beginning(arena, path, &rest);

	for (unsigned links = 0; links < LINKS_MAX; links++) {
		const char *name = rest + strspn(rest, "/"), *link;
		size_t length = strcspn(name, "/");
		char target[PATH_MAX];
		ssize_t size;

		link = arena_printf(arena, "%s/%.*s", real, (int)length, name);
		size = length ? readlink(link, target, sizeof(target)) : -1;
		if (size <= 0)
			break;
		path = arena_printf(arena, "%s/%.*s%s", target[0] == '/' ? "" : real, (int)size,
				    target, name + length);
		real = real_beginning(arena, path, &rest);
	}
	return without_dots(arena, arena_printf(arena, "%s%s", real, rest));
}

static const char *read_line(struct arena *arena, const char *path)
{
	FILE *file = fopen(path, "re");
	char line[PATH_MAX];
	const char *text = NULL;

	if (file && fgets(line, sizeof(line), file))
		text = arena_copy(arena, line, strcspn(line, "\r\n"));
	if (file)
		fclose(file);
	return text;
}

static const char *beside(struct arena *arena, const char *dir, const char *name)
{
	return view_real(arena, *name == '/' ? name : arena_printf(arena, "%s/%s", dir, name));
}

/* Is core.hooksPath set in @path, for all that can be seen at a glance? */
static bool names_hooks(struct arena *arena, const char *path)
{
	int error;
	const struct source *source = path ? source_read(arena, path, path, &error) : NULL;

	return source && strcasestr(source->text.ptr, "hookspath");
}

/* The workspace's repository; sbx-exec asks for proof that it is one. */
static void set_git(struct view *view)
{
	const char *workspace = view->vars.value[SBX_VAR_WORKSPACE], *link, *common;
	const char *git = arena_printf(view->arena, "%s/.git", workspace);
	struct stat st;

	if (lstat(git, &st))
		return;
	if (S_ISREG(st.st_mode)) {
		link = read_line(view->arena, git);
		if (!link || strncmp(link, "gitdir: ", 8))
			return;
		git = beside(view->arena, workspace, link + 8);
	} else if (!S_ISDIR(st.st_mode)) {
		return;
	}
	common = read_line(view->arena, arena_printf(view->arena, "%s/commondir", git));
	common = common ? beside(view->arena, git, common) : git;
	view->vars.value[SBX_VAR_GITDIR] = git;
	view->vars.value[SBX_VAR_GITCOMMON] = common;
	view->vars.value[SBX_VAR_GITHOOKS] = arena_printf(view->arena, "%s/hooks", common);
	view->other_hooks =
	    names_hooks(view->arena, arena_printf(view->arena, "%s/config", common)) ||
	    names_hooks(view->arena, view_path(view, "~/.gitconfig"));
}

/* NULL: a variable without a value, or a text too long to be a path. */
static const char *expand(const struct view *view, struct sbx_tmpl tmpl, bool *wild)
{
	char text[TEXT_SIZE];
	uint32_t unset;
	int length = sbx_expand(view->blob, tmpl, &view->vars, text, sizeof(text), wild, &unset);

	return length < 0 ? NULL : arena_copy(view->arena, text, (size_t)length);
}

static const char *set_params(struct view *view, const struct view_options *options)
{
	for (size_t i = 0; i < options->define_count; i++) {
		bool known = false;

		for (uint32_t n = 0; n < SBX_COUNT(view->blob, PARAMS); n++)
			known |= !strcmp(sbx_var_name(view->blob, SBX_VAR_PARAM + n),
					 options->defines[i].name);
		if (!known)
			return arena_printf(view->arena, "the policy has no param `%s`",
					    options->defines[i].name);
	}
	for (uint32_t n = 0; n < SBX_COUNT(view->blob, PARAMS); n++) {
		const struct sbx_param *param = SBX_AT(view->blob, PARAMS, sbx_param, n);
		bool wild;
		const char *value = expand(view, param->value, &wild);

		for (size_t i = 0; i < options->define_count; i++)
			if (!strcmp(sbx_string(view->blob, param->name), options->defines[i].name))
				value = options->defines[i].value;
		if (value && param->type == SBX_PARAM_PATH)
			value = view_path(view, value);
		if (value && param->type == SBX_PARAM_PATH)
			value = without_dots(view->arena, value);
		if (!value)
			return arena_printf(view->arena, "the param `%s` has no value here",
					    sbx_string(view->blob, param->name));
		view->vars.value[SBX_VAR_PARAM + n] = value;
	}
	return NULL;
}

static const char *set_workspace(struct view *view, const char *given)
{
	const struct sbx_meta *meta = sbx_meta(view->blob);
	const char *path = view->cwd;
	bool wild = false;

	if (given)
		path = view_path(view, given);
	else if (sbx_present(meta->workspace))
		path = expand(view, meta->workspace, &wild);
	if (!path || wild)
		return "the workspace cannot be worked out here: use --workspace";
	path = view_real(view->arena, path);
	view->vars.value[SBX_VAR_WORKSPACE] = path;
	view->vars.value[SBX_VAR_SIBLING] =
	    without_dots(view->arena, arena_printf(view->arena, "%s/../sbx-sibling", path));
	return NULL;
}

static const char *set_variables(struct view *view, const struct view_options *options)
{
	const struct passwd *user = getpwuid(getuid());
	const char *home = options->home ? options->home : user ? user->pw_dir : getenv("HOME");
	char cwd[PATH_MAX];
	const char *error;

	if (!getcwd(cwd, sizeof(cwd)))
		return "the current directory has no name";
	view->cwd = arena_copy(view->arena, cwd, strlen(cwd));
	view->vars.value[SBX_VAR_CWD] = view->cwd;
	if (home)
		view->vars.value[SBX_VAR_HOME] = view_real(view->arena, view_path(view, home));
	if (user)
		view->vars.value[SBX_VAR_USER] = arena_printf(view->arena, "%s", user->pw_name);
	view->vars.value[SBX_VAR_UID] = arena_printf(view->arena, "%u", (unsigned)getuid());
	view->vars.value[SBX_VAR_RUNTIME] =
	    arena_printf(view->arena, "/run/user/%u", (unsigned)getuid());
	view->vars.value[SBX_VAR_CA_BUNDLE] = "/etc/ssl/certs/ca-certificates.crt";
	view->vars.value[SBX_VAR_LAUNCHER] =
	    options->launcher ? view_real(view->arena, view_path(view, options->launcher))
			      : "/usr/local/bin/sbx-exec";
	view->vars.value[SBX_VAR_POLICY] =
	    options->blob_path
		? view_real(view->arena, view_path(view, options->blob_path))
		: arena_printf(view->arena, "%s/.local/share/sbx/%s.sbx", home ? home : "",
			       sbx_string(view->blob, sbx_meta(view->blob)->name));
	error = set_workspace(view, options->workspace);
	if (error)
		return error;
	set_git(view);
	return set_params(view, options);
}

static struct sbx_fs_point *add_point(struct view *view, const char *path, bool wild, uint32_t rule)
{
	struct sbx_fs_point *point = VEC_PUSH(view->arena, &view->points);

	*point = (struct sbx_fs_point){ .path = path, .rule = rule, .wild = wild };
	return point;
}

/* The pattern with its literal beginning resolved, or NULL: it is the same. */
static const char *real_pattern(struct view *view, const char *pattern)
{
	int depth = sbx_glob_literal_depth(pattern);
	char *head = arena_alloc(view->arena, strlen(pattern) + 1), *to = head, *escaped;
	const char *p = pattern, *real;

	for (; *p && (*p != '/' || depth-- > 0); p++) {
		if (*p == '\\' && p[1])
			p++;
		*to++ = *p;
	}
	real = view_real(view->arena, head);
	if (!strcmp(real, head) || !*head)
		return NULL;
	escaped = to = arena_alloc(view->arena, 2 * strlen(real) + 1);
	for (const char *r = real; *r; r++) {
		if (strchr("*?[]\\", *r))
			*to++ = '\\';
		*to++ = *r;
	}
	return arena_printf(view->arena, "%s%s", escaped, p);
}

static void add_excepts(struct view *view, const struct sbx_fs_rule *rule)
{
	const struct sbx_fs_extra *extra = sbx_fs_extra(view->blob, rule);

	for (uint32_t i = 0; i < extra->except_count; i++) {
		bool wild;
		const char *path = expand(
		    view, *SBX_AT(view->blob, TMPLS, sbx_tmpl, extra->except_first + i), &wild);

		if (!path)
			continue;
		*VEC_PUSH(view->arena, &view->excepts) = path;
		*VEC_PUSH(view->arena, &view->excepts) = view_real(view->arena, path);
	}
}

static void add_rule(struct view *view, uint32_t index)
{
	static const char hooks_mark[] = { SBX_MARK_VAR, SBX_MARK_BASE + SBX_VAR_GITHOOKS, '\0' };
	const struct sbx_fs_rule *rule = SBX_AT(view->blob, FS, sbx_fs_rule, index);
	uint32_t excepts = (uint32_t)view->excepts.count;
	size_t first = view->points.count;
	bool wild;
	const char *path = expand(view, rule->path, &wild), *real;

	if (!path)
		return;
	if (strstr(sbx_string(view->blob, rule->path.text), hooks_mark))
		view->asks_hooks = true;
	add_excepts(view, rule);
	add_point(view, path, wild, index);
	real = wild ? real_pattern(view, path) : view_real(view->arena, path);
	if (real && strcmp(real, path))
		add_point(view, real, wild, index);
	for (size_t i = first; i < view->points.count; i++) {
		view->points.items[i].verb = rule->head.verb;
		view->points.items[i].rights = rule->rights;
		view->points.items[i].except_first = excepts;
		view->points.items[i].except_count = (uint32_t)view->excepts.count - excepts;
	}
}

static void add_self(struct view *view, const char *path)
{
	struct sbx_fs_point *point =
	    add_point(view, view_real(view->arena, path), false, SBX_RULE_SELF);

	point->verb = SBX_FS_SEAL;
	point->rights = SBX_WRITE;
}

/* In a linked worktree or a submodule, which sbx-exec guards by itself. */
static void add_git_file(struct view *view)
{
	const char *path =
	    arena_printf(view->arena, "%s/.git", view->vars.value[SBX_VAR_WORKSPACE]);
	struct stat st;

	if (lstat(path, &st) == 0 && S_ISREG(st.st_mode))
		add_self(view, path);
}

const char *view_expand(const struct view *view, struct sbx_tmpl tmpl)
{
	bool wild;
	const char *path = expand(view, tmpl, &wild);

	return wild ? NULL : path;
}

const char *view_path(const struct view *view, const char *text)
{
	const char *value = NULL, *rest = text;

	if (*text == '~' && (text[1] == '/' || !text[1])) {
		value = view->vars.value[SBX_VAR_HOME];
		rest = text + 1;
	} else if (*text == '$') {
		size_t length = strcspn(text + 1, "/");

		for (uint32_t var = 0; var < SBX_VAR_PARAM + SBX_PARAM_MAX; var++)
			if (view->vars.value[var] &&
			    strlen(sbx_var_name(view->blob, var)) == length &&
			    !strncmp(sbx_var_name(view->blob, var), text + 1, length))
				value = view->vars.value[var];
		rest = text + 1 + length;
	} else {
		value = *text == '/' ? "" : arena_printf(view->arena, "%s/", view->cwd);
	}
	if (!value)
		return NULL;
	return arena_printf(view->arena, "%s%s", value, rest);
}

const char *view_make(struct view *view, struct arena *arena, const struct sbx_blob *blob,
		      const struct view_options *options)
{
	const char *error;

	*view = (struct view){ .arena = arena, .blob = blob };
	error = set_variables(view, options);
	if (error)
		return error;
	for (uint32_t i = 0; i < SBX_COUNT(blob, FS); i++)
		add_rule(view, i);
	add_self(view, view->vars.value[SBX_VAR_POLICY]);
	add_self(view, view->vars.value[SBX_VAR_LAUNCHER]);
	add_git_file(view);
	view->set =
	    (struct sbx_fs_set){ view->points.items, view->points.count, view->excepts.items };
	return NULL;
}
