/*
 * compiler/diff_sockets.c - what of the network has no address: local sockets, where
 * connections are accepted, and which requests an open host takes.
 */

#include "compiler/diff.h"
#include "compiler/diff_paths.h"

struct sockets {
	struct diff *diff;
	bool listen;
	bool any; /* of the new side, with any value of its params */
};

static const struct sbx_net_rule *rule_at(const struct diff *diff, unsigned side, uint32_t index)
{
	return SBX_AT(diff->side[side].blob, NET, sbx_net_rule, index);
}

/* ---- path sockets ------------------------------------------------------------------- */

static void socket_points(const struct sockets *sockets, unsigned side, struct sbx_fs_set *out)
{
	const struct diff *diff = sockets->diff;
	const struct sbx_blob *blob = diff->side[side].blob;
	struct sbx_fs_point *points =
	    arena_array(diff->arena, SBX_COUNT(blob, NET), sizeof(*points));

	*out = (struct sbx_fs_set){ .points = points };
	for (uint32_t i = 0; i < SBX_COUNT(blob, NET); i++) {
		const struct sbx_net_rule *rule = rule_at(diff, side, i);
		bool wild;
		const char *path;

		if (rule->kind != SBX_NETK_UNIX ||
		    (rule->head.verb == SBX_NETV_LISTEN) != sockets->listen)
			continue;
		path = diff_expand(diff, side, rule->path, &wild);
		if (!path)
			continue;
		points[out->count++] = (struct sbx_fs_point){
			.path = path,
			.wild = wild,
			.rule = i,
			.verb = rule->head.verb == SBX_NETV_DENY   ? SBX_FS_DENY
				: rule->head.verb == SBX_NETV_SEAL ? SBX_FS_SEAL
								   : SBX_FS_GRANT,
			.rights = SBX_READ,
		};
	}
}

/* By the function that the broker asks, of the rules that cover @path. */
static void decide(const struct sockets *sockets, unsigned side, const struct sbx_fs_set *covering,
		   const char *path, struct sbx_net_verdict *out)
{
	const struct diff *diff = sockets->diff;
	struct sbx_blob part = *diff->side[side].blob;
	struct sbx_net_rule *rules = arena_array(diff->arena, covering->count, sizeof(*rules));

	for (size_t i = 0; i < covering->count; i++)
		rules[i] = *rule_at(diff, side, covering->points[i].rule);
	if (sockets->listen || (sockets->any && side == DIFF_NEW)) {
		*out = (struct sbx_net_verdict){ .rule = SBX_NONE };
		for (uint32_t i = 0; i < covering->count && !out->allowed; i++)
			if (covering->points[i].verb == SBX_FS_GRANT && covering->points[i].rights)
				*out = (struct sbx_net_verdict){ true, i };
	} else {
		part.section[SBX_SEC_NET].records = rules;
		part.section[SBX_SEC_NET].count = (uint32_t)covering->count;
		sbx_net_decide_unix(&part, &diff->side[side].vars, path, out);
	}
	if (out->rule != SBX_NONE)
		out->rule = covering->points[out->rule].rule;
}

static void look(void *context, const char *path, const struct sbx_fs_set sets[2])
{
	const struct sockets *sockets = context;
	struct sbx_net_verdict verdict[DIFF_SIDES];
	struct diff_says says[DIFF_SIDES];
	const char *verb = sockets->listen ? "listen" : "connect";

	for (unsigned side = 0; side < DIFF_SIDES; side++) {
		decide(sockets, side, &sets[side], path, &verdict[side]);
		says[side] =
		    diff_says(sockets->diff, side, verdict[side].allowed ? "allowed" : "refused",
			      SBX_SEC_NET, verdict[side].rule,
			      verdict[side].rule == SBX_NONE ? "no rule allows that socket" : NULL);
	}
	if (verdict[0].allowed != verdict[1].allowed)
		diff_add(sockets->diff, "network",
			 diff_order(verdict[0].allowed, verdict[1].allowed), verb,
			 arena_printf(sockets->diff->arena, "%s unix:%s", verb, path), says);
}

/* What the rules give that -D may change, without regard to what others take again. */
static void compare_any(struct sockets *sockets, const struct sbx_fs_set *site)
{
	struct diff *diff = sockets->diff;
	struct sbx_vars vars = diff->side[DIFF_NEW].vars;
	struct sbx_fs_set sets[DIFF_SIDES] = { *site };
	const char *when = diff->when;

	if (!diff->within || !diff_any_value(diff))
		return;
	socket_points(sockets, DIFF_NEW, &sets[DIFF_NEW]);
	diff->side[DIFF_NEW].vars = vars;
	if (!diff_any_points(diff, &sets[DIFF_NEW]))
		return;
	sockets->any = true;
	diff->when = when ? arena_printf(diff->arena, DIFF_ANY ", %s", when) : DIFF_ANY;
	paths_tell_apart(diff->arena, sets, look, sockets, &diff->effort);
	diff->when = when;
}

void diff_sockets(struct diff *diff)
{
	for (unsigned listen = 0; listen < 2; listen++) {
		struct sockets sockets = { .diff = diff, .listen = listen };
		struct sbx_fs_set sets[DIFF_SIDES];

		for (unsigned side = 0; side < DIFF_SIDES; side++)
			socket_points(&sockets, side, &sets[side]);
		if (sets[0].count || sets[1].count)
			paths_tell_apart(diff->arena, sets, look, &sockets, &diff->effort);
		compare_any(&sockets, &sets[DIFF_OLD]);
	}
}
