/*
 * chaperon/frame.c - see frame.h.
 */
#include "chaperon/frame.h"

#include <stdlib.h>
#include <string.h>

enum frame_state frame_read(const void *data, size_t size, struct chaperon_frame *head,
			    const char **wrong)
{
	*wrong = NULL;
	if (size < sizeof(*head)) {
		/* Who sends something else is told at its first bytes. */
		uint32_t magic = CHAPERON_FRAME_MAGIC;

		if (memcmp(data, &magic, size < sizeof(magic) ? size : sizeof(magic)) != 0)
			*wrong = "this is no request of sbx-slurm";
		return *wrong ? FRAME_BROKEN : FRAME_MORE;
	}
	memcpy(head, data, sizeof(*head));
	if (head->magic != CHAPERON_FRAME_MAGIC)
		*wrong = "this is no request of sbx-slurm";
	else if (head->version != SBX_CHAPERON_WIRE_VERSION)
		*wrong = "sbx-slurm and sbx-chaperon are of two versions: install both anew";
	else if (head->zero || !head->kind || head->kind > CHAPERON_SIGNAL)
		*wrong = "a frame of an unknown kind";
	else if (head->size > CHAPERON_FRAME_MAX)
		*wrong = "a frame is too long";
	if (*wrong)
		return FRAME_BROKEN;
	return size - sizeof(*head) >= head->size ? FRAME_WHOLE : FRAME_MORE;
}

static const char *take_string(struct intake *intake, struct strings *list,
			       const struct chaperon_frame *head, const void *body)
{
	if (memchr(body, '\0', head->size))
		return "a string has a NUL byte";
	if (intake->arguments.count + intake->environment.count >= CHAPERON_STRINGS_MAX)
		return "too many arguments and variables";
	strings_add(list, "%.*s", (int)head->size, (const char *)body);
	return list->broken ? "no memory" : NULL;
}

static const char *take_cwd(struct intake *intake, const struct chaperon_frame *head,
			    const void *body)
{
	if (intake->cwd || !head->size || *(const char *)body != '/' ||
	    memchr(body, '\0', head->size))
		return "the working directory is not understood";
	intake->cwd = strndup(body, head->size);
	return intake->cwd ? NULL : "no memory";
}

static const char *take_request(struct intake *intake, const struct chaperon_frame *head,
				const void *body)
{
	intake->bytes += sizeof(*head) + head->size;
	if (intake->bytes > CHAPERON_REQUEST_MAX)
		return "the request is too long: arguments and variables are 2 MiB at most";
	if (!intake->greeted && head->kind != CHAPERON_HELLO)
		return "a request begins with a greeting";
	switch (head->kind) {
	case CHAPERON_HELLO:
		if (intake->greeted || head->size != sizeof(intake->hello))
			return "the greeting is not understood";
		memcpy(&intake->hello, body, sizeof(intake->hello));
		intake->greeted = true;
		return NULL;
	case CHAPERON_ARGUMENT:
		return take_string(intake, &intake->arguments, head, body);
	case CHAPERON_ENV:
		return memchr(body, '=', head->size)
			   ? take_string(intake, &intake->environment, head, body)
			   : "a variable without a value";
	case CHAPERON_CWD:
		return take_cwd(intake, head, body);
	case CHAPERON_RUN:
		if (head->size || !intake->arguments.count || !intake->cwd)
			return "the request is not complete";
		intake->stage = INTAKE_RUNNING;
		return NULL;
	default:
		return "a frame that has no place in a request";
	}
}

static const char *take_script(struct intake *intake, const struct chaperon_frame *head,
			       const void *body)
{
	size_t size = intake->script_size + head->size;

	if (head->kind != CHAPERON_SCRIPT)
		return "the script is wanted";
	if (!head->size) {
		intake->script_whole = true;
		intake->stage = INTAKE_RUNNING;
		return NULL;
	}
	if (size > CHAPERON_SCRIPT_MAX)
		return "the script is too long: 16 MiB at most";
	if (size > intake->script_room) {
		size_t room = size < 4096 ? 8192 : size * 2;
		char *more;

		if (room > CHAPERON_SCRIPT_MAX)
			room = CHAPERON_SCRIPT_MAX;
		more = realloc(intake->script, room);
		if (!more)
			return "no memory";
		intake->script = more;
		intake->script_room = room;
	}
	memcpy(intake->script + intake->script_size, body, head->size);
	intake->script_size = size;
	return NULL;
}

const char *intake_take(struct intake *intake, const struct chaperon_frame *head, const void *body)
{
	switch (intake->stage) {
	case INTAKE_REQUEST:
		return take_request(intake, head, body);
	case INTAKE_SCRIPT:
		return take_script(intake, head, body);
	default:
		return "a frame that nobody asked for";
	}
}

void intake_want_script(struct intake *intake)
{
	intake->stage = INTAKE_SCRIPT;
}

void intake_drop_script(struct intake *intake)
{
	free(intake->script);
	intake->script = NULL;
	intake->script_size = intake->script_room = 0;
}

void intake_free(struct intake *intake)
{
	strings_free(&intake->arguments);
	strings_free(&intake->environment);
	free(intake->cwd);
	intake_drop_script(intake);
	*intake = (struct intake){ 0 };
}
