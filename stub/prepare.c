/*
 * stub/prepare.c - namespaces, limits, filter, Landlock, directory, command.
 */
#include "stub/prepare.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <termios.h>
#include <unistd.h>

#include "stub/landlock.h"
#include "stub/launch.h"
#include "stub/out.h"
#include "stub/sys.h"
#include "stub/vars.h"

#if defined(__x86_64__)
#define OUR_FILTER(blob) (blob)->section[SBX_SEC_BPF_X86_64]
#define OUR_SHARED(blob) (blob)->section[SBX_SEC_BPF_SHARED_X86_64]
#elif defined(__aarch64__)
#define OUR_FILTER(blob) (blob)->section[SBX_SEC_BPF_AARCH64]
#define OUR_SHARED(blob) (blob)->section[SBX_SEC_BPF_SHARED_AARCH64]
#else
#error "x86_64 and aarch64 only"
#endif

const char *launch_place(const struct launch *launch, uint32_t loc)
{
	char place[512];

	sbx_place(&launch->blob, loc, place, sizeof(place));
	return mem_string(place);
}

bool process_says(const struct launch *launch, enum sbx_process what)
{
	for (uint32_t i = 0; i < SBX_COUNT(&launch->blob, PROCESS); i++)
		if (SBX_AT(&launch->blob, PROCESS, sbx_process_rule, i)->what == what)
			return true;
	return false;
}

bool process_may_call(const struct launch *launch, bool shared, uint32_t nr, const uint64_t args[6])
{
	struct sbx_sys_verdict verdict = { .action = SBX_ACT_ALLOW };

	if (shared)
		sbx_sys_decide_shared(&launch->blob, OUR_ARCH, nr, args, &verdict);
	if (verdict.action == SBX_ACT_ALLOW)
		sbx_sys_decide(&launch->blob, OUR_ARCH, nr, args, &verdict);
	return verdict.action == SBX_ACT_ALLOW;
}

static void set_limit(struct launch *launch, const struct sbx_limit_rule *rule)
{
	static const int resources[SBX_LIMIT_COUNT] = {
		[SBX_LIMIT_MEMORY] = RLIMIT_DATA,     [SBX_LIMIT_PROCESSES] = RLIMIT_NPROC,
		[SBX_LIMIT_CPU_TIME] = RLIMIT_CPU,    [SBX_LIMIT_OPEN_FILES] = RLIMIT_NOFILE,
		[SBX_LIMIT_FILE_SIZE] = RLIMIT_FSIZE, [SBX_LIMIT_CORE_SIZE] = RLIMIT_CORE,
	};
	struct rlimit now = { RLIM_INFINITY, RLIM_INFINITY };
	uint64_t value = rule->value;

	if (rule->limit == SBX_LIMIT_WALL_TIME) {
		launch->plan.wall_time = value;
		return;
	}
	if (rule->limit == SBX_LIMIT_CPUS) {
		launch->plan.cpus = value > 4096 ? 4096 : (unsigned)value;
		return;
	}
	if (!sys_prlimit(resources[rule->limit], NULL, &now) && now.rlim_max < value) {
		launch_detail(launch, "limit: the caller has only %llu, not %llu (%s)",
			      (unsigned long long)now.rlim_max, (unsigned long long)value,
			      launch_place(launch, rule->head.loc));
		value = now.rlim_max;
	}
	*vec_add(&launch->plan.limits) =
	    (struct plan_limit){ .resource = resources[rule->limit], .soft = value, .hard = value };
}

void prepare_namespaces(struct launch *launch)
{
	static const char names[NAMESPACE_COUNT][5] = { "net", "pid", "mnt", "ipc", "uts", "user" };
	struct stat st;

	for (size_t i = 0; i < NAMESPACE_COUNT; i++) {
		const char *name = out_string("/proc/self/ns/%s", names[i]);

		/* What is not known here cannot be told from another one inside. */
		if (!stat(name, &st))
			launch->plan.namespaces[i] = st.st_ino;
		else if (launch->plan.backend != SBX_FIREJAIL || i != NAMESPACE_COUNT - 1)
			refuse("%s: %s: mount /proc, or use a kernel with such namespaces", name,
			       out_error(errno));
	}
}

