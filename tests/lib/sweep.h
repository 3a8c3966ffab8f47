/*
 * tests/lib/sweep.h - everything that can be asked of a blob, asked.
 */
#ifndef SBX_TESTS_LIB_SWEEP_H
#define SBX_TESTS_LIB_SWEEP_H

#include "blob/blob.h"

/* Reads every string and template and calls every verdict function; under a
 * sanitizer, an access that the validator should have prevented ends it. */
void sweep_blob(const struct sbx_blob *blob);
/* Sets the digest that the rest of the bytes have, in the policy of jobs too. */
void sweep_fix_digest(void *data, size_t size);

#endif
