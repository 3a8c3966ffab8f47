/*
 * compiler/lint.c - the hardening checklist, as far as a policy shows it.
 *
 * A policy that compiles is sound; lint says whether it is hard.  A finding is
 * a warning with a stable L code, at the rule that causes it or, where
 * something is missing, at the policy's name.  `waive L0102 "why"` there
 * silences that finding; one that silences nothing is a finding, too.  What the
 * checks ask is answered by the verdict functions on the blob just made, never
 * by a second reading of the rules.
 */
#include "compiler/lint.h"

#include <stdarg.h>
#include <stdio.h>

#include "compiler/stages.h"

struct waiver *lint_waiver(const struct rule_head *head, enum diag_code code)
{
	for (struct waiver *waiver = head->waivers; waiver; waiver = waiver->next) {
		if (!str_is(waiver->code, diag_code_name(code)))
			continue;
		waiver->used = true;
		return waiver;
	}
	return NULL;
}

void lint_find(struct lint *lint, const struct rule_head *head, enum diag_code code,
	       const char *fmt, ...)
{
	const struct waiver *waiver = lint_waiver(head, code);
	char text[600];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	if (waiver)
		diag_waived(lint->c->diags, code, head->place.span, waiver->why, "%s", text);
	else
		diag_warning(lint->c->diags, code, head->place.span, "%s", text);
}

bool lint_may(struct lint *lint, const char *path, unsigned right, struct sbx_fs_verdict *verdict)
{
	sbx_fs_decide(&lint->set, path, right, verdict);
	return verdict->allowed;
}

const struct rule_head *lint_head(struct lint *lint, enum sbx_section_id section, uint32_t index)
{
	if (!lint->c->blob.heads[section] || index >= lint->blob.section[section].count)
		BUG("a rule that the blob does not have");
	return lint->c->blob.heads[section][index];
}

const struct fs_rule *lint_fs_rule(struct lint *lint, const struct sbx_fs_verdict *verdict)
{
	const struct rule_head *head =
	    lint_head(lint, SBX_SEC_FS, lint->set.points[verdict->point].rule);

	for (size_t i = 0; i < lint->policy->fs.count; i++)
		if (&lint->policy->fs.items[i].head == head)
			return &lint->policy->fs.items[i];
	BUG("a rule of the blob that the model does not have");
}

const char *lint_place(struct lint *lint, const struct rule_head *head)
{
	const struct span *span = &head->place.span;

	return arena_printf(lint->arena, "%s:%u", span->source->name,
			    source_locate(span->source, span->start).line);
}

const char *lint_text(struct lint *lint, struct sbx_tmpl tmpl)
{
	char text[4096];
	uint32_t unset;
	bool wild;
	int len = sbx_expand(&lint->blob, tmpl, &lint->vars, text, sizeof(text), &wild, &unset);

	return len < 0 ? NULL : arena_copy(lint->arena, text, (size_t)len);
}

/* ---- what would mend a finding -------------------------------------------------------- */

static const struct ast_stmt *find_stmt(const struct ast_stmt *stmts, uint32_t at)
{
	for (const struct ast_stmt *stmt = stmts; stmt; stmt = stmt->next) {
		const struct ast_stmt *inner = find_stmt(stmt->block, at);

		if (inner)
			return inner;
		if (stmt->span.start <= at && at < stmt->span.end)
			return stmt;
	}
	return NULL;
}

/* The statement of the main file that @head comes from, or NULL: it is another file's. */
static const struct ast_stmt *stmt_of(struct lint *lint, const struct rule_head *head)
{
	const struct ast_file *file = lint->c->main_file;

	if (!file || head->place.span.source != file->source)
		return NULL;
	return find_stmt(file->stmts, head->place.span.start);
}

static bool is_blank(char byte)
{
	return byte == ' ' || byte == '\t';
}

/* With the blanks before it; a whole statement with its `;`, or with its line where
 * nothing else is there. */
