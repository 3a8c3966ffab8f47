/*
 * prove/record.h - what was proven, where, when and by whom.
 *
 * One JSON object a line.  Each ends in a SHA-256 of itself and names that of the line
 * before it (the first: 64 zeros), so that none is changed, left out or put between by
 * accident or by an edit.  It is no signature: who can write the file can make all of
 * it anew, or cut off the last ones, which whoever keeps the last hash elsewhere sees.
 */
#ifndef SBX_PROVE_RECORD_H
#define SBX_PROVE_RECORD_H

#include "prove/basis.h"

/* Adds an entry to @path.  NULL, or why not. */
const char *record_add(struct arena *arena, const char *path, const char *by,
		       const struct proven *proven, const struct prove *proves, size_t count);
/* Says whether the last entry about this policy covers it here and now; the exit status. */
int record_status(struct arena *arena, const char *path, const struct proven *proven);

#endif
