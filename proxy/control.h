/*
 * proxy/control.h - descriptor 3, where sbx-exec speaks (blob/proxy_wire.h).
 */
#ifndef SBX_PROXY_CONTROL_H
#define SBX_PROXY_CONTROL_H

#include "blob/proxy_wire.h"

#include <stdbool.h>

#define CONTROL_FDS 4

enum control_result { CONTROL_GOT, CONTROL_NOTHING, CONTROL_CLOSED };
/* One message and the descriptors with it (close on exec), -1 where there is
 * none.  @wait: until one is there. */
enum control_result control_receive(bool wait, struct proxy_message *message,
				    int fds[CONTROL_FDS]);
/* Never waits: what nobody reads is dropped.  @text NULL: none. */
bool control_send(enum proxy_message_kind kind, const char *text);
/* PROXY_SUMMARY, in printf's way; waits until there is room.  False: nobody reads it. */
bool control_summary(bool inexact, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* One line for the person: a PROXY_NOTE in printf's way, control bytes escaped. */
void control_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
