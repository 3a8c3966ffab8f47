/*
 * emit/tree.c - ranges of numbers as comparisons.
 *
 * A balanced tree, each node one `>=`.  Its leaves are not single ranges:
 * calls that are refused mostly stand alone among allowed ones, so a leaf is a
 * range with up to HOLES numbers in it that have another answer, each one
 * `==`.  That takes half the instructions of a node at either side of a hole.
 */
#include "emit/tree.h"

#define HOLES 2

struct leaf {
	uint32_t first, label;
	uint32_t hole[HOLES], hole_label[HOLES];
	unsigned holes;
};

struct tree {
	struct assembler *as;
	struct {
		VEC_OF(struct leaf)
	} leaves;
};

/* A leaf from @ranges on; returns how many it takes. */
static size_t take_leaf(const struct range *ranges, size_t count, struct leaf *leaf,
			uint32_t (*label_of)(void *context, uint32_t answer), void *context)
{
	size_t taken = 1;

	*leaf = (struct leaf){ .first = ranges->first, .label = label_of(context, ranges->answer) };
	while (leaf->holes < HOLES && taken + 1 < count &&
	       ranges[taken].first + 1 == ranges[taken + 1].first &&
	       ranges[taken + 1].answer == ranges->answer) {
		leaf->hole[leaf->holes] = ranges[taken].first;
		leaf->hole_label[leaf->holes++] = label_of(context, ranges[taken].answer);
		taken += 2;
	}
	return taken;
}

static void emit_leaf(struct assembler *as, const struct leaf *leaf)
{
	for (unsigned i = 0; i < leaf->holes; i++)
		assembler_branch(as, SBX_BPF_JEQ, leaf->hole[i], leaf->hole_label[i],
				 i + 1 < leaf->holes ? LABEL_NEXT : leaf->label);
}

/* Where to go for some leaves: one without holes needs no code of its own. */
static uint32_t target(struct tree *tree, size_t from, size_t to)
{
	const struct leaf *leaf = &tree->leaves.items[from];

	return to - from == 1 && !leaf->holes ? leaf->label : assembler_label(tree->as);
}

/* Where to cut so that both sides are as deep: each hole is a level more. */
static size_t find_middle(const struct tree *tree, size_t from, size_t to)
{
	size_t weight = 0, middle = from + 1, below;

	for (size_t i = from; i < to; i++)
		weight += (size_t)1 << tree->leaves.items[i].holes;
	below = (size_t)1 << tree->leaves.items[from].holes;
	for (; middle + 1 < to; middle++) {
		size_t step = (size_t)1 << tree->leaves.items[middle].holes;

		if (2 * below + step > weight)
			break;
		below += step;
	}
	return middle;
}

static void emit_leaves(struct tree *tree, size_t from, size_t to)
{
	size_t middle;
	uint32_t below, above;

	if (to - from == 1) {
		emit_leaf(tree->as, &tree->leaves.items[from]);
		return;
	}
	middle = find_middle(tree, from, to);
	below = target(tree, from, middle);
	above = target(tree, middle, to);
	assembler_branch(tree->as, SBX_BPF_JGE, tree->leaves.items[middle].first, above, below);
	if (below != tree->leaves.items[from].label) {
		assembler_place(tree->as, below);
		emit_leaves(tree, from, middle);
	}
	if (above != tree->leaves.items[middle].label) {
		assembler_place(tree->as, above);
		emit_leaves(tree, middle, to);
	}
}

void emit_tree(struct assembler *as, const struct range *ranges, size_t count,
	       uint32_t (*label_of)(void *context, uint32_t answer), void *context)
{
	struct tree tree = { .as = as };
	size_t native = 0;
	uint32_t foreign;

	while (native < count && ranges[native].first != SBX_X32_BIT)
		native++;
	if (native < count) {
		foreign = assembler_label(as);
		assembler_branch(as, SBX_BPF_JGE, SBX_X32_BIT, foreign, LABEL_NEXT);
		emit_tree(as, ranges, native, label_of, context);
		assembler_place(as, foreign);
		ranges += native;
		count -= native;
	}
	for (size_t at = 0; at < count;)
		at += take_leaf(ranges + at, count - at, VEC_PUSH(as->arena, &tree.leaves),
				label_of, context);
	if (tree.leaves.count == 1 && !tree.leaves.items[0].holes)
		assembler_jump(as, tree.leaves.items[0].label);
	else
		emit_leaves(&tree, 0, tree.leaves.count);
}
