/*
 * The tokens of a policy source, comments and line breaks among them.
 *
 * The tree has the span of each word.  Between two of them there is nothing but
 * blanks, line breaks, comments, punctuation and the small words `and` and `in`:
 * that is scanned here.  So no word or string is ever read a second time, and
 * none can be read in another way than the lexer did.
 */
#include "compiler/fmt_tokens.h"

#include <stdint.h>

struct reader {
	struct arena *arena;
	struct str text;
	uint32_t at; /* what is before it has been read */
	struct fmt_tokens *out;
};

static void add(struct reader *r, enum fmt_kind kind, uint32_t end)
{
	struct fmt_token *token = VEC_PUSH(r->arena, r->out);

	*token = (struct fmt_token){ .kind = kind, .text = { r->text.ptr + r->at, end - r->at } };
	r->at = end;
}

static void add_comment(struct reader *r)
{
	const char *text = r->text.ptr;
	uint32_t end = r->at;
	struct str *comment;

	while (end < r->text.len && text[end] != '\n')
		end++;
	add(r, FMT_COMMENT, end);
	comment = &r->out->items[r->out->count - 1].text;
	while (strchr(" \t\r", comment->ptr[comment->len - 1]))
		comment->len--;
}

static bool is_empty_line(const struct fmt_tokens *tokens)
{
	size_t count = tokens->count;

	return count > 1 && tokens->items[count - 1].kind == FMT_BREAK &&
	       tokens->items[count - 2].kind == FMT_BREAK;
}

/* The tokens before @end, where the next word of the tree starts. */
static void read_gap(struct reader *r, uint32_t end)
{
	const char *text = r->text.ptr;

	while (r->at < end) {
		uint32_t next = r->at + 1;

		switch (text[r->at]) {
		case ' ':
		case '\t':
		case '\r':
			r->at++;
			break;
		case '\n':
			/* One empty line says as much as a million. */
			if (is_empty_line(r->out))
				r->at++;
			else
				add(r, FMT_BREAK, next);
			break;
		case '\\':
			add(r, FMT_CONTINUE, next + 1 + (text[next] == '\r'));
			break;
		case '#':
			add_comment(r);
			break;
		case ';':
			add(r, FMT_SEMI, next);
			break;
		case '{':
			add(r, FMT_OPEN, next);
			break;
		case '}':
			add(r, FMT_CLOSE, next);
			break;
		case '&':
			add(r, FMT_WORD, next);
			break;
		default: /* a comparison, or `and`, `in` */
			if (strchr("=<>!", text[r->at]))
				next += text[next] == '=';
			else
				while (next < end && !strchr(" \t\r\n;{}#=<>&!\"\\", text[next]))
					next++;
			add(r, FMT_WORD, next);
		}
	}
}

static void add_span(struct reader *r, uint32_t start, uint32_t end, enum fmt_column column)
{
	if (start < r->at || end < start)
		BUG("words out of their order");
	read_gap(r, start);
	if (r->at != start)
		BUG("a word inside of another");
	add(r, FMT_WORD, end);
	r->out->items[r->out->count - 1].column = column;
}

static void add_words(struct reader *r, const struct ast_word *word)
{
	for (; word; word = word->next)
		add_span(r, word->span.start, word->span.end, FMT_NONE);
}

/* ---- what is aligned ------------------------------------------------------------------- */

static bool is_any(struct str word, const char *const *words)
{
	for (; *words; words++)
		if (str_is(word, *words))
			return true;
	return false;
}

/* What says when or why a statement holds; the others are part of what it says. */
static bool is_note(enum ast_mod_kind kind)
{
	switch (kind) {
	case AST_MOD_OPTIONAL:
	case AST_MOD_BEST_EFFORT:
	case AST_MOD_PLACEHOLDER:
	case AST_MOD_BECAUSE:
	case AST_MOD_COMPAT:
	case AST_MOD_WAIVE:
	case AST_MOD_WITHOUT:
		return true;
	default:
		return false;
	}
}

