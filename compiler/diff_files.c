/*
 * compiler/diff_files.c - files, slots and path sockets: all that paths decide.
 *
 * Beside the verdict as explain gives it, files are asked about twice more where the
 * policies speak of it: a name that appears later, for which a snapshot does not
 * hold, and a backend that does not hold what is best-effort.
 */
#include <inttypes.h>
#include <string.h>

#include "compiler/diff.h"
#include "compiler/diff_paths.h"
#include "compiler/duties.h"
#include "compiler/stages.h"
#include "compiler/text.h"

#define DEVICE 8u /* beside SBX_READ and so on: the ioctl calls of a device */

/* How much of @right there is: the higher the more. */
enum level { REFUSED, IN_MEMORY, IN_COPY, ALLOWED };
struct decision {
	enum level level;
	uint32_t rule, size_kib;
};

struct files {
	struct diff *diff;
	const struct sbx_fs_set *sets;
};

static const struct sbx_fs_rule *rule_at(const struct diff *diff, unsigned side, uint32_t rule)
{
	return SBX_AT(diff->side[side].blob, FS, sbx_fs_rule, rule);
}

static struct decision decide_device(const struct sbx_fs_set *set, const char *path)
{
	struct decision out = { REFUSED, SBX_NONE, 0 };
	struct sbx_fs_verdict verdict;

	sbx_fs_decide(set, path, SBX_READ, &verdict);
	for (size_t i = 0; verdict.allowed && i < set->count; i++)
		if (set->points[i].verb == SBX_FS_DEVICE)
			out = (struct decision){ ALLOWED, set->points[i].rule, 0 };
	if (!verdict.allowed && verdict.point != SBX_NONE)
		out.rule = set->points[verdict.point].rule;
	return out;
}

static struct decision decide(const struct diff *diff, unsigned number,
			      const struct sbx_fs_set *set, const char *path, unsigned right)
{
	struct decision out = { REFUSED, SBX_NONE, 0 };
	const struct sbx_fs_point *made;
	struct sbx_fs_verdict verdict;

	if (right == DEVICE)
		return decide_device(set, path);
	sbx_fs_decide(set, path, right, &verdict);
	if (verdict.point != SBX_NONE)
		out.rule = set->points[verdict.point].rule;
	if (!verdict.allowed)
		return out;
	made = point_made(set, &verdict);
	out.level = ALLOWED;
	if (made) {
		out.size_kib =
		    sbx_fs_extra(diff->side[number].blob, rule_at(diff, number, made->rule))
			->size_kib;
		if (made->verb == SBX_FS_TMP)
			out.level = IN_MEMORY;
		else if (right != SBX_READ) /* a copy shows what the host has */
			out.level = IN_COPY;
	}
	return out;
}

static bool is_same(const struct decision *a, const struct decision *b)
{
	return a->level == b->level && (a->level == REFUSED || a->size_kib == b->size_kib);
}

static const char *verdict_text(struct arena *arena, const struct decision *decision)
{
	static const char *const texts[] = { "refused", "in memory", "on a copy", "allowed" };
	struct text text = { .arena = arena };

	text_add(&text, "%s", texts[decision->level]);
	if (decision->size_kib && decision->level != ALLOWED && decision->level != REFUSED) {
		text_add(&text, ", ");
		text_size(&text, (uint64_t)decision->size_kib * 1024);
	}
	return text_end(&text);
}

static enum diff_direction direction_of(const struct decision side[DIFF_SIDES])
{
	if (side[0].level != side[1].level)
		return diff_order(side[0].level, side[1].level);
	return diff_order(side[0].size_kib - 1u, side[1].size_kib - 1u); /* 0: as it comes */
}

static const char *right_names(struct arena *arena, unsigned rights)
{
	static const char *const names[] = { "read", "write", "exec", "ioctl" };
	struct text text = { .arena = arena };

	for (unsigned i = 0; i < 4; i++)
		if (rights & 1u << i)
			text_add(&text, "%s%s", text.bytes.count ? ", " : "", names[i]);
	return text_end(&text);
}

static void report(struct diff *diff, const char *path, unsigned rights,
		   const struct decision side[DIFF_SIDES])
{
	const char *names = right_names(diff->arena, rights);
	struct diff_says says[DIFF_SIDES];

	for (unsigned i = 0; i < DIFF_SIDES; i++)
		says[i] =
		    diff_says(diff, i, verdict_text(diff->arena, &side[i]), SBX_SEC_FS,
			      side[i].rule, side[i].rule == SBX_NONE ? "no rule grants it" : NULL);
	diff_add(diff, "files", direction_of(side), names,
		 arena_printf(diff->arena, "%s %s", names, path), says);
}

/* Of a site only what is the host's is asked: a copy has to be read, memory is nobody's. */
static bool is_asked(const struct diff *diff, const struct decision *is)
{
	return !diff->within || is->level == ALLOWED;
}

