/*
 * Errors by their names.  Their numbers are the same on both of our
 * architectures (asm-generic/errno.h).
 */
#include <errno.h>

#include "compiler/lower_calls.h"

static const struct {
	const char *name;
	unsigned value;
} errors[] = {
#define E(error) { #error, error },
#include "compiler/errnos.def"
#undef E
};

#define ERROR_COUNT (sizeof(errors) / sizeof(errors[0]))

unsigned errno_by_name(struct str name)
{
	for (size_t i = 0; i < ERROR_COUNT; i++) {
		if (str_is(name, errors[i].name))
			return errors[i].value;
	}
	return 0;
}

const char *errno_suggest(struct str name)
{
	const char *names[ERROR_COUNT];

	for (size_t i = 0; i < ERROR_COUNT; i++)
		names[i] = errors[i].name;
	return suggest(name, names, ERROR_COUNT);
}
