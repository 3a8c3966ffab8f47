/*
 * compiler/lint_rules.c - rules that change nothing, or say it in a way that does not hold.
 *
 * What contradicts itself within a policy the compiler refuses (C0301 to
 * C0307).  Here is what only looks like protection: a deny of what nothing
 * gives, a wildcard where a plain name holds more, a line that another file has.
 */
#include <string.h>

#include "blob/match.h"
#include "compiler/lint.h"

/* ---- files ------------------------------------------------------------------------------ */

static const struct sbx_fs_point *point_of(const struct lint *lint, const struct rule_head *head)
{
	for (size_t i = 0; i < lint->set.count; i++)
		if (lint->c->blob.heads[SBX_SEC_FS][lint->set.points[i].rule] == head)
			return &lint->set.points[i];
	return NULL;
}

/* How much of @a, up to its first wildcard, is within @b, or the other way round: may they
 * speak of one path? */
static bool may_meet(const struct sbx_fs_point *a, const struct sbx_fs_point *b)
{
	size_t x = a->wild ? strcspn(a->path, "*?[\\") : strlen(a->path);
	size_t y = b->wild ? strcspn(b->path, "*?[\\") : strlen(b->path);
	const struct sbx_fs_point *shorter = x < y ? a : b;
	const char *longer = x < y ? b->path : a->path;
	size_t length = x < y ? x : y;

	if (strncmp(a->path, b->path, length) != 0)
		return false;
	return shorter->wild || length == 1 || longer[length] == '/' || !longer[length];
}

/* Gives any rule what @deny takes, on a path that it may speak of? */
static bool takes_something(const struct lint *lint, const struct sbx_fs_point *deny)
{
	for (size_t i = 0; i < lint->set.count; i++) {
		const struct sbx_fs_point *point = &lint->set.points[i];

		if (point->verb <= SBX_FS_DEVICE && point->rights & deny->rights &&
		    may_meet(point, deny))
			return true;
	}
	return false;
}

static void find_dead_files(struct lint *lint)
{
	for (size_t i = 0; i < lint->policy->fs.count; i++) {
		const struct fs_rule *rule = &lint->policy->fs.items[i];
		const struct sbx_fs_point *point = point_of(lint, &rule->head);

		if (rule->verb == SBX_FS_DENY && rule->head.main_file && point &&
		    !takes_something(lint, point))
			lint_find(lint, &rule->head, DIAG_L0114,
				  "this takes nothing: no rule gives it; `seal` keeps it shut "
				  "whatever is granted later");
	}
}

/* A wildcard that stands for one byte, [x], or one at the end of what is taken. */
static void find_needless_wildcard(struct lint *lint, const struct fs_rule *rule)
{
	struct span span = rule->head.place.span;
	const char *text = span.source->text.ptr + span.start;
	size_t length = span.end - span.start;

	for (size_t i = 0; i + 2 < length; i++) {
		if (text[i] != '[' || text[i + 2] != ']' || strchr("!^\\]", text[i + 1]))
			continue;
		lint_find(lint, &rule->head, DIAG_L0113, "`%.3s` matches `%c` alone: write that",
			  text + i, text[i + 1]);
		span.start += (uint32_t)i;
		span.end = span.start + 3;
		diag_fix(lint->c->diags, span, arena_copy(lint->arena, text + i + 1, 1));
		return;
	}
	if (rule->verb >= SBX_FS_DENY && length > 2 && memcmp(text + length - 2, "/*", 2) == 0)
		lint_find(lint, &rule->head, DIAG_L0113,
			  "a name that appears later is not covered by `*`: without it the whole "
			  "directory is");
}

static void find_wildcards(struct lint *lint)
{
	for (size_t i = 0; i < lint->policy->fs.count; i++) {
		const struct fs_rule *rule = &lint->policy->fs.items[i];

		if (rule->head.main_file)
			find_needless_wildcard(lint, rule);
	}
}

/* ---- environment ------------------------------------------------------------------------ */

static bool is_wild(struct str name)
{
	return memchr(name.ptr, '*', name.len) != NULL;
}

static bool covers(struct lint *lint, struct str pattern, struct str name)
{
	return sbx_star_match(str_cstr(lint->arena, pattern), str_cstr(lint->arena, name));
}

/* May one name match both?  Two patterns: where neither beginning rules the other out. */
static bool env_meet(struct lint *lint, struct str a, struct str b)
{
	const char *x = memchr(a.ptr, '*', a.len), *y = memchr(b.ptr, '*', b.len);
	size_t m = x ? (size_t)(x - a.ptr) : a.len, n = y ? (size_t)(y - b.ptr) : b.len;

	if (!x || !y)
		return covers(lint, a, b) || covers(lint, b, a);
	return memcmp(a.ptr, b.ptr, m < n ? m : n) == 0;
}

