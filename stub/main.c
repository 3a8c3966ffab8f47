/*
 * stub/main.c - sbx-exec: applies all that a policy asks, or does not start.
 *
 * The outer stage, top to bottom.  Up to the plan nothing is changed anywhere;
 * after it, whatever fails is undone.  The same program, started by the
 * backend inside the sandbox, is the inner stage (inner.c).
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "stub/backend.h"
#include "stub/broker.h"
#include "stub/check.h"
#include "stub/closing.h"
#include "stub/git.h"
#include "stub/inner.h"
#include "stub/job.h"
#include "stub/launch.h"
#include "stub/load.h"
#include "stub/out.h"
#include "stub/placeholders.h"
#include "stub/prepare.h"
#include "stub/protocol.h"
#include "stub/report.h"
#include "stub/supervise.h"
#include "stub/sys.h"
#include "stub/vars.h"

/* What is free at the start, at least: a file that cannot be opened for want of a
 * descriptor would be taken for one that is not there. */
#define DESCRIPTORS_FREE 64
#define FILE_SIZE_MIN (256u << 10)

/* A descriptor a tree: the caller's soft limit may be too low for us. */
static void raise_descriptors(struct launch *launch)
{
	int fds[DESCRIPTORS_FREE];
	unsigned count = 0;
	struct rlimit limit;

	if (sys_prlimit(RLIMIT_NOFILE, NULL, &launch->descriptors))
		refuse("the limit on open files cannot be read: %s", out_error(errno));
	limit = launch->descriptors;
	limit.rlim_cur = limit.rlim_max;
	if (launch->descriptors.rlim_cur < limit.rlim_max)
		sys_prlimit(RLIMIT_NOFILE, &limit, NULL);
	while (count < DESCRIPTORS_FREE &&
	       (fds[count] = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3)) >= 0)
		count++;
	if (count < DESCRIPTORS_FREE)
		refuse("%s: a launch needs %u free: raise the limit, `ulimit -n`", out_error(errno),
		       DESCRIPTORS_FREE);
	while (count)
		close(fds[--count]);
}

/* What others gave us beyond the user's own rights is not for this: files are looked
 * at as the program will see them, and backends take it amiss. */
static void take_identity(struct launch *launch)
{
	struct uapi_cap_header header = { UAPI_CAP_VERSION_3, 0 };
	struct uapi_cap_data none[2] = { { 0, 0, 0 }, { 0, 0, 0 } }, now[2] = { { 0, 0, 0 } };

	launch->uid = getuid();
	launch->gid = getgid();
	if (geteuid() != launch->uid || getegid() != launch->gid)
		refuse("uid or gid is not the effective one: start it as one user");
	if (launch->uid && !syscall(SYS_capget, &header, now) && memcmp(now, none, sizeof(now)) &&
	    syscall(SYS_capset, &header, none))
		refuse("capabilities could not be dropped");
}

/* What is written for a session must not stop half-way. */
static void check_file_size(void)
{
	struct rlimit limit;

	if (!sys_prlimit(RLIMIT_FSIZE, NULL, &limit) && limit.rlim_cur < FILE_SIZE_MIN)
		refuse("files may not be large enough for its notes: raise the limit, `ulimit -f`, "
		       "to 256 KiB");
}

static int plan_file(const struct launch *launch)
{
	const void *data;
	size_t size;

	plan_pack(&launch->plan, &data, &size);
	return backend_sealed_file("sbx-plan", data, size);
}

/* By descriptor first; a bubblewrap that knows no --bind-fd gets names. */
void launch_start(struct launch *launch, struct backend *backend, struct outcome *out)
{
	int plan = plan_file(launch);

	walk_forget();
	/* firejail masks what it finds.  For others the inner stage does, and waits for
	 * this, which is done while the backend is busy. */
	if (backend->kind == SBX_FIREJAIL)
		placeholders_make(launch);
	backend_start(launch, backend, plan);
	if (backend->kind != SBX_FIREJAIL)
		placeholders_make(launch);
	supervise(launch, backend, out);
	if (!out->started && backend->kind == SBX_BWRAP && out_find(out->words, "nknown option --")) {
		backend->by_name = true;
		backend_translate(launch, backend);
		backend_start(launch, backend, plan);
		supervise(launch, backend, out);
	}
}

static void make_plan(struct launch *launch)
{
	load_blob(launch);
	stdio_check(launch);
	vars_resolve(launch);
	fsview_build(launch);
	fsview_match_patterns(launch);
	fsview_sort(launch);
	check_requirements(launch);
	helper_check_log(launch, &launch->proxy.helper, launch->options.net_log);
	credentials_check(launch);
	check_assertions(launch);
	check_hard_links(launch);
	helper_check_log(launch, &launch->slurm.helper, launch->options.slurm_log);
	slurm_check(launch);
	plan_files(launch);
	stdio_check_files(launch);
	prepare_process(launch);
	prepare_environ(launch);
	duties_find(launch);
}

