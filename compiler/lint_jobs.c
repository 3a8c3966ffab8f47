/*
 * Jobs that may do more than the session that submits them.
 *
 * Whoever can submit a job can do what it may: a policy of jobs that is wider opens that to
 * the session as well, one queue further on.  What is wider is what `sbxc diff` finds.
 */
#include <string.h>

#include "compiler/diff.h"
#include "compiler/lint.h"
#include "compiler/render.h"

/* More of limits is nothing that the session lacks: Slurm bounds jobs, too.  And without an
 * `allow` of Slurm's a wider scope or budget is of nothing. */
static bool is_reach(const char *part, bool submits)
{
	return strcmp(part, "jobs: limits") != 0 && strcmp(part, "jobs: require") != 0 &&
	       (submits || strcmp(part, "jobs: slurm") != 0);
}

static bool job_submits(const struct sbx_blob *blob)
{
	struct sbx_blob jobs;

	sbx_blob_jobs(blob, &jobs);
	for (uint32_t i = 0; i < SBX_COUNT(&jobs, SLURM); i++)
		if (SBX_AT(&jobs, SLURM, sbx_slurm_rule, i)->head.verb == SBX_SLURM_ALLOW)
			return true;
	return false;
}

static const struct rule_head *jobs_rule(struct lint *lint)
{
	for (uint32_t i = 0; i < SBX_COUNT(&lint->blob, SLURM); i++)
		if (SBX_AT(&lint->blob, SLURM, sbx_slurm_rule, i)->head.verb == SBX_SLURM_JOBS)
			return lint_head(lint, SBX_SEC_SLURM, i);
	return NULL;
}

static bool counts(const struct diff_finding *finding, const char *part)
{
	return finding->direction == DIFF_WIDENED && !strcmp(finding->part, part);
}

/* One finding for each part: what can be written first of all, its rule, and how many more. */
static void find_part(struct lint *lint, const struct rule_head *rule, const struct diff *diff,
		      size_t first)
{
	const struct diff_finding *shown = diff->findings.items[first];
	const char *part = shown->part, *place = "";
	const struct diff_says *says;
	size_t count = 0;

	for (size_t i = 0; i < diff->findings.count; i++) {
		const struct diff_finding *finding = diff->findings.items[i];

		if (!counts(finding, part))
			continue;
		if (i < first)
			return; /* said already */
		count++;
		if (!strstr(shown->witness, "write") && strstr(finding->witness, "write"))
			shown = finding;
	}
	says = &shown->says[DIFF_NEW];
	if (says->loc != SBX_NONE)
		place = arena_printf(lint->arena, " (%s)",
				     render_places(lint->arena, says->blob, says->loc));
	lint_find(lint, rule, DIAG_L0407, "a job may do what its session may not: %s, %s%s%s%s",
		  shown->witness, says->rule == SBX_NONE ? "" : "by ",
		  says->by ? says->by : says->verdict, place,
		  count > 1 ? arena_printf(lint->arena, ", and %zu more like it", count - 1) : "");
}

void lint_jobs(struct lint *lint)
{
	const struct rule_head *rule = jobs_rule(lint);
	struct diff diff = { .arena = lint->arena };
	bool submits = rule && job_submits(&lint->blob);

	if (!rule)
		return;
	diff_jobs_beyond(&diff, &lint->blob);
	for (size_t i = 0; i < diff.findings.count; i++)
		if (counts(diff.findings.items[i], diff.findings.items[i]->part) &&
		    is_reach(diff.findings.items[i]->part, submits))
			find_part(lint, rule, &diff, i);
	if (diff.cut)
		lint_find(lint, rule, DIAG_L0407,
			  "whether a job may do more than its session is too much to compare: %s",
			  diff.cut);
}
