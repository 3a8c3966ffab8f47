/*
 * blob/source_names.c - the names of files that a word of `source exec` may hold.
 *
 * What a word means only its program knows, so each reading counts: "--from=A:B" may name
 * A, B, "A:B" and a file of the whole word's name, and "-xfA" may name A, "fA" and "xfA".
 * Whoever is asked too much refuses too much; a name that is overlooked is a program that
 * the sandbox writes and that is run outside.
 */
#include <string.h>

#include "blob/verdict.h"

/* True for the word's end, too. */
static bool parts(char c)
{
	return strchr(SBX_BETWEEN_NAMES, c) != NULL;
}

/* Behind what parts names; and within "-xfNAME", up to its first slash. */
static bool begins(const char *word, size_t at)
{
	size_t option = at;

	while (option && !parts(word[option - 1]))
		option--;
	return option == at || (word[option] == '-' && word[option + 1] != '-' &&
				!memchr(word + option, '/', at - option));
}

bool sbx_next_name(const char *word, struct sbx_name *name)
{
	size_t at = name->end;

	if (!*word)
		return false;
	if (!word[at]) {
		do
			if (!word[at = ++name->start])
				return false;
		while (!begins(word, at));
	}
	do
		at++;
	while (!parts(word[at]));
	name->end = at;
	return true;
}
