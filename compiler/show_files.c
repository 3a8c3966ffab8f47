/*
 * compiler/show_files.c - the file rules as a tree.
 *
 * Each rule is a node at its path, below the nearest of four roots.  What a
 * node shows is not its rule but the answer of the verdict function there, so
 * the picture cannot differ from what a session finds; a pattern shows what it
 * leaves of its directory's rights.  Leaves of one directory that say the same
 * share a line, what can be written stands first, what is shut last.
 */
#include <stdlib.h>
#include <string.h>

#include "compiler/duties.h"
#include "compiler/render.h"
#include "compiler/render_words.h"
#include "compiler/show.h"

#define ALL (SBX_READ | SBX_WRITE | SBX_EXEC)
/* A directory that no rule names gets a line of its own from this many leaves on. */
#define WORTH_A_LINE 4

struct node {
	const char *name, *path; /* below its parent; on the model machine, or a pattern */
	bool wild;
	struct {
		VEC_OF(uint32_t)
	} rules;
	struct {
		VEC_OF(struct node *)
	} children;
};

struct leaf { /* a child, or what hangs below one that has no line of its own */
	const struct node *node;
	const char *name;
	struct show_row row;
	unsigned rights;
	bool done;
};
struct leaves {
	VEC_OF(struct leaf)
};

struct drawing {
	struct show *show;
	struct show_part *part;
};

static struct node *child_named(struct arena *arena, struct node *node, const char *name, bool wild)
{
	struct node *child;

	for (size_t i = 0; i < node->children.count; i++) {
		child = node->children.items[i];
		if (child->wild == wild && !strcmp(child->name, name))
			return child;
	}
	child = ARENA_NEW(arena, struct node);
	child->name = name;
	child->wild = wild;
	child->path = arena_printf(arena, "%s/%s", strcmp(node->path, "/") ? node->path : "", name);
	*VEC_PUSH(arena, &node->children) = child;
	return child;
}

/* A pattern's components up to its first wildcard are names like others. */
static const char *plain(struct arena *arena, const char *text, size_t length)
{
	char *out = arena_alloc(arena, length + 1), *to = out;

	for (size_t i = 0; i < length; i++) {
		if (text[i] == '\\' && i + 1 < length)
			i++;
		*to++ = text[i];
	}
	return out;
}

static void insert(struct arena *arena, struct node *node, const char *rest, bool wild,
		   uint32_t rule)
{
	while (*(rest += strspn(rest, "/"))) {
		size_t length = strcspn(rest, "/");
		bool special = wild && memchr(rest, '*', length);

		special |= wild && (memchr(rest, '?', length) || memchr(rest, '[', length));
		if (special)
			length = strlen(rest);
		node = child_named(arena, node,
				   wild && !special ? plain(arena, rest, length)
						    : arena_copy(arena, rest, length),
				   special);
		rest += length;
	}
	*VEC_PUSH(arena, &node->rules) = rule;
}

/* ---- what a node is ------------------------------------------------------------------ */

static const struct sbx_fs_rule *rule_at(const struct drawing *d, uint32_t rule)
{
	return SBX_AT(d->show->blob, FS, sbx_fs_rule, rule);
}

static unsigned rights_at(const struct drawing *d, const struct node *node, unsigned above)
{
	unsigned rights = node->wild ? above : 0;

	for (size_t i = 0; node->wild && i < node->rules.count; i++) {
		const struct sbx_fs_rule *rule = rule_at(d, node->rules.items[i]);

		if (rule->head.verb >= SBX_FS_DENY)
			rights &= ~(unsigned)rule->rights;
		else
			rights |= rule->rights;
	}
	for (unsigned right = SBX_READ; !node->wild && right <= SBX_EXEC; right <<= 1) {
		struct sbx_fs_verdict verdict;

		sbx_fs_decide(&d->show->set, node->path, right, &verdict);
		rights |= verdict.allowed ? right : 0;
	}
	return rights;
}

static const char *rights_word(struct arena *arena, unsigned rights)
{
	return arena_printf(arena, "%c%c%c", rights & SBX_READ ? 'r' : '-',
			    rights & SBX_WRITE ? 'w' : '-', rights & SBX_EXEC ? 'x' : '-');
}

