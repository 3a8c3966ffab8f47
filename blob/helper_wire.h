/*
 * blob/helper_wire.h - how sbx-exec and a helper of its own, sbx-proxy or sbx-chaperon,
 * speak: what both wires (proxy_wire.h, chaperon_wire.h) begin with.
 *
 * sbx-exec starts a helper with one end of a SOCK_SEQPACKET socket pair as descriptor 3,
 * an empty environment and nothing else.  Each message is one struct helper_message, sent
 * as long as its text is used, with descriptors by SCM_RIGHTS.
 */
#ifndef SBX_BLOB_HELPER_WIRE_H
#define SBX_BLOB_HELPER_WIRE_H

#include <stdint.h>

#define SBX_HELPER_WIRE_FD 3

enum helper_message_kind {
	HELPER_SESSION = 1, /* @value: the wire's version; descriptors: the helper's wire says */
	HELPER_READY,       /* the program may begin */
	HELPER_FAILED,      /* @text: why, and what to do about it */
	HELPER_LISTEN,      /* carries a socket that listens; @value: the helper's wire says */
	HELPER_NOTE,        /* @text: one line for the person, already escaped */
	HELPER_OWN,         /* from here on each has its own */
};

#define HELPER_FDS  4 /* with one message, at most */
#define HELPER_TEXT 1500
struct helper_message {
	uint32_t kind;
	int32_t value;
	char text[HELPER_TEXT]; /* ended by NUL */
};

#endif
