/*
 * The variables of a file: the built-in ones, its params, its consts.
 *
 * A param of the policy is a value of the launch: it stays a variable in every
 * template, and -D changes its default here or its value there.  A param of a
 * module and a const are known now and are put in where they are used.
 */
#include "compiler/load.h"
#include "compiler/words_read.h"
#include "grammar/verbs.h"

static const char *const type_words[] = { "path", "string", "int", "size", "time", NULL };

static struct words scope_words(struct compilation *c, const struct scope *scope)
{
	return (struct words){ .arena = &c->arena, .diags = c->diags, .scope = scope };
}

void scope_init(struct arena *arena, struct scope *scope)
{
	for (size_t i = 0; i < SBX_VAR_COUNT; i++) {
		*VEC_PUSH(arena, scope) = (struct var){
			.name = str_from(builtin_vars[i].name),
			.type = builtin_vars[i].type,
			.id = builtin_vars[i].id,
		};
	}
}

/* A name that is new in @scope and can be written after a `$`. */
static bool check_new_name(const struct words *words, const struct ast_word *word)
{
	struct str name = word->text;
	bool good = word->kind == AST_NAME;

	for (size_t i = 0; i < name.len; i++) {
		char c = name.ptr[i];
		bool edge = i == 0 || i + 1 == name.len;

		good = good && ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
				(c >= '0' && c <= '9' && i) || (c == '-' && !edge));
	}
	if (!good) {
		diag_error(words->diags, DIAG_C0601, word->span,
			   "this name is not of letters, digits, `-` and `_`");
		return false;
	}
	const struct var *var = scope_find(words->scope, name);
	if (!var)
		return true;
	diag_error(words->diags, DIAG_C0601, word->span, "`$%.*s` is %s", STR_ARG(name),
		   var->span.source ? "there already" : "built in: take another name");
	if (var->span.source)
		diag_note(words->diags, var->span, "the other one");
	return false;
}

/* ---- under, in, max --------------------------------------------------------------- */

/* 1: beneath, 0: not, -1: only the launch can tell. */
static int is_under(struct arena *arena, struct tmpl path, struct tmpl top)
{
	struct str a = tmpl_key(arena, path), b = tmpl_key(arena, top);

	if (str_is(b, "/"))
		return 1;
	if (a.len >= b.len && memcmp(a.ptr, b.ptr, b.len) == 0 &&
	    (a.len == b.len || a.ptr[b.len] == '/'))
		return 1;
	bool same_root = (path.segs[0].kind == SBX_SEG_VAR) == (top.segs[0].kind == SBX_SEG_VAR);
	if (same_root && path.segs[0].kind == SBX_SEG_VAR)
		same_root = path.segs[0].var == top.segs[0].var;
	return same_root ? 0 : -1;
}

static bool fail_bound(struct compilation *c, const struct param *param,
		       const struct ast_word *word, const char *what)
{
	diag_error(c->diags, DIAG_C0603, word->span, "`%.*s` is not %s", STR_ARG(word->text), what);
	diag_note(c->diags, param->head.place.span, "as `%.*s` is declared here",
		  STR_ARG(param->name));
	return false;
}

/* Is @value, written as @word, within what the declaration allows? */
static bool check_bounds(struct compilation *c, const struct param *param,
			 const struct ast_word *word, struct tmpl value, uint64_t number,
			 bool at_launch)
{
	if (param->under.count) {
		int under = is_under(&c->arena, value, param->under);
		if (under == 0 || (under < 0 && !at_launch))
			return fail_bound(c, param, word,
					  arena_printf(&c->arena, "under %s",
						       tmpl_show(&c->arena, NULL, param->under)));
	}
	if (param->choices.count) {
		bool found = false;
		struct str text = tmpl_key(&c->arena, value);

		for (size_t i = 0; i < param->choices.count; i++)
			found |= str_equal(text, tmpl_key(&c->arena, param->choices.items[i]));
		if (!found)
			return fail_bound(c, param, word, "one of the values it may have");
	}
	if (number > param->max)
		return fail_bound(c, param, word, "within its `max`");
	return true;
}

