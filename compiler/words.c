/*
 * Words to templates.
 *
 * First the alternatives `{a,b}` of a bare word are multiplied out on its
 * text; then each text is read byte by byte into segments: literal text,
 * wildcards, variables.  A variable whose value is known is put in at once, so
 * what is left in a template is what only the launch can know.  Most words
 * hold nothing special and become one segment.
 */
#include "compiler/words.h"

#include <ctype.h>
#include <stdio.h>

#include "compiler/words_read.h"

const struct builtin_var builtin_vars[SBX_VAR_COUNT] = {
	{ "home", SBX_VAR_HOME, SBX_PARAM_PATH },
	{ "cwd", SBX_VAR_CWD, SBX_PARAM_PATH },
	{ "workspace", SBX_VAR_WORKSPACE, SBX_PARAM_PATH },
	{ "user", SBX_VAR_USER, SBX_PARAM_STRING },
	{ "uid", SBX_VAR_UID, SBX_PARAM_STRING },
	{ "runtime", SBX_VAR_RUNTIME, SBX_PARAM_PATH },
	{ "gitdir", SBX_VAR_GITDIR, SBX_PARAM_PATH },
	{ "gitcommon", SBX_VAR_GITCOMMON, SBX_PARAM_PATH },
	{ "githooks", SBX_VAR_GITHOOKS, SBX_PARAM_PATH },
	{ "ca-bundle", SBX_VAR_CA_BUNDLE, SBX_PARAM_PATH },
	{ "policy", SBX_VAR_POLICY, SBX_PARAM_PATH },
	{ "launcher", SBX_VAR_LAUNCHER, SBX_PARAM_PATH },
	{ "sibling", SBX_VAR_SIBLING, SBX_PARAM_PATH },
};

struct span word_span(const struct ast_word *word, bool exact, size_t from, size_t to)
{
	struct span span = word->span;

	if (!exact || !span.source)
		return span;
	span.start += (uint32_t)(from + (word->kind == AST_STRING));
	span.end = span.start + (uint32_t)(to - from);
	return span;
}

/* ---- {a,b} ------------------------------------------------------------------ */

/* The next brace that opens alternatives, or the end. */
static size_t find_brace(struct str text, size_t from)
{
	for (size_t i = from; i < text.len; i++) {
		if (text.ptr[i] == '\\') {
			i++;
		} else if (text.ptr[i] == '$' && i + 1 < text.len && text.ptr[i + 1] == '{') {
			while (i < text.len && text.ptr[i] != '}')
				i++;
		} else if (text.ptr[i] == '{') {
			return i;
		}
	}
	return text.len;
}

/* Splits "a,b}..." at @from into @choices; returns the offset past the brace, 0 on a fault. */
static size_t split_choices(struct arena *arena, struct str text, size_t from,
			    struct str_list *choices)
{
	size_t start = from;

	for (size_t i = from; i < text.len; i++) {
		char c = text.ptr[i];

		if (c == '\\') {
			i++;
		} else if (c == '$' && i + 1 < text.len && text.ptr[i + 1] == '{') {
			while (i < text.len && text.ptr[i] != '}')
				i++;
		} else if (c == '{') {
			return 0;
		} else if (c == ',' || c == '}') {
			*VEC_PUSH(arena, choices) = (struct str){ text.ptr + start, i - start };
			start = i + 1;
			if (c == '}')
				return start;
		}
	}
	return 0;
}

static struct str join(struct arena *arena, struct str a, struct str b, struct str c)
{
	char *text = arena_alloc(arena, a.len + b.len + c.len + 1);

	memcpy(text, a.ptr, a.len);
	memcpy(text + a.len, b.ptr, b.len);
	if (c.len)
		memcpy(text + a.len + b.len, c.ptr, c.len);
	return (struct str){ text, a.len + b.len + c.len };
}

static bool fail_braces(const struct words *words, const struct ast_word *word)
{
	diag_error(words->diags, DIAG_C0212, word->span,
		   "alternatives are written {a,b}, with two or more and none inside another");
	return false;
}

bool words_alternatives(const struct words *words, const struct ast_word *word,
			struct str_list *out)
{
	struct str text = word->text;
	size_t brace = word->kind == AST_STRING ? text.len : find_brace(text, 0);

