/*
 * stub/duties.c - what a launch asks for, one entry a rule.
 */
#include "stub/duties.h"

#include <string.h>

#include "stub/backend.h"
#include "stub/broker.h"
#include "stub/launch.h"
#include "stub/load.h"
#include "stub/out.h"
#include "stub/prepare.h"
#include "stub/sys.h"

static void add(struct launch *launch, enum sbx_duty what, const struct sbx_head *head,
		const char *subject)
{
	*vec_add(&launch->duties) =
	    (struct duty){ .what = what, .head = head, .subject = subject, .rule = SBX_NONE };
}

/* What `process { share }` names by @word need not be kept apart. */
static void add_shareable(struct launch *launch, enum sbx_duty what, enum sbx_process word,
			  const struct sbx_head *head)
{
	add(launch, what, head, NULL);
	launch->duties.items[launch->duties.count - 1].shared = process_says(launch, word);
}

static bool is_soft(const struct launch *launch, uint32_t rule)
{
	return rule < SBX_COUNT(&launch->blob, FS) &&
	       SBX_AT(&launch->blob, FS, sbx_fs_rule, rule)->head.flags & SBX_F_BEST_EFFORT;
}

/* A node stands for all rules of its name; where one is best-effort, another may not be. */
static uint32_t hardest(const struct launch *launch, uint32_t rule, const char *path)
{
	for (size_t i = 0; is_soft(launch, rule) && i < launch->view.points.count; i++) {
		const struct sbx_fs_point *point = &launch->view.points.items[i];

		if (point->verb >= SBX_FS_DENY && !is_soft(launch, point->rule) &&
		    (point->wild ? sbx_glob_match(point->path, path) : !strcmp(point->path, path)))
			return point->rule;
	}
	return rule;
}

bool duty_insists(const struct launch *launch, const struct node *node)
{
	return !is_soft(launch, hardest(launch, node->rule, node->path));
}

static void add_file(struct launch *launch, enum sbx_duty what, uint32_t rule, const char *path)
{
	const struct sbx_head *head = NULL;

	if (rule < SBX_COUNT(&launch->blob, FS))
		head = &SBX_AT(&launch->blob, FS, sbx_fs_rule, rule)->head;
	add(launch, what, head, path);
	launch->duties.items[launch->duties.count - 1].rule = rule;
}

/* ---- files ----------------------------------------------------------------------- */

static bool beneath_mask(const struct plan *plan, const struct plan_mask *mask)
{
	for (size_t i = 0; i < plan->masks.count; i++)
		if (&plan->masks.items[i] != mask && plan->masks.items[i].verify &&
		    path_within(mask->path, plan->masks.items[i].path))
			return true;
	return false;
}

/* A node may stand for several rules (`exec /tmp` beside `tmp /tmp`): the one of @verb. */
static void add_made(struct launch *launch, enum sbx_duty what, enum sbx_fs_verb verb,
		     uint32_t rule, const char *path)
{
	for (size_t i = 0; i < launch->view.points.count; i++) {
		const struct sbx_fs_point *point = &launch->view.points.items[i];

		if (point->verb == verb && !strcmp(point->path, path))
			rule = point->rule;
	}
	add_file(launch, what, rule, path);
}

static void add_tmp(struct launch *launch, uint32_t rule, const char *path, uint64_t size)
{
	add_made(launch, sbx_duty_of_tmp(path), SBX_FS_TMP, rule, path);
	if (size)
		add_made(launch, SBX_DUTY_TMP_SIZE, SBX_FS_TMP, rule, path);
}

static void find_masks(struct launch *launch)
{
	const struct plan *plan = &launch->plan;

	for (size_t i = 0; i < plan->masks.count; i++) {
		const struct plan_mask *mask = &plan->masks.items[i];

		if (!firejail_can_name(mask->path))
			add_file(launch, SBX_DUTY_ANY_NAME,
				 hardest(launch, mask->rule, mask->path), mask->path);
		if (mask->kind == MASK_OPEN && beneath_mask(plan, mask))
			add_file(launch, SBX_DUTY_GRANT_BENEATH, mask->rule, mask->path);
		else if (mask->kind == MASK_TMP)
			add_tmp(launch, mask->rule, mask->path, mask->size);
		else if (mask->kind == MASK_COPY)
			add_made(launch, SBX_DUTY_COPY, SBX_FS_COPY, mask->rule, mask->path);
		else if (mask->kind != MASK_OPEN && mask->verify && mask->make &&
			 !path_within(mask->path, "/proc") && !path_within(mask->path, "/dev"))
			add_file(launch, SBX_DUTY_DENY_IN_TMP,
				 hardest(launch, mask->rule, mask->path), mask->path);
	}
}

