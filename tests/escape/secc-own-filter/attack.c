/* A filter of the program's own above ours: can it let through what ours refuses? */
#include "tests/escape/attack_filter.h"

#include <sched.h>

static long refused_call(void)
{
	return syscall(SYS_unshare, CLONE_NEWUSER);
}

static long after(unsigned action, unsigned flags)
{
	return own_filter(SYS_unshare, action, flags) < 0 ? -1 : refused_call();
}

/* By the older way in. */
static long by_prctl(void)
{
	struct sock_filter filter[] = { BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW) };
	struct sock_fprog program = { 1, filter };

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) ? -1 : refused_call();
}

static int refused_errno(const char *unused)
{
	(void)unused;
	return refused_call() ? errno : 0;
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
	ALONE("listener", go_on(SYS_unshare, refused_errno, NULL));
	ALONE("new-privileges", strict_then_call());
	return 0;
}
