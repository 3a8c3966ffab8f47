#include "chaperon/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void strings_add(struct strings *list, const char *format, ...)
{
	va_list arguments;
	char **items = list->items, *text = NULL;

	if (list->broken)
		return;
	if (list->count + 2 > list->room) {
		list->room = list->room ? list->room * 2 : 32;
		items = realloc(list->items, list->room * sizeof(*items));
		if (items)
			list->items = items;
	}
	va_start(arguments, format);
	if (!items || vasprintf(&text, format, arguments) < 0)
		list->broken = true;
	va_end(arguments);
	if (list->broken)
		return;
	list->items[list->count++] = text;
	list->items[list->count] = NULL;
}

void strings_free(struct strings *list)
{
	for (size_t i = 0; i < list->count; i++)
		free(list->items[i]);
	free(list->items);
	*list = (struct strings){ 0 };
}

const char *strings_variable(const struct strings *list, const char *name)
{
	size_t length = strlen(name);

	for (size_t i = 0; i < list->count; i++)
		if (!strncmp(list->items[i], name, length) && list->items[i][length] == '=')
			return list->items[i] + length + 1;
	return NULL;
}

void text_hex(const unsigned char digest[32], char out[65])
{
	for (size_t i = 0; i < 32; i++)
		snprintf(out + 2 * i, 3, "%02x", digest[i]);
}
