/*
 * compiler/diff_env.c - environment variables, and the command.
 *
 * A name that is passed shows what stands outside; one that is set, or holds the
 * placeholder of a credential, shows what the policy says.
 */
#include <stdlib.h>
#include <string.h>

#include "compiler/diff.h"
#include "compiler/diff_names.h"
#include "compiler/text.h"

enum level { HIDDEN, SET, PASSED };

struct env {
	struct diff *diff;
	struct map names;             /* every exact name, of either side */
	struct map rules[DIFF_SIDES]; /* the rules of an exact name: struct rules */
	struct rules {
		VEC_OF(uint32_t)
	} patterns[DIFF_SIDES];
	struct names candidates, globs;
};

static void add_name(struct env *env, const char *name)
{
	void **slot = map_put(env->diff->arena, &env->names, str_from(name));

	if (!*slot)
		*VEC_PUSH(env->diff->arena, &env->candidates) = name;
	*slot = env;
}

static void add_glob(struct env *env, const char *pattern)
{
	for (size_t i = 0; i < env->globs.count; i++)
		if (!strcmp(env->globs.items[i], pattern))
			return;
	*VEC_PUSH(env->diff->arena, &env->globs) = pattern;
}

static void read_side(struct env *env, unsigned side)
{
	struct arena *arena = env->diff->arena;
	const struct sbx_blob *blob = env->diff->side[side].blob;

	for (uint32_t i = 0; i < SBX_COUNT(blob, ENV); i++) {
		const char *name = sbx_string(blob, SBX_AT(blob, ENV, sbx_env_rule, i)->name);
		void **slot;

		if (strchr(name, '*')) {
			add_glob(env, name);
			*VEC_PUSH(arena, &env->patterns[side]) = i;
			continue;
		}
		add_name(env, name);
		slot = map_put(arena, &env->rules[side], str_from(name));
		if (!*slot)
			*slot = ARENA_NEW(arena, struct rules);
		*VEC_PUSH(arena, (struct rules *)*slot) = i;
	}
	for (uint32_t i = 0; i < SBX_COUNT(blob, CREDENTIALS); i++)
		add_name(env, sbx_string(blob, SBX_AT(blob, CREDENTIALS, sbx_credential, i)->name));
}

