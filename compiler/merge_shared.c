/*
 * Statements `without ...`, which only the second program has.
 *
 * It says no to what a backend with namespaces would make harmless, so it has
 * no part in the contests of the first.  What it need not say is left out: a
 * statement about a network that the policy has, a call that the first
 * program refuses whatever its arguments.
 */
#include "compiler/lower_calls.h"

static bool listens(const struct policy *policy)
{
	for (size_t i = 0; i < policy->net.count; i++) {
		const struct net_rule *rule = &policy->net.items[i];

		if (rule->verb == SBX_NETV_LISTEN && rule->kind == SBX_NETK_PORT)
			return true;
	}
	return false;
}

/* A site that leaves `net` to the policies does not know what they have. */
static bool is_void(const struct policy *policy, enum without without)
{
	bool network =
	    policy->net_mode == SBX_NET_HOST || policy->unbounded & 1u << SBX_UNBOUNDED_NET;

	switch (without) {
	case SBX_WITHOUT_NOTHING:
	case SBX_WITHOUT_NAMESPACES:
		return false;
	case SBX_WITHOUT_NETWORK:
		return network;
	case SBX_WITHOUT_TCP:
		return network || policy->net_mode == SBX_NET_PROXY || listens(policy);
	}
	BUG("no such condition");
}

void shared_drop_void(struct policy *policy)
{
	size_t kept = 0;

	for (size_t i = 0; i < policy->sys.count; i++)
		if (!is_void(policy, policy->sys.items[i].without))
			policy->sys.items[kept++] = policy->sys.items[i];
	policy->sys.count = kept;
}

/* Does @stmt speak of @call?  With what rank, else -1. */
static int rank_for(const struct sys_stmt *stmt, const struct sys_use *call)
{
	int rank = -1;

	for (size_t i = 0; i < stmt->uses.count; i++) {
		const struct sys_use *use = &stmt->uses.items[i];

		if (use->nr[SBX_X86_64] == call->nr[SBX_X86_64] &&
		    use->nr[SBX_AARCH64] == call->nr[SBX_AARCH64] && (int)use->rank > rank)
			rank = (int)use->rank;
	}
	return rank;
}

/* Is @call refused at least like @action, whatever its arguments? */
static bool is_refused(const struct policy *policy, const struct sys_use *call,
		       enum sbx_sys_action action)
{
	int best = SBX_RANK_DEFAULT * 4 + (int)policy->sys_default.action;
	bool opened = false;

	for (size_t i = 0; i < policy->sys.count; i++) {
		const struct sys_stmt *stmt = &policy->sys.items[i];
		int rank = stmt->without ? -1 : rank_for(stmt, call);

		if (rank < 0)
			continue;
		if (stmt->cond_count)
			opened |= stmt->action < action;
		else if (rank * 4 + (int)stmt->action > best)
			best = rank * 4 + (int)stmt->action;
	}
	return best % 4 >= (int)action && (!opened || best / 4 == SBX_RANK_SEAL);
}

void shared_drop_refused(struct policy *policy)
{
	size_t kept = 0;

	if (policy->kind == SBX_SITE) /* what it does not refuse, a policy may allow */
		return;
	for (size_t i = 0; i < policy->sys.count; i++) {
		struct sys_stmt stmt = policy->sys.items[i];
		size_t left = 0;

		for (size_t n = 0; stmt.without && n < stmt.uses.count; n++)
			if (!is_refused(policy, &stmt.uses.items[n], stmt.action))
				stmt.uses.items[left++] = stmt.uses.items[n];
		if (stmt.without)
			stmt.uses.count = left;
		if (!stmt.without || left)
			policy->sys.items[kept++] = stmt;
	}
	policy->sys.count = kept;
}
