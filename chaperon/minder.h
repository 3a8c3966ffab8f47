/*
 * chaperon/minder.h - an srun holds nodes: whatever ends, it gives them back.
 *
 * A process of its own, made with the first srun, which lives until sbx-chaperon has
 * ended, however that was, and what it held is released.  It keeps the launcher's socket
 * open that long: sbx-exec waits for that before it ends what is left.
 */
#ifndef SBX_CHAPERON_MINDER_H
#define SBX_CHAPERON_MINDER_H

#include "chaperon/session.h"

#include <sys/types.h>

/* The srun @pid asks for a job with @tag. */
void minder_hold(const struct session *session, const char *tag, pid_t pid);
/* It has ended by itself, and given back what it had. */
void minder_let_go(const char *tag);

#endif
