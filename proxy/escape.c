/*
 * proxy/escape.c - see escape.h.
 */
#include "proxy/escape.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>

enum state {
	NONE,
	PERCENT,    /* two digits follow */
	LAST_DIGIT, /* one does */
	BACKSLASH,
	UNICODE,   /* \u */
	UNICODE_0, /* \u0 */
	AMPERSAND,
	NUMBER,      /* &# */
	DECIMAL,     /* &#4, up to the semicolon */
	HEXADECIMAL, /* &#x */
	NAME,        /* and one more for each letter of it */
};

/* HTML's names of what a value can hold, sorted. */
static const struct name {
	char name[8], byte;
} names[] = {
	{ "Hat", '^' },    { "amp", '&' },    { "apos", '\'' },  { "ast", '*' },
	{ "bsol", '\\' },  { "colon", ':' },  { "comma", ',' },  { "commat", '@' },
	{ "dollar", '$' }, { "equals", '=' }, { "excl", '!' },   { "grave", '`' },
	{ "gt", '>' },     { "lbrace", '{' }, { "lbrack", '[' }, { "lcub", '{' },
	{ "lowbar", '_' }, { "lpar", '(' },   { "lsqb", '[' },   { "lt", '<' },
	{ "num", '#' },    { "percnt", '%' }, { "period", '.' }, { "plus", '+' },
	{ "quest", '?' },  { "quot", '"' },   { "rbrace", '}' }, { "rbrack", ']' },
	{ "rcub", '}' },   { "rpar", ')' },   { "rsqb", ']' },   { "semi", ';' },
	{ "sol", '/' },    { "verbar", '|' },
};
#define NAMES (sizeof(names) / sizeof(names[0]))

static int hex(uint8_t byte)
{
	if (byte >= '0' && byte <= '9')
		return byte - '0';
	byte |= 0x20;
	return byte >= 'a' && byte <= 'f' ? byte - 'a' + 10 : -1;
}

bool escape_begin(struct escape *escape, uint8_t byte)
{
	escape->state = byte == '%'    ? PERCENT
			: byte == '\\' ? BACKSLASH
			: byte == '&'  ? AMPERSAND
				       : NONE;
	escape->value = 0;
	escape->length++;
	return escape->state != NONE && escape->length < ESCAPE_MAX;
}

static enum escape_result go_on(struct escape *escape, enum state state)
{
	escape->state = (uint8_t)state;
	return ESCAPE_MORE;
}

/* The digits up to a semicolon; of a byte, so there are few but zeros. */
static enum escape_result number(struct escape *escape, uint8_t *byte, int base)
{
	int digit = hex(*byte), value = escape->value * base + digit;

	if (*byte == ';') {
		*byte = escape->value;
		return ESCAPE_BYTE;
	}
	if (digit < 0 || digit >= base || value > 0x7f)
		return ESCAPE_NONE;
	escape->value = (uint8_t)value;
	return ESCAPE_MORE;
}

/* The first of those that begin so is in @value: the next ones are behind it. */
static enum escape_result name(struct escape *escape, uint8_t *byte)
{
	size_t length = escape->state - NAME;
	const struct name *first = &names[escape->value];

	for (size_t i = escape->value; i < NAMES; i++) {
		if (strncmp(names[i].name, first->name, length) != 0)
			break;
		if (*byte == ';' && !names[i].name[length]) {
			*byte = (uint8_t)names[i].byte;
			return ESCAPE_BYTE;
		}
		if (*byte == (uint8_t)names[i].name[length] && *byte) {
			escape->value = (uint8_t)i;
			escape->state++;
			return ESCAPE_MORE;
		}
	}
	return ESCAPE_NONE;
}

enum escape_result escape_next(struct escape *escape, uint8_t *byte)
{
	int digit = hex(*byte);

	if (++escape->length >= ESCAPE_MAX)
		return ESCAPE_NONE;
	switch (escape->state) {
	case PERCENT:
		escape->value = (uint8_t)digit;
		return digit < 0 ? ESCAPE_NONE : go_on(escape, LAST_DIGIT);
	case LAST_DIGIT:
		*byte = (uint8_t)(escape->value << 4 | digit);
		return digit < 0 ? ESCAPE_NONE : ESCAPE_BYTE;
	case BACKSLASH:
		if (ispunct(*byte))
			return ESCAPE_BYTE;
		if (*byte == 'u' || *byte == 'x')
			return go_on(escape, *byte == 'u' ? UNICODE : PERCENT);
		return ESCAPE_NONE;
	case UNICODE:
	case UNICODE_0:
		if (*byte != '0')
			return ESCAPE_NONE;
		return go_on(escape, escape->state == UNICODE ? UNICODE_0 : PERCENT);
	case AMPERSAND:
		if (*byte == '#')
			return go_on(escape, NUMBER);
		go_on(escape, NAME);
		return name(escape, byte);
	case NUMBER:
		if (*byte == 'x' || *byte == 'X')
			return go_on(escape, HEXADECIMAL);
		go_on(escape, DECIMAL);
		return digit < 0 ? ESCAPE_NONE : number(escape, byte, 10);
	case DECIMAL:
		return number(escape, byte, 10);
	case HEXADECIMAL:
		return number(escape, byte, 16);
	default:
		return name(escape, byte);
	}
}
