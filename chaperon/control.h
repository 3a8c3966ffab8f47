/*
 * chaperon/control.h - descriptor 3, where sbx-exec speaks (blob/chaperon_wire.h).
 */
#ifndef SBX_CHAPERON_CONTROL_H
#define SBX_CHAPERON_CONTROL_H

#include "blob/chaperon_wire.h"

#include <stdbool.h>

#define CONTROL_FDS 3

enum control_result { CONTROL_GOT, CONTROL_NOTHING, CONTROL_CLOSED };
/* One message and the descriptors with it (close on exec), -1 where there is none. */
enum control_result control_receive(bool wait, struct chaperon_message *message,
				    int fds[CONTROL_FDS]);
/* Never waits: what nobody reads is dropped.  @text NULL: none. */
bool control_send(enum chaperon_message_kind kind, const char *text);
/* One line for the person, control bytes escaped. */
void control_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
