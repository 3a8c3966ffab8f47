/*
 * Words as paths and as texts.
 *
 * One spelling for each path: it starts at / or at a variable that is a path,
 * has no `.`, `..` or empty component and no slash at its end.  Every other
 * spelling is an error that says what to write; none is quietly changed,
 * since the same letters would then mean different things in other tools.
 */
#include "compiler/words_read.h"

#define PATH_LONGEST 4000 /* bytes written; PATH_MAX less what a variable adds */

/* A component of a pattern: bytes with a mark on those that are wildcards. */
struct component {
	size_t len;           /* a variable counts as one byte */
	size_t dots;          /* leading dots, when there is nothing else */
	size_t stars;         /* wildcard stars */
	bool star_last, deep; /* one was just seen; two beside each other were */
	bool other_wild;
};

struct path_check {
	const struct words *words;
	const struct ast_word *word;
	struct str text; /* as written */
	unsigned flags;
	struct component component, before;
	bool deep; /* a ** was seen */
};

static bool fail_path(const struct path_check *check, enum diag_code code, const char *what)
{
	diag_error(check->words->diags, code, check->word->span, "%s", what);
	return false;
}

static bool end_component(struct path_check *check, bool last)
{
	struct component *part = &check->component;

	if (!part->len)
		return fail_path(
		    check, last ? DIAG_C0205 : DIAG_C0204,
		    last ? "leave out the slash at the end: a path covers what is beneath it"
			 : "`//` in a path: write one slash");
	if (part->dots == part->len && part->len <= 2)
		return fail_path(check, DIAG_C0203,
				 part->len == 1 ? "`.` in a path: leave it out"
						: "`..` in a path: write the path it leads to");
	if (part->deep && part->len != 2)
		return fail_path(check, DIAG_C0210,
				 "`**` stands for whole components: put it between slashes");
	if (last && (part->deep || (part->stars == 1 && part->len == 1 && check->before.deep)))
		return fail_path(
		    check, DIAG_C0210,
		    "a pattern cannot end in `**`: the directory itself covers all beneath it");
	check->before = *part;
	*part = (struct component){ 0 };
	return true;
}

static bool check_seg(struct path_check *check, const struct seg *seg, bool *slash)
{
	struct component *part = &check->component;

	if (seg->kind == SBX_SEG_VAR) {
		part->len++;
		part->star_last = false;
		*slash = false;
		return true;
	}
	for (size_t i = 0; i < seg->text.len; i++) {
		char c = seg->text.ptr[i];

		if (seg->kind == SBX_SEG_TEXT && c == '/') {
			if (!*slash && !end_component(check, false))
				return false;
			*slash = false;
			continue;
		}
		*slash = false;
		part->deep |= seg->kind == SBX_SEG_GLOB && c == '*' && part->star_last;
		part->star_last = seg->kind == SBX_SEG_GLOB && c == '*';
		if (seg->kind == SBX_SEG_GLOB) {
			part->stars += c == '*';
			part->other_wild |= c != '*';
		} else if (c == '.' && part->dots == part->len) {
			part->dots++;
		}
		part->len++;
	}
	return true;
}

static bool starts_as_path(struct tmpl tmpl)
{
	const struct seg *first = tmpl.segs;

	if (first->kind == SBX_SEG_TEXT)
		return first->text.len && first->text.ptr[0] == '/';
	return first->kind == SBX_SEG_VAR;
}

/* The variable that a template starts with, if it does. */
static const struct var *first_variable(const struct scope *scope, const struct seg *first)
{
	for (size_t i = 0; first->kind == SBX_SEG_VAR && i < scope->count; i++) {
		if (!scope->items[i].folded && scope->items[i].id == first->var)
			return &scope->items[i];
	}
	return NULL;
}

static bool fail_relative(const struct path_check *check)
{
	struct str text = check->text;

	if (str_starts(text, "./"))
		text = (struct str){ text.ptr + 2, text.len - 2 };
	diag_error(check->words->diags, DIAG_C0201, check->word->span,
		   "a path starts with `/`, `~/` or a variable");
	if (check->flags & WORD_OUTSIDE)
		diag_note(check->words->diags, NO_PLACE,
			  "write where it lies outside, not in the workspace: what the program could "
			  "change is refused");
	else if (check->flags & WORD_CWD)
		diag_note(check->words->diags, NO_PLACE,
			  "`$cwd` is the directory in which sbx-exec is started");
	else if (!str_starts(text, "..") && check->word->span.source) /* not given with -D */
		diag_note(check->words->diags, NO_PLACE, "in the workspace it is `$workspace/%.*s`",
			  STR_ARG(text));
	return false;
}

