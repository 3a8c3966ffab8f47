/*
 * compiler/explain_here.c - a path as it is on this machine: links on its way,
 * and what happens with a name that is not there yet.
 */
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "blob/contest.h"
#include "compiler/duties.h"
#include "compiler/explain.h"
#include "compiler/render.h"

#define LINKS_MAX 40 /* as many as the kernel follows */

static const char *parent(struct arena *arena, const char *path)
{
	const char *end = strrchr(path, '/');

	return !end || end == path ? "/" : arena_copy(arena, path, (size_t)(end - path));
}

/* ---- links ------------------------------------------------------------------------------ */

struct walk {
	struct arena *arena;
	const char *links[LINKS_MAX], *targets[LINKS_MAX];
	size_t count;
};

/* Each symbolic link that the kernel follows on its way to @path, by its real place. */
static void follow(struct walk *walk, const char *path)
{
	const char *here = "", *rest = path;

	while (*(rest += strspn(rest, "/"))) {
		size_t length = strcspn(rest, "/");
		const char *name = arena_copy(walk->arena, rest, length);
		const char *next = arena_printf(walk->arena, "%s/%s", here, name);
		char target[PATH_MAX];
		ssize_t size;

		rest += length;
		if (!strcmp(name, "."))
			continue;
		if (!strcmp(name, "..")) {
			here =
			    strcmp(parent(walk->arena, here), "/") ? parent(walk->arena, here) : "";
			continue;
		}
		size = readlink(next, target, sizeof(target));
		if (size < 0 && errno != EINVAL)
			return; /* not there, or not to be looked at */
		if (size < 0) {
			here = next;
			continue;
		}
		if (walk->count == LINKS_MAX)
			return;
		walk->links[walk->count] = next;
		walk->targets[walk->count] = arena_copy(walk->arena, target, (size_t)size);
		if (target[0] == '/')
			here = "";
		rest = arena_printf(walk->arena, "%s/%s", walk->targets[walk->count++], rest);
	}
}

static bool is_firejail(const struct question *question)
{
	return question->only && question->only->backend == SBX_FIREJAIL;
}

/* Is the link @path one of those on the way to @name? */
static bool leads_to(const struct question *question, const char *path, const char *name)
{
	struct walk walk = { .arena = question->arena };

	follow(&walk, name);
	for (size_t n = 0; n < walk.count; n++)
		if (!strcmp(walk.links[n], path))
			return true;
	return false;
}

/* Is it one of the links that lead to what a rule grants, or to a socket that one allows?
 * A launch makes them again. */
static bool leads_to_grant(const struct question *question, const char *path)
{
	const struct sbx_fs_set *set = &question->view->set;

	for (size_t i = 0; i < set->count; i++) {
		const struct sbx_fs_point *point = &set->points[i];

		if (point->verb > SBX_FS_DEVICE || point->wild || access(point->path, F_OK))
			continue; /* it is skipped */
		if (sbx_path_beneath(path, point->path) >= 0 ||
		    leads_to(question, path, point->path))
			return true;
	}
	for (uint32_t i = 0; i < SBX_COUNT(question->blob, NET); i++) {
		const struct sbx_net_rule *rule = SBX_AT(question->blob, NET, sbx_net_rule, i);
		const char *name = NULL;
		struct stat st;

		if (rule->head.verb == SBX_NETV_ALLOW && rule->kind == SBX_NETK_UNIX)
			name = view_expand(question->view, rule->path);
		if (name && !stat(name, &st) && S_ISSOCK(st.st_mode) &&
		    leads_to(question, path, name))
			return true;
	}
	return false;
}

/* Does a mask lie over the directory that holds @path?  A grant of the link itself gives
 * back what it leads to, not the link. */
static bool lies_under_mask(const struct question *question, const char *path,
			    struct sbx_fs_verdict *verdict)
{
	const struct sbx_fs_set *set = &question->view->set;
	const char *above = parent(question->arena, path);
	struct sbx_fs_verdict there;

	sbx_fs_decide(set, above, SBX_READ, &there);
	if (there.allowed || there.point == SBX_NONE ||
	    duty_of_path(question->arena, set, above, SBX_READ, &there) != SBX_DUTY_DENY_BENEATH)
		return false;
	*verdict = there;
	return true;
}

