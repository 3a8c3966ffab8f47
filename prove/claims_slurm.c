/*
 * prove/claims_slurm.c - the commands that a policy allows of Slurm: does sbx-chaperon
 * answer to each?
 *
 * Nothing is submitted, and Slurm itself is not asked.  That the real clients and munge
 * are shut stands in std/slurm, as seals and assertions, and is tried with those.
 */
#include <sys/syscall.h>

#include "prove/calls.h"
#include "prove/prove.h"

/* What a client does, whatever it is asked. */
static bool may_ask(const struct prove *prove)
{
	static const uint32_t needed[] = { SYS_socket, SYS_connect, SYS_execve, SYS_pipe2 };
	struct sbx_sys_verdict verdict;
	bool depends;

	for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++) {
		sbx_sys_decide_name(&prove->blob, PROVE_ARCH, needed[i], &verdict, &depends);
		if (verdict.action != SBX_ACT_ALLOW && !depends)
			return false;
	}
	return true;
}

void claims_slurm(struct prove *prove)
{
	for (uint32_t i = 0; i < SBX_COUNT(&prove->blob, SLURM); i++) {
		const struct sbx_slurm_rule *rule = SBX_AT(&prove->blob, SLURM, sbx_slurm_rule, i);
		const char *command = sbx_string(&prove->blob, rule->command);
		struct claim *claim;

		if (rule->head.verb != SBX_SLURM_ALLOW || rule->option != SBX_NONE)
			continue;
		claim = claim_add(prove, SBX_SEC_SLURM, i);
		claim->through = true;
		claim->tried = arena_printf(prove->arena, "ask %s", command);
		claim->request = arena_printf(prove->arena, "slurm %s", command);
		if (!may_ask(prove))
			claim->why = "the policy does not allow the system calls of a client";
	}
}