/* What is taken away at a path where Landlock's rules alone would give it: also of
 * names that do not exist, if they could be made, and of links. */
static void find_denies(struct launch *launch)
{
	for (size_t i = 0; i < launch->view.nodes.count; i++) {
		const struct node *node = &launch->view.nodes.items[i];
		unsigned granted;

		if (!node->denied)
			continue;
		granted = direct_granted(launch, node->path);
		if (!granted || direct_is_hole(launch, node))
			continue;
		if ((node->kind == NODE_LINK || !node_exists(node)) && !(granted & SBX_WRITE))
			continue;
		if (node->kind == NODE_LINK || granted & ~fsview_rights(launch, node->path))
			add_file(launch,
				 node->kind == NODE_LINK ? SBX_DUTY_DENY_LINK
							 : SBX_DUTY_DENY_BENEATH,
				 hardest(launch, node->rule, node->path), node->path);
	}
}

static void find_mounts(struct launch *launch)
{
	const struct plan *plan = &launch->plan;
	bool reads = false;

	for (size_t i = 0; i < plan->mounts.count; i++) {
		const struct plan_mount *mount = &plan->mounts.items[i];
		bool writes = mount->kind == MOUNT_BIND && mount->rights & SBX_WRITE;

		if (mount->kind == MOUNT_TMP)
			add_tmp(launch, mount->rule, mount->path, mount->size);
		if ((writes || path_within(mount->path, "/tmp")) && !firejail_can_name(mount->path))
			add_file(launch, SBX_DUTY_ANY_NAME, mount->rule, mount->path);
		if (writes && mount->st.st_ino && !S_ISSOCK(mount->st.st_mode) &&
		    mount->st.st_uid != launch->uid)
			add_file(launch, SBX_DUTY_WRITE_ANOTHERS, mount->rule, mount->path);
		reads |= mount->kind == MOUNT_BIND && !writes;
	}
	if (reads)
		add(launch, SBX_DUTY_TRUNCATE, NULL, NULL);
}

/* Devices that a rule other than `device` opens. */
static void find_devices(struct launch *launch)
{
	for (size_t i = 0; i < launch->view.nodes.count; i++) {
		const struct node *node = &launch->view.nodes.items[i];

		if (node->granted && node->verb == SBX_FS_GRANT && node_exists(node) &&
		    (S_ISCHR(node->st.st_mode) || S_ISBLK(node->st.st_mode)))
			add_file(launch, SBX_DUTY_DEVICE_CALLS, node->rule, node->path);
	}
	if (direct_granted(launch, "/dev/sbx"))
		add(launch, SBX_DUTY_DEVICE_CALLS, NULL, "/dev");
}

static void find_files(struct launch *launch)
{
	direct_find_rules(launch);
	add(launch, SBX_DUTY_GRANTS, NULL, NULL);
	find_mounts(launch);
	find_masks(launch);
	find_denies(launch);
	find_devices(launch);
	if (direct_granted(launch, "/proc/1"))
		add_shareable(launch, SBX_DUTY_PROCESSES, SBX_PROCESS_SHARE_PROCESSES, NULL);
	if (direct_granted(launch, "/dev/pts/ptmx"))
		add_shareable(launch, SBX_DUTY_TERMINALS, SBX_PROCESS_SHARE_TERMINALS, NULL);
	if (!launch->uid)
		add(launch, SBX_DUTY_SYSTEM_FILES, NULL, NULL);
}

/* ---- the rest ---------------------------------------------------------------------- */

static void find_network(struct launch *launch)
{
	const struct sbx_meta *meta = sbx_meta(&launch->blob);

	for (uint32_t i = 0; i < SBX_COUNT(&launch->blob, NET); i++) {
		const struct sbx_net_rule *rule = SBX_AT(&launch->blob, NET, sbx_net_rule, i);

		if (rule->head.verb == SBX_NETV_LISTEN && rule->kind == SBX_NETK_PORT &&
		    meta->net_mode != SBX_NET_HOST)
			add(launch, SBX_DUTY_LISTEN, &rule->head, out_number(rule->port));
	}
	if (meta->net_mode != SBX_NET_HOST)
		add(launch,
		    meta->net_mode == SBX_NET_PROXY ? SBX_DUTY_PROXY : SBX_DUTY_NO_NETWORK,
		    &meta->net_mode_head, NULL);
	for (uint32_t i = 0; i < SBX_COUNT(&launch->blob, CREDENTIALS); i++)
		add(launch, SBX_DUTY_CREDENTIALS,
		    &SBX_AT(&launch->blob, CREDENTIALS, sbx_credential, i)->head, NULL);
	if (broker_wanted(launch)) {
		add(launch, SBX_DUTY_PATH_SOCKETS, NULL, NULL);
		add(launch, SBX_DUTY_ABSTRACT_SOCKETS, NULL, NULL);
	}
}

