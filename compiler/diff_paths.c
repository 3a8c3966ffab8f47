/*
 * compiler/diff_paths.c - paths that tell two sets of rules apart.
 *
 * All points of both sides are run at once down the tree of paths.  A node has
 * the points that cover its path, and for those that may yet cover something
 * beneath it, how far their patterns have come.  It has a child for each name
 * that a point goes on with, and for each way that patterns can agree on a name
 * (diff_names.c); two nodes that go on alike and where the same points lead are
 * one.  Where no point of one side alone is left, nothing can differ: a small
 * change of a large policy is found without looking at the rest.
 */
#include "compiler/diff_paths.h"

#include <stdlib.h>
#include <string.h>

#include "blob/match.h"
#include "compiler/diff_names.h"

#define NODES_MAX 400000

enum kind { NAME, PATTERN, ANY_DEPTH };
struct component {
	enum kind kind;
	const char *text; /* of a NAME without escapes */
};
struct track { /* a point, or what a seal excepts */
	const struct sbx_fs_point *point;
	uint32_t index[2]; /* in each set, or SBX_NONE */
	struct component *parts;
	uint32_t count;
	int literal_depth;
	bool is_except;
};
struct live { /* a pattern's next component */
	uint32_t track, part;
};
struct covering {
	uint32_t track;
	int depth; /* of the longest part that it matches */
};
struct node {
	const char *path; /* "" for the root */
	int depth;
	struct live *live;
	size_t live_count;
	struct covering *covering;
	size_t covering_count;
};

struct search {
	struct arena *arena;
	const struct sbx_fs_set *sets;
	void (*look)(void *context, const char *path, const struct sbx_fs_set covering[2]);
	void *context;
	struct {
		VEC_OF(struct track)
	} tracks;
	struct {
		VEC_OF(struct node)
	} queue;
	struct map seen;
	struct map names; /* sets of patterns, and the names found for them */
	int deepest;      /* grant: beyond, a deny's depth makes no difference */
	struct effort *effort;
	struct { /* of the node in hand */
		VEC_OF(struct live)
	} live;
	struct {
		VEC_OF(struct covering)
	} covering;
	struct {
		VEC_OF(uint32_t)
	} key;
	struct {
		VEC_OF(struct sbx_fs_point)
	} points[2];
	struct {
		VEC_OF(uint32_t)
	} index[2];
};

/* ---- points to tracks --------------------------------------------------------------- */

static const char *unescaped(struct arena *arena, const char *text, size_t length)
{
	char *out = arena_alloc(arena, length + 1), *to = out;

	for (size_t i = 0; i < length; i++) {
		if (text[i] == '\\' && i + 1 < length)
			i++;
		*to++ = text[i];
	}
	return out;
}

static void split(struct search *s, struct track *track, const char *path, bool wild)
{
	track->parts = arena_array(s->arena, strlen(path) / 2 + 1, sizeof(*track->parts));
	for (const char *p = path; *p;) {
		size_t length;
		struct component *part;

		p += strspn(p, "/");
		length = strcspn(p, "/");
		if (!length)
			break;
		part = &track->parts[track->count++];
		part->text = arena_copy(s->arena, p, length);
		if (wild && !strcmp(part->text, "**"))
			part->kind = ANY_DEPTH;
		else if (wild && !sbx_glob_literal_depth(part->text))
			part->kind = PATTERN;
		else if (wild)
			part->text = unescaped(s->arena, p, length);
		p += length;
	}
	track->literal_depth = wild ? sbx_glob_literal_depth(path) : (int)track->count;
}

/* All that a point says, each path behind its length. */
static struct str key_of(struct arena *arena, const struct sbx_fs_set *set,
			 const struct sbx_fs_point *point)
{
	const char *key = arena_printf(arena, "%u %u %u %zu %s", point->verb, point->rights,
				       point->wild, strlen(point->path), point->path);

	for (uint32_t i = 0; i < point->except_count; i++) {
		const char *except = set->excepts[point->except_first + i];

		key = arena_printf(arena, "%s %zu %s", key, strlen(except), except);
	}
	return str_from(key);
}

