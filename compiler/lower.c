/*
 * Lowering, top to bottom: every unit's statements into one policy, then the
 * merging rules over the whole.  A statement with an error is skipped and the
 * rest goes on, so that one run shows all that is wrong; nothing is merged
 * once there are errors, since what is missing would look like a conflict.
 */
#include "compiler/lower.h"

#include <ctype.h>
#include <errno.h>

#include "compiler/lower_calls.h"
#include "grammar/verbs.h"

unsigned lower_level(const struct lower *lower, const struct rule_head *head)
{
	return lower->levels[head->file];
}

unsigned lower_softness(const struct lower *lower)
{
	const struct unit *unit = lower->unit;

	return unit->level == LEVEL_MODULE && !unit->parsed->firm ? SBX_F_BEST_EFFORT : 0;
}

bool lower_same_file(const struct rule_head *a, const struct rule_head *b)
{
	return a->file == b->file;
}

bool lower_same_place(const struct rule_head *a, const struct rule_head *b)
{
	return a->place.span.source == b->place.span.source &&
	       a->place.span.start == b->place.span.start;
}

void lower_add_places(struct lower *lower, struct rule_head *head, const struct rule_head *other)
{
	struct place **end = &head->place.next;

	for (const struct place *from = &other->place; from; from = from->next) {
		while (*end)
			end = &(*end)->next;
		*end = ARENA_NEW(lower->arena, struct place);
		(*end)->span = from->span;
	}
}

void lower_fail_twice(struct lower *lower, const struct rule_head *head,
		      const struct rule_head *first, const char *what)
{
	diag_error(lower->diags, DIAG_C0301, head->place.span, "%s stands here twice", what);
	diag_note(lower->diags, first->place.span, "the other one");
}

void lower_note_chain(struct lower *lower, const struct rule_head *head)
{
	program_note_chain(lower->diags, lower->program, head->place.span.source);
}

enum merge lower_merge_same(struct lower *lower, struct rule_head *first,
			    const struct rule_head *second, const char *what)
{
	if (lower_same_place(first, second))
		return MERGE_DROP;
	if (lower_same_file(first, second)) {
		lower_fail_twice(lower, second, first, what);
		return MERGE_KEEP;
	}
	lower_add_places(lower, first, second);
	first->flags &= second->flags | ~SBX_F_BEST_EFFORT; /* the firm one holds */
	first->main_file |= second->main_file;
	return MERGE_DROP;
}

/* ---- modifiers -------------------------------------------------------------------- */

/* A reason, which says something. */
static bool read_text(struct lower *lower, struct span span, const struct ast_word *word,
		      struct str *out)
{
	if (!words_plain(&lower->words, word, out))
		return false;
	for (size_t i = 0; i < out->len; i++) {
		if (!isspace((unsigned char)out->ptr[i]))
			return true;
	}
	diag_error(lower->diags, DIAG_C0113, span, "an empty reason: say why");
	return false;
}

static bool read_reason(struct lower *lower, const struct ast_stmt *stmt, enum ast_mod_kind kind,
			struct str *out)
{
	const struct ast_mod *mod = ast_mod_find(stmt, kind);

	return !mod || read_text(lower, mod->span, mod->words, out);
}

/* The waivers of a statement are read once, however many rules it makes. */
static struct waiver *known_waiver(const struct lower *lower, struct span span)
{
	for (size_t i = 0; i < lower->policy->waivers.count; i++) {
		struct waiver *waiver = lower->policy->waivers.items[i];

		if (waiver->span.source == span.source && waiver->span.start == span.start)
			return waiver;
	}
	return NULL;
}

static bool is_finding(struct str code)
{
	if (code.len != 5 || (code.ptr[0] != 'L' && code.ptr[0] != 'A'))
		return false;
	for (size_t i = 1; i < code.len; i++) {
		if (!isdigit((unsigned char)code.ptr[i]))
			return false;
	}
	return true;
}

