/*
 * compiler/lint_slurm.c - ways to Slurm beside sbx-chaperon, which is to be the only one.
 *
 * A policy may declare the clients' options by itself; what shuts the real clients,
 * munge and the configuration are the seals of std/slurm all the same.
 */
#include "compiler/lint.h"

static const struct rule_head *first_allow(const struct lint *lint)
{
	for (size_t i = 0; i < lint->policy->slurm.count; i++)
		if (lint->policy->slurm.items[i].verb == SBX_SLURM_ALLOW)
			return &lint->policy->slurm.items[i].head;
	return NULL;
}

static void find_network(struct lint *lint)
{
	/* Its compat says why the network is needed, not that Slurm stands in it. */
	if (lint->policy->net_mode == SBX_NET_HOST)
		lint_find(lint, &lint->policy->net_mode_head, DIAG_L0405,
			  "slurmctld can be reached past sbx-chaperon, and the seal of munge is "
			  "all that is in the way: take mode none or proxy, or waive it");
}

static void find_unsealed(struct lint *lint, const struct rule_head *allow)
{
	static const char *const paths[] = { "/usr/bin/sbatch", "/usr/bin/srun",
					     "/etc/munge/munge.key", "/run/munge/munge.socket.2",
					     "/etc/slurm/slurm.conf" };

	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
		struct sbx_fs_verdict verdict;

		lint_may(lint, paths[i], SBX_READ, &verdict);
		if (verdict.why == SBX_WHY_SEAL)
			continue;
		lint_find(lint, allow, DIAG_L0406,
			  "%s is not sealed, and leads past sbx-chaperon where it is granted: "
			  "import std/slurm",
			  paths[i]);
		return; /* they come together */
	}
}

void lint_slurm(struct lint *lint)
{
	const struct rule_head *allow = first_allow(lint);

	if (!allow)
		return;
	find_network(lint);
	find_unsealed(lint, allow);
}
