/*
 * Each statement of a file against the verb table.
 *
 * Whatever the table can say is said here, before any file is put together
 * with another: unknown verbs, verbs in the wrong block or the wrong kind of
 * file, counts of objects, modifiers, what may stand once, what needs a
 * reason.  What the objects mean is for the section's own lower_*.c.
 */
#include <stdio.h>

#include "compiler/load.h"
#include "grammar/verbs.h"

#define LANGUAGE_VERSION 1

struct check {
	struct arena *arena;
	struct diags *diags;
	const struct ast_file *file;
	unsigned kind; /* FILE_*; all of them when the header is missing */
};

static bool stmt_is(const struct ast_stmt *stmt, const char *verb)
{
	return !stmt->poisoned && str_is(stmt->verb->text, verb);
}

static const struct ast_stmt *find_stmt(const struct ast_stmt *stmts, const char *verb)
{
	for (; stmts; stmts = stmts->next) {
		if (stmt_is(stmts, verb))
			return stmts;
	}
	return NULL;
}

/* ---- the verb ----------------------------------------------------------------------- */

static const char *list_sections(struct arena *arena, struct str word)
{
	const char *list = NULL;

	for (const struct verb *verb = verbs; verb->word; verb++) {
		if (!str_is(word, verb->word))
			continue;
		const char *name =
		    arena_printf(arena, verb->section == SECTION_TOP ? "%s" : "`%s { }`",
				 section_name(verb->section));
		list = list ? arena_printf(arena, "%s, %s", list, name) : name;
	}
	return list;
}

static void fail_verb(struct check *check, enum verb_section section, const struct ast_stmt *stmt)
{
	struct str word = stmt->verb->text;

	if (verb_find_elsewhere(section, word)) {
		diag_error(check->diags, DIAG_C0102, stmt->verb->span,
			   "`%.*s` does not stand %s %s", STR_ARG(word),
			   section == SECTION_TOP ? "at" : "in", section_name(section));
		diag_note(check->diags, NO_PLACE, "it belongs in: %s",
			  list_sections(check->arena, word));
		return;
	}
	diag_error(check->diags, DIAG_C0101, stmt->verb->span, "%s has no %s `%.*s`",
		   section_name(section),
		   stmt->has_block && section == SECTION_TOP ? "section" : "statement",
		   STR_ARG(word));
	const char *near = verb_suggest(section, word);
	if (near) {
		diag_note(check->diags, NO_PLACE, "did you mean `%s`?", near);
		return;
	}
	for (enum verb_section other = SECTION_TOP; other < SECTION_NONE; other++) {
		near = verb_suggest(other, word);
		if (!near)
			continue;
		diag_note(check->diags, NO_PLACE, "did you mean `%s` of %s?", near,
			  section_name(other));
		return;
	}
}

static void check_once(struct check *check, const struct verb *verb, const struct ast_stmt *block,
		       const struct ast_stmt *stmt)
{
	if (!(verb->flags & V_ONCE))
		return;
	const struct ast_stmt *first = find_stmt(block, verb->word);
	if (first == stmt)
		return;
	diag_error(check->diags, verb->opens == SECTION_NONE ? DIAG_C0110 : DIAG_C0109,
		   stmt->verb->span, "`%s` stands here twice: put it into one", verb->word);
	diag_note(check->diags, first->verb->span, "the first one");
}

/* ---- objects, value, block ------------------------------------------------------------ */

static void note_usage(struct check *check, const struct verb *verb)
{
	diag_note(check->diags, NO_PLACE, "usage: %s", verb->usage);
}

static bool check_object_kind(struct check *check, const struct verb *verb,
			      const struct ast_word *word)
{
	bool good = true;

	if (verb->object == OBJECT_NAME || verb->object == OBJECT_CALL)
		good = word->kind == AST_NAME || word->kind == AST_STRING ||
		       (word->kind == AST_GROUP && verb->object == OBJECT_CALL);
	if (!good)
		diag_error(check->diags, DIAG_C0103, word->span, "`%s` takes %s here", verb->word,
			   verb->object == OBJECT_CALL ? "a system call or a @group" : "a name");
	return good;
}

