/*
 * stub/clients.c - sbx-slurm under the names of Slurm's clients.
 *
 * One directory, of links: beside sbx-exec where both were built, else where an
 * installation has it.  It is executed inside alone, where it may do what anything may.
 */
#include "stub/clients.h"

#include <unistd.h>

#include "stub/launch.h"

const char *clients_directory(const struct launch *launch)
{
	const char *beside = path_parent(launch->vars.value[SBX_VAR_LAUNCHER]);
	const char *installed = path_join(path_parent(beside), "lib/sbx/slurm");

	beside = path_join(beside, "slurm"); /* in /usr/bin, another program's name */
	return access(path_join(beside, "sbatch"), X_OK) ? installed : beside;
}