static void find_process(struct launch *launch)
{
	for (uint32_t i = 0; i < SBX_COUNT(&launch->blob, PROCESS); i++) {
		const struct sbx_process_rule *rule =
		    SBX_AT(&launch->blob, PROCESS, sbx_process_rule, i);

		if (rule->what == SBX_PROCESS_USERNS)
			add(launch, SBX_DUTY_USER_NAMESPACES, &rule->head, NULL);
		if (rule->what == SBX_PROCESS_TERMINAL)
			add_shareable(launch, SBX_DUTY_TERMINALS, SBX_PROCESS_SHARE_TERMINALS,
				      &rule->head);
	}
	for (uint32_t i = 0; i < SBX_COUNT(&launch->blob, ASSERTS); i++) {
		const struct sbx_assert *claim = SBX_AT(&launch->blob, ASSERTS, sbx_assert, i);

		if (claim->head.verb == SBX_CAN && claim->action == SBX_DO_USE &&
		    !strcmp(sbx_string(&launch->blob, claim->object.text), "pty"))
			add_shareable(launch, SBX_DUTY_TERMINALS, SBX_PROCESS_SHARE_TERMINALS,
				      &claim->head);
	}
	for (uint32_t i = 0; i < SBX_COUNT(&launch->blob, LIMITS); i++) {
		const struct sbx_limit_rule *rule =
		    SBX_AT(&launch->blob, LIMITS, sbx_limit_rule, i);

		if (rule->limit == SBX_LIMIT_PROCESSES)
			add(launch,
			    launch->uid || !root_is_root() ? SBX_DUTY_PROCESS_COUNT
							   : SBX_DUTY_COUNT_OF_ROOT,
			    &rule->head, out_number(rule->value));
	}
}

void duties_find(struct launch *launch)
{
	find_files(launch);
	find_network(launch);
	find_process(launch);
	add_shareable(launch, SBX_DUTY_SIGNALS, SBX_PROCESS_SHARE_SIGNALS, NULL);
	add_shareable(launch, SBX_DUTY_ATTRIBUTES, SBX_PROCESS_SHARE_ATTRIBUTES, NULL);
	add(launch, SBX_DUTY_SAME_USER, NULL, NULL);
	if (!process_says(launch, SBX_PROCESS_USERNS))
		add(launch, SBX_DUTY_DESCRIPTORS, NULL, NULL);
}

/* ---- judging ------------------------------------------------------------------------- */

void duties_machine(const struct launch *launch, struct sbx_machine *out)
{
	int abi = sys_landlock_abi();

	memset(out, 0, sizeof(*out));
	out->landlock = abi > 0 ? (unsigned)abi : 0;
	if (sbx_meta(&launch->blob)->net_mode != SBX_NET_HOST)
		out->has |= SBX_HAS_OWN_NET;
	if (((out->landlock < 9 && broker_wanted(launch)) || launch->proxy.helper.path) &&
	    !broker_obstacle(launch))
		out->has |= SBX_HAS_NOTIFY;
	out->has |= sbx_filter_has(&launch->blob, OUR_ARCH, out->landlock);
}

unsigned duties_lacking(const struct launch *launch, enum sbx_backend kind,
			const struct sbx_machine *machine, unsigned *fatal)
{
	unsigned lacking = 0;

	*fatal = 0;
	for (size_t i = 0; i < launch->duties.count; i++) {
		const struct duty *duty = &launch->duties.items[i];

		if (duty_held(duty->what, kind, machine))
			continue;
		lacking++;
		*fatal += !duty_is_optional(duty);
	}
	return lacking;
}

/* "std/git.pol:12" of the rule that asks for it, or who else does; NULL: nobody in
 * particular. */
static const char *place_of(const struct launch *launch, const struct duty *duty)
{
	if (duty->head && duty->head->loc != SBX_NONE)
		return launch_place(launch, duty->head->loc);
	return duty->rule == SBX_NONE ? NULL : fsview_place(launch, duty->rule);
}