/* A misspelled modifier must not pass as one more name of a list. */
static bool check_misspelled(struct check *check, const struct verb *verb,
			     const struct ast_word *word)
{
	const char *mods[AST_MOD__END];
	size_t count = 0;

	for (unsigned kind = 0; kind < AST_MOD__END; kind++) {
		const char *mod = ast_mod_word((enum ast_mod_kind)kind);

		if (verb->mods & 1u << kind && strlen(mod) > 3)
			mods[count++] = mod;
	}
	const char *near = word->kind == AST_NAME && verb->max == VERB_MANY
			       ? suggest(word->text, mods, count)
			       : NULL;
	if (!near)
		return true;
	diag_error(check->diags, DIAG_C0107, word->span, "did you mean the modifier `%s`?", near);
	diag_note(check->diags, NO_PLACE, "if it is a name, quote it: \"%.*s\"",
		  STR_ARG(word->text));
	return false;
}

static void check_objects(struct check *check, const struct verb *verb, const struct ast_stmt *stmt)
{
	size_t count = 0;

	for (const struct ast_word *word = stmt->items; word; word = word->next, count++) {
		if (count && !check_misspelled(check, verb, word))
			return;
		if (count >= verb->max) {
			diag_error(check->diags, DIAG_C0103, word->span, "`%s` takes %s",
				   verb->word, verb->max ? "fewer words" : "no words");
			note_usage(check, verb);
			return;
		}
		if (!check_object_kind(check, verb, word)) {
			note_usage(check, verb);
			return;
		}
	}
	if (count < verb->min) {
		diag_error(check->diags, DIAG_C0103, stmt->span, "`%s` needs %s", verb->word,
			   count ? "more words" : "something after it");
		note_usage(check, verb);
	}
}

static void check_value(struct check *check, const struct verb *verb, const struct ast_stmt *stmt)
{
	if (stmt->value && !(verb->flags & (V_VALUE | V_VALUE_OPT))) {
		diag_error(check->diags, DIAG_C0104, stmt->value->span,
			   "`%s` takes no `=`: leave it out", verb->word);
		note_usage(check, verb);
	} else if (!stmt->value && verb->flags & V_VALUE) {
		diag_error(check->diags, DIAG_C0104, stmt->span, "`%s` needs `= VALUE`",
			   verb->word);
		note_usage(check, verb);
	}
}

/* ---- modifiers -------------------------------------------------------------------------- */

static const char *why_not(const struct verb *verb, enum ast_mod_kind kind)
{
	bool takes = str_is(str_from(verb->word), "deny") || str_is(str_from(verb->word), "seal");

	if (kind == AST_MOD_OPTIONAL && takes)
		return "what takes rights holds also for a name that is not there yet";
	if (kind == AST_MOD_BEST_EFFORT)
		return "this is enforced, or the command is not started";
	if (kind == AST_MOD_WITHOUT && verb->section == SECTION_SYSCALLS)
		return "`deny CALL without namespaces` takes there what is allowed elsewhere";
	if (kind == AST_MOD_WITHOUT)
		return "only a `deny` or `seal` of system calls is for some backends alone";
	if (kind == AST_MOD_OVERRIDE && takes)
		return "a deny needs no override: at equal weight it wins";
	return NULL;
}

static void check_mods(struct check *check, const struct verb *verb, const struct ast_stmt *stmt)
{
	for (const struct ast_mod *mod = stmt->mods; mod; mod = mod->next) {
		if (!(verb->mods & 1u << mod->kind)) {
			const char *why = why_not(verb, mod->kind);

			diag_error(check->diags, DIAG_C0106, mod->span, "`%s` takes no `%s`",
				   verb->word, ast_mod_word(mod->kind));
			if (why)
				diag_note(check->diags, NO_PLACE, "%s", why);
			else
				diag_note(
				    check->diags, NO_PLACE,
				    "usage: %s; a name that is spelled like a modifier is quoted",
				    verb->usage);
		} else if (mod->kind == AST_MOD_OVERRIDE && check->kind == FILE_MODULE) {
			diag_error(check->diags, DIAG_C0108, mod->span,
				   "a module overrides nothing");
		}
	}
}

