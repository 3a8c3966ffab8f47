/*
 * stub/closing_head.c - which protected files differ from HEAD?
 *
 * After `git switch` inside, a protected file that is tracked is still the old
 * one, though git reported success: `git add -A` would commit it.  What HEAD has
 * only git can tell, and git obeys a repository that the program may have
 * written: filters, fsmonitor, hooks, promisors name commands.  So it is asked
 * the one thing for which it runs none, the names in a tree, of the repository
 * that was there at the launch and no other; contents are compared by us
 * (closing_blob.c), and the index, whose flags hide changes, is not read.
 *
 * Should git run something all the same, or be made to by what it parses, it has
 * nothing to do it with: no capability, no process but its own, no file but the
 * repository and the system's libraries, only to be read, and of the system
 * calls those that reading takes.
 */
#include "stub/closing.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "blob/bpf.h"
#include "stub/backend.h"
#include "stub/inner.h"
#include "stub/landlock.h"
#include "stub/launch.h"
#include "stub/sys.h"

#define WAIT_MS    5000
#define ANSWER_MAX (4u << 20)
#define READ_MAX   (16u << 20) /* of the files compared */

#if defined(__x86_64__)
#define OUR_AUDIT SBX_AUDIT_X86_64
#define LOADERS   "/lib64/ld-linux-x86-64.so.2\0/lib/ld-musl-x86_64.so.1\0"
#else
#define OUR_AUDIT SBX_AUDIT_AARCH64
#define LOADERS   "/lib/ld-linux-aarch64.so.1\0/lib/ld-musl-aarch64.so.1\0"
#endif

static struct {
	const char *git, *common; /* NULL: there is none */
	struct stat git_stat, common_stat;
} repository;

void closing_note_repository(const struct launch *launch)
{
	repository.git = launch->vars.value[SBX_VAR_GITDIR];
	repository.common = launch->vars.value[SBX_VAR_GITCOMMON];
	if (repository.git && (lstat(repository.git, &repository.git_stat) ||
			       lstat(repository.common, &repository.common_stat)))
		repository.git = NULL;
}

/* ---- confined ----------------------------------------------------------------------- */

/* What a program that is linked, reads and prints calls; all else is not there. */
static bool forbid_all_but_reading(void)
{
	static const uint16_t allowed[] = {
#ifdef SYS_open /* the older names, which some libraries call */
		SYS_access,
		SYS_stat,
		SYS_lstat,
		SYS_readlink,
		SYS_arch_prctl,
		SYS_dup2,
		SYS_getrlimit,
		SYS_time,
#endif
		SYS_read,
		SYS_pread64,
		SYS_readv,
		SYS_write,
		SYS_writev,
		SYS_close,
		SYS_fstat,
		SYS_newfstatat,
		SYS_statx,
		SYS_faccessat,
		SYS_faccessat2,
		SYS_readlinkat,
		SYS_getdents64,
		SYS_lseek,
		SYS_getcwd,
		SYS_chdir,
		SYS_dup,
		SYS_dup3,
		SYS_umask,
		SYS_mmap,
		SYS_munmap,
		SYS_mprotect,
		SYS_mremap,
		SYS_madvise,
		SYS_brk,
		SYS_rt_sigaction,
		SYS_rt_sigprocmask,
		SYS_rt_sigreturn,
		SYS_sigaltstack,
		SYS_restart_syscall,
		SYS_futex,
		SYS_set_tid_address,
		SYS_set_robust_list,
		SYS_rseq,
		SYS_getpid,
		SYS_getppid,
		SYS_gettid,
		SYS_getuid,
		SYS_geteuid,
		SYS_getgid,
		SYS_getegid,
		SYS_prlimit64,
		SYS_getrandom,
		SYS_uname,
		SYS_sysinfo,
		SYS_sched_getaffinity,
		SYS_clock_gettime,
		SYS_gettimeofday,
		SYS_execve,
		SYS_exit,
		SYS_exit_group,
	};
	/* These with no such bit in an argument. */
	static const struct {
		uint16_t nr, argument;
		uint32_t bits;
	} in_part[] = {
#ifdef SYS_open
		{ SYS_open, 1, O_CREAT | O_TRUNC },
#endif
		{ SYS_openat, 2, O_CREAT | O_TRUNC },
		{ SYS_fcntl, 1, ~3u }, /* F_DUPFD, F_GETFD, F_SETFD, F_GETFL */
	};
	enum {
		ALLOWED = sizeof(allowed) / sizeof(*allowed),
		IN_PART = sizeof(in_part) / sizeof(*in_part)
	};
	struct uapi_sock_filter filter[5 + 2 * ALLOWED + 5 * IN_PART] = {
		{ SBX_BPF_LOAD, 0, 0, SBX_DATA_ARCH },
		{ SBX_BPF_JEQ, 1, 0, OUR_AUDIT },
		{ SBX_BPF_RET, 0, 0, SBX_RET_KILL_PROCESS },
		{ SBX_BPF_LOAD, 0, 0, SBX_DATA_NR },
	}, *at = filter + 4;
	struct uapi_sock_fprog program = { sizeof(filter) / sizeof(*filter), filter };

	for (size_t i = 0; i < ALLOWED; i++) {
		*at++ = (struct uapi_sock_filter){ SBX_BPF_JEQ, 0, 1, allowed[i] };
		*at++ = (struct uapi_sock_filter){ SBX_BPF_RET, 0, 0, SBX_RET_ALLOW };
	}
	for (size_t i = 0; i < IN_PART; i++) {
		*at++ = (struct uapi_sock_filter){ SBX_BPF_JEQ, 0, 4, in_part[i].nr };
		*at++ = (struct uapi_sock_filter){ SBX_BPF_LOAD, 0, 0,
						   SBX_DATA_ARG(in_part[i].argument) };
		*at++ = (struct uapi_sock_filter){ SBX_BPF_JSET, 1, 0, in_part[i].bits };
		*at++ = (struct uapi_sock_filter){ SBX_BPF_RET, 0, 0, SBX_RET_ALLOW };
		*at++ = (struct uapi_sock_filter){ SBX_BPF_RET, 0, 0, SBX_RET_ERRNO | EACCES };
	}
	*at = (struct uapi_sock_filter){ SBX_BPF_RET, 0, 0, SBX_RET_ERRNO | ENOSYS };
	return !syscall(SYS_seccomp, UAPI_SECCOMP_SET_MODE_FILTER, 0, &program) &&
	       kill(getpid(), 0) && errno == ENOSYS; /* it holds */
}