/* May process 1 carry the program's filter?  These are the calls that it makes
 * from then on, and its child until the exec. */
static bool init_can_carry(const struct launch *launch, bool shared)
{
	static const struct {
		uint32_t nr;
		uint64_t args[6];
	} calls[] = {
		{ SYS_clone, { SIGCHLD } },
		{ SYS_wait4, { 0 } },
		{ SYS_write, { 0 } },
		{ SYS_exit_group, { 0 } },
		{ SYS_setpgid, { 0 } },
		{ SYS_ioctl, { 0, TIOCSPGRP } },
		{ SYS_rt_sigprocmask, { 0 } },
		{ SYS_execve, { 0 } },
		{ SYS_prctl, { PR_SET_PDEATHSIG, SIGKILL } },
	};

	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
		if (!process_may_call(launch, shared, calls[i].nr, calls[i].args))
			return false;
	return true;
}

static void set_filter(struct launch *launch)
{
	launch->plan.filter = OUR_FILTER(&launch->blob).records;
	launch->plan.filter_count = OUR_FILTER(&launch->blob).count;
	if (!launch->plan.filter_count)
		refuse("the blob has no system call filter for this machine: compile it again");
	/* Whoever may not end goes round in its C library for ever, and so would we. */
	if (!process_may_call(launch, false, SYS_exit_group, (const uint64_t[6]){ 0 }) ||
	    !process_may_call(launch, false, SYS_execve, (const uint64_t[6]){ 0 }))
		refuse("the policy allows no execve or no exit_group, without which nothing starts "
		       "or ends: import std/syscalls");
	launch->plan.refused = sbx_sys_tell(&launch->blob, OUR_ARCH, false, false);
	launch->plan.filter_init = init_can_carry(launch, false);
	if (!launch->plan.filter_init)
		launch_detail(launch,
			      "process 1 runs without the filter, which would not let it wait");
}

void prepare_shared_filter(struct launch *launch)
{
	launch->plan.shared_filter = OUR_SHARED(&launch->blob).records;
	launch->plan.shared_filter_count = OUR_SHARED(&launch->blob).count;
	launch->plan.shared_refused = sbx_sys_tell(&launch->blob, OUR_ARCH, true, true);
	launch->plan.refused =
	    sbx_sys_tell(&launch->blob, OUR_ARCH, false, launch->plan.shared_filter_count);
	launch->plan.filter_init = init_can_carry(launch, true);
}

static void set_landlock(struct launch *launch)
{
	const struct sbx_landlock *wanted = SBX_AT(&launch->blob, LANDLOCK, sbx_landlock, 0);
	struct plan *plan = &launch->plan;
	int abi = sys_landlock_abi();
	bool nested = process_says(launch, SBX_PROCESS_USERNS);

	plan->landlock_fs = nested ? 0 : wanted->handled_fs & landlock_known_fs(abi);
	/* The network is not Landlock's here: a namespace of its own reaches nobody, and
	 * a server and its client inside may talk over loopback. */
	plan->landlock_scoped = wanted->scoped & landlock_known_scoped(abi);
	plan->landlock_read = wanted->read;
	plan->landlock_write = wanted->write;
	plan->landlock_exec = wanted->exec;
	if (nested)
		launch_remark(launch,
			      "user namespaces are allowed, so Landlock holds no path rules: "
			      "devices, files behind open descriptors and the execution of "
			      "readable files rest on mounts alone, and masks that are lifted "
			      "from outside stay so in a sandbox made inside");
	for (uint32_t i = 0; i < SBX_COUNT(&launch->blob, NET); i++) {
		const struct sbx_net_rule *rule = SBX_AT(&launch->blob, NET, sbx_net_rule, i);

		if (rule->head.verb == SBX_NETV_LISTEN && rule->kind == SBX_NETK_PORT)
			*vec_add(&plan->ports) = rule->port;
	}
}

