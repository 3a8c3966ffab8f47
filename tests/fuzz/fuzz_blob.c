/*
 * tests/fuzz/fuzz_blob.c - is a blob that the validator accepts safe to ask?
 *
 * A digest would stop every mutation at the door, so it is set right first,
 * as anyone who can write a blob could.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tests/lib/sweep.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	uint8_t *data = malloc(size ? size : 1); /* exact, so that a read behind it is seen */
	struct sbx_blob blob;

	if (!data)
		return 0;
	memcpy(data, bytes, size);
	if (size >= sizeof(struct sbx_header))
		((struct sbx_header *)(void *)data)->size = (uint32_t)size;
	sweep_fix_digest(data, size);
	if (!sbx_blob_open(data, size, &blob))
		sweep_blob(&blob);
	free(data);
	return 0;
}