static void add_point(struct search *s, struct map *known, unsigned side, uint32_t index)
{
	const struct sbx_fs_set *set = &s->sets[side];
	const struct sbx_fs_point *point = &set->points[index];
	void **slot = map_put(s->arena, known, key_of(s->arena, set, point));
	struct track *track;

	if (*slot) {
		track = &s->tracks.items[(uintptr_t)*slot - 1];
		if (track->index[side] == SBX_NONE)
			track->index[side] = index;
		return;
	}
	track = VEC_PUSH(s->arena, &s->tracks);
	*slot = (void *)(uintptr_t)s->tracks.count;
	*track = (struct track){ .point = point, .index = { SBX_NONE, SBX_NONE } };
	track->index[side] = index;
	split(s, track, point->path, point->wild);
	if (point->verb < SBX_FS_DENY && track->literal_depth > s->deepest)
		s->deepest = track->literal_depth;
	for (uint32_t i = 0; i < point->except_count; i++) {
		struct track *except = VEC_PUSH(s->arena, &s->tracks);

		*except = (struct track){ .point = point, .is_except = true };
		split(s, except, set->excepts[point->except_first + i], false);
	}
}

/* ---- nodes -------------------------------------------------------------------------- */

static int by_track(const void *a, const void *b)
{
	const struct live *x = a, *y = b;

	if (x->track != y->track)
		return x->track < y->track ? -1 : 1;
	return x->part < y->part ? -1 : x->part > y->part;
}

static int by_covering(const void *a, const void *b)
{
	const struct covering *x = a, *y = b;

	return x->track < y->track ? -1 : x->track > y->track;
}

static void cover(struct search *s, uint32_t track, int depth)
{
	for (size_t i = 0; i < s->covering.count; i++)
		if (s->covering.items[i].track == track) {
			s->covering.items[i].depth = depth;
			return;
		}
	*VEC_PUSH(s->arena, &s->covering) = (struct covering){ track, depth };
}

/* @track has come to its component @part at @depth. */
static void arrive(struct search *s, uint32_t track, uint32_t part, int depth)
{
	if (part == s->tracks.items[track].count)
		cover(s, track, depth);
	else
		*VEC_PUSH(s->arena, &s->live) = (struct live){ track, part };
}

static bool is_alone(const struct track *track)
{
	return !track->is_except && (track->index[0] == SBX_NONE || track->index[1] == SBX_NONE);
}

/* A point of one side alone covers the path, or something beneath it. */
static bool can_differ(const struct search *s)
{
	for (size_t i = 0; i < s->covering.count; i++)
		if (is_alone(&s->tracks.items[s->covering.items[i].track]))
			return true;
	for (size_t i = 0; i < s->live.count; i++)
		if (is_alone(&s->tracks.items[s->live.items[i].track]))
			return true;
	return false;
}

/*
 * Beneath this path only a grant, or what a seal excepts, can open anything again.
 * Where none may follow, what is refused stays so: a right goes on being of interest
 * as long as both sides give it, and one of the points to come takes it.
 */
static bool can_change_beneath(const struct search *s, const struct sbx_fs_set covering[2],
			       const char *path)
{
	unsigned takes = 0, open = SBX_READ | SBX_WRITE | SBX_EXEC;

	for (size_t i = 0; i < s->live.count; i++) {
		const struct track *track = &s->tracks.items[s->live.items[i].track];

		if (track->is_except || track->point->verb < SBX_FS_DENY)
			return true;
		takes |= track->point->rights;
	}
	for (unsigned right = SBX_READ; right <= SBX_EXEC; right <<= 1)
		for (unsigned side = 0; takes & right && side < 2; side++) {
			struct sbx_fs_verdict verdict;

			sbx_fs_decide(&covering[side], path, right, &verdict);
			if (!verdict.allowed)
				open &= ~right;
		}
	return takes & open;
}