static void find_dead_deny(struct lint *lint, const struct env_rule *deny)
{
	for (size_t i = 0; i < lint->policy->env.count; i++) {
		const struct env_rule *rule = &lint->policy->env.items[i];

		if (rule->verb <= SBX_ENV_SET && env_meet(lint, rule->name, deny->name))
			return;
	}
	lint_find(lint, &deny->head, DIAG_L0114,
		  "this takes nothing: no rule lets `%.*s` in; `seal` keeps it outside whatever is "
		  "passed later",
		  STR_ARG(deny->name));
}

static void find_covered_pass(struct lint *lint, const struct env_rule *pass)
{
	for (size_t i = 0; i < lint->policy->env.count; i++) {
		const struct env_rule *rule = &lint->policy->env.items[i];

		if (rule == pass || rule->verb != SBX_ENV_PASS || !is_wild(rule->name) ||
		    !covers(lint, rule->name, pass->name))
			continue;
		/* An exact name beats a pattern's deny, so it may be there for that. */
		for (size_t j = 0; j < lint->policy->env.count; j++)
			if (lint->policy->env.items[j].verb == SBX_ENV_DENY &&
			    covers(lint, lint->policy->env.items[j].name, pass->name))
				return;
		lint_find(lint, &pass->head, DIAG_L0115,
			  "`%.*s` is passed already, by `%.*s` of %s", STR_ARG(pass->name),
			  STR_ARG(rule->name), lint_place(lint, &rule->head));
		lint_fix_remove(lint, &pass->head);
		return;
	}
}

static void find_needless_env(struct lint *lint)
{
	for (size_t i = 0; i < lint->policy->env.count; i++) {
		const struct env_rule *rule = &lint->policy->env.items[i];

		if (!rule->head.main_file)
			continue;
		if (rule->verb == SBX_ENV_DENY)
			find_dead_deny(lint, rule);
		if (rule->verb == SBX_ENV_PASS && !rule->head.compat.ptr)
			find_covered_pass(lint, rule);
	}
}

/* ---- system calls ------------------------------------------------------------------------ */

static bool is_allowed_anywhere(const struct lint *lint, const struct sys_use *use)
{
	for (size_t i = 0; i < lint->policy->sys.count; i++) {
		const struct sys_stmt *stmt = &lint->policy->sys.items[i];

		for (size_t j = 0; stmt->verb == SBX_SYS_ALLOW && j < stmt->uses.count; j++)
			if (memcmp(stmt->uses.items[j].nr, use->nr, sizeof(use->nr)) == 0)
				return true;
	}
	return false;
}

/* A deny that answers as the default does, of calls that nothing allows. */
static void find_dead_calls(struct lint *lint)
{
	const struct sys_stmt *fallback = &lint->policy->sys_default;

	for (size_t i = 0; i < lint->policy->sys.count; i++) {
		const struct sys_stmt *stmt = &lint->policy->sys.items[i];
		bool dead = stmt->verb == SBX_SYS_DENY && stmt->head.main_file && !stmt->without &&
			    stmt->action == fallback->action && stmt->error == fallback->error;

		for (size_t j = 0; dead && j < stmt->uses.count; j++)
			dead = !is_allowed_anywhere(lint, &stmt->uses.items[j]);
		if (dead && stmt->uses.count)
			lint_find(lint, &stmt->head, DIAG_L0114,
				  "this takes nothing: `default` answers these calls, and in the "
				  "same way");
	}
}

/* ---- said twice --------------------------------------------------------------------------- */

/* In the file itself it is an error; a module's line may go unseen. */
static void find_twice(struct lint *lint, const struct rule_head *head)
{
	const struct place *other = head->place.next;
	struct rule_head there;

	if (!other || !head->main_file || other->span.source == head->place.span.source ||
	    head->compat.ptr || head->because.ptr || head->guards.ptr ||
	    head->flags & SBX_F_OVERRIDE)
		return;
	there = (struct rule_head){ .place = *other };
	lint_find(lint, head, DIAG_L0116, "%s says this already", lint_place(lint, &there));
	lint_fix_remove(lint, head);
}

void lint_rules(struct lint *lint)
{
	find_dead_files(lint);
	find_wildcards(lint);
	find_needless_env(lint);
	find_dead_calls(lint);
	for (size_t i = 0; i < lint->policy->fs.count; i++)
		find_twice(lint, &lint->policy->fs.items[i].head);
	for (size_t i = 0; i < lint->policy->env.count; i++)
		find_twice(lint, &lint->policy->env.items[i].head);
	for (size_t i = 0; i < lint->policy->net.count; i++)
		find_twice(lint, &lint->policy->net.items[i].head);
}