	*VEC_PUSH(words->arena, out) = (struct str){ text.ptr, brace };
	while (brace < text.len) {
		struct str_list choices = { 0 }, next = { 0 };
		size_t rest = split_choices(words->arena, text, brace + 1, &choices);

		if (!rest || choices.count < 2)
			return fail_braces(words, word);
		if (choices.count * out->count > WORD_OVER_MAX) {
			diag_error(words->diags, DIAG_C0212, word->span,
				   "this word stands for more than %d", WORD_OVER_MAX);
			return false;
		}
		brace = find_brace(text, rest);
		for (size_t i = 0; i < out->count; i++) {
			for (size_t j = 0; j < choices.count; j++)
				*VEC_PUSH(words->arena, &next) =
				    join(words->arena, out->items[i], choices.items[j],
					 (struct str){ text.ptr + rest, brace - rest });
		}
		*out = next;
	}
	return true;
}

/* ---- segments ---------------------------------------------------------------- */

struct reader {
	const struct words *words;
	const struct ast_word *word;
	struct str text; /* one alternative */
	bool exact;      /* offsets in @text are offsets in the word */
	unsigned flags;
	bool glob; /* what @run holds */
	struct {
		VEC_OF(char)
	} run;
	struct {
		VEC_OF(struct seg)
	} segs;
};

static void end_run(struct reader *reader)
{
	struct arena *arena = reader->words->arena;

	if (!reader->run.count)
		return;
	*VEC_PUSH(arena, &reader->segs) = (struct seg){
		.kind = reader->glob ? SBX_SEG_GLOB : SBX_SEG_TEXT,
		.text = { arena_copy(arena, reader->run.items, reader->run.count),
			  reader->run.count },
	};
	reader->run.count = 0;
}

static void add_bytes(struct reader *reader, bool glob, const char *bytes, size_t len)
{
	if (reader->glob != glob)
		end_run(reader);
	reader->glob = glob;
	for (size_t i = 0; i < len; i++)
		*VEC_PUSH(reader->words->arena, &reader->run) = bytes[i];
}

static void add_tmpl(struct reader *reader, struct tmpl tmpl)
{
	for (size_t i = 0; i < tmpl.count; i++) {
		const struct seg *seg = &tmpl.segs[i];

		if (seg->kind == SBX_SEG_VAR) {
			end_run(reader);
			*VEC_PUSH(reader->words->arena, &reader->segs) = *seg;
		} else {
			add_bytes(reader, seg->kind == SBX_SEG_GLOB, seg->text.ptr, seg->text.len);
		}
	}
}

