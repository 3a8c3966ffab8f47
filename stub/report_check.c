/*
 * stub/report_check.c - --check: can this machine enforce the policy?
 *
 * One fact a line, "yes", "no" or "note" first: what stands in the way
 * whatever the backend (said while the plan was made), the machine, then each
 * backend with what holds every duty of this policy on it.  Where the table
 * says that one could, it is really started, up to where the program would be:
 * a setting that forbids namespaces, a container without /proc or a backend
 * that lies shows in no other way.  What would change the host (placeholders,
 * directories that the policy makes) is left out of that.
 */
#include "stub/report.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "stub/backend.h"
#include "stub/broker.h"
#include "stub/launch.h"
#include "stub/out.h"
#include "stub/supervise.h"
#include "stub/sys.h"

#define say(...) out_print(STDOUT_FILENO, __VA_ARGS__)

enum { TRIED_GOOD, TRIED_UNABLE, TRIED_BAD };

/* ---- a start, for a trial -------------------------------------------------------- */

/* What is not there before a launch: made by it, or held by a placeholder. */
static void drop_absent(struct plan *plan)
{
	size_t count = 0;
	struct stat st;

	plan->placeholders.count = 0;
	for (size_t i = 0; i < plan->masks.count; i++)
		if (plan->masks.items[i].make || plan->masks.items[i].covered ||
		    !lstat(plan->masks.items[i].path, &st))
			plan->masks.items[count++] = plan->masks.items[i];
	plan->masks.count = count;
	count = 0;
	for (size_t i = 0; i < plan->mounts.count; i++)
		if (plan->mounts.items[i].kind != MOUNT_BIND || plan->mounts.items[i].st.st_ino)
			plan->mounts.items[count++] = plan->mounts.items[i];
	plan->mounts.count = count;
}

static _Noreturn void start_for_trial(struct launch *launch, enum sbx_backend kind)
{
	struct backend backend = { .kind = kind };
	struct outcome out;
	const char *why;
	bool unable = false;

	launch->options.quiet = true;
	launch->options.verbose = false;
	backend.path = backend_find(kind, &why);
	drop_absent(&launch->plan);
	launch_settle(launch, &backend);
	signals_take(launch);
	launch_start(launch, &backend, &out);
	why = out.failed;
	if (!why && !out.started) {
		why = backend_explain(&backend, out.words, &unable);
		if (!unable && *out.words)
			why = out_string("%s (%s)", why, out.words);
	}
	if (why)
		say("%s", why);
	_exit(!why ? TRIED_GOOD : unable ? TRIED_UNABLE : TRIED_BAD);
}

/* In a process of its own, since it settles the plan. */
static int try_backend(struct launch *launch, enum sbx_backend kind, const char **why)
{
	int words = memfd_create("sbx-words", MFD_CLOEXEC), status = 0;
	char text[4096];
	pid_t child;
	ssize_t size;

	*why = "it could not be tried: start again";
	child = words < 0 ? -1 : sys_fork();
	if (child == 0) {
		dup2(words, STDOUT_FILENO);
		start_for_trial(launch, kind);
	}
	if (child < 0 || waitpid(child, &status, 0) != child)
		return TRIED_BAD;
	size = pread(words, text, sizeof(text), 0);
	close(words);
	if (size > 0) {
		const char *line = mem_copy(text, strcspn(mem_copy(text, (size_t)size), "\n"));

		*why = strncmp(line, "no   ", 5) ? line : line + 5;
	}
	return WIFEXITED(status) && WEXITSTATUS(status) <= TRIED_BAD ? WEXITSTATUS(status)
								     : TRIED_BAD;
}

/* ---- the machine ------------------------------------------------------------------- */

