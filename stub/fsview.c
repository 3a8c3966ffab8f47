/*
 * stub/fsview.c - from rules to points and nodes.
 *
 * A path is expanded, walked, and entered twice where links give it a second
 * name.  A grant that leads through a link which the sandbox itself could have
 * planted is refused: the sandbox must not choose what the next one may read.
 */
#include "stub/fsview.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "stub/fsview_add.h"
#include "stub/launch.h"
#include "stub/out.h"
#include "stub/vars.h"

const char *fsview_place(const struct launch *launch, uint32_t rule)
{
	if (rule == SBX_RULE_SELF)
		return "sbx-exec protects policies, launcher, records and .git file";
	if (rule == SBX_NONE)
		return "sbx-exec's own";
	return launch_place(launch, SBX_AT(&launch->blob, FS, sbx_fs_rule, rule)->head.loc);
}

const struct sbx_fs_rule *fsview_rule(const struct launch *launch, uint32_t rule)
{
	return rule >= SBX_RULE_SELF ? NULL : SBX_AT(&launch->blob, FS, sbx_fs_rule, rule);
}

/* What the kernel makes anew in every sandbox, whatever the host's looks like. */
bool fsview_is_synthetic(const char *path)
{
	static const char names[][13] = { "/dev/fd",   "/dev/stdin", "/dev/stdout",  "/dev/stderr",
					  "/dev/ptmx", "/dev/pts",   "/dev/console", "/dev/core" };

	if (path_within(path, "/proc"))
		return true;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (path_within(path, names[i]))
			return true;
	return false;
}

void fsview_add_point(const struct fsview_context *c, const char *path, bool wild)
{
	struct sbx_fs_point *point = vec_add(&c->launch->view.points);

	*point = (struct sbx_fs_point){
		.path = path,
		.rule = c->index,
		.verb = c->verb,
		.rights = c->rights,
		.wild = wild,
		.length = wild ? 0 : (uint32_t)strlen(path),
		.except_first = c->except_first,
		.except_count = c->except_count,
	};
}

struct node *fsview_add_node(const struct fsview_context *c, const char *path, enum node_kind kind)
{
	struct node *node = vec_add(&c->launch->view.nodes);

	*node = (struct node){
		.path = path,
		.kind = kind,
		.rule = c->index,
		.verb = c->verb,
		.granted = fsview_is_grant(c->verb),
		.denied = !fsview_is_grant(c->verb),
		.have = strlen(path),
	};
	return node;
}

void fsview_add_hops(const struct fsview_context *c, const struct hop *hops, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct node *node = fsview_add_node(c, hops[i].path, NODE_LINK);

		node->target = hops[i].target;
		node->st = hops[i].st;
	}
}

static bool flagged(const struct fsview_context *c, uint32_t flag)
{
	return c->rule && (c->rule->head.flags & flag);
}

/* @at: what is in the way, or NULL. */
static const char *remedy(const struct launch *launch, int error, const struct stat *at)
{
	switch (error) {
	case EACCES:
		if (at && (at->st_uid != launch->uid || (at->st_mode & 0500) == 0500))
			return "start outside a sandbox, as somebody who may look into it";
		return "chmod u+rwx it";
	case ELOOP:
		return "remove the link that leads to itself";
	case EMFILE:
		return "raise `ulimit -n`";
	default:
		return "correct it";
	}
}

/* A name that cannot be looked at.  False: forget it. */
static bool handle_error(const struct fsview_context *c, const char *path, const struct walk *walk)
{
	const char *place = fsview_place(c->launch, c->index);
	struct stat st;
	bool known = !stat(walk->path, &st);

	if (flagged(c, SBX_F_OPTIONAL)) {
		launch_detail(c->launch, "%s: %s: skipped, it is optional (%s)", path,
			      out_error(walk->error), place);
		return false;
	}
	/* What this user cannot reach the sandbox cannot either, unless it may
	 * change the mode of the directory that is in the way. */
	if (!fsview_is_grant(c->verb) && walk->error == EACCES && known &&
	    st.st_uid != c->launch->uid) {
		launch_detail(c->launch,
			      "%s: out of this user's reach, and so out of the sandbox's (%s)",
			      path, place);
		return false;
	}
	launch_obstacle(c->launch, "%s: %s at %s (%s): %s%s", path, out_error(walk->error),
			walk->path, place, remedy(c->launch, walk->error, known ? &st : NULL),
			fsview_is_grant(c->verb) ? ", or mark the rule optional" : "");
	return false;
}

