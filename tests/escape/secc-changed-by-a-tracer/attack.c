/* A tracer of the program's own, which the policy allows, makes another call of the
 * one that the filter has seen. */
#include "tests/escape/attack.h"

#include <elf.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>

#ifdef __x86_64__
static void change(pid_t child)
{
	struct user_regs_struct regs;

	ptrace(PTRACE_GETREGS, child, NULL, &regs);
	regs.orig_rax = SYS_unshare;
	regs.rdi = CLONE_NEWUSER;
	ptrace(PTRACE_SETREGS, child, NULL, &regs);
}
#else
static void change(pid_t child)
{
	int number = SYS_unshare;
	struct iovec part = { &number, sizeof(number) };
	unsigned long regs[34];
	struct iovec all = { regs, sizeof(regs) };

	ptrace(PTRACE_GETREGSET, child, NT_PRSTATUS, &all);
	regs[0] = CLONE_NEWUSER;
	ptrace(PTRACE_SETREGSET, child, NT_PRSTATUS, &all);
	ptrace(PTRACE_SETREGSET, child, 0x404 /* NT_ARM_SYSTEM_CALL */, &part);
}
#endif

static void own_filter(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { 4, filter };

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program);
}

static _Noreturn void traced(int by_filter)
{
	long result;

	if (ptrace(PTRACE_TRACEME, 0, NULL, NULL))
		_exit(errno);
	raise(SIGSTOP);
	if (by_filter)
		own_filter();
	result = syscall(SYS_getppid);
	_exit(result ? errno ? errno : 99 : 0);
}

/* With @by_filter the tracer is asked by a filter of the program's own. */
static long through_tracer(int by_filter)
{
	pid_t child = fork();
	int status = 0;

	if (child == 0)
		traced(by_filter);
	waitpid(child, &status, 0);
	if (WIFEXITED(status)) {
		errno = WEXITSTATUS(status);
		return -1;
	}
	ptrace(PTRACE_SETOPTIONS, child, NULL, PTRACE_O_TRACESECCOMP | PTRACE_O_TRACESYSGOOD);
	ptrace(by_filter ? PTRACE_CONT : PTRACE_SYSCALL, child, NULL, NULL);
	waitpid(child, &status, 0);
	change(child);
	ptrace(PTRACE_DETACH, child, NULL, NULL);
	waitpid(child, &status, 0);
	errno = WEXITSTATUS(status);
	return errno ? -1 : 0;
}

/* Filters rest while the tracer says so: for tools that freeze programs. */
static long suspended(void)
{
	pid_t child = fork();
	int status = 0;

	if (child == 0) {
		raise(SIGSTOP);
		_exit(syscall(SYS_unshare, CLONE_NEWUSER) ? errno : 0);
	}
	waitpid(child, &status, WUNTRACED);
	if (ptrace(PTRACE_SEIZE, child, NULL, 1 << 21 /* PTRACE_O_SUSPEND_SECCOMP */)) {
		status = errno;
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
		errno = status;
		return -1;
	}
	kill(child, SIGCONT);
	while (waitpid(child, &status, 0) == child && WIFSTOPPED(status))
		ptrace(PTRACE_CONT, child, NULL, NULL);
	errno = WEXITSTATUS(status);
	return errno ? -1 : 0;
}

int main(void)
{
	outcome("at-entry", through_tracer(0));
	outcome("own-filter", through_tracer(1));
	outcome("suspended", suspended());
	return 0;
}