static bool user_namespaces_work(void)
{
	pid_t child = sys_fork();
	int status = 1;

	if (child == 0)
		_exit(unshare(CLONE_NEWUSER | CLONE_NEWNS) ? 1 : 0);
	return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

static void report_there(const char *what, const char *path)
{
	if (path && !access(path, X_OK))
		say("yes  %s %s\n", what, path);
}

static void report_machine(struct launch *launch)
{
	int abi = sys_landlock_abi();
	const char *obstacle;

	if (abi > 0)
		say("yes  Landlock ABI %d\n", abi);
	else
		say("no   Landlock: %s\n",
		    errno == EOPNOTSUPP ? "it is turned off: add landlock to the kernel's lsm= list"
					: "this kernel has none: boot Linux 5.13 or newer");
	if (user_namespaces_work())
		say("yes  user namespaces\n");
	else
		say("no   user namespaces: %s\n", bwrap_explain_namespaces());
	report_there("proxy", launch->proxy.helper.path);
	report_there("chaperon", launch->slurm.helper.path);
	report_there("Slurm's clients", launch->slurm.clients);
	if ((abi >= 9 || !broker_wanted(launch)) && !launch->proxy.helper.path)
		return;
	obstacle = broker_obstacle(launch);
	say("%s connect broker%s%s\n", obstacle ? "no  " : "yes ", obstacle ? ": " : "",
	    obstacle ? obstacle : "");
}

/* ---- a backend ---------------------------------------------------------------------- */

/* Rules of one kind that nothing holds: each under -v, else the first of them. */
static void report_lacks(const struct launch *launch, enum sbx_duty what, enum sbx_backend kind,
			 bool optional)
{
	const char *name = sbx_backend_name(kind), *text, *first = NULL;
	const char *word = optional ? "note" : "no  ";
	const char *how = optional ? "not enforced, nor insisted on: " : "";
	unsigned more = 0;

	for (size_t i = 0; i < launch->duties.count; i++) {
		const struct duty *duty = &launch->duties.items[i];

		if (duty->what != what || duty_is_optional(duty) != optional)
			continue;
		more += first != NULL;
		if (first && !launch->options.verbose)
			continue;
		text =
		    optional ? duty_reason(launch, duty, kind) : duty_complaint(launch, duty, kind);
		if (launch->options.verbose)
			say("%s %s: %s%s\n", word, name, how, text);
		first = text;
	}
	if (first && !launch->options.verbose)
		say("%s %s: %s%s%s\n", word, name, how, first,
		    more ? out_string(" (and %u more of these: -v lists them)", more) : "");
}

/* All rules of one kind of duty. */
static void report_duty(const struct launch *launch, enum sbx_duty what, enum sbx_backend kind,
			const struct sbx_machine *machine)
{
	const struct sbx_enforcer *by = sbx_enforcer(what, kind, machine);
	unsigned rules = 0;

	for (size_t i = 0; i < launch->duties.count; i++)
		rules += launch->duties.items[i].what == what;
	if (rules && by) {
		say("yes  %s: %s%s: held by %s\n", sbx_backend_name(kind), sbx_duty_text(what),
		    rules > 1 ? out_string(" (%u rules)", rules) : "", sbx_enforcer_by(by));
	} else if (rules) {
		report_lacks(launch, what, kind, false);
		report_lacks(launch, what, kind, true);
	}
}

/* Of names that somebody outside could replace. */
static bool has_masks(const struct plan *plan)
{
	for (size_t i = 0; i < plan->masks.count; i++) {
		const struct plan_mask *mask = &plan->masks.items[i];

		if (mask->verify && !mask->make && mask->kind != MASK_TMP &&
		    mask->kind != MASK_OPEN && !path_within(mask->path, "/proc") &&
		    !path_within(mask->path, "/dev"))
			return true;
	}
	return false;
}

struct trial {
	bool usable;      /* by the table */
	unsigned lacking; /* best-effort duties */
	int result;
};

static void report_backend(struct launch *launch, enum sbx_backend kind, struct trial *out)
{
	const char *name = sbx_backend_name(kind), *why = backend_objection(launch, kind);
	bool there = !why;
	struct sbx_machine machine;
	unsigned fatal;

	duties_machine(launch, &machine);
	out->lacking = duties_lacking(launch, kind, &machine, &fatal);
	out->usable = there && !fatal;
	if (there && fatal)
		why = out_string("it cannot hold %u of what the policy asks for", fatal);
	out->result = out->usable ? try_backend(launch, kind, &why) : TRIED_UNABLE;
	if (out->result == TRIED_GOOD)
		say("yes  %s: started, and verified from inside\n", name);
	else
		say("no   %s: %s\n", name, why);
	for (enum sbx_duty what = 0; what < SBX_DUTY_COUNT; what++)
		if (there || launch->options.verbose)
			report_duty(launch, what, kind, &machine);
	/* No rule asks for this one. */
	if ((there || launch->options.verbose) && kind == SBX_FIREJAIL && has_masks(&launch->plan))
		say("note %s: %s: not so: %s\n", name, sbx_duty_text(SBX_DUTY_MASK_KEPT),
		    sbx_lack_why(SBX_DUTY_MASK_KEPT, kind));
}

/* As choose.c does it: the next one only where one says that it cannot. */
static const char *choice(const struct trial trials[], unsigned left)
{
	for (;;) {
		int best = -1;

		for (int kind = SBX_BACKEND_COUNT - 1; kind >= 0; kind--)
			if (left & 1u << kind && trials[kind].usable &&
			    (best < 0 || !trials[kind].lacking || trials[best].lacking))
				best = kind;
		if (best < 0 || trials[best].result == TRIED_BAD)
			return NULL;
		if (trials[best].result == TRIED_GOOD)
			return sbx_backend_name((enum sbx_backend)best);
		left &= ~(1u << best);
	}
}

static void report_notes(const struct launch *launch)
{
	const struct plan *plan = &launch->plan;

	if (plan->limits.count > 1 || plan->cpus) /* one is the caller's own */
		say("note limits hold for each process, not for the whole tree\n");
	for (size_t i = 0; i < plan->masks.count; i++)
		if (plan->masks.items[i].kind == MASK_COPY && !S_ISDIR(plan->masks.items[i].mode))
			say("note %s is a private copy; to replace it by rename fails (EBUSY)\n",
			    plan->masks.items[i].path);
}

int report_check(struct launch *launch)
{
	struct trial trials[SBX_BACKEND_COUNT] = { 0 };
	const char *chosen;

	report_machine(launch);
	for (enum sbx_backend kind = 0; kind < SBX_BACKEND_COUNT; kind++)
		if (launch->options.backends & 1u << kind)
			report_backend(launch, kind, &trials[kind]);
	report_notes(launch);
	chosen = launch->problems ? NULL : choice(trials, launch->options.backends);
	if (chosen)
		say("yes  this machine can enforce the policy, by %s\n", chosen);
	else
		say("no   this machine cannot enforce the policy\n");
	return chosen ? 0 : EXIT_REFUSED;
}
