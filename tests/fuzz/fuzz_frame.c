/*
 * Any bytes as what a client sends to sbx-chaperon: whole and piece by piece they end the
 * same, and what is kept stays within the bounds of the wire.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chaperon/frame.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define fault(...) (fprintf(stderr, __VA_ARGS__), fputc('\n', stderr), abort())

/* All whole frames of @data.  Returns what is wrong, or NULL; *used: how far it came. */
static const char *take_all(struct intake *intake, const uint8_t *data, size_t size, size_t *used)
{
	struct chaperon_frame head;
	const char *wrong;

	for (;;) {
		uint8_t *copy = malloc(size - *used + 1); /* so that reading past it is seen */
		enum frame_state state;

		memcpy(copy, data + *used, size - *used);
		state = frame_read(copy, size - *used, &head, &wrong);
		if (state == FRAME_WHOLE) {
			wrong = intake_take(intake, &head, copy + sizeof(head));
			*used += sizeof(head) + head.size;
			if (!wrong && intake->stage == INTAKE_RUNNING && !intake->script_whole)
				intake_want_script(intake);
		}
		free(copy);
		if (state != FRAME_WHOLE || wrong)
			return wrong;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct intake whole = { 0 }, pieces = { 0 };
	size_t at = 0, used = 0;
	const char *wrong = take_all(&whole, data, size, &at), *piecewise = NULL;

	for (size_t end = 0; end <= size && !piecewise; end += 1 + end / 8)
		piecewise = take_all(&pieces, data, end, &used);
	if (!piecewise)
		piecewise = take_all(&pieces, data, size, &used);
	if (wrong != piecewise)
		fault("whole: %s, in pieces: %s", wrong ? wrong : "-", piecewise ? piecewise : "-");
	if (whole.bytes > CHAPERON_REQUEST_MAX + CHAPERON_FRAME_MAX ||
	    whole.script_size > CHAPERON_SCRIPT_MAX ||
	    whole.arguments.count + whole.environment.count > CHAPERON_STRINGS_MAX)
		fault("more is kept than the wire allows");
	if (whole.stage != INTAKE_REQUEST && (!whole.cwd || !whole.arguments.count))
		fault("runs without a directory or a command");
	intake_free(&whole);
	intake_free(&pieces);
	return 0;
}
