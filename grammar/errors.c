/*
 * What is said of a token that cannot stand where it stands.  The parser's
 * own "expected" lists are long here, for nearly any word fits nearly
 * anywhere; what helps is the part of the statement that was reached, and
 * the token before.
 */
#include <stdarg.h>
#include <stdio.h>

#include "grammar/parse.h"

#include "grammar/parser.h"

#define SHOWN_MAX 60 /* bytes of a token in a message */

struct span span_at(const struct parse *p, uint32_t start, uint32_t end)
{
	return (struct span){ p->source, start, end };
}

__attribute__((format(printf, 4, 0))) static void
report(struct parse *p, enum diag_code code, struct span span, const char *fmt, va_list args)
{
	char text[512];

	if (p->poisoned)
		return;
	p->poisoned = true;
	vsnprintf(text, sizeof(text), fmt, args);
	diag_error(p->diags, code, span, "%s", text);
}

void parse_error(struct parse *p, enum diag_code code, struct span span, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	report(p, code, span, fmt, args);
	va_end(args);
}

int lexer_error(struct parse *p, enum diag_code code, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	report(p, code, span_at(p, p->start, p->offset), fmt, args);
	va_end(args);
	return YYerror;
}

/* How a token is called in a message. */
static const char *name_of(struct parse *p, struct token token)
{
	size_t len = token.span.end - token.span.start;

	if (token.type == END)
		return "the end of the statement";
	return arena_printf(p->arena, "`%.*s%s`", (int)(len < SHOWN_MAX ? len : SHOWN_MAX),
			    p->source->text.ptr + token.span.start, len > SHOWN_MAX ? "..." : "");
}

static bool is_word(int type)
{
	return type == NAME || type == OBJECT || type == STRING;
}

static bool is_reserved(int type)
{
	return type == MODIFIER || type == IN || type == WITH || type == WHERE || type == AND;
}

static void report_start(struct parse *p)
{
	struct token token = p->current;
	const char *name = name_of(p, token);

	if (token.type == '{')
		parse_error(p, DIAG_P0214, token.span,
			    "a block without its statement: write the `{` on that line");
	else if (is_reserved(token.type))
		parse_error(p, DIAG_P0203, token.span,
			    "a statement starts with a verb, and %s is a modifier: to continue "
			    "the line before, end it with `\\`",
			    name);
	else
		parse_error(p, DIAG_P0202, token.span,
			    "a statement starts with a verb, which %s is not", name);
}

static void report_condition(struct parse *p)
{
	static const char form[] = "it reads `name == value`, `name & mask == value` or "
				   "`name in values`, joined by `and`";
	struct token token = p->current, last = p->last;
	const char *name = name_of(p, token);

	if (last.type == WHERE || last.type == AND)
		parse_error(p, DIAG_P0212, last.span, "%s needs a condition: %s", name_of(p, last),
			    form);
	else if (token.type == '=')
		parse_error(p, DIAG_P0212, token.span, "a comparison is written `==`");
	else if (is_word(token.type) && str_is(str_from(name), "`or`"))
		parse_error(p, DIAG_P0212, token.span,
			    "there is no `or`: write the statement once for each");
	else if (last.type == COMPARISON || last.type == '&' || last.type == IN)
		parse_error(p, DIAG_P0212, last.span, "a value is missing after %s",
			    name_of(p, last));
	else if (token.type == END)
		parse_error(p, DIAG_P0212, last.span, "the condition is cut off: %s", form);
	else
		parse_error(p, DIAG_P0212, token.span, "%s does not fit the condition: %s", name,
			    form);
}

static void report_value(struct parse *p)
{
	if (p->last.type == '=')
		parse_error(p, DIAG_P0211, p->last.span, "a value is missing after `=`");
	else
		parse_error(p, DIAG_P0211, p->current.span,
			    "one value stands after `=`: %s is too much", name_of(p, p->current));
}

static void report_equals(struct parse *p)
{
	if (p->clause == CLAUSE_HEAD)
		parse_error(p, DIAG_P0112, p->current.span,
			    "an `=` right after the verb: leave it out");
	else
		parse_error(p, DIAG_P0211, p->current.span,
			    "an `=` and its value stand before the modifiers");
}

/* `with a = b c`: points at the first word that is no pair. */
static void report_with(struct parse *p)
{
	int type = p->current.type;
	bool here = p->last.type != NAME || type == OBJECT || type == STRING || type == '=';
	struct token odd = here ? p->current : p->last;

	parse_error(p, DIAG_P0201, odd.span,
		    "%s is no pair: `with` takes one answer, or `name = value` pairs",
		    name_of(p, odd));
}

void parse_report_unexpected(struct parse *p)
{
	struct token token = p->current, last = p->last;

	if (last.type == '}')
		parse_error(p, DIAG_P0213, token.span,
			    "%s after a block: a new statement starts on a new line or after `;`",
			    name_of(p, token));
	else if (last.type == 0 || last.type == END || last.type == '{')
		report_start(p);
	else if (p->clause == CLAUSE_WHERE)
		report_condition(p);
	else if (p->clause == CLAUSE_VALUE || last.type == '=')
		report_value(p);
	else if (p->clause == CLAUSE_WITH)
		report_with(p);
	else if (token.type == '=')
		report_equals(p);
	else
		parse_error(p, DIAG_P0212, token.span, "%s belongs into a `where` condition",
			    name_of(p, token));
}