/* The words of a rule that its rights do not tell. */
static const char *said_of(const struct drawing *d, uint32_t index)
{
	const struct sbx_blob *blob = d->show->blob;
	const struct sbx_fs_rule *rule = rule_at(d, index);
	const struct sbx_fs_extra *extra = sbx_fs_extra(blob, rule);
	struct text said = { .arena = d->show->arena };

	if (index == sbx_meta(blob)->workspace_rule)
		text_add(&said, "the workspace");
	else if (rule->head.verb >= SBX_FS_DENY && rule->rights != ALL)
		text_add(&said, "%s%s",
			 rule->head.verb == SBX_FS_SEAL ? "sealed against " : "never to ",
			 rule->rights & SBX_WRITE ? "write" : "run");
	else if (rule->head.verb == SBX_FS_TMP)
		text_add(&said, "empty, in memory");
	else if (rule->head.verb == SBX_FS_COPY)
		text_add(&said, "a private copy, thrown away");
	if (extra->size_kib) {
		text_add(&said, ", at most ");
		text_size(&said, (uint64_t)extra->size_kib * 1024);
	}
	if (extra->except_count) {
		text_add(&said, "%sexcept", said.bytes.count ? ", " : "");
		words_tmpls(&said, blob, extra->except_first, extra->except_count);
	}
	return text_end(&said);
}

static bool has_verb(const struct drawing *d, const struct node *node, enum sbx_fs_verb verb)
{
	for (size_t i = 0; i < node->rules.count; i++)
		if (rule_at(d, node->rules.items[i])->head.verb == verb)
			return true;
	return false;
}

static void set_tone(const struct drawing *d, const struct node *node, unsigned rights,
		     struct show_row *row)
{
	if (rights && has_verb(d, node, SBX_FS_TMP))
		*row = (struct show_row){ .tone = SHOW_PRIVATE, .state = "tmp" };
	else if (rights && has_verb(d, node, SBX_FS_COPY))
		*row = (struct show_row){ .tone = SHOW_PRIVATE, .state = "copy" };
	else if (rights && has_verb(d, node, SBX_FS_DEVICE))
		*row = (struct show_row){ .tone = SHOW_DEVICE, .state = "device" };
	else if (rights)
		*row = (struct show_row){ .tone = rights & SBX_WRITE  ? SHOW_WRITE
						  : rights & SBX_EXEC ? SHOW_EXEC
								      : SHOW_READ,
					  .state = rights_word(d->show->arena, rights) };
	else if (has_verb(d, node, SBX_FS_SEAL))
		*row = (struct show_row){ .tone = SHOW_SEALED, .state = "sealed" };
	else if (node->rules.count)
		*row = (struct show_row){ .tone = SHOW_SHUT, .state = "hidden" };
	else
		*row = (struct show_row){ .tone = SHOW_WAY, .state = "" };
}

static struct show_row row_of(const struct drawing *d, const struct node *node, unsigned rights)
{
	struct show_row row;

	set_tone(d, node, rights, &row);
	for (size_t i = 0; i < node->rules.count; i++)
		show_say(d->show, &row.said, said_of(d, node->rules.items[i]));
	if (row.tone == SHOW_PRIVATE && rights & SBX_EXEC)
		show_say(d->show, &row.said, "what lies there may run");
	for (size_t i = 0; i < node->rules.count; i++)
		show_head(d->show, &row, &rule_at(d, node->rules.items[i])->head);
	return row;
}

/* ---- drawing -------------------------------------------------------------------------- */

static size_t leaves_below(const struct node *node)
{
	size_t count = node->children.count ? 0 : 1;

	for (size_t i = 0; i < node->children.count; i++)
		count += leaves_below(node->children.items[i]);
	return count;
}

static void collect(const struct drawing *d, const struct node *node, const char *prefix,
		    unsigned above, struct leaves *out)
{
	struct arena *arena = d->show->arena;

	for (size_t i = 0; i < node->children.count; i++) {
		const struct node *child = node->children.items[i];
		const char *name = arena_printf(arena, "%s%s", prefix, child->name);
		unsigned rights = rights_at(d, child, above);

		if (!child->rules.count &&
		    (leaves_below(child) < WORTH_A_LINE || child->children.count == 1))
			collect(d, child, arena_printf(arena, "%s/", name), rights, out);
		else
			*VEC_PUSH(arena, out) = (struct leaf){
				child, name, row_of(d, child, rights), rights, false,
			};
	}
}

static int compare_leaves(const void *left, const void *right)
{
	const struct leaf *a = left, *b = right;

	if (a->row.tone != b->row.tone)
		return a->row.tone < b->row.tone ? -1 : 1;
	return strcmp(a->name, b->name);
}