/* Does the tree @path begin where nothing of the host's is around? */
static bool begins_alone(const struct question *question, const char *path)
{
	const struct sbx_fs_set *set = &question->view->set;

	for (unsigned right = SBX_READ; right <= SBX_EXEC; right <<= 1)
		if (sbx_fs_allows(set, parent(question->arena, path), right))
			return false;
	return true;
}

/* Where the root is empty but for what is granted, links on the way to a grant are
 * made again, and others are there where their directory is.  Firejail shows the host's,
 * but for those that lie under a mask. */
static bool link_is_there(const struct question *question, const char *path,
			  struct sbx_fs_verdict *verdict)
{
	const struct sbx_fs_set *set = &question->view->set;
	const struct sbx_fs_point *made;
	const char *tmp = NULL;

	sbx_fs_decide(set, path, SBX_READ, verdict);
	made = verdict->allowed ? point_made(set, verdict) : NULL;
	if (made && made->verb == SBX_FS_TMP)
		tmp = view_real(question->arena, made->path);
	/* The host's lies under it; one on the way to a grant is made again where bwrap makes
	 * the tmp, too. */
	if (tmp && sbx_path_beneath(tmp, path) >= 0 && strcmp(tmp, path) != 0)
		return !is_firejail(question) && begins_alone(question, tmp) &&
		       leads_to_grant(question, path);
	if (sbx_path_beneath("/dev", path) >= 0 || sbx_path_beneath("/proc", path) >= 0)
		return true;
	if (lies_under_mask(question, path, verdict))
		return false;
	if (is_firejail(question))
		return verdict->allowed || duty_of_path(question->arena, set, path, SBX_READ,
							verdict) != SBX_DUTY_DENY_BENEATH;
	/* What a grant's pattern matches is no way to what it leads to. */
	for (unsigned right = SBX_READ; right <= SBX_EXEC; right <<= 1)
		if (sbx_fs_allows(set, parent(question->arena, path), right))
			return true;
	return leads_to_grant(question, path);
}

static void note_hidden_link(const struct question *question, const char *path, const char *real,
			     const struct sbx_fs_verdict *verdict, struct answer *answer)
{
	const struct sbx_fs_point *by =
	    verdict->point == SBX_NONE ? NULL : &question->view->set.points[verdict->point];

	if (is_firejail(question)) {
		answer_note(question, answer, "on firejail the link %s lies under a mask or a tmp", path);
		answer->allowed = false;
		answer->how = "EACCES on firejail, by this name";
	}
	if (!question_asks(question, SBX_BWRAP))
		return;
	if (by && by->rule < SBX_RULE_SELF)
		answer_note(question, answer,
			    "on bwrap the link %s is not there itself: `%s`; write %s", path,
			    render_rule(question->arena, question->blob, SBX_SEC_FS, by->rule, 0),
			    real);
	else
		answer_note(question, answer,
			    "on bwrap the link %s is not there itself: nothing grants it; write %s",
			    path, real);
	if (question->only && answer->allowed) {
		answer->allowed = false;
		answer->how = "ENOENT on bwrap, by this name";
	}
}

void note_links(const struct question *question, const char *written, const char *real,
		struct answer *answer)
{
	struct walk walk = { .arena = question->arena };
	struct sbx_fs_verdict verdict;

	if (!strcmp(written, real))
		return;
	answer_note(question, answer, "%s is %s here", written, real);
	follow(&walk, written);
	for (size_t i = 0; i < walk.count; i++)
		answer_note(question, answer, "%s is a symbolic link to %s", walk.links[i],
			    walk.targets[i]);
	for (size_t i = 0; i < walk.count && answer->allowed; i++)
		if (!link_is_there(question, walk.links[i], &verdict)) {
			note_hidden_link(question, walk.links[i], real, &verdict, answer);
			return;
		}
}

/* A rule holds for its name as written and for what that leads to. */
void note_rule_link(const struct question *question, const struct sbx_fs_verdict *verdict,
		    struct answer *answer)
{
	const struct sbx_fs_set *set = &question->view->set;
	const struct sbx_fs_point *point;