void launch_settle(struct launch *launch, struct backend *backend)
{
	launch->plan.backend = backend->kind;
	check_mendable(launch);
	broker_plan(launch);
	if (!launch->options.dry_run && !launch->options.check) {
		others_hold(launch);
		proxy_prepare(launch);
		slurm_prepare(launch);
	}
	plan_settle(launch);
	backend_translate(launch, backend);
}

static _Noreturn void end_like(const struct launch *launch, const struct outcome *out)
{
	/* Ctrl-C: a script that runs us must see it too.  Slurm tells each of them. */
	if ((out->signal == SIGINT && launch->plan.foreground) ||
	    (out->signal && launch->envelope && out->status == 128 + out->signal)) {
		sigset_t same;

		prctl(PR_SET_DUMPABLE, 0);
		sigemptyset(&same);
		sigaddset(&same, out->signal);
		signal(out->signal, SIG_DFL);
		raise(out->signal);
		sigprocmask(SIG_UNBLOCK, &same, NULL);
	}
	_exit(out->status);
}

/* The backend ended before its inner stage had begun. */
static void explain_end(struct launch *launch, const struct backend *backend, const char *words)
{
	const char *why;
	bool unable;

	/* Our own child, before it became the backend. */
	if (!strncmp(words, OUT_PREFIX, strlen(OUT_PREFIX))) {
		note("%s", words + strlen(OUT_PREFIX));
		return;
	}
	why = backend_explain(backend, words, &unable);
	if (*words && (!unable || launch->options.verbose))
		note("%s: %s", sbx_backend_name(backend->kind), words);
	if (unable)
		backend_instead(launch, backend->kind, why);
	backend_again(launch, why);
	note("%s: %s", sbx_backend_name(backend->kind), why);
}

static _Noreturn void launch_run(struct launch *launch, struct backend *backend)
{
	const char *workspace = launch->vars.value[SBX_VAR_WORKSPACE];
	bool had_repository = git_would_use(workspace);
	struct outcome out;

	check_file_size();
	terminal_save(launch);
	signals_take(launch);
	proxy_start(launch);
	slurm_start(launch);
	closing_remember(launch);
	direct_tmp_make(launch);
	launch_start(launch, backend, &out);
	proxy_stop(launch);
	helper_stop(&launch->slurm.helper);
	closing_end_all(launch);
	direct_tmp_remove(launch);
	bundle_remove(launch);
	slurm_remove(launch);
	terminal_restore(out.started && !out.exited);
	out_hurry(false);
	placeholders_remove(launch);
	if (out.failed) {
		if (!out.started)
			backend_again(launch, out.failed);
		note("%s", out.failed);
	} else if (!out.started) {
		explain_end(launch, backend, out.words);
	}
	if (!had_repository && git_would_use(workspace))
		launch_remark(
		    launch,
		    "a repository was made in %s: git on the host would run its hooks and "
		    "what its configuration names; look at .git/hooks and .git/config "
		    "first",
		    workspace);
	proxy_report(launch);
	closing_report(launch, &out);
	end_like(launch, &out);
}

/* Whoever ignores SIGCHLD has no children to wait for. */
static void take_children(void)
{
	sigset_t child;

	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	signal(SIGCHLD, SIG_DFL);
	sigprocmask(SIG_UNBLOCK, &child, NULL);
}

int main(int argc, char **argv, char **environment)
{
	struct launch *launch;
	struct backend backend = { 0 };

	if (argc > 1 && !strcmp(argv[1], INNER_WORD))
		inner_main(argv);
	stdio_guard();
	take_children();
	launch = mem_get(sizeof(*launch));
	raise_descriptors(launch);
	launch->plan.umask = umask(022);
	launch->environ = environment;
	take_identity(launch);
	options_parse(argv, &launch->options);
	if (launch->options.job)
		job_read(launch);
	if (launch->options.check)
		out_begin_list();
	closing_note_strangers(launch);
	make_plan(launch);
	if (launch->options.check)
		return report_check(launch);
	backend_choose(launch, &backend);
	launch_settle(launch, &backend);
	if (launch->options.dry_run) {
		report_plan(launch, &backend);
		return 0;
	}
	if (backend.kind == SBX_LANDLOCK && direct_alone(launch))
		direct_exec(launch);
	launch_run(launch, &backend);
}
