/*
 * blob/field_name.c - the name of a field of HTTP, as a server may read it.
 */
#include "blob/verdict.h"

/* Servers that hand fields on as variables take x_api_key for x-api-key, some x.api~key too. */
static char as_variable(char c)
{
	if (c >= 'A' && c <= 'Z')
		return (char)(c | 0x20);
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ? c : '-';
}

/* Each * in turn takes as little as will do: what follows may lie further on as well. */
bool sbx_field_is(const char *shape, const char *name, size_t size)
{
	const char *star = NULL;
	size_t at = 0, from = 0;

	while (at < size || *shape) {
		if (*shape == '*') {
			star = ++shape;
			from = at;
		} else if (*shape && at < size && as_variable(*shape) == as_variable(name[at])) {
			shape++;
			at++;
		} else if (star && from < size) {
			shape = star;
			at = ++from;
		} else {
			return false;
		}
	}
	return true;
}