	if (verdict->point == SBX_NONE || !verdict->point)
		return;
	point = &set->points[verdict->point];
	if (point->rule >= SBX_RULE_SELF || point[-1].rule != point->rule)
		return;
	answer_note(question, answer, "the rule's %s leads to %s here, and holds for both",
		    point[-1].path, point->path);
}

/* ---- names that do not exist ---------------------------------------------------------------- */

static bool exists(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0 || errno == EACCES;
}

/* Does a rule speak of that very name? */
static bool is_named(const struct sbx_fs_set *set, const char *path)
{
	for (size_t i = 0; i < set->count; i++)
		if (!set->points[i].wild && !strcmp(set->points[i].path, path))
			return true;
	return false;
}

/* A denied name that is not there, and that the program could otherwise make: something
 * holds it.  What is missing on the way to it is made with it, whatever a pattern says of
 * such names. */
static bool is_held(const struct question *question, const struct sbx_fs_point *point)
{
	const struct sbx_fs_set *set = &question->view->set;
	const char *above;

	if (point->wild || point->rule >= SBX_RULE_SELF || point->verb < SBX_FS_DENY ||
	    exists(point->path))
		return false;
	above = parent(question->arena, point->path);
	while (!exists(above) && !is_named(set, above))
		above = parent(question->arena, above);
	for (unsigned right = SBX_READ; right <= SBX_EXEC; right <<= 1)
		if (point->rights & right && sbx_fs_allows(set, above, SBX_WRITE) &&
		    sbx_fs_allows(set, above, right) && !sbx_fs_allows(set, point->path, right))
			return true;
	return false;
}

static void note_placeholder(const struct question *question, const struct sbx_fs_point *point,
			     const char *path, struct answer *answer)
{
	const struct sbx_fs_rule *rule =
	    SBX_AT(question->blob, FS, sbx_fs_rule, point->rule);
	bool itself = !strcmp(point->path, path);
	bool written = sbx_fs_allows(&question->view->set, point->path, SBX_WRITE);

	if (rule->head.flags & SBX_F_CREATE)
		answer_note(
		    question, answer,
		    "%s does not exist: a launch makes the directory, mode 0700, and it stays",
		    point->path);
	else if (!itself && sbx_path_beneath(path, point->path) >= 0)
		answer_note(question, answer,
			    "%s does not exist: where there are masks it is a directory while a "
			    "session runs, in which %s is held",
			    path, point->path);
	else if (rule->placeholder == SBX_PLACEHOLDER_FILE)
		answer_note(question, answer,
			    "%s does not exist: where there are masks a small file holds the name "
			    "while a session runs%s",
			    point->path,
			    !itself	? ": ENOTDIR for what is beneath it"
			    : written	? ": it can be written, EBUSY to remove or rename it"
					: ": EROFS or EACCES for a write, EBUSY to remove or rename it");
	else
		answer_note(question, answer,
			    "%s does not exist: where there are masks an empty directory holds the "
			    "name while a session runs%s",
			    point->path,
			    itself ? ": EISDIR for a write, EBUSY to remove or rename it" : "");
}

/* What is there in the place of @path, though it may be written, since it is held or
 * what is held lies in it. */
static bool note_held(const struct question *question, const char *path, struct answer *answer)
{
	const struct sbx_fs_set *set = &question->view->set;

	for (size_t i = 0; i < set->count; i++)
		if (sbx_path_beneath(path, set->points[i].path) >= 0 &&
		    is_held(question, &set->points[i])) {
			note_placeholder(question, &set->points[i], path, answer);
			return true;
		}
	return false;
}

/* Would it be allowed without that point, by another? */
static bool allowed_without(const struct question *question, const struct sbx_fs_point *point,
			    const char *path, unsigned right)
{
	const struct sbx_fs_set *set = &question->view->set;
	struct sbx_fs_point *points =
	    arena_array(question->arena, set->count, sizeof(*points));
	const struct sbx_fs_set others = { points, set->count, set->excepts };

	memcpy(points, set->points, set->count * sizeof(*points));
	points[point - set->points].rights = 0;
	return sbx_fs_allows(&others, path, right);
}

