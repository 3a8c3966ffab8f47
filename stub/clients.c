/*
 * stub/clients.c - sbx-slurm under the names of Slurm's clients.
 *
 * One directory, of links: beside sbx-exec where both were built, else where an
 * installation has it.  It is executed inside alone, where it may do what anything may.
 */
#include "stub/clients.h"

#include <limits.h>
#include <unistd.h>

#include "stub/mem.h"
#include "stub/out.h"
#include "stub/resolve.h"

const char *clients_directory(void)
{
	char path[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);
	const char *beside, *installed;

	if (length <= 0)
		refuse("/proc is not mounted: mount it");
	beside = path_parent(mem_copy(path, (size_t)length));
	installed = path_join(path_parent(beside), "lib/sbx/slurm");
	beside = path_join(beside, "slurm"); /* in /usr/bin, another program's name */
	return access(path_join(beside, "sbatch"), X_OK) ? installed : beside;
}