/* What opens a hole that no other line of the policy shows needs its reason beside it. */
static void check_compat(struct check *check, const struct verb *verb, const struct ast_stmt *stmt)
{
	const struct ast_mod *override = ast_mod_find(stmt, AST_MOD_OVERRIDE);
	const char *what = NULL;

	if (check->kind == FILE_SITE || ast_mod_find(stmt, AST_MOD_COMPAT))
		return;
	if (override && verb->mods & 1u << AST_MOD_OVERRIDE)
		what = "`override`";
	else if (verb->section == SECTION_NET && stmt->items && stmt_is(stmt, "mode") &&
		 str_is(stmt->items->text, "host"))
		what = "`mode host`";
	else if (verb->section == SECTION_NET && stmt->items && stmt_is(stmt, "allow") &&
		 (str_is(stmt->items->text, "unix") || str_is(stmt->items->text, "abstract")))
		what = "a socket of the host";
	else if (verb->section == SECTION_PROCESS && stmt_is(stmt, "share"))
		what = "`share`";
	if (!what)
		return;
	diag_error(check->diags, DIAG_C0112, override ? override->span : stmt->span,
		   "%s needs its reason: `compat \"why\"`", what);
}

/* ---- statements --------------------------------------------------------------------------- */

static void check_stmt(struct check *check, enum verb_section section, const struct ast_stmt *block,
		       const struct ast_stmt *stmt);

static void check_block(struct check *check, const struct verb *verb, const struct ast_stmt *stmt)
{
	if (verb->opens == SECTION_NONE) {
		diag_error(check->diags, DIAG_C0105, stmt->span, "`%s` takes no block", verb->word);
		return;
	}
	for (const struct ast_stmt *inner = stmt->block; inner; inner = inner->next) {
		if (inner->poisoned)
			return; /* what is missing may be in what could not be read */
	}
	for (const struct verb *need = verbs; need->word; need++) {
		if (need->section != verb->opens || !(need->flags & V_NEEDED) ||
		    find_stmt(stmt->block, need->word))
			continue;
		diag_error(check->diags, DIAG_C0111, stmt->span, "this %s has no `%s`", verb->word,
			   need->word);
		diag_note(check->diags, NO_PLACE, "usage: %s", need->usage);
	}
}

static void check_stmt(struct check *check, enum verb_section section, const struct ast_stmt *block,
		       const struct ast_stmt *stmt)
{
	if (stmt->poisoned)
		return;
	const struct verb *verb = verb_find(section, stmt->verb->text);
	if (!verb) {
		fail_verb(check, section, stmt);
		return;
	}
	if (!(verb->kinds & check->kind)) {
		diag_error(check->diags, DIAG_C0108, stmt->verb->span, "a %s holds no `%s`",
			   file_kind_name(check->kind), verb->word);
		return;
	}
	check_once(check, verb, block, stmt);
	check_objects(check, verb, stmt);
	check_value(check, verb, stmt);
	check_mods(check, verb, stmt);
	check_compat(check, verb, stmt);
	if (stmt->has_block)
		check_block(check, verb, stmt);
	else if (verb->opens != SECTION_NONE)
		diag_error(check->diags, DIAG_C0105, stmt->span, "`%s` needs its block: %s",
			   verb->word, verb->usage);
	if (verb->opens == SECTION_NONE)
		return;
	for (const struct ast_stmt *inner = stmt->block; inner; inner = inner->next)
		check_stmt(check, verb->opens, stmt->block, inner);
}

/* ---- the file ------------------------------------------------------------------------------ */

static bool check_language(struct check *check)
{
	const struct ast_stmt *first = check->file->stmts;
	struct span start = { .source = check->file->source, .end = 1 };

	if (first && first->poisoned)
		return true;
	if (!first || !stmt_is(first, "language")) {
		diag_error(check->diags, DIAG_I0108, first ? first->span : start,
			   first ? "the first line is `language %d`"
				 : "an empty file: the first line is `language %d`",
			   LANGUAGE_VERSION);
		return false;
	}
	if (!first->items || str_is(first->items->text, "1"))
		return true;
	diag_error(check->diags, DIAG_I0109, first->items->span,
		   "this sbxc knows `language %d`, not `%.*s`", LANGUAGE_VERSION,
		   STR_ARG(first->items->text));
	diag_note(check->diags, NO_PLACE, "a newer language needs a newer sbxc");
	return false;
}

