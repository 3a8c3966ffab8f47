/*
 * stub/vars.c - variables.
 *
 * All paths among them are canonical: rules written with them are decided by
 * what they really name.  What the caller chooses (-D, --workspace, the
 * current directory) is held to what the policy allows for it; the workspace
 * may be neither the home directory nor anything around it.
 */
#include "stub/vars.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "stub/git.h"
#include "stub/job.h"
#include "stub/launch.h"
#include "stub/mem.h"
#include "stub/out.h"
#include "stub/user.h"

#define TEXT_MAX (2 * PATH_MAX)

const char *vars_expand(const struct launch *launch, struct sbx_tmpl tmpl, bool *wild,
			uint32_t *unset)
{
	char text[TEXT_MAX];
	int length =
	    sbx_expand(&launch->blob, tmpl, &launch->vars, text, sizeof(text), wild, unset);

	if (length >= 0)
		return mem_copy(text, (size_t)length);
	if (*unset == SBX_NONE)
		refuse("a path or value of the policy is longer than %d bytes once $workspace and "
		       "its kin are put in: start in a directory with a shorter name",
		       TEXT_MAX);
	return NULL;
}

const char *vars_expand_path(const struct launch *launch, struct sbx_tmpl tmpl, bool *wild,
			     uint32_t *unset)
{
	const char *path = vars_expand(launch, tmpl, wild, unset);

	if (path && *path != '/')
		refuse("'%s' stands where the policy needs an absolute path: give another by -D, "
		       "or compile it again",
		       path);
	return path;
}

const char *vars_why_unset(uint32_t var)
{
	switch (var) {
	case SBX_VAR_HOME:
		return ": no passwd entry, and HOME names no directory of yours";
	case SBX_VAR_USER:
		return ": no passwd entry";
	case SBX_VAR_GITDIR:
	case SBX_VAR_GITCOMMON:
	case SBX_VAR_GITHOOKS:
		return ": this is not a repository";
	default:
		return "";
	}
}

static bool speaks_of(const struct sbx_blob *blob, enum sbx_var var)
{
	const char *text = sbx_string(blob, 0);
	const char *end = text + SBX_COUNT(blob, STRINGS);

	/* A mark is never the second byte of another. */
	while ((text = memchr(text, SBX_MARK_VAR, (size_t)(end - text))))
		if (*++text == SBX_MARK_BASE + (char)var)
			return true;
	return false;
}

/* A job is given the session's values, for what its own policy says. */
bool vars_wanted(const struct launch *launch, enum sbx_var var)
{
	struct sbx_blob jobs;

	return launch->options.dry_run || speaks_of(&launch->blob, var) ||
	       (sbx_blob_jobs(&launch->blob, &jobs) && speaks_of(&jobs, var));
}

static void set_cwd(struct launch *launch)
{
	char path[PATH_MAX];
	struct stat st;

	/* musl's getcwd(3) would bring malloc(3) along. */
	if (syscall(SYS_getcwd, path, sizeof(path)) < 0 || path[0] != '/' ||
	    stat(".", &launch->cwd_stat))
		refuse(
		    "the current directory is gone or cannot be named (%s): cd to one that exists",
		    out_error(errno ? errno : ENOENT));
	/* The name may by now be another directory's. */
	if (stat(path, &st) || st.st_ino != launch->cwd_stat.st_ino ||
	    st.st_dev != launch->cwd_stat.st_dev)
		refuse("the current directory is no longer %s: cd to one that exists", path);
	launch->cwd = mem_string(path);
	launch->vars.value[SBX_VAR_CWD] = launch->cwd;
}

static void set_home(struct launch *launch)
{
	const char *home = user_home(launch->uid);
	struct walk walk;

	launch->vars.value[SBX_VAR_USER] = user_name(launch->uid);
	launch->vars.value[SBX_VAR_UID] = out_number(launch->uid);
	if (!home)
		return;
	walk_path(home, &walk);
	if (walk.error)
		refuse("home directory %s: %s", home, out_error(walk.error));
	launch->vars.value[SBX_VAR_HOME] = walk.path;
	launch->home_hops = walk.hops;
	launch->home_hop_count = walk.hop_count;
}

static void set_runtime(struct launch *launch)
{
	struct walk walk;

	if (!vars_wanted(launch, SBX_VAR_RUNTIME))
		return;
	walk_path(out_string("/run/user/%u", (unsigned)launch->uid), &walk);
	if (!walk.error && !walk.missing && S_ISDIR(walk.st.st_mode) &&
	    walk.st.st_uid == launch->uid && !(walk.st.st_mode & 077))
		launch->vars.value[SBX_VAR_RUNTIME] = walk.path;
}

static const char *workspace_text(const struct launch *launch)
{
	const struct sbx_meta *meta = sbx_meta(&launch->blob);
	const char *given = launch->options.workspace, *path;
	uint32_t unset;
	bool wild;

	if (given)
		return *given == '/' ? given : path_join(launch->cwd, given);
	if (!sbx_present(meta->workspace))
		refuse("the policy has no workspace: it cannot be run");
	path = vars_expand_path(launch, meta->workspace, &wild, &unset);
	if (!path)
		refuse("the workspace needs $%s, which has no value here%s",
		       sbx_var_name(&launch->blob, unset), vars_why_unset(unset));
	return path;
}

