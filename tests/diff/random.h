/*
 * tests/diff/random.h - pairs of small random policies.
 */
#ifndef SBX_TESTS_DIFF_RANDOM_H
#define SBX_TESTS_DIFF_RANDOM_H

#include "compiler/diff.h"
#include "tests/lib/model.h"

struct pair {
	struct arena arena;
	struct policy *policy[2];
	struct emitted out[2];
	struct sbx_blob blob[2];
	struct diff diff;
	struct sbx_fs_set set[2];
	const char *history[512];
	size_t lines;
};
/* The numbers that everything is drawn from. */
void random_seed(unsigned long seed);
unsigned below(unsigned limit);
#define PICK(array) ((array)[below(sizeof(array) / sizeof(*(array)))])

/* Names that their rules speak of. */
enum { ENV_NAMES = 7, CALL_NAMES = 5 };
extern const char *const env_names[ENV_NAMES], *const call_names[CALL_NAMES];

/* Two policies, compiled and compared; into a @pair of zeros. */
void make_pair(struct pair *pair);

#endif