/* The name becomes a file's: ~/.local/share/sbx/NAME.sbx. */
static void check_name(struct check *check, const struct ast_word *word)
{
	bool good = word->text.len > 0 && word->text.len <= 100 && word->text.ptr[0] != '.' &&
		    word->text.ptr[0] != '-';

	for (size_t i = 0; i < word->text.len; i++) {
		char c = word->text.ptr[i];
		good = good && ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
				(c >= '0' && c <= '9') || (c && strchr("-_.", c)));
	}
	if (!good)
		diag_error(
		    check->diags, DIAG_I0110, word->span,
		    "a name is of letters, digits, `-`, `_` and dots, and starts with a letter "
		    "or digit");
}

static const struct ast_stmt *check_header(struct check *check)
{
	static const struct {
		const char *verb;
		unsigned kind;
	} headers[] = { { "policy", FILE_POLICY },
			{ "module", FILE_MODULE },
			{ "site", FILE_SITE } };
	const struct ast_stmt *header = NULL;

	for (const struct ast_stmt *stmt = check->file->stmts; stmt; stmt = stmt->next) {
		for (size_t i = 0; i < 3; i++) {
			if (!stmt_is(stmt, headers[i].verb) || stmt->has_block)
				continue;
			if (header && headers[i].kind != check->kind) {
				diag_error(check->diags, DIAG_I0110, stmt->span,
					   "a file is one thing: policy, module or site");
				diag_note(check->diags, header->span, "the other one");
				return NULL;
			}
			if (!header) {
				header = stmt;
				check->kind = headers[i].kind;
			}
		}
	}
	if (header && header->items)
		check_name(check, header->items);
	return header;
}

static const struct ast_word *find_word(const struct ast_stmt *stmts, const char *verb,
					const char *word)
{
	for (; stmts; stmts = stmts->next) {
		if (!stmt_is(stmts, verb))
			continue;
		for (const struct ast_word *item = stmts->items; item; item = item->next) {
			if (str_is(item->text, word))
				return item;
		}
	}
	return NULL;
}

/* A site bounds each section, or says that it does not. */
static void check_site(struct check *check, const struct ast_stmt *header)
{
	static const char *const sections[] = { "fs",         "env",     "syscalls", "net",
						"credential", "process", "limits",   "slurm" };
	const struct ast_stmt *stmts = check->file->stmts;

	for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++) {
		const struct ast_stmt *stmt = find_stmt(stmts, sections[i]);
		const struct ast_word *word = find_word(stmts, "unbounded", sections[i]);

		if (!stmt && !word) {
			diag_error(check->diags, DIAG_C0701, header->span,
				   "this site has no `%s` and does not say `unbounded %s`",
				   sections[i], sections[i]);
		} else if (stmt && word) {
			diag_error(check->diags, DIAG_C0702, word->span, "`%s` is bounded below",
				   sections[i]);
			diag_note(check->diags, stmt->verb->span, "here");
		}
	}
}

unsigned check_file(struct arena *arena, struct diags *diags, const struct ast_file *file,
		    const struct ast_stmt **header)
{
	struct check check = { .arena = arena, .diags = diags, .file = file };
	bool poisoned = false;

	*header = NULL;
	if (!file->stmts && diag_errors(diags)) /* said by the lexer: not a text file at all */
		return 0;
	if (!check_language(&check))
		return 0;
	for (const struct ast_stmt *stmt = file->stmts; stmt; stmt = stmt->next)
		poisoned |= stmt->poisoned;

	unsigned before = diag_errors(diags);
	*header = check_header(&check);
	if (!*header) {
		if (!poisoned && diag_errors(diags) == before)
			diag_error(diags, DIAG_I0110, file->stmts->span,
				   "this file does not say what it is: "
				   "`policy \"NAME\"`, `module \"NAME\"` or `site \"NAME\"`");
		return 0;
	}
	for (const struct ast_stmt *stmt = file->stmts; stmt; stmt = stmt->next)
		check_stmt(&check, SECTION_TOP, file->stmts, stmt);
	if (check.kind == FILE_SITE && !poisoned)
		check_site(&check, *header);
	if (check.kind == FILE_POLICY && !poisoned && !find_stmt(file->stmts, "workspace") &&
	    !find_stmt(file->stmts, "extend")) {
		diag_error(diags, DIAG_C0111, (*header)->span,
			   "a policy has exactly one workspace");
		diag_note(diags, NO_PLACE, "write `workspace $cwd`");
	}
	return check.kind;
}
