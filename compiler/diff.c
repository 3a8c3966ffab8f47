/*
 * compiler/diff.c - what has been found to differ, and the machines it is asked on.
 */
#include "compiler/diff.h"

#include <string.h>

#include "compiler/render.h"
#include "compiler/stages.h"
#include "compiler/text.h"

#define PATH_SIZE 4096

/* ---- machines ----------------------------------------------------------------------- */

/* Nothing of one is beneath another, and no two values are the same. */
static const char *const elsewhere[SBX_VAR_COUNT] = {
	[SBX_VAR_HOME] = "/people/v",
	[SBX_VAR_CWD] = "/elsewhere/w",
	[SBX_VAR_WORKSPACE] = "/elsewhere/w",
	[SBX_VAR_USER] = "v",
	[SBX_VAR_UID] = "2000",
	[SBX_VAR_RUNTIME] = "/run/user/2000",
	[SBX_VAR_GITDIR] = "/elsewhere/main/.git/worktrees/w",
	[SBX_VAR_GITCOMMON] = "/elsewhere/main/.git",
	[SBX_VAR_GITHOOKS] = "/elsewhere/hooks",
	[SBX_VAR_CA_BUNDLE] = "/etc/pki/roots.pem",
	[SBX_VAR_LAUNCHER] = "/opt/sbx/sbx-exec",
	[SBX_VAR_SIBLING] = "/elsewhere/sibling",
};

const char *diff_expand(const struct diff *diff, unsigned side, struct sbx_tmpl tmpl, bool *wild)
{
	const struct diff_side *of = &diff->side[side];
	char text[PATH_SIZE];
	uint32_t unset;
	int length = sbx_present(tmpl)
			 ? sbx_expand(of->blob, tmpl, &of->vars, text, sizeof(text), wild, &unset)
			 : -1;

	return length < 0 ? NULL : arena_copy(diff->arena, text, (size_t)length);
}

const char *diff_words(const struct diff *diff, unsigned side, uint32_t first, uint32_t count)
{
	const struct sbx_blob *blob = diff->side[side].blob;
	struct text text = { .arena = diff->arena };

	for (uint32_t i = 0; i < count; i++) {
		bool wild;
		const char *word =
		    diff_expand(diff, side, *SBX_AT(blob, TMPLS, sbx_tmpl, first + i), &wild);

		text_add(&text, "%s%s", i ? " " : "", word ? word : "?");
	}
	return text_end(&text);
}

/* A value that the params' own bounds would let -D give. */
static const char *another_value(const struct diff *diff, unsigned side,
				 const struct sbx_param *param, const char *value)
{
	const struct sbx_blob *blob = diff->side[side].blob;
	bool wild;

	if (param->choice_count)
		return diff_expand(
		    diff, side,
		    *SBX_AT(blob, TMPLS, sbx_tmpl, param->choice_first + param->choice_count - 1),
		    &wild);
	if (param->type == SBX_PARAM_PATH) {
		const char *under = diff_expand(diff, side, param->under, &wild);

		return arena_printf(diff->arena, "%s/%s", under && strcmp(under, "/") ? under : "",
				    sbx_string(blob, param->name));
	}
	return param->type == SBX_PARAM_STRING ? sbx_string(blob, param->name) : value;
}

static void move_side(struct diff *diff, unsigned side)
{
	const struct sbx_blob *blob = diff->side[side].blob;
	struct sbx_vars *vars = &diff->side[side].vars;
	const char *workspace;
	bool wild;

	for (unsigned i = 0; i < SBX_VAR_COUNT; i++)
		if (elsewhere[i])
			vars->value[i] = elsewhere[i];
	for (uint32_t i = 0; i < SBX_COUNT(blob, PARAMS); i++) {
		const struct sbx_param *param = SBX_AT(blob, PARAMS, sbx_param, i);
		const char *value = diff_expand(diff, side, param->value, &wild);

		vars->value[SBX_VAR_PARAM + i] =
		    diff->side[side].fixed ? value : another_value(diff, side, param, value);
	}
	workspace = diff_expand(diff, side, sbx_meta(blob)->workspace, &wild);
	if (workspace && *workspace)
		vars->value[SBX_VAR_WORKSPACE] = workspace;
}

/* A site policy has no workspace: it is asked about the other's. */
static void lend_workspace(struct diff *diff)
{
	for (unsigned side = 0; side < DIFF_SIDES; side++)
		if (!sbx_present(sbx_meta(diff->side[side].blob)->workspace))
			diff->side[side].vars.value[SBX_VAR_WORKSPACE] =
			    diff->side[!side].vars.value[SBX_VAR_WORKSPACE];
}

