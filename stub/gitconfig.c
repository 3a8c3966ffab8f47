/*
 * stub/gitconfig.c - one value of a git configuration.
 *
 * Read as git reads it (git-config(1), "Syntax"), since what we overlook git
 * does not: a section and a key may share a line, names have no case, a value
 * may be quoted in part, escaped, and go on in the next line.
 */
#include "stub/git.h"

#include <string.h>

#include "stub/mem.h"
#include "stub/out.h"

static bool is_name(char c)
{
	return ((c | 32) >= 'a' && (c | 32) <= 'z') || (c >= '0' && c <= '9') || c == '-' ||
	       c == '.';
}

static bool is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r' && c != '\n');
}

/* Past the name at *@at; does it equal @word? */
static bool take_name(const char **at, const char *word)
{
	const char *start = *at;

	while (is_name(**at))
		++*at;
	return (size_t)(*at - start) == strlen(word) && !strncasecmp(start, word, strlen(word));
}

/* "[section "sub"]", past the bracket: is it [core]? */
static bool take_section(const char **at, bool *includes)
{
	const char *name = *at;
	bool core = take_name(at, "core") && **at == ']', quoted = false;

	*includes |= !strncasecmp(name, "include", 7);
	for (; **at && **at != '\n' && (quoted || **at != ']'); ++*at) {
		if (**at == '"')
			quoted = !quoted;
		else if (**at == '\\' && (*at)[1])
			++*at;
	}
	*at += **at == ']';
	return core;
}

static char unescape(char c)
{
	return c == 't' ? '\t' : c == 'n' ? '\n' : c == 'b' ? '\b' : c;
}

/* Behind the "=", to the end of its line or lines. */
static const char *take_value(const char **at)
{
	const char *s = *at;
	char *value = mem_get(strlen(s) + 1);
	size_t length = 0, kept = 0; /* kept: without the blanks at the end */
	bool quoted = false;

	for (; *s && *s != '\n'; s++) {
		if (*s == '"') {
			quoted = !quoted;
			kept = length;
			continue;
		}
		if (!quoted && (*s == '#' || *s == ';')) {
			while (*s && *s != '\n')
				s++;
			break;
		}
		if (!quoted && is_blank(*s)) {
			if (length)
				value[length++] = *s;
			continue;
		}
		char c = *s;
		if (c == '\\' && s[1]) {
			s += s[1] == '\r' && s[2] == '\n' ? 2 : 1;
			if (*s == '\n')
				continue;
			c = unescape(*s);
		}
		value[length++] = c;
		kept = length;
	}
	value[kept] = '\0';
	*at = s;
	return value;
}

const char *git_config_core(const char *text, const char *key, bool *includes)
{
	const char *value = NULL;
	bool core = false;

	*includes = false;
	while (*text) {
		if (*text == '[') {
			text++;
			core = take_section(&text, includes);
		} else if (*text == '#' || *text == ';') {
			text += strcspn(text, "\n");
		} else if (is_name(*text)) {
			bool ours = take_name(&text, key) && core;

			while (is_blank(*text))
				text++;
			if (*text != '=')
				continue;
			text++;
			const char *found = take_value(&text);
			if (ours)
				value = found;
		} else {
			text++;
		}
	}
	return value;
}