/* $home equals the workspace or lies beneath it, by name or by inode (a bind
 * mount gives one directory two names). */
static void refuse_home(const struct launch *launch, const struct walk *workspace)
{
	const char *home = launch->vars.value[SBX_VAR_HOME];

	if (strlen(workspace->path) == 1)
		refuse("the workspace would be /: cd to a project");
	for (const char *dir = home; dir; dir = path_parent(dir)) {
		struct walk walk;

		walk_path(dir, &walk);
		if (!strcmp(dir, workspace->path) ||
		    (!walk.error && !walk.missing && walk.st.st_ino == workspace->st.st_ino &&
		     walk.st.st_dev == workspace->st.st_dev))
			refuse("the workspace would be %s, which is or holds your home directory "
			       "%s and all that is kept there: cd to a project",
			       workspace->path, home);
		if (strlen(dir) == 1)
			break;
	}
}

static void set_workspace(struct launch *launch)
{
	const char *path = workspace_text(launch), *parent;
	struct walk walk;

	walk_path(path, &walk);
	if (walk.error || walk.missing)
		refuse("workspace %s: %s", path, out_error(walk.error ? walk.error : ENOENT));
	if (!S_ISDIR(walk.st.st_mode))
		refuse("workspace %s: not a directory", path);
	refuse_home(launch, &walk);
	launch->vars.value[SBX_VAR_WORKSPACE] = walk.path;
	parent = path_parent(walk.path);
	launch->vars.value[SBX_VAR_SIBLING] = path_join(parent, "sbx-sibling");
}

static uint64_t parse_number(const char *text, enum sbx_param_type type, const char *name)
{
	static const struct {
		char unit;
		enum sbx_param_type type;
		uint64_t factor;
	} units[] = {
		{ 'K', SBX_PARAM_SIZE, 1u << 10 }, { 'M', SBX_PARAM_SIZE, 1u << 20 },
		{ 'G', SBX_PARAM_SIZE, 1u << 30 }, { 'T', SBX_PARAM_SIZE, 1ull << 40 },
		{ 's', SBX_PARAM_TIME, 1 },        { 'm', SBX_PARAM_TIME, 60 },
		{ 'h', SBX_PARAM_TIME, 3600 },     { 'd', SBX_PARAM_TIME, 86400 },
	};
	const char *end;
	uint64_t value = out_read_number(text, &end);

	if (end == text)
		refuse("-D %s=%s: a whole number is wanted", name, text);
	if (!*end)
		return value;
	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
		if (units[i].unit == end[0] && units[i].type == type && !end[1]) {
			if (value > UINT64_MAX / units[i].factor)
				refuse("-D %s=%s: too large", name, text);
			return value * units[i].factor;
		}
	refuse("-D %s=%s: '%s' is no unit here", name, text, end);
}

static void check_path(const struct launch *launch, const struct sbx_param *param, const char *name,
		       const char *value)
{
	struct walk walk, under;
	const char *limit;
	uint32_t unset;
	bool wild;

	if (*value != '/' || (value[1] && path_is_odd(value)))
		refuse("-D %s=%s: an absolute path without `//`, `.`, `..` is wanted", name, value);
	walk_path(value, &walk);
	if (walk.error)
		refuse("-D %s=%s: %s", name, value, out_error(walk.error));
	if (!sbx_present(param->under))
		return;
	limit = vars_expand_path(launch, param->under, &wild, &unset);
	if (!limit)
		refuse("parameter %s: its `under` needs $%s, which has no value here%s", name,
		       sbx_var_name(&launch->blob, unset), vars_why_unset(unset));
	walk_path(limit, &under);
	if (under.error || !path_within(walk.path, under.path))
		refuse("-D %s=%s: must lie under %s%s%s (%s)", name, value, limit,
		       strcmp(walk.path, value) ? "; it leads to " : "",
		       strcmp(walk.path, value) ? walk.path : "",
		       launch_place(launch, param->head.loc));
}

static void check_choices(const struct launch *launch, const struct sbx_param *param,
			  const char *name, const char *value)
{
	for (uint32_t i = 0; i < param->choice_count; i++) {
		uint32_t unset;
		bool wild;
		const char *choice = vars_expand(
		    launch, *SBX_AT(&launch->blob, TMPLS, sbx_tmpl, param->choice_first + i), &wild,
		    &unset);

		if (choice && !strcmp(choice, value))
			return;
	}
	if (param->choice_count)
		refuse("-D %s=%s: not among the values that the policy lists (%s)", name, value,
		       launch_place(launch, param->head.loc));
}

static const char *given_value(const struct launch *launch, const char *name)
{
	for (unsigned i = 0; i < launch->options.define_count; i++) {
		const struct define *define = &launch->options.defines[i];
		size_t length = (size_t)(define->value - define->name) - 1;

		if (strlen(name) == length && !strncmp(define->name, name, length))
			return define->value;
	}
	return NULL;
}