static bool read_waiver(struct lower *lower, const struct ast_mod *mod, struct waiver **out)
{
	struct waiver *waiver = known_waiver(lower, mod->span);

	*out = waiver;
	if (waiver)
		return true;
	if (!is_finding(mod->words->text)) {
		diag_error(lower->diags, DIAG_C0113, mod->words->span,
			   "a finding of lint is wanted here, as in `waive L0412 \"why\"`");
		return false;
	}
	*out = waiver = ARENA_NEW(lower->arena, struct waiver);
	waiver->code = mod->words->text;
	waiver->span = mod->span;
	waiver->main_file = lower->unit->level != LEVEL_MODULE;
	*VEC_PUSH(lower->arena, &lower->policy->waivers) = waiver;
	return read_text(lower, mod->span, mod->words->next, &waiver->why);
}

static bool read_waive(struct lower *lower, const struct ast_stmt *stmt, struct rule_head *head)
{
	struct waiver **end = &head->waivers;

	for (const struct ast_mod *mod = stmt->mods; mod; mod = mod->next) {
		if (mod->kind != AST_MOD_WAIVE)
			continue;
		if (!read_waiver(lower, mod, end))
			return false;
		end = &(*end)->next;
	}
	return true;
}

static bool read_guards(struct lower *lower, const struct ast_stmt *stmt, struct rule_head *head)
{
	static const char *const labels[] = { "own-code", "endpoint", "host-exec", NULL };
	const struct ast_mod *mod = ast_mod_find(stmt, AST_MOD_GUARDS);

	if (!mod)
		return true;
	head->guards = mod->words->text;
	return words_choice(&lower->words, mod->words, "what a line guards", labels) >= 0;
}

bool lower_head(struct lower *lower, const struct ast_stmt *stmt, struct span span,
		struct rule_head *head)
{
	static const struct {
		enum ast_mod_kind mod;
		unsigned flag;
	} flags[] = {
		{ AST_MOD_OPTIONAL, SBX_F_OPTIONAL }, { AST_MOD_BEST_EFFORT, SBX_F_BEST_EFFORT },
		{ AST_MOD_SNAPSHOT, SBX_F_SNAPSHOT }, { AST_MOD_COMPAT, SBX_F_COMPAT },
		{ AST_MOD_CREATE, SBX_F_CREATE },     { AST_MOD_OVERRIDE, SBX_F_OVERRIDE },
	};

	*head = (struct rule_head){
		.place = { .span = span },
		.main_file = lower->unit->level != LEVEL_MODULE,
		.file = lower->unit->parsed->file,
	};
	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		if (ast_mod_find(stmt, flags[i].mod))
			head->flags |= flags[i].flag;
	}
	return read_reason(lower, stmt, AST_MOD_COMPAT, &head->compat) &&
	       read_reason(lower, stmt, AST_MOD_BECAUSE, &head->because) &&
	       read_waive(lower, stmt, head) && read_guards(lower, stmt, head);
}

/* ---- the top level ------------------------------------------------------------------- */

static void lower_header(struct lower *lower, const struct ast_stmt *stmt)
{
	const struct ast_mod *summary = ast_mod_find(stmt, AST_MOD_SUMMARY);
	struct policy *policy = lower->policy;

	if (lower->unit->level != 0) /* a module's, or of what is extended */
		return;
	lower_head(lower, stmt, stmt->items->span, &policy->head);
	words_plain(&lower->words, stmt->items, &policy->name);
	if (summary)
		words_plain(&lower->words, summary->words, &policy->summary);
}

/* The extended file's command is replaced: units come with the main file first. */
static void lower_command(struct lower *lower, const struct ast_stmt *stmt)
{
	struct tmpl_list list = { 0 };

	for (const struct ast_word *word = stmt->items; word; word = word->next) {
		if (!words_texts(&lower->words, word, &list))
			return;
	}
	if (!lower->policy->command.count)
		lower->policy->command = (struct tmpls){ list.items, list.count };
}

static void lower_unbounded(struct lower *lower, const struct ast_stmt *stmt)
{
	static const char *const names[] = { "fs",      "env",    "syscalls", "net", "credential",
					     "process", "limits", "slurm",    NULL };

	for (const struct ast_word *word = stmt->items; word; word = word->next) {
		int index = words_choice(&lower->words, word, "an unbounded section", names);
		if (index >= 0)
			lower->policy->unbounded |= 1u << index;
	}
}

