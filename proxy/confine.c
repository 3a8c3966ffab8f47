/*
 * proxy/confine.c - see confine.h.
 *
 * Two layers: Landlock (Linux 5.13) leaves the few files that c-ares reads, a
 * seccomp filter leaves the system calls that the loop makes.  Where a kernel has no
 * Landlock, the filter takes opening away as well, and names go to the servers that
 * were read at the start.
 */
#include "proxy/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <seccomp.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Of linux/landlock.h, which Debian's headers have in part only. */
struct landlock_rules {
	uint64_t files, net, scoped;
};
struct landlock_path {
	uint64_t allowed;
	int32_t parent;
} __attribute__((packed));
#define LANDLOCK_READ_FILE (1u << 2)
#define LANDLOCK_PATH_BENEATH 1

const char *confine_process(void)
{
	const struct rlimit none = { 0, 0 };
	pid_t parent = getppid();

	if (setrlimit(RLIMIT_CORE, &none) || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) ||
	    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0))
		return "a right of the process cannot be given up";
	return getppid() == parent ? NULL : "sbx-exec has ended";
}

/* Every right that this kernel knows: files up to ABI 5; scopes from 6 on. */
static struct landlock_rules all_rules(long abi)
{
	return (struct landlock_rules){
		.files = abi >= 5 ? 0xffff : abi >= 3 ? 0x7fff : abi >= 2 ? 0x3fff : 0x1fff,
		.scoped = abi >= 6 ? 3 : 0, /* abstract sockets, signals */
	};
}

static void allow_read(int rules, const char *path)
{
	struct landlock_path rule = { .allowed = LANDLOCK_READ_FILE };

	rule.parent = open(path, O_PATH | O_CLOEXEC);
	if (rule.parent < 0)
		return; /* not on this machine */
	syscall(SYS_landlock_add_rule, rules, LANDLOCK_PATH_BENEATH, &rule, 0);
	close(rule.parent);
}

/* Where resolv.conf is a link (systemd, NetworkManager), its directory is one of
 * theirs, and the file is replaced there. */
static void allow_resolv_conf(int rules)
{
	char path[PATH_MAX], *slash;

	allow_read(rules, "/etc/resolv.conf");
	if (!realpath("/etc/resolv.conf", path) || !strncmp(path, "/etc/", 5))
		return;
	slash = strrchr(path, '/');
	if (slash == path)
		return;
	*slash = '\0';
	allow_read(rules, path);
}

static bool confine_files(void)
{
	/* The last: without it c-ares would number its questions by rand(3). */
	static const char *const files[] = { "/etc/hosts", "/etc/host.conf", "/etc/nsswitch.conf",
					     "/etc/gai.conf", "/dev/urandom" };
	long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, 1);
	struct landlock_rules handled = all_rules(abi);
	size_t size = abi >= 6 ? sizeof(handled) : offsetof(struct landlock_rules, net);
	bool confined;
	int rules;

	if (abi < 1)
		return false;
	rules = (int)syscall(SYS_landlock_create_ruleset, &handled, size, 0);
	if (rules < 0)
		return false;
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		allow_read(rules, files[i]);
	allow_resolv_conf(rules);
	confined = !syscall(SYS_landlock_restrict_self, rules, 0);
	close(rules);
	return confined;
}

static const int calls[] = {
	SCMP_SYS(read), SCMP_SYS(write), SCMP_SYS(readv), SCMP_SYS(writev), SCMP_SYS(recvfrom),
	SCMP_SYS(sendto), SCMP_SYS(recvmsg), SCMP_SYS(sendmsg), SCMP_SYS(accept4),
	SCMP_SYS(shutdown), SCMP_SYS(connect), SCMP_SYS(getsockname), SCMP_SYS(getpeername),
	SCMP_SYS(setsockopt), SCMP_SYS(getsockopt), SCMP_SYS(epoll_wait), SCMP_SYS(epoll_pwait),
	SCMP_SYS(epoll_pwait2), SCMP_SYS(epoll_ctl), SCMP_SYS(poll), SCMP_SYS(ppoll),
	SCMP_SYS(close), SCMP_SYS(fcntl), SCMP_SYS(fstat), SCMP_SYS(newfstatat), SCMP_SYS(statx),
	SCMP_SYS(stat), SCMP_SYS(lseek), SCMP_SYS(brk), SCMP_SYS(munmap), SCMP_SYS(mremap),
	SCMP_SYS(madvise), SCMP_SYS(futex), SCMP_SYS(clock_gettime), SCMP_SYS(clock_nanosleep),
	SCMP_SYS(gettimeofday), SCMP_SYS(time), SCMP_SYS(getrandom), SCMP_SYS(getpid),
	SCMP_SYS(gettid), SCMP_SYS(uname), SCMP_SYS(rt_sigaction), SCMP_SYS(rt_sigprocmask),
	SCMP_SYS(rt_sigreturn), SCMP_SYS(sigaltstack), SCMP_SYS(restart_syscall),
	SCMP_SYS(exit), SCMP_SYS(exit_group), SCMP_SYS(sched_yield), SCMP_SYS(timerfd_settime),
};

static int allow_sockets(scmp_filter_ctx filter)
{
	static const int families[] = { AF_INET, AF_INET6 }, types[] = { SOCK_STREAM, SOCK_DGRAM };
	int wrong = 0;

	for (size_t i = 0; i < 2; i++)
		for (size_t j = 0; j < 2; j++)
			wrong |= seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(socket), 2,
						  SCMP_A0(SCMP_CMP_EQ, (scmp_datum_t)families[i], 0),
						  SCMP_A1(SCMP_CMP_MASKED_EQ, 0xf,
							  (scmp_datum_t)types[j]));
	return wrong;
}

static bool confine_calls(bool open_too)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(EPERM));
	const struct scmp_arg_cmp no_code = SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0);
	int wrong = 0;

	if (!filter)
		return false;
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		wrong |= seccomp_rule_add(filter, SCMP_ACT_ALLOW, calls[i], 0);
	wrong |= seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(mmap), 1, no_code);
	wrong |= seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(mprotect), 1, no_code);
	wrong |= allow_sockets(filter);
	if (open_too)
		wrong |= seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(openat), 0) |
			 seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(open), 0);
	wrong |= seccomp_load(filter);
	seccomp_release(filter);
	return !wrong;
}

/* What must not go any more is tried. */
static const char *try_it(void)
{
	static const char *const files[] = { "/proc/self/maps", "/etc/passwd", "/" };
	int fd;

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		fd = open(files[i], O_RDONLY | O_CLOEXEC);
		if (fd >= 0)
			return "files can still be opened";
	}
	fd = socket(AF_UNIX, SOCK_STREAM, 0);
	if (fd >= 0)
		return "local sockets can still be made";
	if (syscall(SYS_execve, NULL, NULL, NULL) != -1 || errno != EPERM)
		return "programs can still be started";
	return NULL;
}

const char *confine_worker(void)
{
	if (!confine_calls(confine_files()))
		return "the system calls cannot be filtered: has this kernel seccomp?";
	return try_it();
}
