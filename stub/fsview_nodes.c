/*
 * stub/fsview_nodes.c - what the points decide of a path, and one node for each.
 *
 * Several statements may name one path, a grant and a deny of another right, or
 * a rule and a link that leads there: they become one node, which says what to
 * mount.
 */
#include <string.h>

#include "stub/fsview.h"
#include "stub/launch.h"

/* Which of two statements about one path says what is mounted there. */
static unsigned verb_rank(unsigned verb)
{
	static const unsigned rank[] = { [SBX_FS_DENY] = 0,   [SBX_FS_SEAL] = 0, [SBX_FS_GRANT] = 1,
					 [SBX_FS_DEVICE] = 2, [SBX_FS_COPY] = 3, [SBX_FS_TMP] = 4 };

	return rank[verb];
}

bool fsview_origin(const struct launch *launch, const char *path, unsigned right,
		   enum sbx_fs_verb *verb)
{
	const struct sbx_fs_set *set = &launch->view.set;
	struct sbx_fs_verdict verdict;

	sbx_fs_decide(set, path, right, &verdict);
	if (!verdict.allowed)
		return false;
	/* `exec /tmp` beside `tmp /tmp`: whichever decided, it is the tmpfs. */
	*verb = set->points[verdict.point].verb;
	for (size_t i = 0; i < set->count; i++)
		if (verb_rank(set->points[i].verb) > verb_rank(*verb) &&
		    !strcmp(set->points[i].path, set->points[verdict.point].path))
			*verb = set->points[i].verb;
	return true;
}

unsigned fsview_rights(const struct launch *launch, const char *path)
{
	unsigned rights = 0;

	for (unsigned right = SBX_READ; right <= SBX_EXEC; right <<= 1)
		if (sbx_fs_allows(&launch->view.set, path, right))
			rights |= right;
	return rights;
}

static int by_path(const void *a, const void *b)
{
	const struct node *left = a, *right = b;
	int order = path_compare(left->path, right->path);

	if (order)
		return order;
	return left->kind != right->kind ? (int)left->kind - (int)right->kind
					 : (int)left->verb - (int)right->verb;
}

/* Does the rule say what stands in the place of what is absent? */
static bool has_placeholder(const struct launch *launch, uint32_t index)
{
	const struct sbx_fs_rule *rule = fsview_rule(launch, index);

	return rule && (rule->placeholder != SBX_PLACEHOLDER_DEFAULT ||
			rule->head.flags & SBX_F_CREATE);
}

static void join(const struct launch *launch, struct node *into, const struct node *other)
{
	if (into->kind == NODE_RULE && other->kind != NODE_RULE)
		into->kind = other->kind;
	if (into->kind != NODE_SOCKET && other->kind == NODE_RULE && other->denied &&
	    (!into->denied || into->rule == SBX_RULE_SELF || has_placeholder(launch, other->rule)))
		into->rule = other->rule;
	if (verb_rank(other->verb) > verb_rank(into->verb))
		into->verb = other->verb;
	into->granted |= other->granted;
	into->denied |= other->denied;
}

void fsview_sort(struct launch *launch)
{
	struct fsview *view = &launch->view;
	struct node *nodes = view->nodes.items;
	size_t count = 0;

	mem_sort(nodes, view->nodes.count, sizeof(*nodes), by_path);
	for (size_t i = 0; i < view->nodes.count; i++) {
		if (count && !strcmp(nodes[count - 1].path, nodes[i].path))
			join(launch, &nodes[count - 1], &nodes[i]);
		else
			nodes[count++] = nodes[i];
	}
	view->nodes.count = count;
}
