/*
 * stub/regions.h - how a plan of files is built; private to regions.c, trees.c
 * and inside.c.
 */
#ifndef SBX_STUB_REGIONS_H
#define SBX_STUB_REGIONS_H

#include "stub/fsview.h"
#include "stub/plan.h"

struct launch;

enum source {
	FROM_NOTHING, /* our own root: a read-only tmpfs */
	FROM_HOST,
	FROM_TMP,
	FROM_COPY,
	FROM_PROC,
	FROM_DEV,
	HIDDEN,
};
struct frame {
	const char *path;
	enum source source;
	unsigned rights;
	bool base_writable; /* the backend mounted it writable */
	bool read_only, no_exec; /* the mount here */
	bool ours;          /* made by the inner stage */
	size_t mask;        /* HIDDEN: its index in plan.masks, or SIZE_MAX */
};
struct builder {
	struct launch *launch;
	struct plan *plan;
	VEC(struct frame) frames; /* [0] is the root */
};

/* What surrounds the node under treatment. */
struct frame *region_top(struct builder *b);
/* A frame within it, like it but for these; returns it for the rest. */
struct frame *region_push(struct builder *b, const char *path, enum source source,
			  unsigned rights);
void region_add_rule(struct builder *b, const char *path, unsigned rights, uint64_t extra);
struct plan_mount *region_add_mount(struct builder *b, const struct node *node,
				    enum mount_kind kind, unsigned rights);
struct plan_mask *region_add_mask(struct builder *b, const struct node *node, enum mask_kind kind,
				  unsigned rights);
/* The directories between the frame's top and @path, bound onto themselves. */
void region_add_pins(struct builder *b, const char *path);
/* The rights that a mount has to show: execution is Landlock's, except where it
 * is taken away inside a tree that has it. */
unsigned region_mount_rights(unsigned rights, bool no_exec);
/* Must the mount take away execution, which @rights lacks and Landlock grants from above? */
bool region_no_exec(const struct builder *b, unsigned rights);
uint32_t region_size_kib(const struct builder *b, const struct node *node);

/* trees.c: a tree begins at @node, unless it may not be read. */
void region_begin(struct builder *b, const struct node *node, unsigned rights);
void region_begin_host(struct builder *b, const struct node *node, unsigned rights);
void region_begin_copy(struct builder *b, const struct node *node, unsigned rights);
/* inside.c: @node inside a tree of the host, or of something hidden. */
void region_inside_host(struct builder *b, const struct node *node, unsigned rights);
/* A tmp inside a tree: the inner stage's. */
void region_begin_inside(struct builder *b, const struct node *node, unsigned rights);
bool region_has_host(const struct builder *b);
/* A file stands where a denied name would need a directory: nothing may take its place. */
void region_keep_file(struct builder *b, const struct node *node);
void region_reopen(struct builder *b, const struct node *node, unsigned rights, bool no_exec);

#endif
