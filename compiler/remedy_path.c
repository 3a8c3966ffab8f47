/*
 * compiler/remedy_path.c - --why-not of a file: the smallest grant.
 *
 * It is found by trying: the rules as they stand are decided, whatever refuses
 * is answered by the statement that the language has for it (a grant that is
 * nearer, an override of the very same path, an exception of the seal), and
 * decided again, until the action passes.  So what is said is what works.
 */
#include <string.h>
#include <sys/stat.h>

#include "compiler/explain.h"
#include "compiler/render.h"
#include "compiler/text.h"

#define STEPS      32 /* more rules than this in the way are not worth a statement each */
#define SHOWN_SHUT 3

struct trial {
	const struct question *question;
	struct remedy *remedy;
	const char *path; /* real, absolute */
	unsigned right, grant;
	struct sbx_fs_point *points;
	struct sbx_fs_set set;
	bool given;
};

static const char *verb_of(unsigned right)
{
	return right == SBX_READ ? "read" : right == SBX_WRITE ? "write" : "exec";
}

static const char *under(const char *path, const char *top)
{
	size_t length = top ? strlen(top) : 0;

	if (!length || !strcmp(top, "/") || strncmp(path, top, length) ||
	    (path[length] && path[length] != '/'))
		return NULL;
	return path + length;
}

/* As a policy would write it: "$workspace/x", "~/x", "\"/srv/two words\"". */
static const char *path_word(const struct question *question, const char *path)
{
	const struct sbx_vars *vars = &question->view->vars;
	struct text text = { .arena = question->arena };
	const char *rest = under(path, vars->value[SBX_VAR_WORKSPACE]), *top = "$workspace";
	bool quotes;

	if (!rest) {
		rest = under(path, vars->value[SBX_VAR_HOME]);
		top = rest ? "~" : "";
		rest = rest ? rest : path;
	}
	quotes = strpbrk(rest, " \t\n*?[]{},\\\"'#;$=~");
	for (const char *at = rest; *at && !quotes; at++)
		quotes = (unsigned char)*at < ' ' || (unsigned char)*at >= 0x7f;
	text_add(&text, "%s%s", quotes ? "\"" : "", top);
	for (; *rest; rest++) {
		if ((unsigned char)*rest < ' ' || (unsigned char)*rest >= 0x7f)
			text_add(&text, "\\x%02x", (unsigned char)*rest);
		else
			text_add(&text, quotes && strchr("\"\\$~", *rest) ? "\\%c" : "%c", *rest);
	}
	text_add(&text, "%s", quotes ? "\"" : "");
	return text_end(&text);
}

static void take_off(struct trial *trial, uint32_t rule, unsigned rights)
{
	for (size_t i = 0; i < trial->set.count; i++)
		if (trial->points[i].rule == rule)
			trial->points[i].rights &= (uint8_t)~rights;
}

static void give(struct trial *trial)
{
	trial->points[trial->set.count++] = (struct sbx_fs_point){
		.path = trial->path,
		.rule = SBX_NONE,
		.verb = SBX_FS_GRANT,
		.rights = (uint8_t)trial->grant,
	};
	trial->given = true;
}

static const char *rule_path(const struct trial *trial, uint32_t rule)
{
	return render_tmpl(trial->question->arena, trial->question->blob,
			   SBX_AT(trial->question->blob, FS, sbx_fs_rule, rule)->path);
}

static void answer_nothing(struct trial *trial)
{
	remedy_add(trial->question, trial->remedy, "%s %s", verb_of(trial->right),
		   path_word(trial->question, trial->path));
	give(trial);
}

/* A deny of the very same path has to be lifted by that path; any other is outweighed. */
static void answer_deny(struct trial *trial, const struct sbx_fs_point *point)
{
	const char *name;

	if (point->wild || strcmp(point->path, trial->path)) {
		answer_nothing(trial);
		return;
	}
	name = rule_path(trial, point->rule);
	remedy_add(trial->question, trial->remedy, "%s %s override%s compat \"WHY\"",
		   verb_of(trial->right), name, strncmp(name, "$git", 4) ? "" : " optional");
	take_off(trial, point->rule, trial->grant);
	if (!trial->given)
		give(trial);
}

/* Of a tmp what a seal excepts is not there (blob/fs_verdict.c): a grant opens the host's. */
static bool is_excepted(const struct trial *trial, const struct sbx_fs_point *seal)
{
	for (uint32_t i = 0; i < seal->except_count; i++)
		if (under(trial->path, trial->set.excepts[seal->except_first + i]))
			return true;
	return false;
}

static void answer_seal(struct trial *trial, const struct sbx_fs_point *point, uint32_t loser)
{
	const struct question *question = trial->question;
	const struct sbx_fs_rule *rule = SBX_AT(question->blob, FS, sbx_fs_rule, point->rule);
	const char *old = render_rule(question->arena, question->blob, SBX_SEC_FS, point->rule, 0);
	const char *mods = old + strlen(old), *word = path_word(question, trial->path);
	bool whole = !point->wild && !strcmp(point->path, trial->path);
	const char *const ends[] = { " placeholder ", " guards ", " compat \"", " because \"" };

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		const char *end = strstr(old, ends[i]);

		mods = end && end < mods ? end : mods;
	}
	remedy_seal(
	    question, trial->remedy, SBX_SEC_FS, point->rule,
	    whole ? NULL
		  : arena_printf(question->arena, "%.*s%s %s%s", (int)(mods - old), old,
				 sbx_fs_extra(question->blob, rule)->except_count ? "" : " except",
				 word, mods));
	take_off(trial, point->rule, SBX_READ | SBX_WRITE | SBX_EXEC);
	if (!whole && !trial->given && loser != SBX_NONE &&
	    trial->points[loser].verb == SBX_FS_TMP &&
	    strcmp(trial->points[loser].path, trial->path) != 0)
		answer_nothing(trial);
}

