/*
 * chaperon/confine.h - what sbx-chaperon and the clients it starts give up.
 */
#ifndef SBX_CHAPERON_CONFINE_H
#define SBX_CHAPERON_CONFINE_H

#include "chaperon/session.h"

/* Before anything is read.  NULL, or why there is no session. */
const char *confine_process(void);
/* Once its files are there: from now on it changes files below `state` and `jobs` alone.
 * False: this kernel has no Landlock, and it could change all that the user can. */
bool confine_files(const struct session *session);

#endif
