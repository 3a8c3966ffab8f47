/*
 * Slurm rules of all files put together: what is declared, what is said of
 * it, and whether the two fit.
 */
#include <string.h>

#include "blob/verdict.h"
#include "compiler/lower.h"

static const char *const verb_words[] = {
	"option", "scope", "allow", "deny", "seal", "force", "add", "budget", "show", "jobs",
};

struct declared {
	struct map commands; /* name -> its first option's rule */
	struct map options;  /* "command --option" -> its rule */
	struct {
		VEC_OF(const char *)
	} command_names;
};

static struct str option_key(struct arena *arena, struct str command, struct str option)
{
	return str_from(arena_printf(arena, "%.*s %.*s", STR_ARG(command), STR_ARG(option)));
}

static void declare(struct lower *lower, struct declared *declared, struct slurm_rule *rule)
{
	void **command = map_put(lower->arena, &declared->commands, rule->command);

	if (!*command) {
		*command = rule;
		*VEC_PUSH(lower->arena, &declared->command_names) =
		    str_cstr(lower->arena, rule->command);
	}
	void **option = map_put(lower->arena, &declared->options,
				option_key(lower->arena, rule->command, rule->option));
	struct slurm_rule *first = *option;
	if (!first) {
		*option = rule;
	} else if (!lower_same_place(&first->head, &rule->head)) {
		diag_error(lower->diags, DIAG_C0301, rule->head.place.span,
			   "`%.*s %.*s` is declared twice", STR_ARG(rule->command),
			   STR_ARG(rule->option));
		diag_note(lower->diags, first->head.place.span, "the other one");
	}
}

/* ---- do rules speak of what there is? -------------------------------------------------------- */

/* `scontrol show job` is the command scontrol-show-job. */
static bool note_several(struct lower *lower, const struct declared *declared, struct str client)
{
	const char *names = "";

	for (size_t i = 0; i < declared->command_names.count; i++) {
		const char *name = declared->command_names.items[i];

		if (!strncmp(name, client.ptr, client.len) && name[client.len] == '-')
			names = arena_printf(lower->arena, "%s%s`%s`", names, *names ? ", " : "",
					     name);
	}
	if (*names)
		diag_note(lower->diags, NO_PLACE, "of it there are %s", names);
	return *names;
}

static bool check_command(struct lower *lower, const struct declared *declared,
			  const struct slurm_rule *rule)
{
	if (map_get(&declared->commands, rule->command))
		return true;
	diag_error(lower->diags, DIAG_C0801, rule->head.place.span,
		   "no Slurm command `%.*s` is declared", STR_ARG(rule->command));
	const char *near =
	    suggest(rule->command, declared->command_names.items, declared->command_names.count);
	if (note_several(lower, declared, rule->command))
		return false;
	if (near)
		diag_note(lower->diags, NO_PLACE, "did you mean `%s`?", near);
	else if (!declared->command_names.count)
		diag_note(lower->diags, NO_PLACE,
			  "the clients' commands come with `import std/slurm`");
	return false;
}

static void fail_option(struct lower *lower, const struct slurm_rule *rule)
{
	const struct policy *policy = lower->policy;
	struct {
		VEC_OF(const char *)
	} names = { 0 };

	for (size_t i = 0; i < policy->slurm.count; i++) {
		const struct slurm_rule *other = &policy->slurm.items[i];

		if (other->verb != SBX_SLURM_OPTION || !str_equal(other->command, rule->command))
			continue;
		*VEC_PUSH(lower->arena, &names) = str_cstr(lower->arena, other->option);
		if (other->short_name.ptr && str_equal(other->short_name, rule->option)) {
			diag_error(lower->diags, DIAG_C0802, rule->head.place.span,
				   "options are named by their long names: `%.*s`",
				   STR_ARG(other->option));
			return;
		}
	}
	diag_error(lower->diags, DIAG_C0802, rule->head.place.span, "`%.*s` has no option `%.*s`",
		   STR_ARG(rule->command), STR_ARG(rule->option));
	const char *near = suggest(rule->option, names.items, names.count);
	if (near)
		diag_note(lower->diags, NO_PLACE, "did you mean `%s`?", near);
}