static bool read_bounds(const struct words *words, const struct ast_stmt *stmt, struct param *param)
{
	const struct ast_mod *under = ast_mod_find(stmt, AST_MOD_UNDER);
	const struct ast_mod *in = ast_mod_find(stmt, AST_MOD_IN);
	const struct ast_mod *max = ast_mod_find(stmt, AST_MOD_MAX);
	struct tmpl_list choices = { 0 };
	struct tmpl ignored;

	param->max = UINT64_MAX;
	if (under && param->type != SBX_PARAM_PATH) {
		diag_error(words->diags, DIAG_C0602, under->span, "`under` is for paths");
		return false;
	}
	if (max && param->type < SBX_PARAM_INT) {
		diag_error(words->diags, DIAG_C0602, max->span, "`max` is for int, size and time");
		return false;
	}
	if (under && !words_path(words, under->words, 0, &param->under))
		return false;
	if (max && !words_check_type(words, max->words, param->type, &ignored, &param->max))
		return false;
	for (const struct ast_word *word = in ? in->words : NULL; word; word = word->next) {
		uint64_t number;
		if (!words_check_type(words, word, param->type, VEC_PUSH(words->arena, &choices),
				      &number))
			return false;
	}
	param->choices = (struct tmpls){ choices.items, choices.count };
	return true;
}

/* ---- declarations ------------------------------------------------------------------ */

/*
 * Reads a `param`.  @words has the scope the default is read in; @given, if
 * not NULL, is written elsewhere (-D, with) and read with @given_words.
 */
static bool read_param(struct compilation *c, const struct words *words,
		       const struct ast_stmt *stmt, const struct ast_word *given,
		       const struct words *given_words, bool at_launch, struct param *param)
{
	const struct ast_word *name = stmt->items;
	int type = words_choice(words, name->next, "a param's type", type_words);
	uint64_t number;

	*param = (struct param){ .name = name->text, .type = (enum sbx_param_type)type };
	param->head.place.span = name->span;
	if (type < 0 || !read_bounds(words, stmt, param))
		return false;

	const struct ast_word *word = given ? given : stmt->value;
	if (!word) {
		diag_error(c->diags, DIAG_C0604, stmt->span, "`%.*s` has no value",
			   STR_ARG(name->text));
		return false;
	}
	return words_check_type(given ? given_words : words, word, param->type, &param->value,
				&number) &&
	       check_bounds(c, param, word, param->value, number, at_launch);
}

static bool add_const(struct compilation *c, const struct ast_stmt *stmt, struct scope *scope)
{
	struct words words = scope_words(c, scope);
	struct var var = { .name = stmt->items->text, .type = SBX_PARAM_INT, .folded = true };
	int64_t number;

	var.span = stmt->items->span;
	if (!check_new_name(&words, stmt->items) || !words_constant(&words, stmt->value, &number) ||
	    !words_text(&words, stmt->value, &var.value))
		return false;
	*VEC_PUSH(&c->arena, scope) = var;
	return true;
}

static void add_consts(struct compilation *c, const struct parsed *parsed, struct scope *scope)
{
	for (const struct ast_stmt *stmt = parsed->ast->stmts; stmt; stmt = stmt->next) {
		if (str_is(stmt->verb->text, "const"))
			add_const(c, stmt, scope);
	}
}

/* The extending file may declare a param of the extended one anew. */
static struct param *extended_param(struct program *program, struct str name, unsigned level)
{
	for (size_t i = 0; i < program->params.count; i++) {
		struct param *param = &program->params.items[i];
		if (str_equal(param->name, name) && param->head.file > level)
			return param;
	}
	return NULL;
}

