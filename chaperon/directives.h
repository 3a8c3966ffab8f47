/*
 * chaperon/directives.h - the #SBATCH lines of a batch script.
 *
 * Where sbatch and this reader could read a script in two ways, the script is refused:
 * what passes here means the same to both.  Pure: bytes in, options out.
 */
#ifndef SBX_CHAPERON_DIRECTIVES_H
#define SBX_CHAPERON_DIRECTIVES_H

#include "blob/verdict.h"

struct directives {
	struct sbx_slurm_request request; /* values point into @text */
	char *text;                       /* to be freed by the caller */
	unsigned line;                    /* where it is refused, from 1; 0: all of it */
	struct sbx_slurm_refusals refused; /* options of lines that could be read */
	unsigned refused_line[SBX_SLURM_REFUSALS_MAX];
	unsigned foreign;                 /* first line with #PBS or #BSUB, which is not read */
};

/* False: it cannot be read to its end, and @verdict says why.  Else @out->refused has what
 * is refused. */
bool directives_read(const struct sbx_blob *blob, const struct sbx_vars *vars, const char *script,
		     size_t size, struct directives *out, struct sbx_slurm_verdict *verdict);

#endif