/* The `tmp` that @path lies in, or NULL. */
static const struct sbx_fs_point *tmp_over(const struct launch *launch, const char *path)
{
	for (size_t i = 0; i < launch->view.points.count; i++) {
		const struct sbx_fs_point *point = &launch->view.points.items[i];

		if (point->verb == SBX_FS_TMP && path_within(path, point->path))
			return point;
	}
	return NULL;
}

static void set_directory(struct launch *launch)
{
	const char *workspace = launch->vars.value[SBX_VAR_WORKSPACE];
	const struct sbx_fs_point *tmp;

	launch->plan.cwd = launch->cwd;
	launch->plan.cwd_dev = launch->cwd_stat.st_dev;
	launch->plan.cwd_ino = launch->cwd_stat.st_ino;
	if (launch->options.workspace && !path_within(launch->cwd, workspace)) {
		launch_remark(launch,
			      "working directory: %s, not %s, which lies outside the workspace",
			      workspace, launch->cwd);
		launch->plan.cwd = workspace;
		launch->plan.cwd_dev = launch->plan.cwd_ino = 0;
	}
	if (plan_shows(launch, launch->plan.cwd))
		return;
	tmp = tmp_over(launch, launch->plan.cwd);
	if (tmp)
		launch_obstacle(launch,
				"the current directory is %s, and the policy has a private %s "
				"(%s): start elsewhere",
				launch->plan.cwd, tmp->path, fsview_place(launch, tmp->rule));
	else
		launch_obstacle(launch,
				"the current directory %s is not visible inside the policy: cd "
				"into the workspace (%s), or grant it",
				launch->plan.cwd, workspace);
}

static void set_command(struct launch *launch)
{
	const struct sbx_meta *meta = sbx_meta(&launch->blob);
	uint32_t unset;
	bool wild;

	for (char *const *arg = launch->options.command; arg && *arg; arg++)
		*vec_add(&launch->plan.argv) = *arg;
	if (launch->options.command)
		return;
	for (uint32_t i = 0; i < meta->command_count; i++) {
		const char *arg = vars_expand(
		    launch, *SBX_AT(&launch->blob, TMPLS, sbx_tmpl, meta->command_first + i), &wild,
		    &unset);

		if (!arg)
			launch_obstacle(launch,
					"the policy's command needs $%s, which has no value here%s: "
					"give a command after --",
					sbx_var_name(&launch->blob, unset),
					vars_why_unset(unset));
		*vec_add(&launch->plan.argv) = arg ? arg : "";
	}
	if (!launch->plan.argv.count && !launch->options.check && !launch->options.dry_run)
		refuse("which command? the policy names none: sbx-exec %s -- COMMAND",
		       launch->options.blob);
}

void prepare_process(struct launch *launch)
{
	/* We raised our own; the program gets the caller's, unless the policy speaks. */
	*vec_add(&launch->plan.limits) = (struct plan_limit){
		.resource = RLIMIT_NOFILE,
		.soft = launch->descriptors.rlim_cur,
		.hard = launch->descriptors.rlim_max,
	};
	for (uint32_t i = 0; i < SBX_COUNT(&launch->blob, LIMITS); i++)
		set_limit(launch, SBX_AT(&launch->blob, LIMITS, sbx_limit_rule, i));
	for (uint32_t i = 0; i < SBX_COUNT(&launch->blob, PROCESS); i++) {
		const struct sbx_process_rule *rule =
		    SBX_AT(&launch->blob, PROCESS, sbx_process_rule, i);

		if (rule->what == SBX_PROCESS_PASS_FD)
			*vec_add(&launch->plan.pass_fds) = rule->value;
	}
	launch->plan.share_net = sbx_meta(&launch->blob)->net_mode == SBX_NET_HOST;
	launch->plan.proxy = launch->proxy.helper.path;
	set_filter(launch);
	set_landlock(launch);
	set_directory(launch);
	set_command(launch);
}