static void add_policy_param(struct compilation *c, struct program *program,
			     const struct ast_stmt *stmt, unsigned level, struct scope *builtins,
			     struct scope *scope)
{
	struct words words = scope_words(c, builtins), all = scope_words(c, scope);
	struct param *old = extended_param(program, stmt->items->text, level);
	struct param param;

	if (!old && !check_new_name(&all, stmt->items))
		return;
	if (!read_param(c, &words, stmt, NULL, NULL, true, &param))
		return;
	param.head.file = level; /* set to the file's index once all are read */
	param.head.main_file = true;
	if (old && old->type != param.type) {
		diag_error(c->diags, DIAG_C0602, stmt->items->next->span,
			   "`%.*s` has another type in what this extends", STR_ARG(param.name));
		diag_note(c->diags, old->head.place.span, "there");
		return;
	}
	if (old) {
		*old = param;
		return;
	}
	if (program->params.count == SBX_PARAM_MAX) {
		diag_error(c->diags, DIAG_C0604, stmt->span, "more than %d params", SBX_PARAM_MAX);
		return;
	}
	*VEC_PUSH(&c->arena, scope) = (struct var){
		.name = param.name,
		.type = param.type,
		.id = SBX_VAR_PARAM + (unsigned)program->params.count,
		.span = param.head.place.span,
	};
	*VEC_PUSH(&c->arena, &program->params) = param;
}

void scope_add_policy(struct compilation *c, struct program *program, const struct parsed *parsed,
		      unsigned level, struct scope *scope)
{
	struct scope builtins = { 0 };

	/* No default refers to another param: they can be set in any order. */
	scope_init(&c->arena, &builtins);
	add_consts(c, parsed, scope);
	for (const struct ast_stmt *stmt = parsed->ast->stmts; stmt; stmt = stmt->next) {
		if (str_is(stmt->verb->text, "param"))
			add_policy_param(c, program, stmt, level, &builtins, scope);
	}
}

/* ---- modules -------------------------------------------------------------------------- */

static const struct ast_bind *find_bind(const struct ast_stmt *import, struct str name)
{
	const struct ast_mod *with = ast_mod_find(import, AST_MOD_WITH);

	for (const struct ast_bind *bind = with ? with->binds : NULL; bind; bind = bind->next) {
		if (str_equal(bind->name->text, name))
			return bind;
	}
	return NULL;
}

static bool declares(const struct parsed *parsed, struct str name)
{
	for (const struct ast_stmt *stmt = parsed->ast->stmts; stmt; stmt = stmt->next) {
		if (str_is(stmt->verb->text, "param") && str_equal(stmt->items->text, name))
			return true;
	}
	return false;
}

static void fail_bind(struct compilation *c, const struct parsed *parsed,
		      const struct ast_word *name)
{
	struct {
		VEC_OF(const char *)
	} names = { 0 };

	for (const struct ast_stmt *stmt = parsed->ast->stmts; stmt; stmt = stmt->next) {
		if (str_is(stmt->verb->text, "param"))
			*VEC_PUSH(&c->arena, &names) = str_cstr(&c->arena, stmt->items->text);
	}
	diag_error(c->diags, DIAG_I0107, name->span, "`%s` has no param `%.*s`", parsed->id,
		   STR_ARG(name->text));
	const char *near = suggest(name->text, names.items, names.count);
	if (near)
		diag_note(c->diags, NO_PLACE, "did you mean `%s`?", near);
}

static bool check_binds(struct compilation *c, const struct parsed *parsed,
			const struct ast_stmt *import)
{
	const struct ast_mod *with = ast_mod_find(import, AST_MOD_WITH);

	for (const struct ast_bind *bind = with ? with->binds : NULL; bind; bind = bind->next) {
		if (find_bind(import, bind->name->text) != bind) {
			diag_error(c->diags, DIAG_I0107, bind->name->span, "`%.*s` is given twice",
				   STR_ARG(bind->name->text));
			return false;
		}
		if (!declares(parsed, bind->name->text)) {
			fail_bind(c, parsed, bind->name);
			return false;
		}
	}
	return true;
}

