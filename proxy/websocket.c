/*
 * proxy/websocket.c - see websocket.h.
 */
#include "proxy/websocket.h"

#include <string.h>

#define FINAL    0x80
#define RESERVED 0x70 /* an extension's, and none was agreed on */
#define OPCODE   0x0f
#define CONTROL  0x08 /* in the opcode */
#define PONG     0x0a /* the last there is */
#define BINARY   0x02 /* the last of a message's; the first, 0, goes on with one */
#define MASKED   0x80 /* clients mask */
#define LENGTH   0x7f
#define LENGTH16 126 /* two bytes follow, */
#define LENGTH64 127 /* or eight */

static bool is_control(const struct websocket *websocket)
{
	return websocket->head[0] & CONTROL;
}

static bool is_final(const struct websocket *websocket)
{
	return websocket->head[0] & FINAL;
}

static size_t head_length(const struct websocket *websocket)
{
	uint8_t length = websocket->head[1] & LENGTH;

	if (websocket->head_size < 2)
		return 2;
	return 2 + (length == LENGTH16 ? 2 : length == LENGTH64 ? 8 : 0);
}

/* A head that is whole. */
static bool begin_frame(struct websocket *websocket)
{
	const uint8_t *head = websocket->head;
	uint8_t opcode = head[0] & OPCODE;
	size_t size = head_length(websocket);

	if (head[0] & RESERVED || head[1] & MASKED)
		return false;
	websocket->left = size == 2 ? head[1] & LENGTH : 0;
	for (size_t i = 2; i < size; i++)
		websocket->left = websocket->left << 8 | head[i];
	if (opcode & CONTROL) {
		websocket->control_size = 0;
		return opcode <= PONG && is_final(websocket) &&
		       websocket->left <= sizeof(websocket->control);
	}
	if (opcode > BINARY || !opcode != websocket->within)
		return false;
	if (opcode)
		websocket->opcode = opcode;
	websocket->within = true;
	return websocket->left <= INT64_MAX;
}

static void put_head(uint8_t first, size_t size, redact_put *put, void *context)
{
	uint8_t head[10] = { first, (uint8_t)size };
	unsigned more = size < LENGTH16 ? 0 : size <= UINT16_MAX ? 2 : 8;

	if (more)
		head[1] = more == 2 ? LENGTH16 : LENGTH64;
	for (unsigned i = 0; i < more; i++)
		head[2 + i] = (uint8_t)((uint64_t)size >> 8 * (more - 1 - i));
	put(context, head, 2 + more);
}

/* @size bytes of the message are about to go on. */
static void begin_fragment(struct websocket *websocket, bool last, size_t size, redact_put *put,
			   void *context)
{
	if (!size && !last)
		return;
	put_head(websocket->opcode | (last ? FINAL : 0), size, put, context);
	websocket->opcode = 0;
}

/* What a frame carries, or a part of it. */
static bool take_message(struct websocket *websocket, struct redact *redact, uint8_t *data,
			 size_t size, redact_put *put, void *context)
{
	bool last = is_final(websocket) && size == websocket->left;
	size_t goes = last ? redact_waits(redact) + size : redact_ready(redact, data, size);

	begin_fragment(websocket, last, goes, put, context);
	if (!redact_feed(redact, data, size, put, context))
		return false;
	if (last)
		redact_release(redact, put, context);
	websocket->within = !last;
	return true;
}

/* It may come amidst a message, whose text it is no part of. */
static bool take_control(struct websocket *websocket, struct redact *redact, const uint8_t *data,
			 size_t size, redact_put *put, void *context)
{
	memcpy(websocket->control + websocket->control_size, data, size);
	websocket->control_size += (uint8_t)size;
	if (size < websocket->left)
		return true;
	if (!redact_whole(redact, websocket->control, websocket->control_size))
		return false;
	put_head(websocket->head[0], websocket->control_size, put, context);
	put(context, websocket->control, websocket->control_size);
	return true;
}

bool websocket_feed(struct websocket *websocket, struct redact *redact, uint8_t *data, size_t size,
		    redact_put *put, void *context)
{
	while (size) {
		size_t run;
		bool good;

		if (websocket->head_size < head_length(websocket)) {
			websocket->head[websocket->head_size++] = *data++;
			size--;
			if (websocket->head_size < head_length(websocket))
				continue;
			if (!begin_frame(websocket))
				return false;
		}
		run = size < websocket->left ? size : (size_t)websocket->left;
		good = is_control(websocket)
			   ? take_control(websocket, redact, data, run, put, context)
			   : take_message(websocket, redact, data, run, put, context);
		if (!good)
			return false;
		data += run;
		size -= run;
		websocket->left -= run;
		if (!websocket->left)
			websocket->head_size = 0;
	}
	return true;
}

void websocket_release(struct websocket *websocket, struct redact *redact, redact_put *put,
		       void *context)
{
	begin_fragment(websocket, false, redact_waits(redact), put, context);
	redact_release(redact, put, context);
}