static struct span with_blanks(struct span span, bool stmt)
{
	const char *text = span.source->text.ptr;
	uint32_t end = span.end;

	while (span.start && is_blank(text[span.start - 1]))
		span.start--;
	if (!stmt)
		return span;
	while (is_blank(text[end]))
		end++;
	if (text[end] == ';')
		span.end = end + 1;
	else if (text[end] == '\n' && (!span.start || text[span.start - 1] == '\n'))
		span.end = end + 1;
	return span;
}

void lint_fix_remove(struct lint *lint, const struct rule_head *head)
{
	const struct ast_stmt *stmt = stmt_of(lint, head);
	const struct ast_word *word = stmt ? stmt->items : NULL;
	unsigned objects = 0;
	bool whole = false;

	/* `write exec P`: the first word is no object, and starts no rule. */
	for (; word; word = word->next) {
		objects += !str_is(word->text, "write") && !str_is(word->text, "exec");
		whole |= word->span.start == head->place.span.start &&
			 word->span.end == head->place.span.end;
	}
	/* Of alternatives, {a,b}, one cannot simply go: they share a word. */
	if (!whole)
		return;
	diag_fix(lint->c->diags,
		 with_blanks(objects == 1 ? stmt->span : head->place.span, objects == 1), "");
}

void lint_fix_append(struct lint *lint, const struct rule_head *head, const char *text)
{
	const struct ast_stmt *stmt = stmt_of(lint, head);
	const struct ast_word *last = stmt ? stmt->items : NULL;

	if (!last)
		return;
	while (last->next)
		last = last->next;
	diag_fix(lint->c->diags, (struct span){ last->span.source, last->span.end, last->span.end },
		 text);
}

void lint_fix_follow(struct lint *lint, const struct rule_head *head, const char *line)
{
	const struct ast_stmt *stmt = stmt_of(lint, head);

	if (stmt)
		diag_fix(lint->c->diags,
			 (struct span){ stmt->span.source, stmt->span.end, stmt->span.end },
			 arena_printf(lint->arena, "; %s", line));
}

/* ---- all of them ------------------------------------------------------------------------ */

/* A waiver that silences nothing hides the next finding of that kind. */
static void find_unused_waivers(struct lint *lint)
{
	for (size_t i = 0; i < lint->policy->waivers.count; i++) {
		const struct waiver *waiver = lint->policy->waivers.items[i];
		bool asked = lint->c->options.here || !str_starts(waiver->code, "L05");

		if (waiver->used || !waiver->main_file || !asked)
			continue;
		diag_warning(lint->c->diags, DIAG_L0306, waiver->span,
			     "waives %.*s, which lint does not find here", STR_ARG(waiver->code));
		if (lint->c->main_file && waiver->span.source == lint->c->main_file->source)
			diag_fix(lint->c->diags, with_blanks(waiver->span, false), "");
	}
}

bool lint_policy(struct compilation *c)
{
	static void (*const checks[])(struct lint *) = {
		lint_files, lint_sources, lint_calls, lint_reach, lint_rules,
		lint_slurm, lint_submit,  lint_jobs,  lint_proof,
	};
	struct lint lint = { .c = c, .arena = &c->arena, .policy = c->policy };
	const char *reason = sbx_blob_open(c->blob.data, c->blob.size, &lint.blob);

	if (reason)
		BUG(reason);
	if (c->policy->kind != SBX_POLICY)
		return true;
	model_vars(&c->arena, &lint.blob, &lint.vars);
	model_fs_set(&c->arena, &lint.blob, &lint.vars, &lint.set);
	for (size_t i = 0; i < sizeof(checks) / sizeof(*checks); i++)
		checks[i](&lint);
	if (c->options.here && !lint_here(&lint))
		return false;
	find_unused_waivers(&lint); /* which are used shows in all the others */
	return true;
}
