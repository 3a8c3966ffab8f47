/*
 * stub/duties.c - what a launch asks for, one entry a rule.
 */
#include "stub/duties.h"

#include <string.h>

#include "stub/broker.h"
#include "stub/launch.h"
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

static void find_masks(struct launch *launch)
{
	const struct plan *plan = &launch->plan;

	for (size_t i = 0; i < plan->masks.count; i++) {
		const struct plan_mask *mask = &plan->masks.items[i];

		switch (mask->kind) {
		case MASK_HIDE:
		case MASK_SELF:
			/* /proc and /dev: the duties PROCESSES and TERMINALS */
			if (mask->verify && !path_within(mask->path, "/proc") &&
			    !path_within(mask->path, "/dev"))
				add_file(launch, SBX_DUTY_DENY_BENEATH, mask->rule, mask->path);
			break;
		case MASK_OPEN:
			if (beneath_mask(plan, mask))
				add_file(launch, SBX_DUTY_GRANT_BENEATH, mask->rule, mask->path);
			break;
		case MASK_TMP:
			add_file(launch, SBX_DUTY_TMP, mask->rule, mask->path);
			break;
		case MASK_COPY:
			add_file(launch, SBX_DUTY_COPY, mask->rule, mask->path);
			break;
		case MASK_COVER:
		case MASK_LINK:
			break;
		}
	}
}

static void find_mounts(struct launch *launch)
{
	const struct plan *plan = &launch->plan;
	bool reads = false, proc = false;

	for (size_t i = 0; i < plan->mounts.count; i++) {
		const struct plan_mount *mount = &plan->mounts.items[i];

		if (mount->kind == MOUNT_TMP)
			add_file(launch, SBX_DUTY_TMP, mount->rule, mount->path);
		if (mount->kind == MOUNT_PROC)
			proc = mount->rights & SBX_READ;
		reads |= mount->kind == MOUNT_BIND && !(mount->rights & SBX_WRITE);
	}
	if (reads)
		add(launch, SBX_DUTY_TRUNCATE, NULL, NULL);
	if (proc)
		add_shareable(launch, SBX_DUTY_PROCESSES, SBX_PROCESS_SHARE_PROCESSES, NULL);
}

/* ---- the rest ---------------------------------------------------------------------- */

static void find_network(struct launch *launch)
{
	const struct sbx_meta *meta = sbx_meta(&launch->blob);

	if (meta->net_mode != SBX_NET_HOST)
		add(launch, SBX_DUTY_NO_NETWORK, &meta->net_mode_head, NULL);
	for (uint32_t i = 0; i < SBX_COUNT(&launch->blob, NET); i++) {
		const struct sbx_net_rule *rule = SBX_AT(&launch->blob, NET, sbx_net_rule, i);

		if (rule->head.verb == SBX_NETV_LISTEN && rule->kind == SBX_NETK_PORT &&
		    meta->net_mode != SBX_NET_HOST)
			add(launch, SBX_DUTY_LISTEN, &rule->head, out_number(rule->port));
	}
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
	for (uint32_t i = 0; i < SBX_COUNT(&launch->blob, LIMITS); i++) {
		const struct sbx_limit_rule *rule = SBX_AT(&launch->blob, LIMITS, sbx_limit_rule, i);

		if (rule->limit == SBX_LIMIT_PROCESSES)
			add(launch, SBX_DUTY_PROCESS_COUNT, &rule->head, out_number(rule->value));
	}
}

void duties_find(struct launch *launch)
{
	add(launch, SBX_DUTY_GRANTS, NULL, NULL);
	find_mounts(launch);
	find_masks(launch);
	find_network(launch);
	find_process(launch);
	add_shareable(launch, SBX_DUTY_SIGNALS, SBX_PROCESS_SHARE_SIGNALS, NULL);
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
	if (out->landlock < 9 && broker_wanted(launch) && !broker_obstacle())
		out->has |= SBX_HAS_NOTIFY;
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

const char *duty_complaint(const struct launch *launch, const struct duty *duty,
			   enum sbx_backend kind)
{
	const char *place = duty->head ? launch_place(launch, duty->head->loc) : NULL;

	return out_string("%s%s%s%s%s%s: %s: %s", sbx_duty_text(duty->what),
			  duty->subject ? ": " : "", duty->subject ? duty->subject : "",
			  place ? " (" : "", place ? place : "", place ? ")" : "",
			  sbx_lack_why(duty->what, kind), sbx_lack_remedy(duty->what, kind));
}
