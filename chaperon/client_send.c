/*
 * chaperon/client_send.c - what a client is told: see client.h.
 */
#include "chaperon/client.h"

#include <stdarg.h>
#include <stdio.h>

#define BEHIND (1u << 20) /* bytes that a client has not read: no more is read for it */
#define PIECE  65536

void client_send(struct client *client, enum chaperon_frame_kind kind, const void *data,
		 size_t size)
{
	const char *at = data;

	if (!client->io || client->life == CLIENT_TOLD)
		return;
	do {
		struct chaperon_frame head = { .magic = CHAPERON_FRAME_MAGIC,
					       .version = SBX_CHAPERON_WIRE_VERSION,
					       .kind = (uint8_t)kind,
					       .size = (uint32_t)(size < PIECE ? size : PIECE) };

		bufferevent_write(client->io, &head, sizeof(head));
		if (head.size)
			bufferevent_write(client->io, at, head.size);
		at += head.size;
		size -= head.size;
	} while (size);
	if (client->run && evbuffer_get_length(bufferevent_get_output(client->io)) > BEHIND)
		run_pause(client->run, true);
}

void client_say(struct client *client, const char *format, ...)
{
	char text[2048];
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vsnprintf(text, sizeof(text) - 1, format, arguments);
	va_end(arguments);
	if (length > (int)sizeof(text) - 2)
		length = (int)sizeof(text) - 2;
	sbx_make_printable(text);
	text[length++] = '\n';
	client_send(client, CHAPERON_ERROR, text, (size_t)length);
}