/* @size: whole words of 4 bytes. */
static void key_add(struct search *s, const void *data, size_t size)
{
	for (size_t i = 0; i < size / sizeof(uint32_t); i++)
		*VEC_PUSH(s->arena, &s->key) = ((const uint32_t *)data)[i];
}

/* The heaviest grant and deny of each side and right: what decides, and all that a
 * deeper path has to be compared with. */
static void key_add_winners(struct search *s, unsigned side, unsigned right)
{
	struct {
		int32_t weight;
		uint32_t index; /* in the side's set: of equals the first decides */
	} best[2] = { { -1, SBX_NONE }, { -1, SBX_NONE } };

	for (size_t i = 0; i < s->covering.count; i++) {
		const struct covering *covering = &s->covering.items[i];
		const struct track *track = &s->tracks.items[covering->track];
		unsigned deny = track->point->verb == SBX_FS_DENY;
		uint32_t index = track->index[side];
		int32_t weight;

		if (track->is_except || index == SBX_NONE || track->point->verb == SBX_FS_SEAL ||
		    !(track->point->rights & right))
			continue;
		weight = deny ? covering->depth : track->literal_depth;
		weight = 2 * weight + !track->point->wild;
		if (weight > best[deny].weight ||
		    (weight == best[deny].weight && index < best[deny].index)) {
			best[deny].weight = weight;
			best[deny].index = index;
		}
	}
	/* A deny that matches later is deeper anyway; beyond all grants no more counts. */
	if (best[1].weight > 2 * s->deepest + 2)
		best[1].weight = 2 * s->deepest + 2;
	key_add(s, best, sizeof(best));
}

static struct str key_of_node(struct search *s)
{
	static const uint32_t end = SBX_NONE;

	s->key.count = 0;
	key_add(s, s->live.items, s->live.count * sizeof(*s->live.items));
	key_add(s, &end, sizeof(end));
	for (unsigned side = 0; side < 2; side++)
		for (unsigned right = SBX_READ; right <= SBX_EXEC; right <<= 1)
			key_add_winners(s, side, right);
	for (size_t i = 0; i < s->covering.count; i++) {
		const struct track *track = &s->tracks.items[s->covering.items[i].track];

		/* Also those that make a place of their own: they do not have to win. */
		if (track->is_except ||
		    (track->point->verb != SBX_FS_DENY && track->point->verb != SBX_FS_GRANT))
			key_add(s, &s->covering.items[i].track, sizeof(uint32_t));
	}
	return (struct str){ (const char *)s->key.items, s->key.count * sizeof(uint32_t) };
}