static void lower_top(struct lower *lower, const struct ast_stmt *stmt)
{
	static const struct {
		const char *word;
		void (*lower)(struct lower *lower, const struct ast_stmt *stmt);
		bool block; /* what is lowered is the statements in it */
	} table[] = {
		{ "policy", lower_header, false },
		{ "site", lower_header, false },
		{ "workspace", lower_workspace, false },
		{ "command", lower_command, false },
		{ "unbounded", lower_unbounded, false },
		{ "credential", lower_credential, false },
		{ "fs", lower_fs, true },
		{ "env", lower_env, true },
		{ "syscalls", lower_syscalls, true },
		{ "net", lower_net, true },
		{ "process", lower_process, true },
		{ "limits", lower_limits, true },
		{ "require", lower_require, true },
		{ "slurm", lower_slurm, true },
		{ "assert", lower_assert, true },
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		if (!str_is(stmt->verb->text, table[i].word))
			continue;
		table[i].lower(lower, table[i].block ? stmt->block : stmt);
		return;
	}
}

/* ---- the driver ------------------------------------------------------------------------ */

static void enter_unit(struct lower *lower, const struct unit *unit)
{
	lower->unit = unit;
	lower->words.scope = unit->scope;
}

static void lower_unit(struct lower *lower, const struct unit *unit)
{
	unsigned before = diag_errors(lower->diags);

	enter_unit(lower, unit);
	for (const struct ast_stmt *stmt = unit->parsed->ast->stmts; stmt; stmt = stmt->next)
		lower_top(lower, stmt);
	if (diag_errors(lower->diags) != before)
		unit_note_chain(lower->diags, unit);
}

/* System calls have their names, groups and signatures from every file. */
static void collect_calls(struct lower *lower)
{
	for (size_t i = 0; i < lower->program->units.count; i++) {
		const struct unit *unit = lower->program->units.items[i];
		unsigned before = diag_errors(lower->diags);

		enter_unit(lower, unit);
		calls_collect(lower, unit->parsed->ast->stmts);
		if (diag_errors(lower->diags) != before)
			unit_note_chain(lower->diags, unit);
	}
	calls_finish(lower);
}

static void add_files(struct lower *lower)
{
	const struct program *program = lower->program;
	unsigned *levels = arena_array(lower->arena, program->files.count, sizeof(*levels));

	for (size_t i = 0; i < program->files.count; i++)
		*VEC_PUSH(lower->arena, &lower->policy->files) = program->files.items[i];
	for (size_t i = 0; i < program->units.count; i++)
		levels[program->units.items[i]->parsed->file] = program->units.items[i]->level;
	lower->levels = levels;
}

static void add_params(struct lower *lower)
{
	const struct program *program = lower->program;

	for (size_t i = 0; i < program->params.count; i++) {
		struct param *param = VEC_PUSH(lower->arena, &lower->policy->params);

		*param = program->params.items[i];
		for (size_t file = 0; file < program->files.count; file++) {
			if (program->files.items[file] == param->head.place.span.source)
				param->head.file = (unsigned)file;
		}
	}
}

static void merge(struct lower *lower)
{
	merge_fs(lower);
	merge_env(lower);
	merge_syscalls(lower);
	merge_net(lower);
	merge_credentials(lower);
	merge_process(lower);
	merge_limits(lower);
	merge_require(lower);
	merge_slurm(lower);
	merge_asserts(lower);
}

struct policy *lower_program(struct compilation *c, const struct program *program)
{
	struct lower lower = {
		.c = c,
		.arena = &c->arena,
		.diags = c->diags,
		.program = program,
		.policy = ARENA_NEW(&c->arena, struct policy),
		.words = { .arena = &c->arena, .diags = c->diags },
		.calls = calls_new(&c->arena),
	};
	const struct unit *main_unit = program->units.items[0];

	lower.policy->kind = main_unit->parsed->kind == FILE_SITE ? SBX_SITE : SBX_POLICY;
	lower.policy->workspace_rule = SIZE_MAX;
	lower.policy->sys_default = (struct sys_stmt){
		.verb = SBX_SYS_DEFAULT,
		.action = SBX_ACT_ERRNO,
		.error = ENOSYS,
	};
	add_files(&lower);
	add_params(&lower);
	collect_calls(&lower);
	for (size_t i = 0; i < program->units.count; i++)
		lower_unit(&lower, program->units.items[i]);
	if (!diag_errors(c->diags))
		merge(&lower);
	return lower.policy;
}