/* The grant around a path that a deny narrows: LAND-03 wants both rules named. */
static const char *grant_around(const struct launch *launch, const char *path)
{
	struct sbx_fs_verdict verdict;

	for (path = path_parent(path); path[1]; path = path_parent(path)) {
		sbx_fs_decide(&launch->view.set, path, SBX_READ, &verdict);
		if (verdict.allowed)
			return fsview_place(launch, launch->view.set.points[verdict.point].rule);
	}
	return NULL;
}

const char *duty_reason(const struct launch *launch, const struct duty *duty, enum sbx_backend kind)
{
	const char *place = place_of(launch, duty), *around = NULL;

	if (duty->what == SBX_DUTY_DENY_BENEATH)
		around = grant_around(launch, duty->subject);
	return out_string("%s%s%s%s%s%s%s%s: %s", sbx_duty_text(duty->what),
			  duty->subject ? ": " : "", duty->subject ? duty->subject : "",
			  place ? " (" : "", place ? place : "", around ? ", inside " : "",
			  around ? around : "", place ? ")" : "", sbx_lack_why(duty->what, kind));
}

/* Where to write best-effort, if not simply where the rule stands: at each of its
 * places, or where a module of the library is imported. */
static const char *make_soft(const struct launch *launch, uint32_t loc, const char *remedy)
{
	const char *place = launch_place(launch, loc);

	if (SBX_AT(&launch->blob, LOCS, sbx_loc, loc)->more)
		return out_string("use --backend bwrap, or mark it best-effort at %s and at %s",
				  place, launch_place(launch, loc + 1));
	if (!strncmp(place, "std/", 4) && strchr(place, '.'))
		return out_string("use --backend bwrap, or `import %.*s best-effort`",
				  (int)strcspn(place, "."), place);
	return remedy;
}

const char *duty_complaint(const struct launch *launch, const struct duty *duty,
			   enum sbx_backend kind)
{
	const char *remedy = sbx_lack_remedy(duty->what, kind);

	if (duty->head && duty->head->loc != SBX_NONE && out_find(remedy, "mark the "))
		remedy = make_soft(launch, duty->head->loc, remedy);
	if (duty->rule == SBX_RULE_SELF)
		remedy = "use --backend bwrap, or move it out of what is granted";
	if ((duty->what == SBX_DUTY_PATH_SOCKETS || duty->what == SBX_DUTY_ABSTRACT_SOCKETS ||
	     duty->what == SBX_DUTY_PROXY) &&
	    broker_obstacle(launch))
		remedy = broker_obstacle(launch);
	return out_string("%s: %s", duty_reason(launch, duty, kind), remedy);
}

/* ---- what is done without ------------------------------------------------------------- */

/* "deny-beneath 27 times (std/git.pol:18, ...)", of one kind of duty. */
static const char *sum_up(const struct launch *launch, enum sbx_duty what)
{
	const char *first = NULL;
	unsigned count = 0;
	bool more = false;

	for (size_t i = 0; i < launch->duties.count; i++) {
		const struct duty *duty = &launch->duties.items[i];
		const char *place;

		if (duty->what != what)
			continue;
		count++;
		place = place_of(launch, duty);
		if (!first)
			first = place;
		else if (place && strcmp(place, first))
			more = true;
	}
	if (!count)
		return NULL;
	return out_string("%s%s%s%s%s%s%s", sbx_duty_name(what), count > 1 ? " at " : "",
			  count > 1 ? out_number(count) : "", count > 1 ? " names" : "",
			  first ? " (" : "", first ? first : "",
			  !first ? ""
			  : more ? ", ...)"
				 : ")");
}

bool duties_summary(const struct launch *launch, enum sbx_backend kind,
		    const struct sbx_machine *machine)
{
	const char *all = NULL;

	for (enum sbx_duty what = 0; what < SBX_DUTY_COUNT; what++) {
		const char *one = duty_held(what, kind, machine) ? NULL : sum_up(launch, what);

		if (one && launch->options.verbose)
			for (size_t i = 0; i < launch->duties.count; i++) {
				const struct duty *duty = &launch->duties.items[i];

				/* The remedy is in the policy already. */
				if (duty->what == what)
					note("not enforced: %s", duty_reason(launch, duty, kind));
			}
		if (one)
			all = all ? mem_join(all, mem_join(", ", one)) : one;
	}
	if (all && !launch->options.verbose)
		launch_remark(launch, "not enforced on %s, as the policy accepts (-v says why): %s",
			      sbx_backend_name(kind), all);
	return all != NULL;
}