/* A grant of what does not exist.  False: forget it. */
static bool handle_missing(const struct fsview_context *c, const char *path, struct walk *walk)
{
	const char *place = fsview_place(c->launch, c->index);

	if (flagged(c, SBX_F_CREATE)) {
		if (c->launch->options.dry_run || c->launch->options.check)
			return true;
		walk_afresh(path, walk);
		fsview_make(path, walk, place);
		launch_detail(c->launch, "%s: made (%s)", path, place);
		return true;
	}
	if (flagged(c, SBX_F_OPTIONAL)) {
		launch_detail(c->launch, "%s: not here: skipped, it is optional (%s)", path, place);
		return false;
	}
	launch_obstacle(c->launch,
			"%s: does not exist (%s): make it, or mark the rule optional or create",
			path, place);
	return false;
}

void fsview_add_literal(const struct fsview_context *c, const char *path)
{
	struct walk walk;
	struct node *node;

	if (fsview_is_synthetic(path)) {
		fsview_add_point(c, path, false);
		if (path_within(path, "/proc") && strcmp(path, "/proc")) {
			node = fsview_add_node(c, path, NODE_RULE);
			if (lstat(path, &node->st))
				node->have = 5;
		}
		return;
	}
	walk_path(path, &walk);
	if (walk.error && !handle_error(c, path, &walk))
		return;
	if (walk.missing && c->verb != SBX_FS_TMP && fsview_is_grant(c->verb) &&
	    !handle_missing(c, path, &walk))
		return;
	fsview_add_point(c, path, false);
	if (strcmp(path, walk.path))
		fsview_add_point(c, walk.path, false);
	fsview_add_hops(c, walk.hops, walk.hop_count);
	node = fsview_add_node(c, walk.path, NODE_RULE);
	node->have = walk.have;
	node->st = walk.st;
}

const char *pattern_beginning(const char *pattern, size_t *length)
{
	char *text = mem_get(strlen(pattern) + 1);
	size_t out = 0, cut = 0;

	*length = 0;
	for (size_t i = 0; pattern[i]; i++) {
		if (strchr("*?[", pattern[i]))
			break;
		if (pattern[i] == '/') {
			cut = out;
			*length = i;
		}
		if (pattern[i] == '\\' && pattern[i + 1])
			i++;
		text[out++] = pattern[i];
	}
	text[cut] = '\0';
	return cut ? text : "/";
}

static char *escape_pattern(const char *path)
{
	char *text = mem_get(2 * strlen(path) + 1), *at = text;

	for (; *path; path++) {
		if (strchr("*?[]\\", *path))
			*at++ = '\\';
		*at++ = *path;
	}
	return text;
}

static void add_pattern(const struct fsview_context *c, const char *pattern)
{
	size_t length;
	const char *beginning = pattern_beginning(pattern, &length);
	struct walk walk;

	if (!fsview_is_grant(c->verb) && !flagged(c, SBX_F_SNAPSHOT)) {
		const char *place = fsview_place(c->launch, c->index);

		if (!flagged(c, SBX_F_BEST_EFFORT))
			launch_obstacle(c->launch,
					"%s: no backend here can bind names that appear later "
					"(%s): add the word snapshot to the rule to close what "
					"exists at the start",
					pattern, place);
		else
			launch_remark(c->launch,
				      "%s: not enforced for names that appear later (%s)", pattern,
				      place);
	}
	fsview_add_point(c, pattern, true);
	walk_path(beginning, &walk);
	if (walk.error) {
		handle_error(c, beginning, &walk);
		return;
	}
	fsview_add_hops(c, walk.hops, walk.hop_count);
	if (strcmp(walk.path, beginning))
		fsview_add_point(c,
				 mem_join(strlen(walk.path) > 1 ? escape_pattern(walk.path) : "",
					  pattern + length),
				 true);
}

