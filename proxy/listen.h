/*
 * proxy/listen.h - the program's connections, as they come.
 */
#ifndef SBX_PROXY_LISTEN_H
#define SBX_PROXY_LISTEN_H

#include "proxy/conn.h"

struct listener;

/* Acts upon what sbx-exec says, until it closes descriptor 3: then the loop of
 * worker->base is left.  NULL: no memory. */
struct listener *listen_begin(struct worker *worker);
void listen_end(struct listener *listener);

#endif