/* The first limit that is none of what the option takes, or NULL.  One with a variable is
 * not known yet: it then takes no value at all. */
static const char *not_a_limit(struct lower *lower, const struct slurm_rule *rule,
			       const struct slurm_rule *option)
{
	for (size_t i = 0; rule->op == 2 && i < rule->values.count; i++) {
		const char *text = tmpl_show(lower->arena, NULL, rule->values.items[i]);

		if (!strchr(text, '$') && !sbx_slurm_is_limit(option->value_kind, text))
			return text;
	}
	return NULL;
}

static void check_value(struct lower *lower, const struct slurm_rule *rule,
			const struct slurm_rule *option)
{
	bool gives = rule->verb == SBX_SLURM_FORCE || rule->verb == SBX_SLURM_ADD;
	const char *limit = not_a_limit(lower, rule, option);

	if (limit)
		diag_error(lower->diags, DIAG_C0803, rule->head.place.span,
			   "`%s` cannot be a limit of `%.*s`", limit, STR_ARG(rule->option));
	else if (option->value_kind == SBX_TAKES_NOTHING && rule->values.count)
		diag_error(lower->diags, DIAG_C0803, rule->head.place.span, "`%.*s` takes no value",
			   STR_ARG(rule->option));
	else if (option->value_kind != SBX_TAKES_NOTHING &&
		 option->value_kind != SBX_TAKES_OPTIONAL && gives && !rule->values.count)
		diag_error(lower->diags, DIAG_C0803, rule->head.place.span,
			   "`%.*s` needs `= VALUE`", STR_ARG(rule->option));
	else
		return;
	diag_note(lower->diags, option->head.place.span, "as it is declared here");
}

/* Only what has columns to choose among can be shown in part. */
static void check_show(struct lower *lower, const struct slurm_rule *rule)
{
	const struct policy *policy = lower->policy;

	for (size_t i = 0; i < policy->slurm.count; i++)
		if (policy->slurm.items[i].verb == SBX_SLURM_OPTION &&
		    policy->slurm.items[i].value_kind == SBX_TAKES_COLUMNS &&
		    str_equal(policy->slurm.items[i].command, rule->command))
			return;
	diag_error(lower->diags, DIAG_C0803, rule->head.place.span,
		   "`show` is for a command with an option for columns, and `%.*s` has none",
		   STR_ARG(rule->command));
}

static void check_rule(struct lower *lower, const struct declared *declared,
		       const struct slurm_rule *rule)
{
	if (rule->verb == SBX_SLURM_OPTION || rule->verb == SBX_SLURM_BUDGET ||
	    !rule->command.ptr || !check_command(lower, declared, rule))
		return;
	if (rule->verb == SBX_SLURM_SHOW)
		check_show(lower, rule);
	if (!rule->option.ptr)
		return;
	const struct slurm_rule *option =
	    map_get(&declared->options, option_key(lower->arena, rule->command, rule->option));
	if (!option)
		fail_option(lower, rule);
	else
		check_value(lower, rule, option);
}

/* ---- rules against each other ------------------------------------------------------------------
 */

static bool is_single(const struct slurm_rule *rule)
{
	return rule->verb == SBX_SLURM_SCOPE || rule->verb == SBX_SLURM_JOBS ||
	       rule->verb == SBX_SLURM_SHOW || rule->verb == SBX_SLURM_BUDGET ||
	       rule->verb == SBX_SLURM_FORCE || rule->verb == SBX_SLURM_ADD;
}

static bool takes(const struct slurm_rule *rule)
{
	return rule->verb == SBX_SLURM_DENY || rule->verb == SBX_SLURM_SEAL;
}

