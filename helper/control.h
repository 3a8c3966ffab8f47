/*
 * helper/control.h - descriptor 3, where sbx-exec speaks (blob/helper_wire.h).
 */
#ifndef SBX_HELPER_CONTROL_H
#define SBX_HELPER_CONTROL_H

#include "blob/helper_wire.h"

#include <stdbool.h>

enum control_result { CONTROL_GOT, CONTROL_NOTHING, CONTROL_CLOSED };
/* One message and the descriptors with it (close on exec), -1 where there is
 * none.  @wait: until one is there. */
enum control_result control_receive(bool wait, struct helper_message *message,
				    int fds[HELPER_FDS]);
/* Never waits: what nobody reads is dropped.  @text NULL: none. */
bool control_send(unsigned kind, const char *text);
/* In printf's way, control bytes escaped; waits until there is room.  False: nobody reads. */
bool control_say(unsigned kind, int value, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* One line for the person: a HELPER_NOTE, like that, but it never waits. */
void control_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