static bool is_name_byte(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

const struct var *scope_find(const struct scope *scope, struct str name)
{
	for (size_t i = 0; i < scope->count; i++) {
		if (str_equal(scope->items[i].name, name))
			return &scope->items[i];
	}
	return NULL;
}

/* The longest known name at @from ("home" of "home-x"), else the longest that could be one. */
static struct str variable_name(const struct scope *scope, struct str text, size_t from)
{
	size_t end = from;

	while (end < text.len && (is_name_byte(text.ptr[end]) ||
				  (text.ptr[end] == '-' && end > from && end + 1 < text.len &&
				   is_name_byte(text.ptr[end + 1]))))
		end++;

	struct str whole = { text.ptr + from, end - from };
	for (struct str name = whole; name.len; name.len--) {
		bool cut = name.len == whole.len || name.ptr[name.len] == '-';
		if (cut && scope_find(scope, name))
			return name;
	}
	return whole;
}

static bool fail_unknown(struct reader *reader, struct str name, struct span span)
{
	const struct words *words = reader->words;
	const char **names = arena_array(words->arena, words->scope->count, sizeof(*names));
	char *lower = arena_copy(words->arena, name.ptr, name.len);

	for (char *c = lower; *c; c++)
		*c = (char)tolower((unsigned char)*c);
	for (size_t i = 0; i < words->scope->count; i++)
		names[i] = str_cstr(words->arena, words->scope->items[i].name);
	diag_error(words->diags, DIAG_C0206, span, "no variable is called `$%.*s`", STR_ARG(name));

	const char *near = suggest(str_from(lower), names, words->scope->count);
	if (near)
		diag_note(words->diags, NO_PLACE, "did you mean `$%s`?", near);
	return false;
}

/*
 * A text inside a path is a component or a part of one.  What @var is known to
 * stand for, `[from, to)` of the path, must not lead out of it.
 */
static bool check_component(struct reader *reader, const struct var *var, size_t from, size_t to)
{
	const struct words *words = reader->words;
	struct str text = reader->text, value;
	bool whole =
	    from > 0 && text.ptr[from - 1] == '/' && (to == text.len || text.ptr[to] == '/');

	if (!var->value.count || !tmpl_plain(words->arena, var->value, &value))
		return true;
	if (!memchr(value.ptr, '/', value.len) &&
	    !(whole && (!value.len || str_is(value, ".") || str_is(value, ".."))))
		return true;
	diag_error(words->diags, DIAG_C0225, word_span(reader->word, reader->exact, from, to),
		   "`$%.*s` is \"%.*s\": inside a path it is a component or a part of one",
		   STR_ARG(var->name), STR_ARG(value));
	diag_note(words->diags, var->span, "declared here");
	return false;
}

static bool check_variable(struct reader *reader, const struct var *var, size_t from, size_t to)
{
	struct diags *diags = reader->words->diags;
	struct span span = word_span(reader->word, reader->exact, from, to);
	char next = to < reader->text.len ? reader->text.ptr[to] : '/';

	if (!var->folded && var->id == SBX_VAR_CWD && !(reader->flags & WORD_CWD)) {
		diag_error(diags, DIAG_C0207, span,
			   "`$cwd` is for `workspace` only: everywhere else write `$workspace`");
		return false;
	}
	bool own =
	    var->id == SBX_VAR_POLICY || var->id == SBX_VAR_LAUNCHER || var->id == SBX_VAR_SIBLING;
	if (!var->folded && own && !(reader->flags & WORD_ASSERT)) {
		diag_error(diags, DIAG_C0207, span, "`$%.*s` is for assertions only",
			   STR_ARG(var->name));
		return false;
	}
	if (!(reader->flags & READ_PATH))
		return true;
	if (var->type != SBX_PARAM_PATH)
		return check_component(reader, var, from, to);
	if (from != 0) {
		diag_error(diags, DIAG_C0208, span,
			   "`$%.*s` is a whole path: it can only stand at the beginning",
			   STR_ARG(var->name));
		return false;
	}
	if (next != '/') {
		diag_error(diags, DIAG_C0208, span,
			   "`$%.*s` is a whole path: `/` or nothing follows it",
			   STR_ARG(var->name));
		return false;
	}
	return true;
}

/* Reads the variable whose `$` is at @at; returns the offset past it, 0 on an error. */
static size_t read_variable(struct reader *reader, size_t at)
{
	const struct words *words = reader->words;
	bool braced = at + 1 < reader->text.len && reader->text.ptr[at + 1] == '{';
	size_t from = at + 1 + braced, end;
	struct str name;

	if (braced) {
		for (end = from; end < reader->text.len && reader->text.ptr[end] != '}'; end++)
			;
		name = (struct str){ reader->text.ptr + from, end - from };
		if (end == reader->text.len)
			name.len = 0;
		end++;
	} else {
		name = variable_name(words->scope, reader->text, from);
		end = from + name.len;
	}
	if (!name.len) {
		diag_error(words->diags, DIAG_C0206,
			   word_span(reader->word, reader->exact, at, from),
			   "a variable's name follows `$`; a dollar sign is written `\\$`");
		return 0;
	}

	const struct var *var = scope_find(words->scope, name);
	if (!var) {
		fail_unknown(reader, name, word_span(reader->word, reader->exact, at, end));
		return 0;
	}
	if (!check_variable(reader, var, at, end))
		return 0;
	if (var->folded)
		add_tmpl(reader, var->value);
	else
		add_tmpl(reader,
			 (struct tmpl){ &(struct seg){ .kind = SBX_SEG_VAR, .var = var->id }, 1 });
	return end;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return (c | 0x20) - 'a' + 10;
}

/* The parser has refused escapes that there are not.  Returns the offset past this one. */
static size_t read_escape(struct reader *reader, size_t at)
{
	bool string = reader->word->kind == AST_STRING;
	char c = reader->text.ptr[at + 1];
	size_t end = at + 2;

	if (string && c == 'x') {
		c = (char)(hex_digit(reader->text.ptr[at + 2]) << 4 |
			   hex_digit(reader->text.ptr[at + 3]));
		end = at + 4;
	} else if (string && (c == 'n' || c == 't')) {
		c = c == 'n' ? '\n' : '\t';
	}
	add_bytes(reader, false, &c, 1);
	return end;
}

/* `[` to `]`: offset past it, 0 on an error. */
static size_t read_set(struct reader *reader, size_t at)
{
	struct str text = reader->text;
	size_t end = at + 1;

	if (end < text.len && text.ptr[end] == '!')
		end++;
	size_t first = end;
	bool bad = end < text.len && text.ptr[end] == '^';
	while (end < text.len && text.ptr[end] != ']') {
		bad |= text.ptr[end] == '/' || text.ptr[end] == '[' || text.ptr[end] == '$';
		end += text.ptr[end] == '\\' ? 2 : 1;
	}
	if (end >= text.len || end == first || bad) {
		diag_error(
		    reader->words->diags, DIAG_C0210,
		    word_span(reader->word, reader->exact, at, at + 1),
		    "a set is written [a-z] or [!a-z]; a bracket of a name is written `\\[`");
		return 0;
	}
	add_bytes(reader, true, text.ptr + at, end + 1 - at);
	return end + 1;
}

/* A tilde at the beginning; offset past it, 0 on an error. */
static size_t read_tilde(struct reader *reader)
{
	struct str text = reader->text;
	struct span span = word_span(reader->word, reader->exact, 0, text.len);

	if (reader->word->kind == AST_STRING && !(reader->flags & READ_PATH)) {
		if (text.len > 1 && text.ptr[1] != '/') {
			add_bytes(reader, false, "~", 1);
			return 1;
		}
		diag_error(
		    reader->words->diags, DIAG_C0222, span,
		    "in a text `~` is not the home directory: write $home, or `\\x7e` for a tilde");
		return 0;
	}
	if (text.len > 1 && text.ptr[1] != '/') {
		diag_error(reader->words->diags, DIAG_C0202, span,
			   "another user's home has no name here: write its path, as in /home/%.*s",
			   (int)(text.len - 1), text.ptr + 1);
		return 0;
	}
	add_tmpl(reader,
		 (struct tmpl){ &(struct seg){ .kind = SBX_SEG_VAR, .var = SBX_VAR_HOME }, 1 });
	return 1;
}

static size_t read_byte(struct reader *reader, size_t at)
{
	bool bare = reader->word->kind != AST_STRING;
	char c = reader->text.ptr[at];

	if (c == '\\')
		return read_escape(reader, at);
	if (c == '$')
		return read_variable(reader, at);
	if (c == '~' && at == 0)
		return read_tilde(reader);
	if (bare && reader->flags & READ_PATTERN) {
		if (c == '[')
			return read_set(reader, at);
		if (c == '*' || c == '?') {
			add_bytes(reader, true, &c, 1);
			return at + 1;
		}
	}
	add_bytes(reader, false, &c, 1);
	return at + 1;
}

bool words_read(const struct words *words, const struct ast_word *word, struct str text, bool exact,
		unsigned flags, struct tmpl *out)
{
	struct reader reader = {
		.words = words,
		.word = word,
		.text = text,
		.exact = exact,
		.flags = flags,
	};

	for (size_t at = 0; at < text.len;) {
		at = read_byte(&reader, at);
		if (!at)
			return false;
	}
	end_run(&reader);
	if (!reader.segs.count) /* "": a template that is there, and empty */
		*VEC_PUSH(words->arena, &reader.segs) =
		    (struct seg){ .kind = SBX_SEG_TEXT, .text = STR_LIT("") };
	*out = (struct tmpl){ reader.segs.items, reader.segs.count };
	return true;
}
