/*
 * compiler/explain_path.c - read, write, exec.
 *
 * The path is decided under the name it resolves to; both are shown.  A deny or
 * seal that is a snapshot holds for the names that exist when a session starts, so
 * for a name that does not exist the answer is what holds without it.
 */
#include <string.h>
#include <unistd.h>

#include "blob/contest.h"
#include "compiler/duties.h"
#include "compiler/explain.h"
#include "compiler/render.h"

static uint32_t rule_of(const struct view *view, uint32_t point)
{
	return point == SBX_NONE ? SBX_NONE : view->points.items[point].rule;
}

static bool is_snapshot(const struct question *question, uint32_t point)
{
	uint32_t rule = rule_of(question->view, point);

	return rule < SBX_COUNT(question->blob, FS) &&
	       SBX_AT(question->blob, FS, sbx_fs_rule, rule)->head.flags & SBX_F_SNAPSHOT;
}

void decide_later(const struct question *question, const char *path, unsigned right,
			 struct sbx_fs_verdict *verdict)
{
	const struct view *view = question->view;
	struct sbx_fs_point *points =
	    arena_array(question->arena, view->points.count, sizeof(*points));
	struct sbx_fs_set set = { points, view->points.count, view->excepts.items };

	for (size_t i = 0; i < view->points.count; i++) {
		points[i] = view->points.items[i];
		if (points[i].wild && points[i].verb >= SBX_FS_DENY &&
		    is_snapshot(question, (uint32_t)i))
			points[i].rights = 0;
	}
	sbx_fs_decide(&set, path, right, verdict);
}

/* Nothing is there when a session starts, whatever the host has by that name. */
static bool in_tmp(const struct question *question, const struct sbx_fs_verdict *verdict)
{
	const struct sbx_fs_point *made =
	    verdict->allowed ? point_made(&question->view->set, verdict) : NULL;

	return made && made->verb == SBX_FS_TMP;
}

/* A launch skips an optional grant of what is not there; in a tmp or a copy the program can
 * make it then, by what is left. */
static bool is_skipped(const struct question *question, const char *path, unsigned right,
		       const struct sbx_fs_verdict *verdict, struct sbx_fs_verdict *left)
{
	const struct sbx_fs_set *set = &question->view->set;
	uint32_t rule = rule_of(question->view, verdict->point), flags;
	struct sbx_fs_set others = *set;
	struct sbx_fs_point *points;

	if (verdict->allowed || rule >= SBX_COUNT(question->blob, FS))
		return false;
	flags = SBX_AT(question->blob, FS, sbx_fs_rule, rule)->head.flags;
	if (set->points[verdict->point].verb != SBX_FS_GRANT || !(flags & SBX_F_OPTIONAL) ||
	    flags & SBX_F_CREATE || !access(set->points[verdict->point].path, F_OK))
		return false;
	others.points = points = arena_array(question->arena, set->count, sizeof(*points));
	memcpy(points, set->points, set->count * sizeof(*points));
	points[verdict->point].rights = 0;
	sbx_fs_decide(&others, path, right, left);
	return left->allowed && point_made(set, left);
}

/* Is it the host's own on landlock, where no best-effort tmp or copy lies over it? */
static bool is_open_unmade(const struct question *question, const char *path, unsigned right,
			   const struct sbx_fs_verdict *verdict)
{
	const struct sbx_fs_set *set = &question->view->set;
	struct sbx_fs_set unmade;

	return point_made(set, verdict) &&
	       fs_set_unmade(question->arena, question->blob, set, &unmade) &&
	       sbx_fs_allows(&unmade, path, right);
}

/* What stands in the place of a tmp or a copy that the only backend does not make is closed:
 * also to what is given from above. */
static bool lies_in_unmade(const struct question *question, const char *path)
{
	const struct sbx_fs_set *set = &question->view->set;
	const struct target *only = question->only;

	for (size_t i = 0; only && only->backend != SBX_LANDLOCK && i < set->count; i++) {
		const struct sbx_fs_point *made = &set->points[i];
		enum sbx_duty duty =
		    made->verb == SBX_FS_COPY ? SBX_DUTY_COPY : sbx_duty_of_tmp(made->path);

		if ((made->verb == SBX_FS_TMP || made->verb == SBX_FS_COPY) &&
		    sbx_path_beneath(made->path, path) >= 0 && !target_holds(only, duty) &&
		    sbx_fs_allows(set, made->path, SBX_READ))
			return true;
	}
	return false;
}

/* What a mount answers; Landlock always says EACCES. */
static const char *mount_answer(const struct sbx_fs_verdict *verdict, enum sbx_duty duty,
				unsigned right)
{
	if (verdict->allowed)
		return NULL;
	if (duty == SBX_DUTY_DENY_BENEATH)
		return right == SBX_WRITE ? "EROFS" : "empty or EACCES";
	return right == SBX_WRITE ? "EROFS or ENOENT" : "ENOENT";
}

static bool is_new_terminal(const char *path)
{
	return sbx_path_beneath("/dev/ptmx", path) >= 0 || sbx_path_beneath("/dev/pts", path) >= 0;
}

/* Terminals are the session's, so no rule has to speak of them. */
static void answer_terminal(const struct question *question, unsigned right,
			    const struct sbx_fs_verdict *verdict, struct answer *answer)
{
	bool fresh = is_new_terminal(answer->object);

	if (!question->only || right == SBX_EXEC || verdict->why != SBX_WHY_NOTHING ||
	    (!fresh && strcmp(answer->object, "/dev/tty")) ||
	    (fresh && question->only->backend == SBX_LANDLOCK &&
	     !question_says(question, SBX_PROCESS_SHARE_TERMINALS)) ||
	    question_says(question, SBX_PROCESS_TERMINAL_NONE))
		return;
	answer->allowed = true;
	answer->nobody = "the session's terminals, unless `terminal none`";
}