static const char *trim_slashes(const char *path)
{
	size_t length = strlen(path);

	while (length > 1 && path[length - 1] == '/')
		length--;
	return mem_copy(path, length);
}

static void set_param(struct launch *launch, uint32_t index)
{
	const struct sbx_param *param = SBX_AT(&launch->blob, PARAMS, sbx_param, index);
	const char *name = sbx_string(&launch->blob, param->name);
	const char *value = given_value(launch, name), *otherwise;
	uint32_t unset;
	bool wild;

	otherwise = vars_expand(launch, param->value, &wild, &unset);
	/* The policy's own value is held to no bound, also where a job is told it. */
	if (!value || (otherwise && !strcmp(value, otherwise))) {
		launch->vars.value[SBX_VAR_PARAM + index] = otherwise;
		return;
	}
	if (param->type == SBX_PARAM_PATH && value[0] == '~' && (!value[1] || value[1] == '/') &&
	    launch->vars.value[SBX_VAR_HOME])
		value = mem_join(launch->vars.value[SBX_VAR_HOME], value + 1);
	if (param->type == SBX_PARAM_PATH) {
		value = trim_slashes(value);
		check_path(launch, param, name, value);
	} else if (param->type != SBX_PARAM_STRING &&
		   parse_number(value, param->type, name) > param->max) {
		refuse("-D %s=%s: more than the policy allows (%s)", name, value,
		       launch_place(launch, param->head.loc));
	}
	check_choices(launch, param, name, value);
	launch->vars.value[SBX_VAR_PARAM + index] = value;
}

static bool needs(const struct launch *launch, struct sbx_tmpl tmpl, uint32_t var)
{
	uint32_t unset = SBX_NONE;
	bool wild;

	return !vars_expand(launch, tmpl, &wild, &unset) && unset == var;
}

/* Inside a path a text is a component or a part of one: with a slash it would
 * be others.  What the policy itself says was checked by the compiler. */
static void check_text(struct launch *launch, uint32_t index)
{
	const char **value = &launch->vars.value[SBX_VAR_PARAM + index], *text = *value;
	const struct sbx_param *param = SBX_AT(&launch->blob, PARAMS, sbx_param, index);

	if (param->type != SBX_PARAM_STRING || !text || (*text && !strchr(text, '/')))
		return;
	*value = NULL;
	for (uint32_t i = 0; i < SBX_COUNT(&launch->blob, FS); i++) {
		const struct sbx_fs_rule *rule = SBX_AT(&launch->blob, FS, sbx_fs_rule, i);
		const struct sbx_fs_extra *extra = sbx_fs_extra(&launch->blob, rule);
		bool used = needs(launch, rule->path, SBX_VAR_PARAM + index);

		for (uint32_t k = 0; k < extra->except_count; k++)
			used |=
			    needs(launch,
				  *SBX_AT(&launch->blob, TMPLS, sbx_tmpl, extra->except_first + k),
				  SBX_VAR_PARAM + index);
		if (used)
			refuse("-D %s=%s: part of a path (%s), so neither empty nor with a slash",
			       sbx_string(&launch->blob, param->name), text,
			       launch_place(launch, rule->head.loc));
	}
	*value = text;
}

static void set_params(struct launch *launch)
{
	uint32_t count = SBX_COUNT(&launch->blob, PARAMS);

	for (uint32_t i = 0; i < count; i++)
		set_param(launch, i);
	for (uint32_t i = 0; i < count; i++)
		check_text(launch, i);
	for (unsigned i = 0; i < launch->options.define_count; i++) {
		const struct define *define = &launch->options.defines[i];
		int length = (int)(define->value - define->name) - 1;
		bool known = false;

		for (uint32_t p = 0; p < count; p++) {
			const char *name = sbx_string(
			    &launch->blob, SBX_AT(&launch->blob, PARAMS, sbx_param, p)->name);

			known |= (int)strlen(name) == length &&
				 !strncmp(name, define->name, (size_t)length);
		}
		if (!known)
			refuse("-D %.*s: the policy has no such parameter", length, define->name);
	}
}

static void set_ours(struct launch *launch)
{
	char path[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);

	if (length <= 0)
		refuse("/proc is not mounted: mount it");
	launch->vars.value[SBX_VAR_LAUNCHER] = mem_copy(path, (size_t)length);
	launch->vars.value[SBX_VAR_POLICY] = launch->blob_path;
	proxy_find(launch);
	slurm_find(launch);
	if (launch->proxy.bundle)
		launch->vars.value[SBX_VAR_CA_BUNDLE] = launch->proxy.bundle;
	else if (vars_wanted(launch, SBX_VAR_CA_BUNDLE) && !access(CA_BUNDLE, R_OK))
		launch->vars.value[SBX_VAR_CA_BUNDLE] = CA_BUNDLE;
}

void vars_resolve(struct launch *launch)
{
	set_cwd(launch);
	set_home(launch);
	set_runtime(launch);
	set_ours(launch);
	set_workspace(launch);
	git_resolve(launch);
	job_hold(launch);
	set_params(launch);
}
