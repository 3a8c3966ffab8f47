/*
 * stub/closing_head.c - which protected files differ from HEAD?
 *
 * After `git switch` inside, a protected file that is tracked is still the old
 * one, though git reported success: `git add -A` would commit it.  Only git can
 * tell, and git obeys the repository's configuration, which may name commands
 * (filters, fsmonitor).  So it is asked in a domain narrower than the
 * program's: read-only, the policy's filters, also that for where no namespaces
 * are, no signals, and no sockets at all, since no broker answers for it.  Its
 * answer is only looked up among the names that it was asked about.
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

#include "stub/inner.h"
#include "stub/landlock.h"
#include "stub/launch.h"
#include "stub/prepare.h"
#include "stub/sys.h"

#define WAIT_MS    5000
#define ANSWER_MAX (64u << 10)

/* Refuses socket(2) and io_uring, which would make one too; and signals, which
 * Landlock keeps inside only from ABI 6 on. */
static bool forbid_reaching_out(void)
{
	enum { LOAD = 0x20, EQUAL = 0x15, RETURN = 0x06, ALLOW = 0x7fff0000, FAIL = 0x50000 };
	static const struct {
		uint16_t code;
		uint8_t yes, no;
		uint32_t value;
	} filter[] = {
		{ LOAD, 0, 0, 0 }, /* the number of the call */
		{ EQUAL, 8, 0, SYS_socket },
		{ EQUAL, 7, 0, SYS_io_uring_setup },
		{ EQUAL, 6, 0, SYS_kill },
		{ EQUAL, 5, 0, SYS_tkill },
		{ EQUAL, 4, 0, SYS_tgkill },
		{ EQUAL, 3, 0, SYS_rt_sigqueueinfo },
		{ EQUAL, 2, 0, SYS_rt_tgsigqueueinfo },
		{ EQUAL, 1, 0, SYS_pidfd_send_signal },
		{ RETURN, 0, 0, ALLOW },
		{ RETURN, 0, 0, FAIL | EPERM },
	};
	struct uapi_sock_fprog program = { sizeof(filter) / sizeof(*filter), filter };

	return !syscall(SYS_seccomp, UAPI_SECCOMP_SET_MODE_FILTER, 0, &program);
}

/* The host's files that the program could read, and no more. */
static bool enter_domain(const struct launch *launch)
{
	struct launch here = *launch;
	struct plan plan;
	int abi = sys_landlock_abi();

	prepare_shared_filter(&here);
	plan = here.plan;
	memset(&plan.rules, 0, sizeof(plan.rules));
	for (size_t i = 0; i < launch->plan.rules.count; i++) {
		struct plan_rule rule = launch->plan.rules.items[i];
		bool null = !strcmp(rule.path, "/dev/null");
		enum sbx_fs_verb verb;

		if (!null && (!fsview_origin(launch, rule.path, SBX_READ, &verb) ||
			      verb != SBX_FS_GRANT || path_within(rule.path, "/proc")))
			continue;
		if (!null)
			rule.rights &= ~(unsigned)SBX_WRITE;
		rule.extra = 0;
		*vec_add(&plan.rules) = rule;
	}
	plan.ports.count = 0;
	plan.landlock_net = landlock_known_net(abi);
	plan.landlock_scoped = landlock_known_scoped(abi);
	return plan.landlock_fs && plan.shared_filter_count &&
	       !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) && !landlock_enter(&plan) &&
	       forbid_reaching_out() && !program_filter(&plan);
}

static _Noreturn void ask(const struct launch *launch, const char *const *names, size_t count,
			  int answer)
{
	static const char words[][22] = { "git",         "--no-optional-locks",
					  "-c",          "core.fsmonitor=false",
					  "-c",          "core.hooksPath=",
					  "--no-pager",  "--literal-pathspecs",
					  "diff-index",  "--relative",
					  "--name-only", "-z",
					  "HEAD",        "--" };
	static char variables[][24] = { "PATH=/usr/bin:/bin", "LC_ALL=C", "GIT_CONFIG_NOSYSTEM=1",
					"GIT_TERMINAL_PROMPT=0" };
	static const size_t fixed = sizeof(words) / sizeof(*words);
	char **argv = mem_get((fixed + count + 1) * sizeof(*argv));
	char *environment[] = { variables[0], variables[1], variables[2], variables[3], NULL };
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	sigset_t none;

	for (size_t i = 0; i < fixed + count; i++)
		argv[i] = mem_string(i < fixed ? words[i] : names[i - fixed]);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (null < 0 || dup2(null, 0) || dup2(answer, 1) != 1 || dup2(null, 2) != 2 ||
	    sys_close_range(3, ~0u, UAPI_CLOSE_RANGE_CLOEXEC) ||
	    chdir(launch->vars.value[SBX_VAR_WORKSPACE]) || !enter_domain(launch))
		_exit(1);
	execve("/usr/bin/git", argv, environment);
	execve("/usr/local/bin/git", argv, environment);
	_exit(1);
}

static void look_up(const char *answer, const char *const *names, size_t count, bool *differs)
{
	for (; *answer; answer += strlen(answer) + 1)
		for (size_t i = 0; i < count; i++) {
			size_t length = strlen(names[i]);

			if (!strncmp(answer, names[i], length) &&
			    (!answer[length] || answer[length] == '/'))
				differs[i] = true;
		}
}

void closing_ask_head(const struct launch *launch, const char *const *names, size_t count,
		      bool *differs)
{
	int answer = memfd_create("sbx-head", MFD_CLOEXEC), status = 1;
	struct pollfd end = { -1, POLLIN, 0 };
	char *text = mem_get(ANSWER_MAX + 2);
	pid_t child = answer < 0 ? -1 : sys_fork();

	if (child == 0)
		ask(launch, names, count, answer);
	if (child < 0)
		return;
	end.fd = (int)syscall(SYS_pidfd_open, child, 0);
	if (end.fd < 0 || poll(&end, 1, WAIT_MS) != 1)
		kill(child, SIGKILL);
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	closing_end_all(launch); /* what it started */
	if (!status && pread(answer, text, ANSWER_MAX, 0) >= 0)
		look_up(text, names, count, differs);
	close(answer);
	close(end.fd);
}
