/* Namespaces, new ones and others' ones. */
#include "tests/escape/attack.h"

#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/syscall.h>

/* What the kernel makes a process of: both go on, the child ends here. */
static long made(long pid)
{
	if (pid == 0)
		_exit(0);
	return pid;
}

static long clone3(unsigned long flags)
{
	struct clone_args args = { .flags = flags, .exit_signal = SIGCHLD };

	return made(syscall(SYS_clone3, &args, sizeof(args)));
}

static long mapped(void)
{
	int fd;

	if (unshare(CLONE_NEWUSER))
		return -1;
	fd = open("/proc/self/setgroups", O_WRONLY);
	if (fd < 0 || write(fd, "deny", 4) < 0)
		return -1;
	fd = open("/proc/self/uid_map", O_WRONLY);
	return fd < 0 || write(fd, "0 0 1", 5) < 0 ? -(errno != EPERM) : 0;
}

/* A user namespace first: it is what lets an ordinary user make the others. */
static long with_user(int flag)
{
	return unshare(CLONE_NEWUSER | flag);
}

int main(int argc, char **argv)
{
	int pid = argc > 1 ? atoi(argv[1]) : 0, pidfd = (int)syscall(SYS_pidfd_open, pid, 0), ns;
	char path[64];

	ALONE("unshare-user", with_user(0));
	ALONE("unshare-mount", with_user(CLONE_NEWNS));
	ALONE("unshare-pid", with_user(CLONE_NEWPID));
	ALONE("unshare-net", with_user(CLONE_NEWNET));
	ALONE("unshare-ipc", with_user(CLONE_NEWIPC));
	ALONE("unshare-uts", with_user(CLONE_NEWUTS));
	ALONE("unshare-cgroup", with_user(CLONE_NEWCGROUP));
	ALONE("unshare-time", with_user(CLONE_NEWTIME));
	ALONE("map", mapped());
	ALONE("clone-user", made(syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0)));
	ALONE("clone-wide", made(syscall(SYS_clone, CLONE_NEWUSER | 1ul << 40 | SIGCHLD, 0, 0, 0, 0)));
	ALONE("clone-mount", made(syscall(SYS_clone, CLONE_NEWUSER | CLONE_NEWNS | SIGCHLD, 0, 0, 0, 0)));
	ALONE("clone3-user", clone3(CLONE_NEWUSER));
	ALONE("setns-pidfd", setns(pidfd, CLONE_NEWUSER));
	ALONE("setns-pidfd-all", setns(pidfd, CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWUTS));
	snprintf(path, sizeof(path), "/proc/%d/ns/user", pid);
	ns = open(path, O_RDONLY);
	ALONE("setns-file", setns(ns, CLONE_NEWUSER));
	return 0;
}