/* A job's is that of its session. */
static void take_workspace(struct diff *diff, unsigned index)
{
	diff_machine(diff->session, index);
	for (unsigned side = 0; side < DIFF_SIDES; side++)
		diff->side[side].vars.value[SBX_VAR_WORKSPACE] =
		    diff->session->side[side].vars.value[SBX_VAR_WORKSPACE];
}

const char *diff_machine(struct diff *diff, unsigned index)
{
	static const char *const texts[DIFF_MACHINES] = {
		NULL, "with a home of /people/v and the workspace /elsewhere/w", "in no repository"
	};

	for (unsigned side = 0; side < DIFF_SIDES; side++) {
		struct sbx_vars *vars = &diff->side[side].vars;

		model_vars(diff->arena, diff->side[side].blob, vars);
		if (index == 1)
			move_side(diff, side);
		if (index == 2)
			vars->value[SBX_VAR_GITDIR] = vars->value[SBX_VAR_GITCOMMON] =
			    vars->value[SBX_VAR_GITHOOKS] = NULL;
	}
	lend_workspace(diff);
	if (diff->session)
		take_workspace(diff, index);
	return texts[index];
}

/* ---- findings ----------------------------------------------------------------------- */

struct diff_says diff_says(const struct diff *diff, unsigned side, const char *verdict,
			   enum sbx_section_id section, uint32_t rule, const char *nobody)
{
	const struct sbx_blob *blob = diff->side[side].blob;
	struct diff_says says = { verdict, section, rule, nobody, SBX_NONE, blob };
	const struct sbx_head *head = rule == SBX_NONE ? NULL : render_head(blob, section, rule);

	if (head)
		says.loc = head->loc;
	return says;
}

struct diff_finding *diff_add(struct diff *diff, const char *part, enum diff_direction direction,
			      const char *what, const char *witness,
			      const struct diff_says says[DIFF_SIDES])
{
	const char *key;
	struct diff_finding *finding;
	void **slot;

	if (diff->within && !(direction & DIFF_WIDENED))
		return NULL;
	key = arena_printf(diff->arena, "%s %d %d:%u %d:%u %s", part, direction, says[0].section,
			   says[0].rule, says[1].section, says[1].rule, what);
	slot = map_put(diff->arena, &diff->seen, str_from(key));
	if (*slot)
		return *slot;
	if (diff->session)
		part = arena_printf(diff->arena, "jobs: %s", part);
	finding = ARENA_NEW(diff->arena, struct diff_finding);
	*slot = finding;
	*VEC_PUSH(diff->arena, &diff->findings) = finding;
	*finding = (struct diff_finding){
		.part = part, .direction = direction, .witness = witness, .when = diff->when
	};
	for (unsigned side = 0; side < DIFF_SIDES; side++) {
		struct diff_says *to = &finding->says[side];

		*to = says[side];
		if (to->rule != SBX_NONE && !to->by)
			to->by = render_rule(diff->arena, diff->side[side].blob, to->section,
					     to->rule, 4);
	}
	return finding;
}

void diff_ranks(struct diff *diff, const char *part, const char *what, enum sbx_section_id section,
		const char *nobody, const struct diff_rank ranks[DIFF_SIDES])
{
	struct diff_says says[DIFF_SIDES];
	const char *more = ranks[ranks[1].rank > ranks[0].rank].text;

	if (ranks[0].rank == ranks[1].rank)
		return;
	for (unsigned side = 0; side < DIFF_SIDES; side++)
		says[side] = diff_says(diff, side, ranks[side].text, section, ranks[side].rule,
				       ranks[side].rule == SBX_NONE ? nobody : NULL);
	diff_add(diff, part, diff_order(ranks[0].rank, ranks[1].rank), what,
		 strcmp(more, "allowed") ? arena_printf(diff->arena, "%s %s", what, more) : what,
		 says);
}

unsigned diff_directions(const struct diff *diff)
{
	unsigned directions = 0;

	for (size_t i = 0; i < diff->findings.count; i++)
		directions |= diff->findings.items[i]->direction;
	return directions;
}

static bool unbounded(const struct diff *diff, enum sbx_unbounded section)
{
	return diff->within && sbx_meta(diff->side[DIFF_OLD].blob)->unbounded & 1u << section;
}

