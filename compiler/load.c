/*
 * The main file, what it extends and what they import, depth first.
 *
 * A file is read, parsed and checked once; it becomes a unit once for each
 * set of values given `with`, so a diamond of imports is evaluated once.  An
 * import of what is being loaded is a cycle.
 */
#include "compiler/load.h"

#include <errno.h>
#include <stdio.h>

#include "compiler/library.h"
#include "compiler/map.h"
#include "grammar/verbs.h"

struct loader {
	struct compilation *c;
	struct program *program;
	struct map parsed;    /* id -> struct parsed */
	struct map units;     /* id and values -> struct unit */
	struct scope *policy; /* shared by the main file and what it extends */
};

void unit_note_chain(struct diags *diags, const struct unit *unit)
{
	for (; unit && unit->importer; unit = unit->importer)
		diag_note(diags, unit->import_span, "%s from here",
			  unit->level == LEVEL_MODULE ? "imported" : "extended");
	if (unit && unit->import_span.source)
		diag_note(diags, unit->import_span, "the policy that jobs run under, named here");
}

void program_note_chain(struct diags *diags, const struct program *program,
			const struct source *source)
{
	for (size_t i = 0; i < program->units.count; i++) {
		if (program->units.items[i]->parsed->ast->source == source) {
			unit_note_chain(diags, program->units.items[i]);
			return;
		}
	}
}

static const char *read_error(int error)
{
	switch (error) {
	case EFBIG:
		return "larger than 16 MiB";
	case EISDIR:
		return "a directory";
	}
	return strerror(error);
}

void load_fail_name(struct compilation *c, struct span span, unsigned want, struct str name)
{
	const char *near = library_suggest(&c->arena, &c->options, name);

	diag_error(c->diags, DIAG_I0103, span, "there is no %s `%.*s`", file_kind_name(want),
		   STR_ARG(name));
	if (near)
		diag_note(c->diags, NO_PLACE, "did you mean `%s`?", near);
}

static struct parsed *parse(struct loader *loader, const char *id, const struct library_file *file,
			    struct span asked)
{
	struct compilation *c = loader->c;
	void **slot = map_put(&c->arena, &loader->parsed, str_from(id));

	if (*slot)
		return *slot;
	struct parsed *parsed = ARENA_NEW(&c->arena, struct parsed);
	*slot = parsed;
	parsed->id = id;

	int error = 0;
	bool given = c->text.ptr && !loader->program->files.count; /* the main file comes first */
	struct source *source =
	    given ? source_from_text(&c->arena, strcmp(file->path, "-") ? file->path : "<stdin>",
				     file->name, c->text)
		  : source_read(&c->arena, file->path, file->name, &error);
	if (!source) {
		diag_error(c->diags, DIAG_I0101, asked, "cannot read %s: %s", file->path,
			   read_error(error));
		return parsed;
	}
	*VEC_PUSH(&c->arena, &c->read) = file->path;
	if (str_starts(source->text, SBX_MAGIC)) {
		diag_error(c->diags, DIAG_I0113, asked,
			   "%s is a compiled policy: give its source (`sbxc dump` prints what is "
			   "in it)",
			   file->path);
		return parsed;
	}
	parsed->file = (unsigned)loader->program->files.count;
	*VEC_PUSH(&c->arena, &loader->program->files) = source;

	unsigned before = diag_errors(c->diags);
	parsed->ast = parse_file(&c->arena, c->diags, source);
	unsigned kind = check_file(&c->arena, c->diags, parsed->ast, &parsed->header);
	if (diag_errors(c->diags) == before)
		parsed->kind = kind;
	return parsed;
}

static void load_unit(struct loader *loader, struct unit *unit);

/* The file that an import or extend names, parsed; NULL after a message. */
static struct parsed *follow(struct loader *loader, const struct unit *unit,
			     const struct ast_stmt *stmt, unsigned want)
{
	struct compilation *c = loader->c;
	const struct ast_word *word = stmt->items;
	struct str name = word->text;
	struct library_file file;
	unsigned before = diag_errors(c->diags);

	if (word->kind == AST_PATH || str_starts(name, ".") ||
	    (name.len > 4 && str_is((struct str){ name.ptr + name.len - 4, 4 }, ".pol"))) {
		diag_error(c->diags, DIAG_I0105, word->span,
			   "`%s` takes a name, not a file: give its directory with -I "
			   "and write the name without `.pol`",
			   want == FILE_MODULE ? "import" : "extend");
		return NULL;
	}
	if (!library_find(&c->arena, &c->options, name, &file)) {
		load_fail_name(c, word->span, want, name);
		return NULL;
	}

	struct parsed *parsed = parse(loader, str_cstr(&c->arena, name), &file, word->span);
	if (diag_errors(c->diags) != before) {
		if (parsed->ast)
			diag_note(c->diags, stmt->span, "%s from here",
				  want == FILE_MODULE ? "imported" : "extended");
		unit_note_chain(c->diags, unit);
	}
	if (!parsed->kind)
		return NULL;
	if (parsed->kind != want) {
		diag_error(c->diags, DIAG_I0106, word->span, "`%.*s` is a %s, and `%s` takes a %s",
			   STR_ARG(name), file_kind_name(parsed->kind),
			   want == FILE_MODULE ? "import" : "extend", file_kind_name(want));
		return NULL;
	}
	return parsed;
}

