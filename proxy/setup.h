/*
 * proxy/setup.h - what a session needs before its first connection.
 *
 * All that wants files, other processes or time: the roots of trust, the session's
 * CA and its bundle, the keeper and each credential once.
 */
#ifndef SBX_PROXY_SETUP_H
#define SBX_PROXY_SETUP_H

#include "proxy/conn.h"

/* NULL, or the text of HELPER_FAILED. */
const char *setup_session(struct worker *worker);
void setup_undo(struct worker *worker);

#endif
