/* Runs a program in a session whose system calls somebody answers for already.
 * usage: listened PROGRAM... */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	struct sock_filter insns[] = { BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW) };
	struct sock_fprog program = { sizeof(insns) / sizeof(*insns), insns };
	long listener;

	if (argc < 2 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return 99;
	listener = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER,
			   &program);
	if (listener < 0 || dup((int)listener) < 0) /* one that outlives the exec */
		return 99;
	execv(argv[1], argv + 1);
	return 99;
}
