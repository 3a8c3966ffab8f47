/*
 * stub/protocol.h - what the inner stage tells the outer one.
 *
 * Over a SOCK_SEQPACKET socket pair.  The outer end asks for credentials, so
 * the kernel itself says which process (as numbered outside) sent a message.
 */
#ifndef SBX_STUB_PROTOCOL_H
#define SBX_STUB_PROTOCOL_H

#include <stdint.h>

enum message_kind {
	MESSAGE_READY = 1, /* all is verified; it waits for one byte.  Under firejail it
			    * carries a pidfd of process 1 */
	MESSAGE_FAILED,	   /* @text: why it will not go on */
	MESSAGE_NOTE,	   /* @text: for -v */
	MESSAGE_STARTED,   /* from the program's process, just before its exec */
	MESSAGE_STOPPED,   /* @value: the signal that stopped the program */
	MESSAGE_EXITED,	   /* @value: exit status, or 128 + signal */
	MESSAGE_SIGNALLED, /* the same where a signal ended it: @value is the signal */
	MESSAGE_LISTENER,  /* carries the broker's listener; it waits for one byte */
	MESSAGE_PROXY,     /* carries the socket at which the proxy is found inside */
};
#define MESSAGE_TEXT 1500
struct message {
	uint32_t kind;
	int32_t value;
	char text[MESSAGE_TEXT]; /* ended by NUL; only as much as is used is sent */
};

/* argv[1] of the inner stage; then plan, socket, standard error; under firejail
 * standard input and output, too. */
#define INNER_WORD "--sbx-inner"

#endif
