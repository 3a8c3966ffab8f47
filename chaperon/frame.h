/*
 * chaperon/frame.h - the frames of a client, and the request that they make up.
 *
 * Everything a client sends goes through here, before anything is done about it.  Pure.
 */
#ifndef SBX_CHAPERON_FRAME_H
#define SBX_CHAPERON_FRAME_H

#include "blob/chaperon_wire.h"
#include "chaperon/text.h"

#include <stdint.h>

enum frame_state { FRAME_MORE, FRAME_WHOLE, FRAME_BROKEN };
/* The frame at the beginning of @data.  @head is set but for FRAME_MORE; FRAME_BROKEN: no
 * length is to be believed any more, and *wrong says why. */
enum frame_state frame_read(const void *data, size_t size, struct chaperon_frame *head,
			    const char **wrong);

enum intake_stage { INTAKE_REQUEST, INTAKE_RUNNING, INTAKE_SCRIPT };
struct intake {
	enum intake_stage stage;
	bool greeted;
	struct chaperon_hello hello;
	struct strings arguments, environment;
	char *cwd;
	size_t bytes; /* of the request so far */
	char *script;
	size_t script_size, script_room;
	bool script_whole;
};

/* Takes one frame of the request or of the script in.  NULL, or what is wrong with it:
 * the connection is then to be ended.  A RUN makes the stage INTAKE_RUNNING. */
const char *intake_take(struct intake *intake, const struct chaperon_frame *head,
			const void *body);
/* From here on the script is expected. */
void intake_want_script(struct intake *intake);
/* The script is where it belongs. */
void intake_drop_script(struct intake *intake);
void intake_free(struct intake *intake);

#endif