/* What a site policy leaves to others, by one that does not or the other way round. */
static void compare_unbounded(struct diff *diff)
{
	static const char *const names[] = { "fs",         "env",     "syscalls", "net",
					     "credential", "process", "limits",   "slurm" };
	uint32_t was = sbx_meta(diff->side[DIFF_OLD].blob)->unbounded;
	uint32_t is = sbx_meta(diff->side[DIFF_NEW].blob)->unbounded;

	for (unsigned i = 0; !diff->within && i < sizeof(names) / sizeof(names[0]); i++) {
		const char *text = arena_printf(diff->arena, "unbounded %s", names[i]);
		struct diff_says says[DIFF_SIDES];

		if (!((was ^ is) & 1u << i))
			continue;
		for (unsigned side = 0; side < DIFF_SIDES; side++) {
			bool open = (side ? is : was) & 1u << i;

			says[side] = diff_says(diff, side, open ? "whatever others say" : "bounded",
					       SBX_SEC_META, SBX_NONE, open ? text : NULL);
		}
		diff_add(diff, "unbounded", is & 1u << i ? DIFF_WIDENED : DIFF_NARROWED, text, text,
			 says);
	}
}

static const struct {
	const char *name;
	void (*compare)(struct diff *diff);
	int section;    /* enum sbx_unbounded that leaves it out, or -1 */
	bool has_paths; /* and so differs from machine to machine */
	bool of_session; /* a job has its own command, and no values for params */
} parts[] = {
	{ "unbounded", compare_unbounded, -1, false, true },
	{ "command", diff_command, -1, true, true },
	{ "params", diff_params, -1, false, true },
	{ "files", diff_files, SBX_UNBOUNDED_FS, true, false },
	{ "slots", diff_slots, SBX_UNBOUNDED_FS, true, false },
	{ "environment", diff_env, SBX_UNBOUNDED_ENV, true, false },
	{ "system calls", diff_calls, SBX_UNBOUNDED_SYSCALLS, false, false },
	{ "network", diff_net, SBX_UNBOUNDED_NET, false, false },
	{ "local sockets", diff_sockets, SBX_UNBOUNDED_NET, true, false },
	{ "credentials", diff_credentials, SBX_UNBOUNDED_CREDENTIAL, true, false },
	{ "process", diff_process, SBX_UNBOUNDED_PROCESS, false, false },
	{ "limits", diff_limits, SBX_UNBOUNDED_LIMITS, false, false },
	{ "slurm", diff_slurm, SBX_UNBOUNDED_SLURM, true, false },
	{ "require", diff_require, -1, false, false },
};

/* Does any text of the policy have a value in it that only a repository gives? */
static bool speaks_of_git(const struct sbx_blob *blob)
{
	const char *text = blob->section[SBX_SEC_STRINGS].records;

	for (uint32_t i = 0; i + 1 < SBX_COUNT(blob, STRINGS); i++)
		if (text[i] == SBX_MARK_VAR && text[i + 1] >= SBX_MARK_BASE + SBX_VAR_GITDIR &&
		    text[i + 1] <= SBX_MARK_BASE + SBX_VAR_GITHOOKS)
			return true;
	return false;
}

static void compare_part(struct diff *diff, size_t part, unsigned machines)
{
	effort_begin(&diff->effort, diff->arena);
	for (unsigned machine = 0; machine < machines; machine++) {
		diff->when = diff_machine(diff, machine);
		parts[part].compare(diff);
	}
	for (unsigned n = 0; parts[part].has_paths && (diff->when = diff_choice(diff, n)); n++)
		parts[part].compare(diff);
	if (diff->effort.spent)
		diff->cut = arena_printf(diff->arena, "%s%s%s%s", diff->cut ? diff->cut : "",
					 diff->cut ? ", " : "", diff->session ? "jobs: " : "",
					 parts[part].name);
}

void diff_run(struct diff *diff)
{
	bool git = speaks_of_git(diff->side[0].blob) || speaks_of_git(diff->side[1].blob);

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		unsigned machines = !parts[i].has_paths ? 1
				    : git               ? DIFF_MACHINES
							: DIFF_MACHINES - 1;

		if (parts[i].section >= 0 && unbounded(diff, (enum sbx_unbounded)parts[i].section))
			continue;
		if (!diff->session || !parts[i].of_session)
			compare_part(diff, i, machines);
	}
	if (!diff->session)
		diff_jobs(diff);
}
