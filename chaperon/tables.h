/*
 * chaperon/tables.h - do the policy's tables fit the real clients of this machine?
 *
 * An option of the table that the real client lacks could be an abbreviation of another
 * there; it is refused when it is given.  `CMD --=x` makes a client list its options.
 */
#ifndef SBX_CHAPERON_TABLES_H
#define SBX_CHAPERON_TABLES_H

#include "chaperon/ask.h"
#include "chaperon/session.h"

#include <event2/event.h>

/* NULL: root's own program, which nobody else can change; else what is wrong with it. */
const char *tables_program(const char *path);
/* Asks each client of which the policy allows something.  It waits for them. */
void tables_ask(const struct session *session);
/* Has the real client what was given?  False: refused. */
bool tables_fit(struct ask *ask, const char *program);

/* What one that only asks says, on both streams, within five seconds.  True: all of it,
 * and it ended well. */
bool tables_hear(const struct session *session, const char *const argv[], char *text, size_t size);

#endif