/* In a list, a name with a blank in it must not look like two. */
static void add_name(const struct drawing *d, struct show_row *row, const char *name)
{
	struct text text = { .arena = d->show->arena };

	if (strpbrk(name, " \t\""))
		text_quoted(&text, name);
	else
		text_add(&text, "%s", name);
	show_name(d->show, row, text_end(&text));
}

static struct show_row *add_line(const struct drawing *d, const struct leaf *leaf, unsigned depth)
{
	struct show_row *row = VEC_PUSH(d->show->arena, &d->part->rows);

	*row = leaf->row;
	row->depth = depth;
	add_name(d, row, leaf->name);
	return row;
}

static void draw(const struct drawing *d, const struct node *node, unsigned rights, unsigned depth)
{
	struct leaves leaves = { 0 };

	collect(d, node, "", rights, &leaves);
	if (leaves.count)
		qsort(leaves.items, leaves.count, sizeof(*leaves.items), compare_leaves);
	for (size_t i = 0; i < leaves.count; i++) {
		struct leaf *leaf = &leaves.items[i];
		struct show_row *row;

		if (leaf->done)
			continue;
		row = add_line(d, leaf, depth);
		if (leaf->node->children.count) {
			draw(d, leaf->node, leaf->rights, depth + 1);
			continue;
		}
		for (size_t n = i + 1; n < leaves.count; n++) {
			struct leaf *other = &leaves.items[n];

			if (other->done || other->node->children.count ||
			    !show_alike(&leaf->row, &other->row))
				continue;
			other->done = true;
			add_name(d, row, other->name);
			if (other->row.line < row->line)
				row->line = other->row.line;
			if (other->row.last_line > row->last_line)
				row->last_line = other->row.last_line;
		}
	}
}

static const char *below(const char *path, const char *top)
{
	size_t length = strlen(top);

	if (strncmp(path, top, length) || (path[length] && path[length] != '/'))
		return NULL;
	return path + length;
}

static void draw_root(const struct drawing *d, struct node *root, const char *label)
{
	unsigned rights = rights_at(d, root, 0);
	struct leaf leaf = { root, label, row_of(d, root, rights), rights, false };

	if (!rights && !leaf.row.said)
		leaf.row.said = "nothing but what follows";
	add_line(d, &leaf, 0);
	draw(d, root, rights, 1);
}

static void show_slots(struct show *show, struct show_part *part)
{
	for (uint32_t i = 0; i < SBX_COUNT(show->blob, SLOTS); i++) {
		struct show_row *row = show_row(show, part, SHOW_PLAIN, "slot",
						&SBX_AT(show->blob, SLOTS, sbx_slot, i)->head);

		show_name(show, row, render_rule(show->arena, show->blob, SBX_SEC_SLOTS, i, 0) + 5);
		row->said = "empty until a person outside grants something";
	}
}

void show_files(struct show *show)
{
	struct show_part *part = show_part(show, "files", "Files", "Rights", "Path");
	struct drawing d = { show, part };
	const char *labels[] = { "$workspace", "~", "$runtime", "/" };
	struct node roots[] = {
		{ .path = show->vars.value[SBX_VAR_WORKSPACE] },
		{ .path = show->vars.value[SBX_VAR_HOME] },
		{ .path = show->vars.value[SBX_VAR_RUNTIME] },
		{ .path = "/" },
	};
	size_t first = sbx_present(sbx_meta(show->blob)->workspace) ? 0 : 1;
	size_t count = sizeof(roots) / sizeof(roots[0]);
	struct show_row *row;

	if (show_unbounded(show, part, SBX_UNBOUNDED_FS))
		return;
	for (size_t i = 0; i < show->set.count; i++) {
		const struct sbx_fs_point *point = &show->set.points[i];

		for (size_t n = first; n < count; n++) {
			const char *rest =
			    n == count - 1 ? point->path : below(point->path, roots[n].path);

			if (!rest)
				continue;
			insert(show->arena, &roots[n], rest, point->wild, point->rule);
			break;
		}
	}
	for (size_t n = first; n < count; n++)
		if (roots[n].rules.count || roots[n].children.count)
			draw_root(&d, &roots[n], labels[n]);
	show_slots(show, part);
	row = show_row(show, part, SHOW_PLAIN, "r--", NULL);
	show_name(show, row, "the policy, its launcher, a `.git` file");
	row->said = "a session never writes them, whatever is granted";
}