static void look(void *context, const char *path, const struct sbx_fs_set sets[2])
{
	const struct files *files = context;
	struct decision found[4][DIFF_SIDES];
	unsigned open = 0;

	for (unsigned i = 0; i < 4; i++) {
		for (unsigned side = 0; side < DIFF_SIDES; side++)
			found[i][side] = decide(files->diff, side, &sets[side], path, 1u << i);
		if (!is_same(&found[i][0], &found[i][1]) && is_asked(files->diff, &found[i][1]))
			open |= 1u << i;
	}
	/* Rights that the same rules give or take are one finding. */
	for (unsigned i = 0; i < 4; i++) {
		unsigned rights = 0;

		for (unsigned n = i; n < 4; n++)
			if (open & 1u << n && !memcmp(found[i], found[n], sizeof(found[i])))
				rights |= 1u << n;
		if (!(open & 1u << i))
			continue;
		report(files->diff, path, rights, found[i]);
		open &= ~rights;
	}
}

/* Denies of these @flags are left out.  False: there are none. */
static bool leave_out(const struct diff *diff, unsigned side, unsigned flags,
		      struct sbx_fs_set *set)
{
	struct sbx_fs_point *points = arena_array(diff->arena, set->count, sizeof(*points));
	size_t count = 0;

	for (size_t i = 0; i < set->count; i++) {
		const struct sbx_fs_point *point = &set->points[i];

		if (point->verb != SBX_FS_DENY ||
		    !(rule_at(diff, side, point->rule)->head.flags & flags))
			points[count++] = *point;
	}
	if (count == set->count)
		return false;
	*set = (struct sbx_fs_set){ points, count, set->excepts };
	return true;
}

/* Places of a session's own that both sides make, and how much they hold. */
static void compare_sizes(struct files *files)
{
	struct map made = { 0 };

	for (unsigned side = 0; side < DIFF_SIDES; side++)
		for (size_t i = 0; i < files->sets[side].count; i++) {
			const struct sbx_fs_point *point = &files->sets[side].points[i];
			void **slot;

			if (point->verb != SBX_FS_TMP && point->verb != SBX_FS_COPY)
				continue;
			slot = map_put(files->diff->arena, &made, str_from(point->path));
			if (*slot)
				look(files, point->path, files->sets);
			*slot = files;
		}
}

static void compare_sets(struct diff *diff, const struct sbx_fs_set sets[DIFF_SIDES])
{
	struct files files = { diff, sets };

	paths_tell_apart(diff->arena, sets, look, &files, &diff->effort);
	compare_sizes(&files);
}

static const char *also_when(const struct diff *diff, const char *what, const char *when)
{
	return when ? arena_printf(diff->arena, "%s, %s", what, when) : what;
}

/* Within a site: with whatever -D may give. */
static void compare_any(struct diff *diff, const struct sbx_fs_set *site)
{
	struct sbx_fs_set sets[DIFF_SIDES] = { *site };
	struct sbx_vars vars = diff->side[DIFF_NEW].vars;

	if (!diff_any_value(diff))
		return;
	model_fs_set(diff->arena, diff->side[DIFF_NEW].blob, &diff->side[DIFF_NEW].vars,
		     &sets[DIFF_NEW]);
	diff->side[DIFF_NEW].vars = vars;
	if (diff_any_points(diff, &sets[DIFF_NEW]))
		compare_sets(diff, sets);
}

void diff_files(struct diff *diff)
{
	static const struct {
		unsigned flag;
		const char *when;
	} variants[] = {
		{ SBX_F_SNAPSHOT, "for a name that appears later" },
		{ SBX_F_BEST_EFFORT, "where what is best-effort is not held" },
	};
	struct sbx_fs_set sets[DIFF_SIDES], fewer[DIFF_SIDES];
	const char *when = diff->when;

	for (unsigned side = 0; side < DIFF_SIDES; side++)
		model_fs_set(diff->arena, diff->side[side].blob, &diff->side[side].vars,
			     &sets[side]);
	compare_sets(diff, sets);
	for (unsigned i = 0; i < 2; i++) {
		bool fewer_rules = false;

		for (unsigned side = 0; side < DIFF_SIDES; side++) {
			fewer[side] = sets[side];
			fewer_rules |= leave_out(diff, side, variants[i].flag, &fewer[side]);
			if (variants[i].flag == SBX_F_BEST_EFFORT)
				fewer_rules |= fs_set_unmade(diff->arena, diff->side[side].blob,
							     &fewer[side], &fewer[side]);
		}
		diff->when = also_when(diff, variants[i].when, when);
		if (fewer_rules)
			compare_sets(diff, fewer);
	}
	diff->when = also_when(diff, DIFF_ANY, when);
	if (diff->within)
		compare_any(diff, &sets[DIFF_OLD]);
	diff->when = when;
}

/* ---- slots -------------------------------------------------------------------------- */

