/*
 * Words and strings as the lexer finds them.  The first byte says what a bare
 * word is.  Text is kept as written; only what could quietly mean something
 * else is refused here: a word glued to a string or a comment, an escape that
 * bare words do not know, a quoted blank that nobody sees.
 */
#include "grammar/parse.h"

#include <ctype.h>

#include "grammar/parser.h"

static char byte_at(const struct parse *p, uint32_t offset)
{
	return p->source->text.ptr[offset];
}

struct ast_word *token_text(struct parse *p, enum ast_word_kind kind)
{
	struct ast_word *word = ARENA_NEW(p->arena, struct ast_word);
	uint32_t quote = kind == AST_STRING;

	word->kind = kind;
	word->span = span_at(p, p->start, p->offset);
	word->text.ptr = p->source->text.ptr + p->start + quote;
	word->text.len = p->offset - p->start - 2 * quote;
	return word;
}

/* Reports and returns true when this token touches the word before it. */
static bool glued(struct parse *p)
{
	bool touches = p->start == p->word_end && p->start > 0;

	p->word_end = p->offset;
	if (touches)
		lexer_error(p, DIAG_P0107, "a string glued to a word: write one string");
	return touches;
}

bool token_comment(struct parse *p)
{
	if (p->start == 0 || strchr(" \t\r\n", byte_at(p, p->start - 1)))
		return true;
	parse_error(p, DIAG_P0106, span_at(p, p->start, p->start + 1),
		    "a `#` glued to what is before it: put a blank before the comment, or quote "
		    "the name");
	return false;
}

/* False: the escape at @at, inside a bare word, is an error. */
static bool check_word_escape(struct parse *p, uint32_t at)
{
	char byte = byte_at(p, at + 1);
	bool edge = at == p->start || at + 2 == p->offset;

	if (isalnum((unsigned char)byte)) {
		parse_error(p, DIAG_P0114, span_at(p, at, at + 2),
			    "`\\%c` is an escape of strings: quote the word, or write `\\\\` for a "
			    "backslash",
			    byte);
		return false;
	}
	if (edge && (byte == ' ' || byte == '\t')) {
		parse_error(p, DIAG_P0116, span_at(p, at, at + 1),
			    "a `\\` before a blank quotes it: to continue the line end it with the "
			    "`\\`, for a name use a string");
		return false;
	}
	return true;
}

static bool check_word(struct parse *p)
{
	for (uint32_t at = p->start; at < p->offset; at++) {
		if (byte_at(p, at) != '\\')
			continue;
		if (!check_word_escape(p, at))
			return false;
		at++;
	}
	return true;
}

/* `param shm size`: no modifier can stand there, and one type is called like one. */
static bool is_param_type(const struct parse *p)
{
	return p->ordinal == 3 && p->clause == CLAUSE_HEAD && str_is(p->verb->text, "param");
}

/* The token of a reserved word, 0: it is none. */
static int reserved_token(struct parse *p, union YYSTYPE *value)
{
	struct str text = { p->source->text.ptr + p->start, p->offset - p->start };
	enum ast_mod_kind kind = 0;

	if (is_param_type(p))
		return 0;
	if (str_is(text, "and"))
		return AND;
	while (kind < AST_MOD__END && !str_is(text, ast_mod_word(kind)))
		kind++;
	value->reserved = (struct reserved){ kind, span_at(p, p->start, p->offset) };
	switch (kind) {
	case AST_MOD__END:
		return 0;
	case AST_MOD_IN:
		return IN;
	case AST_MOD_WITH:
		return WITH;
	case AST_MOD_WHERE:
		return WHERE;
	default:
		return MODIFIER;
	}
}

int token_word(struct parse *p, union YYSTYPE *value)
{
	enum ast_word_kind kind;
	int token;

	if (glued(p) || !check_word(p))
		return YYerror;
	token = reserved_token(p, value);
	if (token)
		return token;
	switch (byte_at(p, p->start)) {
	case '/':
	case '~':
	case '$':
		kind = AST_PATH;
		break;
	case '@':
		kind = AST_GROUP;
		break;
	case '-':
		kind = AST_OPTION;
		break;
	default:
		kind = AST_NAME;
	}
	value->word = token_text(p, kind);
	return kind == AST_NAME ? NAME : OBJECT;
}

/* The length of the escape at @at in a string, 0: there is no such escape. */
static uint32_t string_escape(const struct parse *p, uint32_t at)
{
	char byte = byte_at(p, at + 1);

	if (strchr("\"\\nt$", byte))
		return 2;
	if (byte == 'x' && isxdigit((unsigned char)byte_at(p, at + 2)) &&
	    isxdigit((unsigned char)byte_at(p, at + 3)) &&
	    !(byte_at(p, at + 2) == '0' && byte_at(p, at + 3) == '0'))
		return 4;
	return 0;
}

int token_string(struct parse *p, union YYSTYPE *value)
{
	if (glued(p))
		return YYerror;
	for (uint32_t at = p->start + 1, len; at < p->offset - 1; at += len) {
		len = byte_at(p, at) == '\\' ? string_escape(p, at) : 1;
		if (len)
			continue;
		parse_error(
		    p, DIAG_P0113, span_at(p, at, at + 2),
		    "a string has the escapes \\\" \\\\ \\n \\t \\$ and \\xNN (two hex digits, "
		    "not 00)");
		return YYerror;
	}
	value->word = token_text(p, AST_STRING);
	return STRING;
}