static void add_rule(struct plan *plan, const char *path, unsigned rights, const struct stat *st)
{
	const char *real = st ? path : walk_kernel_name(path);

	if (real)
		*vec_add(&plan->rules) = (struct plan_rule){ .path = real,
							     .rights = rights,
							     .dev = st ? st->st_dev : 0,
							     .ino = st ? st->st_ino : 0 };
}

/* Git and its loader to be executed, the repository and libraries to be read. */
static bool enter_domain(const char *git)
{
	static const char system[] = LOADERS "/lib\0/lib64\0/usr/lib\0/usr/lib64\0"
					     "/usr/local/lib\0/etc/ld.so.cache\0";
	struct plan plan = { .backend = SBX_LANDLOCK }; /* compares inodes */
	int abi = sys_landlock_abi();

	plan.landlock_fs = landlock_known_fs(abi);
	plan.landlock_net = landlock_known_net(abi);
	plan.landlock_scoped = landlock_known_scoped(abi);
	plan.landlock_read = UAPI_LANDLOCK_FS_READ_FILE | UAPI_LANDLOCK_FS_READ_DIR;
	plan.landlock_write = UAPI_LANDLOCK_FS_WRITE_FILE;
	plan.landlock_exec = UAPI_LANDLOCK_FS_EXECUTE;
	add_rule(&plan, git, SBX_READ | SBX_EXEC, NULL);
	for (const char *path = system; *path; path += strlen(path) + 1)
		add_rule(&plan, path,
			 path < system + sizeof(LOADERS) - 1 ? SBX_READ | SBX_EXEC : SBX_READ,
			 NULL);
	add_rule(&plan, "/dev/null", SBX_READ | SBX_WRITE, NULL);
	add_rule(&plan, repository.git, SBX_READ, &repository.git_stat);
	add_rule(&plan, repository.common, SBX_READ, &repository.common_stat);
	return plan.landlock_fs && !landlock_enter(&plan);
}

static void limit(int resource, rlim_t most)
{
	struct rlimit now;

	if (!sys_prlimit(resource, NULL, &now) && now.rlim_max > most) {
		now.rlim_cur = now.rlim_max = most;
		sys_prlimit(resource, &now, NULL);
	}
}