static bool same_values(struct lower *lower, const struct slurm_rule *a, const struct slurm_rule *b)
{
	if (a->op != b->op || a->values.count != b->values.count || a->period_s != b->period_s)
		return false;
	for (size_t i = 0; i < a->values.count; i++) {
		if (!str_equal(tmpl_key(lower->arena, a->values.items[i]),
			       tmpl_key(lower->arena, b->values.items[i])))
			return false;
	}
	return true;
}

static const char *describe(struct lower *lower, const struct slurm_rule *rule)
{
	return arena_printf(lower->arena, "`%s%s%.*s%s%.*s`", verb_words[rule->verb],
			    rule->command.ptr ? " " : "", STR_ARG(rule->command),
			    rule->option.ptr ? " " : "", STR_ARG(rule->option));
}

/* True: @second is dropped.  Options were compared when they were declared. */
static bool compare(struct lower *lower, struct slurm_rule *first, struct slurm_rule *second)
{
	unsigned a = lower_level(lower, &first->head), b = lower_level(lower, &second->head);
	bool same_file = lower_same_file(&first->head, &second->head);

	if (first->verb == second->verb) {
		if (first->verb == SBX_SLURM_OPTION ||
		    lower_same_place(&first->head, &second->head))
			return true;
		if (same_values(lower, first, second))
			return lower_merge_same(lower, &first->head, &second->head,
						describe(lower, second)) == MERGE_DROP;
		if (!is_single(first))
			return false;
		if (a < b)
			return true; /* the nearer file's stands */
		diag_error(lower->diags, DIAG_C0306, second->head.place.span, "%s has two values",
			   describe(lower, second));
		diag_note(lower->diags, first->head.place.span, "the other one");
	} else if ((first->verb == SBX_SLURM_ALLOW && takes(second)) ||
		   (takes(first) && second->verb == SBX_SLURM_ALLOW)) {
		struct slurm_rule *allow = takes(first) ? second : first;
		struct slurm_rule *deny = allow == first ? second : first;

		if (!same_file && (!allow->head.main_file || lower_level(lower, &deny->head) <
								 lower_level(lower, &allow->head)))
			return false;
		diag_error(lower->diags, same_file ? DIAG_C0302 : DIAG_C0303,
			   allow->head.place.span,
			   same_file ? "%s and %s in one file" : "%s has no effect: %s wins",
			   describe(lower, allow), describe(lower, deny));
		diag_note(lower->diags, deny->head.place.span,
			  same_file ? "the other one" : "here");
	}
	return false;
}

struct entry {
	struct slurm_rule *rule;
	struct entry *next; /* same command and option */
};

/* Drops the rules that an earlier one says; @chains by command and option. */
static void put_together(struct lower *lower, struct map *chains)
{
	struct policy *policy = lower->policy;
	size_t kept = 0;

	for (size_t i = 0; i < policy->slurm.count; i++) {
		struct slurm_rule *rule = &policy->slurm.items[i];
		struct str key = option_key(lower->arena, rule->command, rule->option);
		void **slot = map_put(lower->arena, chains, key);
		bool dropped = false;

		for (struct entry *other = *slot; other && !dropped; other = other->next)
			dropped = compare(lower, other->rule, rule);
		if (dropped)
			continue;
		struct entry *entry = ARENA_NEW(lower->arena, struct entry);
		policy->slurm.items[kept] = *rule;
		*entry = (struct entry){ &policy->slurm.items[kept++], *slot };
		*slot = entry;
	}
	policy->slurm.count = kept;
}

void merge_slurm(struct lower *lower)
{
	struct policy *policy = lower->policy;
	struct declared declared = { 0 };
	struct map chains = { 0 };

	for (size_t i = 0; i < policy->slurm.count; i++) {
		if (policy->slurm.items[i].verb == SBX_SLURM_OPTION)
			declare(lower, &declared, &policy->slurm.items[i]);
	}
	for (size_t i = 0; i < policy->slurm.count; i++)
		check_rule(lower, &declared, &policy->slurm.items[i]);
	put_together(lower, &chains);
}