static int by_index(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

/* In the order of the whole sets, so that the same one of equals is named. */
static void cover_sets(struct search *s, struct sbx_fs_set sets[2])
{
	for (unsigned side = 0; side < 2; side++) {
		s->points[side].count = s->index[side].count = 0;
		for (size_t i = 0; i < s->covering.count; i++) {
			const struct track *track = &s->tracks.items[s->covering.items[i].track];

			if (track->is_except || track->index[side] == SBX_NONE)
				continue;
			*VEC_PUSH(s->arena, &s->index[side]) = track->index[side];
		}
		if (s->index[side].count)
			qsort(s->index[side].items, s->index[side].count, sizeof(uint32_t),
			      by_index);
		for (size_t i = 0; i < s->index[side].count; i++)
			*VEC_PUSH(s->arena, &s->points[side]) =
			    s->sets[side].points[s->index[side].items[i]];
		sets[side] = (struct sbx_fs_set){ s->points[side].items, s->points[side].count,
						  s->sets[side].excepts };
	}
}

/* Of what goes on, in an order of its own; mostly it has it. */
static void sort_live(struct search *s)
{
	for (size_t i = 1; i < s->live.count; i++)
		if (by_track(&s->live.items[i - 1], &s->live.items[i]) > 0) {
			qsort(s->live.items, s->live.count, sizeof(*s->live.items), by_track);
			return;
		}
}

/* What s->live and s->covering say of @path, unless there is a node like it. */
static void finish_node(struct search *s, const char *path, int depth)
{
	struct sbx_fs_set covering[2];
	struct node *node;
	struct str key;
	void **slot;

	/* Each of these was compared with those before it. */
	effort_left(s->effort, s->covering.count * s->covering.count);
	if (!can_differ(s))
		return;
	if (s->queue.count == NODES_MAX) {
		s->effort->spent = true;
		return;
	}
	cover_sets(s, covering);
	if (!can_change_beneath(s, covering, *path ? path : "/")) {
		s->look(s->context, *path ? path : "/", covering);
		return;
	}
	sort_live(s);
	if (s->covering.count)
		qsort(s->covering.items, s->covering.count, sizeof(*s->covering.items),
		      by_covering);
	key = key_of_node(s);
	if (map_get(&s->seen, key))
		return;
	key.ptr = arena_copy(s->arena, key.ptr, key.len);
	slot = map_put(s->arena, &s->seen, key);
	*slot = s;
	s->look(s->context, *path ? path : "/", covering);
	node = VEC_PUSH(s->arena, &s->queue);
	*node = (struct node){ .path = path, .depth = depth };
	node->live_count = s->live.count;
	node->live = arena_array(s->arena, s->live.count, sizeof(*node->live));
	node->covering_count = s->covering.count;
	node->covering = arena_array(s->arena, s->covering.count, sizeof(*node->covering));
	if (s->live.count)
		memcpy(node->live, s->live.items, s->live.count * sizeof(*node->live));
	if (s->covering.count)
		memcpy(node->covering, s->covering.items,
		       s->covering.count * sizeof(*node->covering));
}

/* ---- from a node to its children ---------------------------------------------------- */

struct going { /* what can be done with the next name */
	struct going_name {
		const char *name;
		struct live at;
	} * names; /* sorted */
	struct live *patterns, *any;
	size_t name_count, pattern_count, any_count;
};

static int by_name(const void *a, const void *b)
{
	const struct going_name *x = a, *y = b;

	return strcmp(x->name, y->name);
}

/* `**` goes on with any name, and stands for none before what follows it. */
static void spread(struct search *s, const struct node *node, struct going *out)
{
	size_t room = 0;

	for (size_t i = 0; i < node->live_count; i++)
		room += s->tracks.items[node->live[i].track].count - node->live[i].part;
	out->names = arena_array(s->arena, room, sizeof(*out->names));
	out->patterns = arena_array(s->arena, room, sizeof(*out->patterns));
	out->any = arena_array(s->arena, room, sizeof(*out->any));
	for (size_t i = 0; i < node->live_count; i++) {
		struct live at = node->live[i];
		const struct track *track = &s->tracks.items[at.track];

		while (at.part < track->count && track->parts[at.part].kind == ANY_DEPTH) {
			out->any[out->any_count++] = at;
			at.part++;
		}
		if (at.part == track->count)
			continue; /* `**` ends no pattern */
		if (track->parts[at.part].kind == NAME)
			out->names[out->name_count++] =
			    (struct going_name){ track->parts[at.part].text, at };
		else
			out->patterns[out->pattern_count++] = at;
	}
	if (out->name_count)
		qsort(out->names, out->name_count, sizeof(*out->names), by_name);
}

static void enter(struct search *s, const struct node *node, const struct going *going,
		  const char *name, const struct going_name *first, size_t count)
{
	int depth = node->depth + 1;
	size_t kept = 0;

	s->live.count = s->covering.count = 0;
	for (size_t i = 0; i < node->covering_count; i++)
		*VEC_PUSH(s->arena, &s->covering) = node->covering[i];
	for (size_t i = 0; i < going->any_count; i++)
		arrive(s, going->any[i].track, going->any[i].part, depth);
	for (size_t i = 0; i < going->pattern_count; i++) {
		struct live at = going->patterns[i];

		if (sbx_glob_match(s->tracks.items[at.track].parts[at.part].text, name))
			arrive(s, at.track, at.part + 1, depth);
	}
	for (size_t i = 0; i < count; i++)
		arrive(s, first[i].at.track, first[i].at.part + 1, depth);
	sort_live(s);
	for (size_t i = 0; i < s->live.count; i++)
		if (!kept || by_track(&s->live.items[i], &s->live.items[kept - 1]))
			s->live.items[kept++] = s->live.items[i];
	s->live.count = kept;
	finish_node(s, arena_printf(s->arena, "%s/%s", node->path, name), depth);
}

/* Names for what patterns say here, none of which a point spells out; kept, since
 * the same patterns meet in many places. */
static const struct names *other_names(struct search *s, const struct going *going,
				       const struct map *taken)
{
	const char **patterns = arena_array(s->arena, going->pattern_count, sizeof(*patterns));
	const char *key = "";
	size_t count = 0;
	struct names *names;
	void **slot;

	for (size_t i = 0; i < going->pattern_count; i++) {
		const struct live *at = &going->patterns[i];
		const char *text = s->tracks.items[at->track].parts[at->part].text;
		bool known = false;

		for (size_t n = 0; n < count; n++)
			known |= !strcmp(patterns[n], text);
		if (!known) {
			patterns[count++] = text;
			key = arena_printf(s->arena, "%s/%s", key, text);
		}
	}
	slot = map_put(s->arena, &s->names, str_from(key));
	names = *slot;
	for (size_t i = 0; names && i < names->count; i++)
		if (map_get(taken, str_from(names->items[i])))
			names = NULL;
	if (names)
		return names;
	names = ARENA_NEW(s->arena, struct names);
	names_tell_apart(s->arena, patterns, count, count, taken, s->effort, names);
	if (!*slot)
		*slot = names;
	return names;
}

/* Where there is no pattern: a name that no point spells out. */
static const char *fresh_name(struct search *s, const struct going *going)
{
	struct going_name fresh = { .name = "x" };

	while (going->name_count &&
	       bsearch(&fresh, going->names, going->name_count, sizeof(fresh), by_name))
		fresh.name = arena_printf(s->arena, "%sx", fresh.name);
	return fresh.name;
}

static void expand(struct search *s, const struct node *node)
{
	struct map taken = { 0 };
	struct going going = { 0 };
	const size_t parts = node->live_count + node->covering_count; /* each child looks at them */
	const struct names *names;

	spread(s, node, &going);
	for (size_t i = 0, end; i < going.name_count && effort_left(s->effort, parts); i = end) {
		const char *name = going.names[i].name;

		for (end = i; end < going.name_count && !strcmp(going.names[end].name, name);)
			end++;
		if (going.pattern_count)
			*map_put(s->arena, &taken, str_from(name)) = s;
		enter(s, node, &going, name, &going.names[i], end - i);
	}
	if (!going.pattern_count) {
		enter(s, node, &going, fresh_name(s, &going), NULL, 0);
		return;
	}
	names = other_names(s, &going, &taken);
	for (size_t i = 0; i < names->count && effort_left(s->effort, parts); i++)
		enter(s, node, &going, names->items[i], NULL, 0);
}

void paths_tell_apart(struct arena *arena, const struct sbx_fs_set sets[2],
		      void (*look)(void *context, const char *path,
				   const struct sbx_fs_set covering[2]),
		      void *context, struct effort *effort)
{
	struct search s = {
		.arena = arena, .sets = sets, .look = look, .context = context, .effort = effort
	};
	struct map known = { 0 };

	for (unsigned side = 0; side < 2; side++)
		for (size_t i = 0; i < sets[side].count; i++)
			add_point(&s, &known, side, (uint32_t)i);
	for (size_t i = 0; i < s.tracks.count; i++)
		arrive(&s, (uint32_t)i, 0, 0);
	finish_node(&s, "", 0);
	for (size_t i = 0; i < s.queue.count && effort_left(effort, 1); i++) {
		struct node node = s.queue.items[i];

		expand(&s, &node);
	}
}
