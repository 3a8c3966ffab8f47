/*
 * compiler/text.c - a line of text that grows in the arena.
 */
#include "compiler/text.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

void text_byte(struct text *text, char byte)
{
	*VEC_PUSH(text->arena, &text->bytes) = byte;
}

void text_add(struct text *text, const char *fmt, ...)
{
	va_list args, again;
	int length;
	char *part;

	va_start(args, fmt);
	va_copy(again, args);
	length = vsnprintf(NULL, 0, fmt, args);
	va_end(args);
	if (length < 0)
		BUG("a format that cannot be printed");
	part = arena_alloc(text->arena, (size_t)length + 1);
	vsnprintf(part, (size_t)length + 1, fmt, again);
	va_end(again);
	for (int i = 0; i < length; i++)
		text_byte(text, part[i]);
}

void text_quoted(struct text *text, const char *words)
{
	text_byte(text, '"');
	for (; *words; words++) {
		if (*words == '\n') {
			text_add(text, "\\n");
			continue;
		}
		if (*words == '"' || *words == '\\' || *words == '$')
			text_byte(text, '\\');
		text_byte(text, *words);
	}
	text_byte(text, '"');
}

const char *text_end(struct text *text)
{
	return arena_copy(text->arena, text->bytes.items, text->bytes.count);
}

void text_size(struct text *text, uint64_t bytes)
{
	static const char units[] = "KMGT";
	int unit = -1;

	while (bytes && bytes % 1024 == 0 && unit < 3) {
		bytes /= 1024;
		unit++;
	}
	text_add(text, "%" PRIu64, bytes);
	if (unit >= 0)
		text_byte(text, units[unit]);
}

void text_time(struct text *text, uint64_t seconds)
{
	static const struct {
		uint64_t seconds;
		char unit;
	} units[] = { { 86400, 'd' }, { 3600, 'h' }, { 60, 'm' }, { 1, 's' } };
	size_t i = 0;

	while (seconds % units[i].seconds)
		i++;
	text_add(text, "%" PRIu64 "%c", seconds / units[i].seconds, units[i].unit);
}
