/*
 * "did you mean": the Damerau-Levenshtein distance in its restricted form
 * (insert, delete, replace, swap two neighbours), three rows of the table at
 * a time.  A difference of case alone costs nothing: WRITE means write.
 */
#include "base/diag.h"

#include <ctype.h>

#define WORD_MAX 64 /* nobody mistypes a longer word into a keyword */

static bool same(char a, char b)
{
	return tolower((unsigned char)a) == tolower((unsigned char)b);
}

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

static size_t distance(struct str a, struct str b)
{
	size_t rows[3][WORD_MAX + 1];
	size_t *before = rows[0], *above = rows[1], *row = rows[2];

	for (size_t j = 0; j <= b.len; j++)
		row[j] = j;
	for (size_t i = 1; i <= a.len; i++) {
		size_t *spare = before;

		before = above;
		above = row;
		row = spare;
		row[0] = i;
		for (size_t j = 1; j <= b.len; j++) {
			row[j] = above[j - 1] + !same(a.ptr[i - 1], b.ptr[j - 1]);
			row[j] = least(row[j], least(above[j], row[j - 1]) + 1);
			if (i > 1 && j > 1 && same(a.ptr[i - 1], b.ptr[j - 2]) &&
			    same(a.ptr[i - 2], b.ptr[j - 1]))
				row[j] = least(row[j], before[j - 2] + 1);
		}
	}
	return row[b.len];
}

const char *suggest(struct str word, const char *const *candidates, size_t count)
{
	size_t best = word.len / 3 + 1;
	const char *nearest = NULL;

	if (word.len > WORD_MAX)
		return NULL;
	for (size_t i = 0; i < count; i++) {
		struct str candidate = str_from(candidates[i]);
		size_t cost;

		if (candidate.len > WORD_MAX)
			continue;
		cost = distance(word, candidate);
		if (cost < best) {
			best = cost;
			nearest = candidates[i];
		}
	}
	return nearest;
}
