/*
 * spank/early.h - what would run of the user's own beside the command of a task.
 *
 * The wrap confines its command, and that alone: what the command's shell reads of the
 * environment, and the programs of `srun --task-prolog` and `--task-epilog`, run before it
 * or after it, with all that the account may.
 */
#ifndef SBX_SPANK_EARLY_H
#define SBX_SPANK_EARLY_H

#include <slurm/spank.h>

#include <stdbool.h>

/*
 * Called from slurm_spank_user_init: what slurmstepd and later plugins add stays.  Leaves
 * what spank/environment.def and @more list ("NAME,BEGINNING*"; NULL: nothing more) and sets
 * PATH.  false: something cannot be taken out.
 */
bool early_clean_environment(spank_t spank, const char *more);

/*
 * Of the slurmstepd and its tasks that are forked from then on.  SPANK tells no plugin of
 * these programs; but each takes a fork, and at these two moments slurmstepd forks for
 * nothing else.  false: they cannot be watched.
 */
bool early_watch_forks(void);
/* In a task: from now on it forks for the site's TaskProlog, and then for the user's. */
void early_refuse_prolog(void);
/* In slurmstepd, whose tasks are all made: from now on it forks for epilogs of tasks.  The
 * user's comes before the site's, which cannot be told from it: neither is run. */
void early_refuse_epilog(void);
void early_let_fork(void);

#endif