/* False: nothing helps. */
static bool try_all(struct trial *trial)
{
	for (unsigned step = 0; step < STEPS; step++) {
		struct sbx_fs_verdict verdict;
		const struct sbx_fs_point *point;

		sbx_fs_decide(&trial->set, trial->path, trial->right, &verdict);
		if (verdict.allowed)
			return true;
		point = verdict.point == SBX_NONE ? NULL : &trial->points[verdict.point];
		if (point && point->rule == SBX_RULE_SELF)
			return false;
		if (verdict.why == SBX_WHY_SEAL && !is_excepted(trial, point)) {
			answer_seal(trial, point, verdict.loser);
		} else if (verdict.why == SBX_WHY_DENY) {
			answer_deny(trial, point);
		} else {
			answer_nothing(trial);
		}
	}
	return false;
}

/* What is refused beneath it stays so; the first few are named. */
static void note_shut(const struct trial *trial)
{
	const struct question *question = trial->question;
	struct text text = { .arena = question->arena };
	unsigned shut = 0;
	uint32_t last = SBX_NONE;

	for (size_t i = 0; i < trial->set.count; i++) {
		const struct sbx_fs_point *point = &trial->points[i];

		if (point->rule >= SBX_RULE_SELF || point->rule == last ||
		    point->verb < SBX_FS_DENY || !(point->rights & trial->grant) ||
		    !under(point->path, trial->path))
			continue;
		last = point->rule;
		if (shut++ < SHOWN_SHUT)
			text_add(&text, "%s`%s`", shut > 1 ? ", " : "",
				 render_rule(question->arena, question->blob, SBX_SEC_FS, last, 0));
	}
	if (shut > SHOWN_SHUT)
		text_add(&text, " and %u more", shut - SHOWN_SHUT);
	if (shut)
		remedy_note(question, trial->remedy, "beneath it these still hold: %s",
			    text_end(&text));
}

static void note_opens(const struct trial *trial)
{
	const struct question *question = trial->question;
	struct stat st;
	bool there = lstat(trial->path, &st) == 0;
	const char *also = "";

	if (trial->right != SBX_READ && !sbx_fs_allows(&question->view->set, trial->path, SBX_READ))
		also = " and read";
	if (trial->given)
		remedy_note(question, trial->remedy, "opens %s%s of %s", verb_of(trial->right),
			    also,
			    !there                ? "that name, and of all beneath it"
			    : S_ISDIR(st.st_mode) ? "that directory and of all beneath it"
						  : "that file alone");
	if (trial->given && !there)
		remedy_note(question, trial->remedy,
			    "it does not exist: a launch stops at a grant of what is not there, so "
			    "make it before; or grant its directory, and thereby all of that");
	if (!there || S_ISDIR(st.st_mode))
		note_shut(trial);
}

/* Assertions of files that the statement would break, as the compiler will say. */
static void note_claims(const struct trial *trial)
{
	static const unsigned rights[] = { SBX_READ, SBX_WRITE, SBX_EXEC };
	const struct question *question = trial->question;
	const struct view *view = question->view;

	for (uint32_t i = 0; i < SBX_COUNT(question->blob, ASSERTS); i++) {
		const struct sbx_assert *claim = SBX_AT(question->blob, ASSERTS, sbx_assert, i);
		const char *path;

		if (claim->head.verb == SBX_CAN || claim->action > SBX_DO_EXEC)
			continue;
		path = view_path(view, render_tmpl(question->arena, question->blob, claim->object));
		if (!path)
			continue;
		path = view_real(question->arena, path);
		if (!sbx_fs_allows(&view->set, path, rights[claim->action]) &&
		    sbx_fs_allows(&trial->set, path, rights[claim->action]))
			remedy_claim(question, trial->remedy, i);
	}
}

void remedy_path(const struct question *question, const struct answer *answer,
		 struct remedy *remedy)
{
	const struct view *view = question->view;
	struct trial trial = { .question = question, .remedy = remedy, .path = answer->object };

	trial.right = !strcmp(question->action, "read")    ? SBX_READ
		      : !strcmp(question->action, "write") ? SBX_WRITE
							   : SBX_EXEC;
	trial.grant = SBX_READ | trial.right;
	trial.points = arena_array(question->arena, view->points.count + 1, sizeof(*trial.points));
	memcpy(trial.points, view->points.items, view->points.count * sizeof(*trial.points));
	trial.set = (struct sbx_fs_set){ trial.points, view->points.count, view->excepts.items };
	remedy->section = "fs";
	if (try_all(&trial)) {
		note_opens(&trial);
		note_claims(&trial);
		return;
	}
	remedy->add.count = remedy->seals.count = 0;
	remedy_note(question, remedy,
		    "nothing opens it: sbx itself keeps its policy, its launcher and a `.git` file "
		    "from every session");
}