/* A rule whose path needs a variable without a value.  Repository rules that
 * take something away are void outside a repository: there is nothing to
 * protect. */
static void handle_unset(const struct fsview_context *c, uint32_t var)
{
	const char *place = fsview_place(c->launch, c->index);
	const char *name = sbx_var_name(&c->launch->blob, var);
	bool git = var == SBX_VAR_GITDIR || var == SBX_VAR_GITCOMMON || var == SBX_VAR_GITHOOKS;

	if (!flagged(c, SBX_F_OPTIONAL) && !(git && !fsview_is_grant(c->verb)))
		launch_obstacle(c->launch,
				"$%s has no value here%s (%s): mark the rule optional, or %s", name,
				vars_why_unset(var), place,
				git ? "start in a repository" : "see that it has one");
	else
		launch_detail(c->launch, "$%s has no value here: rule skipped (%s)", name, place);
}

/* An exception is a place of its own in the plan: what is granted around the
 * seal holds there. */
static void add_except(const struct fsview_context *c, const char *path, const struct walk *walk)
{
	struct fsview *view = &c->launch->view;
	struct node *node;

	*vec_add(&view->excepts) = path;
	if (walk->error)
		return;
	if (strcmp(walk->path, path))
		*vec_add(&view->excepts) = walk->path;
	node = fsview_add_node(c, walk->path, NODE_RULE);
	node->verb = SBX_FS_GRANT;
	node->granted = !walk->missing && !S_ISSOCK(walk->st.st_mode);
	node->denied = false;
	node->have = walk->have;
	node->st = walk->st;
}

static void add_excepts(struct fsview_context *c)
{
	const struct sbx_fs_extra *extra = sbx_fs_extra(&c->launch->blob, c->rule);
	struct fsview *view = &c->launch->view;
	struct walk walk;
	uint32_t unset;
	bool wild;

	c->except_first = (uint32_t)view->excepts.count;
	for (uint32_t i = 0; i < extra->except_count; i++) {
		struct sbx_tmpl tmpl =
		    *SBX_AT(&c->launch->blob, TMPLS, sbx_tmpl, extra->except_first + i);
		const char *path = vars_expand_path(c->launch, tmpl, &wild, &unset);

		if (!path)
			continue;
		walk_path(path, &walk);
		add_except(c, path, &walk);
	}
	c->except_count = (uint32_t)view->excepts.count - c->except_first;
}

/* core.hooksPath in the workspace was perhaps written by a program inside, before
 * this was a repository: it opens nothing that is not open without it. */
static bool follows_hooks_path(const struct launch *launch, const struct sbx_fs_rule *rule)
{
	const char *text = sbx_string(&launch->blob, rule->path.text);
	const char *hooks = launch->vars.value[SBX_VAR_GITHOOKS];

	return text[0] == SBX_MARK_VAR && text[1] == SBX_MARK_BASE + SBX_VAR_GITHOOKS && hooks &&
	       strcmp(hooks, path_join(launch->vars.value[SBX_VAR_GITCOMMON], "hooks"));
}

static void add_rule(struct launch *launch, uint32_t index)
{
	const struct sbx_fs_rule *rule = SBX_AT(&launch->blob, FS, sbx_fs_rule, index);
	struct fsview_context c = { .launch = launch,
				    .index = index,
				    .rule = rule,
				    .verb = rule->head.verb,
				    .rights = rule->rights };
	const char *path;
	uint32_t unset;
	bool wild = false;

	if (index == sbx_meta(&launch->blob)->workspace_rule)
		path = launch->vars.value[SBX_VAR_WORKSPACE];
	else
		path = vars_expand_path(launch, rule->path, &wild, &unset);
	if (!path) {
		handle_unset(&c, unset);
		return;
	}
	if (fsview_is_grant(c.verb) && follows_hooks_path(launch, rule))
		return;
	if (path[1] && path_is_odd(path)) {
		launch_obstacle(launch,
				"%s: a parameter's value makes an empty name, `.` or `..` of it "
				"(%s): give another by -D",
				path, fsview_place(launch, index));
		return;
	}
	if (rule->head.verb == SBX_FS_SEAL)
		add_excepts(&c);
	if (wild)
		add_pattern(&c, path);
	else
		fsview_add_literal(&c, path);
}