static int by_index(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

/* The verdict of a blob that holds only those rules that can match, in their order, so
 * that the same one of equals is named. */
static void decide(const struct env *env, unsigned side, const char *name,
		   struct sbx_env_verdict *out)
{
	const struct sbx_blob *blob = env->diff->side[side].blob;
	const struct rules *exact = map_get(&env->rules[side], str_from(name));
	const struct rules *lists[] = { exact, &env->patterns[side] };
	size_t room = env->patterns[side].count + (exact ? exact->count : 0), count = 0;
	struct sbx_env_rule *few = arena_array(env->diff->arena, room, sizeof(*few));
	uint32_t *index = arena_array(env->diff->arena, room, sizeof(*index));
	struct sbx_blob part = *blob;

	for (unsigned l = 0; l < 2; l++)
		for (size_t i = 0; lists[l] && i < lists[l]->count; i++)
			index[count++] = lists[l]->items[i];
	qsort(index, count, sizeof(*index), by_index);
	for (size_t i = 0; i < count; i++)
		few[i] = *SBX_AT(blob, ENV, sbx_env_rule, index[i]);
	part.section[SBX_SEC_ENV].records = few;
	part.section[SBX_SEC_ENV].count = (uint32_t)count;
	sbx_env_decide(&part, name, out);
	if (out->rule != SBX_NONE)
		out->rule = index[out->rule];
}

static enum level level_of(const struct sbx_env_verdict *verdict)
{
	return !verdict->visible ? HIDDEN : verdict->set ? SET : PASSED;
}

/* What a name that is set holds inside. */
static const char *value_of(const struct env *env, unsigned side,
			    const struct sbx_env_verdict *verdict)
{
	const struct sbx_blob *blob = env->diff->side[side].blob;
	const char *value;
	bool wild;

	if (verdict->credential != SBX_NONE)
		return "a placeholder";
	value = diff_expand(env->diff, side, SBX_AT(blob, ENV, sbx_env_rule, verdict->rule)->value,
			    &wild);
	return value ? arena_printf(env->diff->arena, "set to %s", value) : "set where it can be";
}

static struct diff_says says(const struct env *env, unsigned side,
			     const struct sbx_env_verdict *verdict)
{
	bool placeholder = verdict->credential != SBX_NONE;
	enum level level = level_of(verdict);

	return diff_says(env->diff, side,
			 level == HIDDEN   ? "hidden"
			 : level == PASSED ? "passed"
					   : value_of(env, side, verdict),
			 placeholder ? SBX_SEC_CREDENTIALS : SBX_SEC_ENV,
			 placeholder ? verdict->credential : verdict->rule,
			 placeholder || verdict->rule != SBX_NONE ? NULL
								  : "no rule passes or sets it");
}

static void compare_name(struct env *env, const char *name)
{
	struct sbx_env_verdict verdict[DIFF_SIDES];
	struct diff_says both[DIFF_SIDES];
	enum level was, is;

	for (unsigned side = 0; side < DIFF_SIDES; side++)
		decide(env, side, name, &verdict[side]);
	was = level_of(&verdict[0]);
	is = level_of(&verdict[1]);
	/* Past a site goes only what it keeps hidden: its `set` replaces the other's. */
	if (was == is ? was != SET || env->diff->within : env->diff->within && was != HIDDEN)
		return;
	if (was == is && !strcmp(value_of(env, 0, &verdict[0]), value_of(env, 1, &verdict[1])))
		return;
	for (unsigned side = 0; side < DIFF_SIDES; side++)
		both[side] = says(env, side, &verdict[side]);
	diff_add(env->diff, "environment", was == is ? DIFF_CHANGED : diff_order(was, is), "",
		 arena_printf(env->diff->arena, "see %s", name), both);
}

/* Do the two sides say the same, word for word? */
static bool is_equal(const struct diff *diff)
{
	const struct sbx_blob *old = diff->side[DIFF_OLD].blob, *new = diff->side[DIFF_NEW].blob;
	bool wild;

	if (SBX_COUNT(old, ENV) != SBX_COUNT(new, ENV) || SBX_COUNT(old, CREDENTIALS) ||
	    SBX_COUNT(new, CREDENTIALS))
		return false;
	for (uint32_t i = 0; i < SBX_COUNT(old, ENV); i++) {
		const struct sbx_env_rule *a = SBX_AT(old, ENV, sbx_env_rule, i);
		const struct sbx_env_rule *b = SBX_AT(new, ENV, sbx_env_rule, i);
		const char *x, *y;

		if (a->head.verb != b->head.verb ||
		    strcmp(sbx_string(old, a->name), sbx_string(new, b->name)))
			return false;
		x = diff_expand(diff, DIFF_OLD, a->value, &wild);
		y = diff_expand(diff, DIFF_NEW, b->value, &wild);
		if (!x != !y || (x && strcmp(x, y)))
			return false;
	}
	return true;
}

/* The verbs that @side has about a pattern, a bit each. */
static unsigned verbs_about(const struct env *env, unsigned side, const char *pattern)
{
	const struct sbx_blob *blob = env->diff->side[side].blob;
	unsigned verbs = 0;

	for (size_t i = 0; i < env->patterns[side].count; i++) {
		const struct sbx_env_rule *rule =
		    SBX_AT(blob, ENV, sbx_env_rule, env->patterns[side].items[i]);

		if (!strcmp(sbx_string(blob, rule->name), pattern))
			verbs |= 1u << rule->head.verb;
	}
	return verbs;
}

static bool is_alone(const struct env *env, const char *pattern)
{
	return verbs_about(env, DIFF_OLD, pattern) != verbs_about(env, DIFF_NEW, pattern);
}

void diff_env(struct diff *diff)
{
	struct env env = { .diff = diff };
	const char **patterns;
	size_t count = 0, alone;
	const size_t rules =
	    SBX_COUNT(diff->side[0].blob, ENV) + SBX_COUNT(diff->side[1].blob, ENV);

	if (is_equal(diff))
		return;
	for (unsigned side = 0; side < DIFF_SIDES; side++)
		read_side(&env, side);
	patterns = arena_array(diff->arena, env.globs.count, sizeof(*patterns));
	for (unsigned turn = 0; turn < 2; turn++)
		for (size_t i = 0; i < env.globs.count; i++)
			if (is_alone(&env, env.globs.items[i]) == !turn)
				patterns[count++] = env.globs.items[i];
	for (alone = 0; alone < count && is_alone(&env, patterns[alone]); alone++)
		;
	names_tell_apart(diff->arena, patterns, count, alone, &env.names, &diff->effort,
			 &env.candidates);
	for (size_t i = 0; i < env.candidates.count && effort_left(&diff->effort, rules); i++)
		compare_name(&env, env.candidates.items[i]);
}

/* ---- what is run, and where --------------------------------------------------------- */

static void compare_texts(struct diff *diff, const char *what, const char *const text[DIFF_SIDES])
{
	struct diff_says says[DIFF_SIDES];

	if (!strcmp(text[0] ? text[0] : "", text[1] ? text[1] : ""))
		return;
	for (unsigned side = 0; side < DIFF_SIDES; side++)
		says[side] = diff_says(diff, side, text[side] ? text[side] : "not said",
				       SBX_SEC_META, SBX_NONE, NULL);
	diff_add(diff, "command", DIFF_CHANGED, what,
		 arena_printf(diff->arena, "%s %s", what, says[text[1] ? 1 : 0].verdict), says);
}

void diff_command(struct diff *diff)
{
	const char *command[DIFF_SIDES], *workspace[DIFF_SIDES];

	if (diff->within)
		return;
	for (unsigned side = 0; side < DIFF_SIDES; side++) {
		const struct sbx_meta *meta = sbx_meta(diff->side[side].blob);
		bool wild;

		command[side] = meta->command_count ? diff_words(diff, side, meta->command_first,
								 meta->command_count)
						    : NULL;
		workspace[side] = diff_expand(diff, side, meta->workspace, &wild);
	}
	compare_texts(diff, "command", command);
	compare_texts(diff, "workspace", workspace);
}