/* Words that end in a NUL each, and all in an empty one; how many. */
static size_t split(char **to, char *words)
{
	size_t count = 0;

	for (; *words; words += strlen(words) + 1)
		to[count++] = words;
	return count;
}

static _Noreturn void ask(const char *git, char *const *argv, pid_t parent, int answer)
{
	/* The repository's own configuration is read, and may say where its work tree is,
	 * which is of no interest. */
	static char fixed[] = "GIT_WORK_TREE=/\0GIT_CONFIG_NOSYSTEM=1\0"
			      "GIT_CONFIG_GLOBAL=/dev/null\0GIT_NO_LAZY_FETCH=1\0"
			      "GIT_ALLOW_PROTOCOL=\0GIT_NO_REPLACE_OBJECTS=1\0";
	char *environment[9] = { mem_join("GIT_DIR=", repository.git),
				 mem_join("GIT_COMMON_DIR=", repository.common) };
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	sigset_t none;

	split(environment + 2, fixed);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent || null < 0 || dup2(null, 0) || dup2(answer, 1) != 1 ||
	    dup2(null, 2) != 2 || sys_close_range(3, ~0u, 0) || chdir("/"))
		_exit(1);
	limit(RLIMIT_CPU, WAIT_MS / 1000);
	limit(RLIMIT_DATA, 1u << 30);
	limit(RLIMIT_FSIZE, ANSWER_MAX);
	limit(RLIMIT_CORE, 0);
	if (!privileges_drop() && enter_domain(git) && forbid_all_but_reading())
		execve(git, argv, environment);
	_exit(1);
}

/* ---- the answer --------------------------------------------------------------------- */

/* "MODE TYPE NAME<tab>PATH": which of @names, from @root on, is it for, and not what
 * lies there? */
static void compare(const char *root, const char *line, char *const *names, size_t count,
		    bool *differs, size_t *budget)
{
	const char *path = strchr(line, '\t'), *type = strchr(line, ' ');
	const char *name = type ? strchr(type + 1, ' ') : NULL;

	/* A commit is a submodule, with a HEAD of its own. */
	if (!path || !name || path < name || strncmp(type, " blob ", 6))
		return;
	for (size_t i = 0; i < count; i++)
		if (!differs[i] && path_within(path + 1, names[i]))
			differs[i] =
			    !closing_is_blob(path_join(root, path + 1), !strncmp(line, "120000", 6),
					     name + 1, budget);
}

/* What came counts, also if git was ended before it had said all. */
static const char *hear(const char *git, char *const *argv, size_t *size)
{
	int answer = memfd_create("sbx-head", MFD_CLOEXEC);
	struct pollfd end = { -1, POLLIN, 0 };
	char *text = mem_get(ANSWER_MAX + 1);
	pid_t parent = getpid(), child = answer < 0 ? -1 : sys_fork();
	ssize_t got;

	if (child == 0)
		ask(git, argv, parent, answer);
	if (child > 0) {
		end.fd = (int)syscall(SYS_pidfd_open, child, 0);
		if (end.fd < 0 || poll(&end, 1, WAIT_MS) != 1)
			kill(child, SIGKILL);
		while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
			;
		close(end.fd);
	}
	got = pread(answer, text, ANSWER_MAX, 0);
	close(answer);
	*size = got > 0 ? (size_t)got : 0;
	return text;
}

void closing_ask_head(const struct launch *launch, const char *const *paths, size_t count,
		      bool *differs)
{
	static char words[] = "git\0--literal-pathspecs\0ls-tree\0-rz\0--full-tree\0HEAD\0--\0";
	static const char places[][20] = { "/usr/bin/git", "/usr/local/bin/git" };
	const char *root = launch->git_root, *why, *text;
	const char *git = backend_find_program(*places, sizeof(places) / sizeof(*places),
					       sizeof(*places), "git", &why);
	char **argv = mem_get((sizeof(words) + count) * sizeof(*argv));
	size_t fixed = split(argv, words), size, budget = READ_MAX;

	if (!repository.git || !git)
		return;
	for (size_t i = 0; i < count; i++)
		argv[fixed + i] = mem_string(paths[i] + strlen(root) + 1);
	text = hear(git, argv, &size);
	for (size_t at = 0, next; at < size; at = next) {
		next = at + strlen(text + at) + 1;
		if (next <= size) /* the last may be cut off */
			compare(root, text + at, argv + fixed, count, differs, &budget);
	}
}