/* What a session has of its own, whatever the policy says. */
static void note_own(const struct question *question, const char *path, struct answer *answer)
{
	const struct view *view = question->view;
	bool landlock = question_asks(question, SBX_LANDLOCK);
	bool mounts = !question->only || !landlock;
	bool first = sbx_path_beneath("/proc/1", path) >= 0;

	if (is_new_terminal(path)) {
		if (mounts)
			answer_note(
			    question, answer,
			    "a session has terminals of its own here, unless `terminal none`");
		if (landlock)
			answer_note(question, answer,
				    question_says(question, SBX_PROCESS_SHARE_TERMINALS)
					? "on landlock new terminals are among the user's "
					  "others (`share terminals`)"
					: "on landlock nothing makes new terminals without "
					  "`share terminals`");
	}
	if (first && mounts)
		answer_note(
		    question, answer,
		    "process 1 is sbx-exec, or firejail: its memory and environment are closed");
	if (first && landlock)
		answer_note(question, answer,
			    "on landlock process 1 is the machine's: its memory and "
			    "environment are closed");
	if (view->asks_hooks && view->other_hooks)
		answer_note(question, answer,
			    "git's configuration sets core.hooksPath: a session finds $githooks by "
			    "it, this answer takes it to be %s",
			    view->vars.value[SBX_VAR_GITHOOKS]);
}

static void note_made(const struct question *question, const struct sbx_fs_verdict *verdict,
		      unsigned right, struct answer *answer)
{
	const struct sbx_fs_point *made =
	    verdict->allowed ? point_made(&question->view->set, verdict) : NULL;

	if (!verdict->allowed && verdict->point != SBX_NONE &&
	    question->view->set.points[verdict->point].verb < SBX_FS_DENY)
		answer_note(question, answer,
			    "what a grant in a tmp or a copy opens is the host's own, with the "
			    "rights of that grant alone");
	if (!made || !question_asks(question, SBX_LANDLOCK))
		return;
	if (is_open_unmade(question, answer->object, right, verdict))
		answer_note(question, answer,
			    "on landlock it is the host's own: nothing new can lie over it");
	else if (made->verb == SBX_FS_COPY)
		return;
	else if (!strcmp(made->path, "/tmp") || !strcmp(made->path, "/var/tmp"))
		answer_note(question, answer,
			    "on landlock only in the session's own directory in %s, which TMPDIR "
			    "names",
			    made->path);
	else
		answer_note(question, answer, "on landlock there is no %s", made->path);
}

const char *explain_path(const struct question *question, struct answer *answer)
{
	unsigned right = !strcmp(question->action, "read")    ? SBX_READ
			 : !strcmp(question->action, "write") ? SBX_WRITE
							      : SBX_EXEC;
	const char *written = view_path(question->view, question->object), *real;
	struct sbx_fs_verdict verdict, later;
	uint32_t snapshot = SBX_NONE;
	enum sbx_duty duty;
	const char *how;

	if (!written)
		return "that variable has no value here";
	real = view_real(question->arena, written);
	sbx_fs_decide(&question->view->set, real, right, &verdict);
	if (!verdict.allowed && is_snapshot(question, verdict.point)) {
		decide_later(question, real, right, &later);
		if (access(real, F_OK) || in_tmp(question, &later)) {
			snapshot = verdict.point;
			verdict = later;
		}
	}
	if (is_skipped(question, real, right, &verdict, &later))
		verdict = later;
	answer->allowed = verdict.allowed;
	answer->object = real;
	answer->section = SBX_SEC_FS;
	answer->rule = rule_of(question->view, verdict.point);
	answer->loser = rule_of(question->view, verdict.loser);
	answer->nobody = "no rule grants it";
	duty = duty_of_path(question->arena, &question->view->set, real, right, &verdict);
	how = mount_answer(&verdict, duty, right);
	if (duty == SBX_DUTY_DENY_BENEATH &&
	    duty_left_out(question->blob, &question->view->set,
			  &question->view->set.points[verdict.point]))
		duty = SBX_DUTY_GRANTS;
	answer_duty(question, answer, duty, how);
	if (answer->how && question->only->backend == SBX_LANDLOCK &&
	    is_open_unmade(question, real, right, &verdict)) {
		answer->allowed = true;
		answer->how = "on landlock, the host's own";
	}
	if (answer->allowed && lies_in_unmade(question, real)) {
		answer->allowed = false;
		answer->how = arena_printf(question->arena, "on %s",
					   sbx_backend_name(question->only->backend));
	}
	answer_terminal(question, right, &verdict, answer);
	note_links(question, written, real, answer);
	note_rule_link(question, &verdict, answer);
	note_own(question, real, answer);
	note_made(question, &verdict, right, answer);
	if (answer->allowed == verdict.allowed) /* else nothing is there to be spoken of */
		note_absent(question, &verdict, real, right, answer);
	if (snapshot != SBX_NONE)
		answer_note(question, answer,
			    "%s holds for names that exist when a session starts; %s",
			    render_rule(question->arena, question->blob, SBX_SEC_FS,
					rule_of(question->view, snapshot), 0),
			    access(real, F_OK) ? "this one does not exist now" : "a tmp is empty then");
	return NULL;
}
