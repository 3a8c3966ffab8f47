/*
 * Between the lexer and the parser: makes the tokens regular, so that the
 * grammar needs no rule for what a person leaves out.
 *
 * Each statement is followed by exactly one END: empty lines give none, and
 * one is put in before a `}` and at the end of the file.  Every `}` the parser
 * sees has its `{`: a stray one is reported and dropped, a missing one is
 * reported and made up, a block too deep is skipped whole.  So the parser can
 * skip any statement it cannot read and still be in the right block.
 */
#include "grammar/parse.h"

#include "grammar/parser.h"

#define GLUED_BLOCK "a `{` glued to a word: put a blank before a block"

static bool at_start(const struct parse *p)
{
	return p->current.type == 0 || p->current.type == END || p->current.type == '{';
}

/* Takes the current token into account before the next one is read. */
static void advance(struct parse *p)
{
	switch (p->current.type) {
	case 0:
	case END:
	case '{':
	case '}':
		p->clause = CLAUSE_HEAD;
		p->verb = NULL;
		p->ordinal = 0;
		p->poisoned = false;
		break;
	case '=':
		if (p->clause == CLAUSE_HEAD)
			p->clause = CLAUSE_VALUE;
		break;
	case IN:
		if (p->clause != CLAUSE_WHERE)
			p->clause = CLAUSE_MOD;
		break;
	case MODIFIER:
		p->clause = CLAUSE_MOD;
		break;
	case WITH:
		p->clause = CLAUSE_WITH;
		break;
	case WHERE:
		p->clause = CLAUSE_WHERE;
		break;
	}
	p->ordinal++;
	p->last = p->current;
}

static void hold(struct parse *p, int type)
{
	p->holding = true;
	p->held = type;
}

/* Skips to the `}` of a block that may not be opened. */
static int skip_block(struct parse *p, union YYSTYPE *value)
{
	unsigned depth = 1;

	lexer_error(p, DIAG_P0210, "blocks are nested more than %d deep", PARSE_DEPTH_MAX);
	while (depth) {
		int type = lexer_read(p, value);

		if (type == YYEOF) {
			hold(p, YYEOF);
			break;
		}
		depth += type == '{';
		depth -= type == '}';
	}
	return YYerror;
}

static int open_brace(struct parse *p, union YYSTYPE *value)
{
	if (p->depth == PARSE_DEPTH_MAX)
		return skip_block(p, value);
	if (p->start == p->word_end && p->start > 0)
		parse_error(p, DIAG_P0111, span_at(p, p->start, p->offset), GLUED_BLOCK);
	p->open[p->depth++] = span_at(p, p->start, p->offset);
	return '{';
}

static int close_brace(struct parse *p)
{
	if (!at_start(p)) {
		hold(p, '}');
		return END;
	}
	p->depth--;
	return '}';
}

/* At the end of the file: closes what is open, a call at a time. */
static int close_file(struct parse *p)
{
	if (at_start(p) && p->depth == 0)
		return YYEOF;
	hold(p, YYEOF);
	if (!at_start(p))
		return END;
	p->depth--;
	return '}';
}

static int check_equals(struct parse *p)
{
	const char *text = p->source->text.ptr;
	bool before = p->start > 0 && !strchr(" \t\r\n", text[p->start - 1]);
	bool after = !strchr(" \t\r\n", text[p->offset]);

	if (!before && !after)
		return '=';
	if (p->clause == CLAUSE_WHERE)
		return lexer_error(p, DIAG_P0212, "a comparison is written `==`");
	return lexer_error(
	    p, DIAG_P0112,
	    "an `=` glued to a word: where one is needed write `name = value`, quote "
	    "a name that holds it, else leave it out");
}

/* The next token that the grammar has a use for. */
static int next_type(struct parse *p, union YYSTYPE *value)
{
	for (;;) {
		bool fresh = !p->holding;
		int type = fresh ? lexer_read(p, value) : p->held;

		p->holding = false;
		switch (type) {
		case END:
			if (at_start(p))
				continue;
			return END;
		case '{':
			return open_brace(p, value);
		case '}':
			if (p->depth)
				return close_brace(p);
			diag_error(p->diags, DIAG_P0209, span_at(p, p->start, p->offset),
				   "no block is open here");
			continue;
		case '=':
			return check_equals(p);
		case YYEOF:
			if (fresh && p->depth)
				diag_error(p->diags, DIAG_P0208, p->open[p->depth - 1],
					   "the block that starts here has no `}`");
			p->start = p->offset;
			return close_file(p);
		default:
			return type;
		}
	}
}

/* The first token of a statement: its verb, or what stands there. */
static void note_verb(struct parse *p, int type, const union YYSTYPE *value)
{
	const char *brace;

	p->verb = type == NAME ? value->word : token_text(p, AST_NAME);
	brace = memchr(p->verb->text.ptr, '{', p->verb->text.len);
	if (type == NAME && brace) {
		uint32_t at = (uint32_t)(brace - p->source->text.ptr);

		parse_error(p, DIAG_P0111, span_at(p, at, at + 1), GLUED_BLOCK);
	}
}

int parse_token(union YYSTYPE *value, struct parse *p)
{
	int type;

	advance(p);
	type = next_type(p, value);
	p->current = (struct token){ type, span_at(p, p->start, p->offset) };
	if (!p->verb)
		note_verb(p, type, value);
	return type;
}
