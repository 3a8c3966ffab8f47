/*
 * proxy/websocket.h - the frames that a server sends (RFC 6455 5), searched for a secret.
 *
 * Pure.  A message that is interactive must not wait for what may follow it, and a frame's
 * length stands before its bytes.  So frames are made anew: each piece of a message that can
 * go on is a fragment of its own, and with the message's end all of it goes.
 */
#ifndef SBX_PROXY_WEBSOCKET_H
#define SBX_PROXY_WEBSOCKET_H

#include "proxy/redact.h"

struct websocket {                          /* of zeros: nothing has come */
	uint8_t head[14], head_size;        /* of the frame, as far as it is there */
	uint64_t left;                      /* of what it carries */
	bool within;                        /* a message has begun, and is not at its end */
	uint8_t opcode;                     /* of the next fragment of it */
	uint8_t control[125], control_size; /* what a ping or its like carries */
};

/* Takes what has come, hands frames on.  False: these are no frames, or compressed, or no
 * memory; the connection is to be closed. */
bool websocket_feed(struct websocket *websocket, struct redact *redact, uint8_t *data, size_t size,
		    redact_put *put, void *context);
/* What waits goes on, as a fragment. */
void websocket_release(struct websocket *websocket, struct redact *redact, redact_put *put,
		       void *context);

#endif