/* What a launch does about a grant of what is not there. */
static bool note_absent_grant(const struct question *question, const struct sbx_fs_point *point,
			      const char *path, unsigned right, struct answer *answer)
{
	unsigned flags;

	if (point->wild || point->verb == SBX_FS_TMP || point->rule >= SBX_RULE_SELF ||
	    exists(point->path))
		return false;
	flags = SBX_AT(question->blob, FS, sbx_fs_rule, point->rule)->head.flags;
	if (flags & SBX_F_OPTIONAL && !(flags & SBX_F_CREATE) &&
	    allowed_without(question, point, path, right))
		return false;
	if (flags & SBX_F_CREATE)
		answer_note(question, answer, "%s does not exist: a launch makes it, mode 0700",
			    point->path);
	else if (flags & SBX_F_OPTIONAL)
		answer_note(question, answer,
			    "%s does not exist: a launch skips this rule, and the session does not "
			    "see what is made there later",
			    point->path);
	else
		answer_note(question, answer,
			    "%s does not exist: a launch stops, until it is made%s", point->path,
			    point->rule == sbx_meta(question->blob)->workspace_rule
				? ""
				: " or the rule is `optional`");
	return true;
}

/* Another rule's `create` of that name or of one in it. */
static bool note_created(const struct question *question, const char *path, struct answer *answer)
{
	const struct sbx_fs_set *set = &question->view->set;

	for (size_t i = 0; i < set->count; i++) {
		const struct sbx_fs_point *point = &set->points[i];

		if (point->wild || point->verb != SBX_FS_GRANT || exists(point->path) ||
		    sbx_path_beneath(path, point->path) < 0 ||
		    !(SBX_AT(question->blob, FS, sbx_fs_rule, point->rule)->head.flags &
		      SBX_F_CREATE))
			continue;
		answer_note(question, answer, "%s does not exist: a launch makes it, mode 0700",
			    point->path);
		return true;
	}
	return false;
}

/* On the only backend, where a best-effort deny may not be held. */
static bool is_writable(const struct question *question, const char *path)
{
	const struct view *view = question->view;
	struct sbx_fs_verdict verdict;
	uint32_t rule;

	if (exists(path))
		sbx_fs_decide(&view->set, path, SBX_WRITE, &verdict);
	else
		decide_later(question, path, SBX_WRITE, &verdict);
	if (verdict.allowed || verdict.point == SBX_NONE || !question->only)
		return verdict.allowed;
	rule = view->points.items[verdict.point].rule;
	return duty_of_path(question->arena, &view->set, path, SBX_WRITE, &verdict) ==
		   SBX_DUTY_DENY_BENEATH &&
	       !target_holds(question->only, SBX_DUTY_DENY_BENEATH) &&
	       rule < SBX_COUNT(question->blob, FS) &&
	       SBX_AT(question->blob, FS, sbx_fs_rule, rule)->head.flags & SBX_F_BEST_EFFORT;
}

static void note_absent_allowed(const struct question *question,
				const struct sbx_fs_verdict *verdict, const char *path,
				unsigned right, struct answer *answer)
{
	const struct sbx_fs_point *point = &question->view->set.points[verdict->point];
	const struct sbx_fs_point *made = point_made(&question->view->set, verdict);

	if (made && made->verb == SBX_FS_TMP)
		return; /* nothing of the host's is there */
	if (note_absent_grant(question, point, path, right, answer) ||
	    note_created(question, path, answer) || note_held(question, path, answer))
		return;
	if (is_writable(question, parent(question->arena, path)))
		answer_note(question, answer,
			    "it does not exist now (ENOENT), and can be made inside");
	else
		answer_note(question, answer,
			    "it does not exist now: ENOENT, until it is made outside");
}

void note_absent(const struct question *question, const struct sbx_fs_verdict *verdict,
		 const char *path, unsigned right, struct answer *answer)
{
	const struct sbx_fs_point *point;

	if (verdict->point == SBX_NONE || exists(path))
		return;
	point = &question->view->set.points[verdict->point];
	if (verdict->allowed)
		note_absent_allowed(question, verdict, path, right, answer);
	else if (is_held(question, point))
		note_placeholder(question, point, path, answer);
}
