/*
 * prove/keep.h - the proofs that sbx-exec asks for (`require { proof }`).
 */
#ifndef SBX_PROVE_KEEP_H
#define SBX_PROVE_KEEP_H

#include "prove/basis.h"

/* Where all holds: one file for each backend on which something was measured (blob/proof.h).
 * Else those of the backends on which something does not hold are taken away.  NULL, or
 * what could not be written. */
const char *keep_proofs(struct arena *arena, const struct proven *proven,
			const struct prove *proves, size_t count);

#endif
