/* The ways into another process: its memory, its registers, its descriptors. */
#include "tests/escape/attack.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>

/* The first address of the target that can be written; its maps are closed along with
 * the memory, then any address does: what is tried must be refused before it is used. */
static unsigned long writable(int pid)
{
	char line[512], path[64];
	unsigned long from = 4096;
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	maps = fopen(path, "r");
	while (maps && fgets(line, sizeof(line), maps))
		if (strstr(line, " rw-p ")) {
			sscanf(line, "%lx-", &from);
			break;
		}
	if (maps)
		fclose(maps);
	return from;
}

static long trace(long request, int pid)
{
	long result = syscall(SYS_ptrace, request, (long)pid, 0ul, 0ul);
	int status;

	if (result == 0 && request == PTRACE_ATTACH)
		waitpid(pid, &status, __WALL);
	if (result == 0)
		syscall(SYS_ptrace, PTRACE_DETACH, (long)pid, 0ul, 0ul);
	return result;
}

int main(int argc, char **argv)
{
	int pid = argc > 1 ? atoi(argv[1]) : 0, pidfd;
	char byte = 0;
	struct iovec ours = { &byte, 1 }, theirs = { (void *)writable(pid), 1 };

	pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	outcome("pidfd_open", pidfd);
	outcome("vm_readv", syscall(SYS_process_vm_readv, pid, &ours, 1ul, &theirs, 1ul, 0ul));
	outcome("vm_writev", syscall(SYS_process_vm_writev, pid, &ours, 1ul, &theirs, 1ul, 0ul));
	outcome("getfd", syscall(SYS_pidfd_getfd, pidfd, 0, 0));
	outcome("kcmp", syscall(SYS_kcmp, getpid(), pid, 0, 0ul, 0ul));
	ALONE("attach", trace(PTRACE_ATTACH, pid));
	ALONE("seize", trace(PTRACE_SEIZE, pid));
	return 0;
}
