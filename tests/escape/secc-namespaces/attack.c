/* Namespaces of the program's own: mounts and networks to attack the kernel from, and
 * a place without masks. */
#include "tests/escape/attack.h"

#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <sys/syscall.h>

#define HIGH (1ul << 32)

static long cloned(unsigned long flags)
{
	long child = syscall(SYS_clone, flags | SIGCHLD, NULL, NULL, NULL, NULL);

	if (child == 0)
		_exit(0);
	if (child > 0)
		waitpid((pid_t)child, NULL, 0);
	return child;
}

static long cloned_anew(unsigned long flags)
{
	struct clone_args args = { .flags = flags, .exit_signal = SIGCHLD };
	long child = syscall(SYS_clone3, &args, sizeof(args));

	if (child == 0)
		_exit(0);
	if (child > 0)
		waitpid((pid_t)child, NULL, 0);
	return child;
}

static long entered(const char *path)
{
	int fd = open(path, O_RDONLY);

	return fd < 0 ? -1 : setns(fd, 0);
}

/* A user namespace and another one with it, whose owner one is then. */
static long owned(unsigned long flags)
{
	return syscall(SYS_unshare, CLONE_NEWUSER | flags);
}

int main(void)
{
	ALONE("clone-user", cloned(CLONE_NEWUSER));
	ALONE("clone-user-wide", cloned(CLONE_NEWUSER | HIGH));
	ALONE("clone-user-mount", cloned(CLONE_NEWUSER | CLONE_NEWNS));
	ALONE("clone-user-vfork", cloned(CLONE_NEWUSER | CLONE_VFORK));
	ALONE("clone3-user", cloned_anew(CLONE_NEWUSER));
	ALONE("clone3-time", cloned_anew(CLONE_NEWUSER | CLONE_NEWTIME));
	ALONE("clone3-plain", cloned_anew(0));
	ALONE("unshare-user", owned(0));
	ALONE("unshare-mount", owned(CLONE_NEWNS));
	ALONE("unshare-network", owned(CLONE_NEWNET));
	ALONE("unshare-ipc", owned(CLONE_NEWIPC));
	ALONE("unshare-uts", owned(CLONE_NEWUTS));
	ALONE("unshare-pid", owned(CLONE_NEWPID));
	ALONE("unshare-cgroup", owned(CLONE_NEWCGROUP));
	ALONE("unshare-time", owned(CLONE_NEWTIME));
	ALONE("unshare-files", syscall(SYS_unshare, CLONE_FILES | CLONE_FS));
	ALONE("setns-own", entered("/proc/self/ns/uts"));
	ALONE("setns-user", entered("/proc/self/ns/net"));
	ALONE("setns-pidfd", setns((int)syscall(SYS_pidfd_open, getppid(), 0), CLONE_NEWUTS));
	return 0;
}