static void look_slot(void *context, const char *path, const struct sbx_fs_set sets[2])
{
	const struct files *files = context;

	for (unsigned right = SBX_READ; right <= SBX_EXEC; right <<= 1) {
		struct sbx_fs_verdict was, is;
		struct diff_says says[DIFF_SIDES];
		const char *name = right_names(files->diff->arena, right);

		sbx_fs_decide(&sets[0], path, right, &was);
		sbx_fs_decide(&sets[1], path, right, &is);
		if (was.allowed == is.allowed)
			continue;
		for (unsigned side = 0; side < DIFF_SIDES; side++) {
			const struct sbx_fs_verdict *verdict = side ? &is : &was;
			uint32_t rule = verdict->point == SBX_NONE
					    ? SBX_NONE
					    : sets[side].points[verdict->point].rule;

			says[side] =
			    diff_says(files->diff, side,
				      verdict->allowed ? "a person can grant it" : "never granted",
				      verdict->allowed ? SBX_SEC_SLOTS : SBX_SEC_FS, rule,
				      rule == SBX_NONE ? "no slot for it" : NULL);
		}
		diff_add(files->diff, "slots", diff_order(was.allowed, is.allowed), name,
			 arena_printf(files->diff->arena, "%s %s", name, path), says);
	}
}

static const char *bound_text(const struct diff *diff, bool is_count, uint32_t value)
{
	struct text text = { .arena = diff->arena };

	if (!value)
		return is_count ? "any number" : "for any time";
	if (is_count) {
		text_add(&text, "count %u", value);
	} else {
		text_add(&text, "for ");
		text_time(&text, value);
	}
	return text_end(&text);
}

/* Time and number that a slot may be granted for; 0 is any. */
static void compare_bounds(struct diff *diff, uint32_t old, uint32_t new)
{
	const struct sbx_slot *slot[] = {
		SBX_AT(diff->side[DIFF_OLD].blob, SLOTS, sbx_slot, old),
		SBX_AT(diff->side[DIFF_NEW].blob, SLOTS, sbx_slot, new),
	};
	const char *name = sbx_string(diff->side[DIFF_NEW].blob, slot[1]->name);
	const uint32_t index[] = { old, new };

	for (unsigned i = 0; i < 2; i++) {
		uint32_t value[] = { i ? slot[0]->count : slot[0]->for_s,
				     i ? slot[1]->count : slot[1]->for_s };
		struct diff_says says[DIFF_SIDES];
		const char *most;

		if (value[0] == value[1])
			continue;
		for (unsigned side = 0; side < DIFF_SIDES; side++)
			says[side] = diff_says(diff, side, bound_text(diff, i, value[side]),
					       SBX_SEC_SLOTS, index[side], NULL);
		most = says[value[0] - 1u > value[1] - 1u ? 0 : 1].verdict;
		diff_add(diff, "slots", diff_order(value[0] - 1u, value[1] - 1u),
			 i ? "count" : "for", arena_printf(diff->arena, "slot %s %s", name, most),
			 says);
	}
}

/* What slots can open, and the seals of files, past which none does. */
static void slot_points(const struct diff *diff, unsigned side, struct sbx_fs_set *out)
{
	const struct sbx_blob *blob = diff->side[side].blob;
	struct sbx_fs_point *points;
	struct sbx_fs_set files;

	model_fs_set(diff->arena, blob, &diff->side[side].vars, &files);
	points = arena_array(diff->arena, files.count + SBX_COUNT(blob, SLOTS), sizeof(*points));
	*out = (struct sbx_fs_set){ .points = points, .excepts = files.excepts };
	for (size_t i = 0; i < files.count; i++)
		if (files.points[i].verb == SBX_FS_SEAL)
			points[out->count++] = files.points[i];
	for (uint32_t i = 0; i < SBX_COUNT(blob, SLOTS); i++) {
		const struct sbx_slot *slot = SBX_AT(blob, SLOTS, sbx_slot, i);
		bool wild;
		const char *path = diff_expand(diff, side, slot->under, &wild);

		if (path)
			points[out->count++] = (struct sbx_fs_point){
				.path = path,
				.rule = i,
				.verb = SBX_FS_GRANT,
				.rights = (uint8_t)slot->rights,
			};
	}
}

void diff_slots(struct diff *diff)
{
	const struct sbx_blob *old = diff->side[DIFF_OLD].blob, *new = diff->side[DIFF_NEW].blob;
	struct sbx_fs_set sets[DIFF_SIDES];
	struct files files = { diff, sets };

	if (!SBX_COUNT(old, SLOTS) && !SBX_COUNT(new, SLOTS))
		return;
	for (unsigned side = 0; side < DIFF_SIDES; side++)
		slot_points(diff, side, &sets[side]);
	paths_tell_apart(diff->arena, sets, look_slot, &files, &diff->effort);
	for (uint32_t i = 0; i < SBX_COUNT(old, SLOTS); i++)
		for (uint32_t n = 0; n < SBX_COUNT(new, SLOTS); n++)
			if (!strcmp(sbx_string(old, SBX_AT(old, SLOTS, sbx_slot, i)->name),
				    sbx_string(new, SBX_AT(new, SLOTS, sbx_slot, n)->name)))
				compare_bounds(diff, i, n);
}