static bool check_path(struct path_check *check, struct tmpl tmpl)
{
	const struct seg *first = tmpl.segs;
	bool slash = true; /* the one at the beginning ends no component */
	size_t length = 0;

	if (!starts_as_path(tmpl))
		return fail_relative(check);
	const struct var *var = first_variable(check->words->scope, first);
	if (var && var->type != SBX_PARAM_PATH) {
		diag_error(check->words->diags, DIAG_C0201, check->word->span,
			   "`$%.*s` is not a path: write what it is under, as in /scratch/$%.*s",
			   STR_ARG(var->name), STR_ARG(var->name));
		return false;
	}
	if (tmpl.count == 1 && first->kind == SBX_SEG_TEXT && first->text.len == 1)
		return true; /* "/" */
	for (size_t i = 0; i < tmpl.count; i++) {
		if (!check_seg(check, &tmpl.segs[i], &slash))
			return false;
		length += tmpl.segs[i].text.len;
	}
	if (length > PATH_LONGEST)
		return fail_path(check, DIAG_C0224, "a path longer than 4000 bytes");
	return end_component(check, true);
}

/* A string or bare word that is not text at all. */
static bool is_path_word(const struct words *words, const struct ast_word *word)
{
	if (word->kind == AST_GROUP || word->kind == AST_OPTION) {
		diag_error(words->diags, DIAG_C0201, word->span, "a path is wanted here");
		return false;
	}
	if (!word->text.len) {
		diag_error(words->diags, DIAG_C0201, word->span, "an empty path");
		return false;
	}
	return true;
}

static bool read_path(const struct words *words, const struct ast_word *word, struct str text,
		      unsigned flags, struct tmpl *out)
{
	struct path_check check = { .words = words, .word = word, .text = text,
				    .flags = flags };
	bool exact = text.len == word->text.len;

	if (!words_read(words, word, text, exact, flags | READ_PATH | READ_PATTERN, out))
		return false;
	if (!(flags & WORD_WILD) && tmpl_has_wild(*out)) {
		diag_error(words->diags, DIAG_C0209, word->span,
			   "no wildcard here: a name that holds one is written in quotes");
		return false;
	}
	return check_path(&check, *out);
}

bool words_paths(const struct words *words, const struct ast_word *word, unsigned flags,
		 struct tmpl_list *out)
{
	struct str_list texts = { 0 };

	if (!is_path_word(words, word) || !words_alternatives(words, word, &texts))
		return false;
	for (size_t i = 0; i < texts.count; i++) {
		struct tmpl tmpl;

		if (!read_path(words, word, texts.items[i], flags, &tmpl))
			return false;
		*VEC_PUSH(words->arena, out) = tmpl;
	}
	return true;
}

static bool only_one(const struct words *words, const struct ast_word *word, size_t count)
{
	if (count == 1)
		return true;
	diag_error(words->diags, DIAG_C0212, word->span,
		   "one word is wanted here, not alternatives");
	return false;
}

bool words_path(const struct words *words, const struct ast_word *word, unsigned flags,
		struct tmpl *out)
{
	struct tmpl_list list = { 0 };

	if (!words_paths(words, word, flags, &list) || !only_one(words, word, list.count))
		return false;
	*out = list.items[0];
	return true;
}

/* ---- texts -------------------------------------------------------------------- */

bool words_texts(const struct words *words, const struct ast_word *word, struct tmpl_list *out)
{
	struct str_list texts = { 0 };

	if (!words_alternatives(words, word, &texts))
		return false;
	for (size_t i = 0; i < texts.count; i++) {
		struct tmpl tmpl;

		if (!words_read(words, word, texts.items[i], texts.count == 1, 0, &tmpl))
			return false;
		*VEC_PUSH(words->arena, out) = tmpl;
	}
	return true;
}

bool words_text(const struct words *words, const struct ast_word *word, struct tmpl *out)
{
	struct tmpl_list list = { 0 };

	if (!words_texts(words, word, &list) || !only_one(words, word, list.count))
		return false;
	*out = list.items[0];
	return true;
}

bool words_plains(const struct words *words, const struct ast_word *word, struct str_list *out)
{
	struct tmpl_list list = { 0 };

	if (!words_texts(words, word, &list))
		return false;
	for (size_t i = 0; i < list.count; i++) {
		struct str text;

		if (!tmpl_plain(words->arena, list.items[i], &text)) {
			diag_error(words->diags, DIAG_C0223, word->span,
				   "this must be known when the policy is compiled, "
				   "and its variable is known only at launch");
			return false;
		}
		*VEC_PUSH(words->arena, out) = text;
	}
	return true;
}

bool words_plain(const struct words *words, const struct ast_word *word, struct str *out)
{
	struct str_list list = { 0 };

	if (!words_plains(words, word, &list) || !only_one(words, word, list.count))
		return false;
	*out = list.items[0];
	return true;
}