bool scope_make_module(struct compilation *c, const struct parsed *parsed,
		       const struct ast_stmt *import, const struct scope *importer,
		       struct scope *scope, struct str *key)
{
	struct scope builtins = { 0 };
	struct words words = scope_words(c, &builtins), here = scope_words(c, scope),
		     given = scope_words(c, importer);
	const char *text = parsed->id;
	bool good = check_binds(c, parsed, import);

	if (!good)
		return false;
	scope_init(&c->arena, &builtins);
	scope_init(&c->arena, scope);
	for (const struct ast_stmt *stmt = parsed->ast->stmts; stmt; stmt = stmt->next) {
		struct param param;
		const struct ast_bind *bind;

		if (!str_is(stmt->verb->text, "param"))
			continue;
		bind = find_bind(import, stmt->items->text);
		if (!check_new_name(&here, stmt->items) ||
		    !read_param(c, &words, stmt, bind ? bind->value : NULL, &given, false,
				&param)) {
			good = false;
			continue;
		}
		*VEC_PUSH(&c->arena, scope) = (struct var){
			.name = param.name,
			.type = param.type,
			.folded = true,
			.value = param.value,
			.span = param.head.place.span,
		};
		struct str value = tmpl_key(&c->arena, param.value);
		text = arena_printf(&c->arena, "%s %.*s=%zu:%.*s", text, STR_ARG(param.name),
				    value.len, STR_ARG(value));
	}
	add_consts(c, parsed, scope);
	*key = str_from(text);
	return good;
}

/* ---- -D --------------------------------------------------------------------------------- */

/* The value of a -D as a word: its bytes are plain but for a `~/` at the beginning. */
static struct ast_word *define_word(struct arena *arena, const char *value)
{
	struct ast_word *word = ARENA_NEW(arena, struct ast_word);
	struct {
		VEC_OF(char)
	} text = { 0 };

	for (const char *c = value; *c; c++) {
		if (strchr("\\\"$", *c))
			*VEC_PUSH(arena, &text) = '\\';
		*VEC_PUSH(arena, &text) = *c;
	}
	word->kind = AST_STRING;
	word->text = (struct str){ text.count ? text.items : "", text.count };
	return word;
}

static void apply_define(struct compilation *c, const struct define *define,
			 struct program *program, const struct words *words)
{
	const char *names[SBX_PARAM_MAX];

	for (size_t i = 0; i < program->params.count; i++) {
		struct param *param = &program->params.items[i];
		const struct ast_word *word = define_word(&c->arena, define->value);
		uint64_t number;

		names[i] = str_cstr(&c->arena, param->name);
		if (!str_is(param->name, define->name))
			continue;
		unsigned before = diag_errors(c->diags);
		if (words_check_type(words, word, param->type, &param->value, &number))
			check_bounds(c, param, word, param->value, number, true);
		if (diag_errors(c->diags) != before)
			diag_note(c->diags, NO_PLACE, "given with -D %s=%s", define->name,
				  define->value);
		return;
	}
	diag_error(c->diags, DIAG_I0112, (struct span){ 0 }, "-D %s: the policy has no such param",
		   define->name);
	const char *near = suggest(str_from(define->name), names, program->params.count);
	if (near)
		diag_note(c->diags, NO_PLACE, "did you mean `%s`?", near);
}

void scope_apply_defines(struct compilation *c, struct program *program, struct scope *scope)
{
	struct words words = scope_words(c, scope);

	for (size_t i = 0; i < c->options.define_count; i++)
		apply_define(c, &c->options.defines[i], program, &words);
	for (size_t i = 0; i < scope->count; i++) {
		struct var *var = &scope->items[i];

		if (!var->folded && var->id >= SBX_VAR_PARAM)
			var->value = program->params.items[var->id - SBX_VAR_PARAM].value;
	}
}
