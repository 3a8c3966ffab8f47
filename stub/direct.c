/*
 * stub/direct.c - the backend "landlock": no namespace, no mount.
 *
 * The Landlock domain and the filters are all that holds.  Mostly a child of
 * ours becomes the inner stage where it is, and we stay to end what is left,
 * to put the terminal back and to remove the session's own directory.  Where
 * a policy needs nothing of that, this very process becomes the program, and
 * nothing of ours runs any more.
 */
#include "stub/backend.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "stub/broker.h"
#include "stub/inner.h"
#include "stub/landlock.h"
#include "stub/launch.h"
#include "stub/out.h"
#include "stub/prepare.h"
#include "stub/sys.h"

const char *direct_find(const char **why)
{
	(void)why;
	return "";
}

/* ---- the plan, without mounts -------------------------------------------------------- */

/* Unless the policy's own value names what it grants. */
static void set_tmpdir(struct launch *launch, const char *name)
{
	const char *value = environ_get(launch, name);

	if (!value || !(direct_granted(launch, value) & SBX_WRITE))
		environ_set(launch, name, launch->direct.tmp);
}

/* What the policy sets to a path in /tmp (GIT_CONFIG_GLOBAL of std/git) means the
 * private one: here that is the session's own directory. */
static void move_values(struct launch *launch)
{
	struct plan *plan = &launch->plan;
	const char *around = path_parent(launch->direct.tmp);

	for (size_t i = 0; i < plan->environ.count; i++) {
		const char *entry = plan->environ.items[i], *value = strchr(entry, '=') + 1;
		const char *name = mem_copy(entry, (size_t)(value - entry) - 1);
		struct sbx_env_verdict verdict;

		sbx_env_decide(&launch->blob, name, &verdict);
		if (verdict.set && path_within(value, around) && !direct_granted(launch, value))
			plan->environ.items[i] = out_string("%s=%s%s", name, launch->direct.tmp,
							    value + strlen(around));
	}
}

/* Is there a rule that takes something away where Landlock does not?  Then it is
 * best-effort, or we would not be here. */
static bool is_narrowed(const struct launch *launch)
{
	for (size_t i = 0; i < launch->duties.count; i++)
		if (launch->duties.items[i].what == SBX_DUTY_DENY_BENEATH)
			return true;
	return false;
}

static void say_claims(const struct launch *launch)
{
	const char *broken = direct_broken_claims(launch);

	if (broken)
		launch_remark(launch,
			      "what rests on what is not enforced does not hold: %s of the policy",
			      broken);
}

void direct_translate(struct launch *launch, struct backend *out)
{
	const struct sbx_landlock *wanted = SBX_AT(&launch->blob, LANDLOCK, sbx_landlock, 0);
	struct plan *plan = &launch->plan;
	int abi = sys_landlock_abi();

	(void)out;
	direct_find_rules(launch);
	direct_make_holes(launch);
	plan->rules.items = launch->direct.rules.items;
	plan->rules.count = launch->direct.rules.count;
	plan->rules.room = launch->direct.rules.room;
	plan->placeholders.count = 0;
	plan->landlock_net = wanted->handled_net & landlock_known_net(abi);
	prepare_shared_filter(launch);
	backend_drop_process_limit(plan);
	direct_tmp_plan(launch);
	if (launch->direct.tmp) {
		move_values(launch);
		set_tmpdir(launch, "TMPDIR");
		set_tmpdir(launch, "TMP");
		set_tmpdir(launch, "TEMP");
	}
	if (abi == 1)
		launch_detail(launch, "Landlock ABI 1 refuses to rename or link from one directory "
				      "into another");
	say_claims(launch);
}

/* ---- running --------------------------------------------------------------------------- */

static bool is_on_terminal(void)
{
	return tcgetpgrp(0) >= 0 || tcgetpgrp(1) >= 0 || tcgetpgrp(2) >= 0;
}

bool direct_alone(const struct launch *launch)
{
	bool alone = !launch->plan.wall_time && !launch->plan.broker && !launch->direct.tmp &&
		     !launch->slurm.helper.path && !is_narrowed(launch) && !is_on_terminal();

	if (alone)
		launch_detail(launch,
			      "nothing of sbx-exec's stays: what the program leaves running "
			      "runs on, confined");
	return alone;
}

static void hand_on(const struct launch *launch)
{
	for (size_t i = 0; i < launch->plan.pass_fds.count; i++)
		fcntl((int)launch->plan.pass_fds.items[i], F_SETFD, 0);
}

void direct_exec(const struct launch *launch)
{
	hand_on(launch);
	inner_run_here(&launch->plan, -1);
}

void direct_become(const struct launch *launch, const struct handover *inherit)
{
	hand_on(launch);
	inner_run_here(&launch->plan, inherit->socket);
}
