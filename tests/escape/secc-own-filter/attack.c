/* A filter of the program's own above ours: can it let through what ours refuses? */
#include "tests/escape/attack.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>

static long install(int number, unsigned action, unsigned flags)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)number, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, action),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { 4, filter };

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
}

static long refused_call(void)
{
	return syscall(SYS_unshare, CLONE_NEWUSER);
}

static long after(unsigned action, unsigned flags)
{
	return install(SYS_unshare, action, flags) < 0 ? -1 : refused_call();
}

/* By the older way in. */
static long by_prctl(void)
{
	struct sock_filter filter[] = { BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW) };
	struct sock_fprog program = { 1, filter };

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) ? -1 : refused_call();
}

/* A listener that says: go on. */
static long answered(void)
{
	struct seccomp_notif asked = { 0 };
	struct seccomp_notif_resp answer = { .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE };
	int listener =
		(int)install(SYS_unshare, SECCOMP_RET_USER_NOTIF, SECCOMP_FILTER_FLAG_NEW_LISTENER),
	    status = 0;
	pid_t child;

	if (listener < 0)
		return -1;
	child = fork();
	if (child == 0)
		_exit(refused_call() ? errno : 0);
	if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &asked))
		return -1;
	answer.id = asked.id;
	ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer);
	waitpid(child, &status, 0);
	errno = WEXITSTATUS(status);
	return errno ? -1 : 0;
}

/* Leaves the filter's mode, or goes without no_new_privs. */
static long strict_then_call(void)
{
	if (prctl(PR_SET_NO_NEW_PRIVS, 0, 0, 0, 0) && errno != EINVAL)
		return -1;
	return refused_call();
}

int main(void)
{
	ALONE("allow", after(SECCOMP_RET_ALLOW, 0));
	ALONE("log", after(SECCOMP_RET_LOG, 0));
	ALONE("allow-threads", after(SECCOMP_RET_ALLOW, SECCOMP_FILTER_FLAG_TSYNC));
	ALONE("allow-speculation", after(SECCOMP_RET_ALLOW, SECCOMP_FILTER_FLAG_SPEC_ALLOW));
	ALONE("prctl", by_prctl());
	ALONE("listener", answered());
	ALONE("new-privileges", strict_then_call());
	return 0;
}