/* How many words behind the verb start a column of their own, one after the other. */
static unsigned columns_of(const struct ast_stmt *stmt, const char *section)
{
	static const char *const named[] = { "set", "param", "number", "const", "signature", NULL };

	if (strcmp(section, "command") == 0 && str_is(stmt->verb->text, "option"))
		return 4;
	return strcmp(section, "assert") == 0 || is_any(stmt->verb->text, named) ? 2 : 1;
}

/* `deny write PATH`: the first word is the verb's. */
static bool has_long_verb(const struct ast_stmt *stmt, const char *section)
{
	return strcmp(section, "fs") == 0 && stmt->items && stmt->items->kind == AST_NAME;
}

static void add_objects(struct reader *r, const struct ast_stmt *stmt, const char *section)
{
	static const char *const unpadded[] = { "language", "policy", "module",  "site", "extend",
						"import",   "group",  "default", "mode", NULL };
	const struct ast_word *word = stmt->items;
	unsigned columns = columns_of(stmt, section), column = FMT_FIRST;

	if (has_long_verb(stmt, section)) {
		add_span(r, word->span.start, word->span.end, FMT_NONE);
		word = word->next;
	}
	for (; word; word = word->next) {
		/* An option without a letter leaves a hole there. */
		if (columns == 4 && column == FMT_SECOND &&
		    (word->kind != AST_OPTION || word->text.len != 2))
			column++;
		add_span(r, word->span.start, word->span.end,
			 column <= columns ? (enum fmt_column)column : FMT_NONE);
		if (column == FMT_FIRST)
			r->out->items[r->out->count - 1].alone = is_any(stmt->verb->text, unpadded);
		column++;
	}
	if (stmt->value) {
		size_t before = r->out->count;

		read_gap(r, stmt->value->span.start);
		for (; before < r->out->count && column <= columns; before++)
			if (str_is(r->out->items[before].text, "="))
				r->out->items[before].column = (enum fmt_column)column;
		add_words(r, stmt->value);
	}
}

static void add_mod(struct reader *r, const struct ast_mod *mod)
{
	uint32_t start = mod->span.start;

	add_span(r, start, start + (uint32_t)strlen(ast_mod_word(mod->kind)),
		 is_note(mod->kind) ? FMT_NOTE : FMT_NONE);
	add_words(r, mod->words);
	for (const struct ast_bind *bind = mod->binds; bind; bind = bind->next) {
		add_words(r, bind->name);
		add_words(r, bind->value);
	}
	for (const struct ast_cond *cond = mod->conds; cond; cond = cond->next) {
		add_words(r, cond->name);
		add_words(r, cond->mask);
		add_words(r, cond->values);
	}
}

static void add_block(struct reader *r, const struct ast_stmt *stmt, const char *section)
{
	for (; stmt; stmt = stmt->next) {
		size_t before;

		add_span(r, stmt->verb->span.start, stmt->verb->span.end, FMT_NONE);
		add_objects(r, stmt, section);
		for (const struct ast_mod *mod = stmt->mods; mod; mod = mod->next)
			add_mod(r, mod);
		if (!stmt->has_block)
			continue;
		before = r->out->count;
		while (r->out->count == before || r->out->items[r->out->count - 1].kind != FMT_OPEN)
			read_gap(r, r->at + 1);
		if (!stmt->items)
			r->out->items[r->out->count - 1].column = FMT_BRACE;
		add_block(r, stmt->block, str_cstr(r->arena, stmt->verb->text));
	}
}

void fmt_tokenize(struct arena *arena, const struct ast_file *file, struct fmt_tokens *out)
{
	struct reader r = { .arena = arena, .text = file->source->text, .out = out };

	add_block(&r, file->stmts, "");
	read_gap(&r, (uint32_t)r.text.len);
	add(&r, FMT_BREAK, r.at);
}