/* By the name as written, and no rule may close it by the name that that leads to. */
static bool may_connect(const struct launch *launch, const char *written, const char *real)
{
	struct sbx_net_verdict verdict;

	sbx_net_decide_unix(&launch->blob, &launch->vars, written, &verdict);
	if (!verdict.allowed)
		return false;
	sbx_net_decide_unix(&launch->blob, &launch->vars, real, &verdict);
	return verdict.allowed || verdict.rule == SBX_NONE;
}

static void add_sockets(struct launch *launch)
{
	for (uint32_t i = 0; i < SBX_COUNT(&launch->blob, NET); i++) {
		const struct sbx_net_rule *rule = SBX_AT(&launch->blob, NET, sbx_net_rule, i);
		struct fsview_context c = { .launch = launch, .index = i, .verb = SBX_FS_GRANT };
		const char *path;
		struct walk walk;
		uint32_t unset;
		bool wild;

		if (rule->head.verb != SBX_NETV_ALLOW || rule->kind != SBX_NETK_UNIX)
			continue;
		path = vars_expand_path(launch, rule->path, &wild, &unset);
		if (path && !wild)
			walk_path(path, &walk);
		if (!path || wild || walk.error || walk.missing || !S_ISSOCK(walk.st.st_mode)) {
			/* An opening that cannot be made stays shut. */
			launch_remark(launch, "allow unix: nothing to open now, it stays shut (%s)",
				      launch_place(launch, rule->head.loc));
			continue;
		}
		if (!may_connect(launch, path, walk.path))
			continue;
		fsview_add_hops(&c, walk.hops, walk.hop_count);
		struct node *node = fsview_add_node(&c, walk.path, NODE_SOCKET);
		node->st = walk.st;
	}
}

/* May the sandbox write into the directory of the host that holds @path? */
static bool sandbox_may_replace(const struct launch *launch, const char *path)
{
	enum sbx_fs_verb verb;

	return fsview_origin(launch, path_parent(path), SBX_WRITE, &verb) && verb == SBX_FS_GRANT;
}

static void check_links(struct launch *launch)
{
	for (size_t i = 0; i < launch->view.nodes.count; i++) {
		const struct node *node = &launch->view.nodes.items[i];

		if (node->kind == NODE_LINK && node->granted &&
		    sandbox_may_replace(launch, node->path))
			launch_obstacle(launch,
					"%s is a symbolic link to %s, in a directory that the "
					"sandbox may write: whoever wrote it there would choose "
					"what is opened (%s): remove the link, or name its target "
					"in the policy",
					node->path, node->target, fsview_place(launch, node->rule));
	}
}

void fsview_build(struct launch *launch)
{
	struct fsview *view = &launch->view;
	struct fsview_context c = { .launch = launch, .index = SBX_NONE, .verb = SBX_FS_GRANT };

	for (uint32_t i = 0; i < SBX_COUNT(&launch->blob, FS); i++)
		add_rule(launch, i);
	fsview_add_own(launch);
	add_sockets(launch);
	fsview_add_hops(&c, launch->home_hops, launch->home_hop_count);
	fsview_add_node(&c, "/proc", NODE_PROC);
	fsview_add_node(&c, "/dev", NODE_DEV);
	view->set.points = view->points.items;
	view->set.count = view->points.count;
	view->set.excepts = view->excepts.items;
	check_links(launch);
	if (launch->proxy.bundle && !(fsview_rights(launch, launch->proxy.bundle) & SBX_READ))
		launch_obstacle(
		    launch, "the session's roots of trust ($ca-bundle) lie in "
			    "~/.local/state/sbx/sessions, which the policy seals: take that out");
}