/* Names the files on the way from @parsed back to itself. */
static void fail_cycle(struct loader *loader, const struct unit *unit, const struct ast_stmt *stmt,
		       const struct parsed *parsed)
{
	struct diags *diags = loader->c->diags;

	diag_error(diags, DIAG_I0104, stmt->items->span, "`%s` takes itself in again", parsed->id);
	for (; unit && unit->parsed != parsed; unit = unit->importer)
		diag_note(diags, unit->import_span, "by way of `%s`, from here", unit->parsed->id);
}

static void add_unit(struct loader *loader, const struct unit *from, const struct ast_stmt *stmt,
		     struct parsed *parsed, unsigned level, struct scope *scope)
{
	struct arena *arena = &loader->c->arena;
	struct unit *unit = ARENA_NEW(arena, struct unit);

	*unit = (struct unit){
		.parsed = parsed,
		.level = level,
		.scope = scope,
		.importer = from,
		.import_span = stmt->span,
	};
	*VEC_PUSH(arena, &loader->program->units) = unit;
	load_unit(loader, unit);
}

static void load_extend(struct loader *loader, struct unit *unit, const struct ast_stmt *stmt)
{
	struct parsed *parsed = follow(loader, unit, stmt, FILE_POLICY);

	if (!parsed)
		return;
	if (parsed->loading)
		fail_cycle(loader, unit, stmt, parsed);
	else
		add_unit(loader, unit, stmt, parsed, unit->level + 1, loader->policy);
}

/* A module counts as best-effort if every import of it says so. */
static void note_import(struct compilation *c, struct parsed *parsed, const struct ast_stmt *stmt)
{
	if (!ast_mod_find(stmt, AST_MOD_BEST_EFFORT)) {
		parsed->firm = true;
		*VEC_PUSH(&c->arena, &c->firm) = (struct noted_import){ parsed, stmt->span };
		return;
	}
	*VEC_PUSH(&c->arena, &c->soft) = (struct noted_import){ parsed, stmt->span };
}

/* @seen: what this file has imported so far. */
static void load_import(struct loader *loader, struct unit *unit, struct map *seen,
			const struct ast_stmt *stmt)
{
	struct compilation *c = loader->c;
	struct parsed *parsed = follow(loader, unit, stmt, FILE_MODULE);
	struct str key;

	if (!parsed)
		return;
	if (parsed->loading) {
		fail_cycle(loader, unit, stmt, parsed);
		return;
	}
	note_import(c, parsed, stmt);
	struct scope *scope = ARENA_NEW(&c->arena, struct scope);
	unsigned before = diag_errors(c->diags);
	if (!scope_make_module(c, parsed, stmt, unit->scope, scope, &key)) {
		if (diag_errors(c->diags) != before)
			unit_note_chain(c->diags, unit);
		return;
	}
	void **here = map_put(&c->arena, seen, key);
	if (*here) {
		diag_error(c->diags, DIAG_C0301, stmt->span, "this import stands here twice");
		diag_note(c->diags, *(const struct span *)*here, "the other one");
		return;
	}
	struct span *span = ARENA_NEW(&c->arena, struct span);
	*span = stmt->span;
	*here = span;

	void **slot = map_put(&c->arena, &loader->units, key);
	if (*slot)
		return;
	*slot = parsed;
	add_unit(loader, unit, stmt, parsed, LEVEL_MODULE, scope);
}

static void load_unit(struct loader *loader, struct unit *unit)
{
	struct parsed *parsed = unit->parsed;
	struct map seen = { 0 };

	parsed->loading = true;
	for (const struct ast_stmt *stmt = parsed->ast->stmts; stmt; stmt = stmt->next) {
		if (!stmt->poisoned && str_is(stmt->verb->text, "extend"))
			load_extend(loader, unit, stmt);
	}
	if (unit->level != LEVEL_MODULE)
		scope_add_policy(loader->c, loader->program, parsed, unit->level, unit->scope);
	for (const struct ast_stmt *stmt = parsed->ast->stmts; stmt; stmt = stmt->next) {
		if (!stmt->poisoned && str_is(stmt->verb->text, "import"))
			load_import(loader, unit, &seen, stmt);
	}
	parsed->loading = false;
}

static bool can_run(struct loader *loader, const struct parsed *parsed)
{
	struct diags *diags = loader->c->diags;

	if (parsed->kind != FILE_MODULE)
		return true;
	diag_error(diags, DIAG_I0106, parsed->header->verb->span,
		   "this is a module: it is imported, and cannot be compiled by itself");
	return false;
}

struct program *load_program(struct compilation *c, const char *path)
{
	struct loader loader = { .c = c, .program = ARENA_NEW(&c->arena, struct program) };
	struct library_file file;

	loader.policy = ARENA_NEW(&c->arena, struct scope);
	scope_init(&c->arena, loader.policy);
	if (!library_find_main(&c->arena, &c->options, path, &file)) {
		load_fail_name(c, NO_PLACE, FILE_POLICY, str_from(path));
		diag_note(c->diags, NO_PLACE,
			  "a file is named with its suffix or its directory, as in ./%s", path);
		return NULL;
	}

	struct parsed *parsed = parse(&loader, file.path, &file, c->asked);
	struct unit *unit = ARENA_NEW(&c->arena, struct unit);
	*unit = (struct unit){ .parsed = parsed, .scope = loader.policy, .import_span = c->asked };
	c->main_file = parsed->ast;
	if (!parsed->ast)
		return NULL;
	if (!parsed->kind || !can_run(&loader, parsed)) {
		unit_note_chain(c->diags, unit);
		return loader.program;
	}
	*VEC_PUSH(&c->arena, &loader.program->units) = unit;
	load_unit(&loader, unit);
	scope_apply_defines(c, loader.program, loader.policy);
	return loader.program;
}
