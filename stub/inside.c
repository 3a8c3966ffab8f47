/*
 * stub/inside.c - what a rule changes inside a tree of the host.
 *
 * Less than around it is a mask; more is the real thing again, from a
 * descriptor opened before anything was covered.  Where the backend mounted
 * read-only, write access needs a mount of the backend's: a flag that it set
 * is locked for us.
 */
#include "stub/regions.h"

#include <unistd.h>

#include "stub/launch.h"
#include "stub/out.h"

static void add_placeholder(struct builder *b, const struct node *node, unsigned rights)
{
	const struct sbx_fs_rule *rule = fsview_rule(b->launch, node->rule);
	bool is_file = rule && rule->placeholder == SBX_PLACEHOLDER_FILE;
	struct plan_mask *mask;
	struct frame *frame;

	*vec_add(&b->plan->placeholders) = (struct plan_placeholder){
		.path = node->path,
		.text = is_file ? sbx_string(&b->launch->blob,
					     sbx_fs_extra(&b->launch->blob, rule)->placeholder_text)
				: NULL,
		.have = node->have,
		.rule = node->rule,
	};
	region_add_pins(b, node->path);
	if (rights & SBX_READ)
		mask = region_add_mask(
		    b, node, MASK_SELF,
		    region_mount_rights(rights, region_no_exec(b, rights)));
	else
		mask = region_add_mask(b, node, MASK_HIDE, 0);
	mask->dev = mask->ino = 0;
	mask->mode = is_file ? S_IFREG : S_IFDIR;
	frame = region_push(b, node->path, rights & SBX_READ ? FROM_HOST : HIDDEN, rights);
	frame->mask = SIZE_MAX;
	frame->read_only = true;
}

static void hide(struct builder *b, const struct node *node)
{
	struct frame *frame;

	region_add_pins(b, node->path);
	region_add_mask(b, node, MASK_HIDE, 0);
	frame = region_push(b, node->path, HIDDEN, 0);
	frame->mask = b->plan->masks.count - 1;
}

/* The real thing again, below something hidden or narrower. */
void region_reopen(struct builder *b, const struct node *node, unsigned rights, bool no_exec)
{
	struct plan_mask *mask;
	struct frame *frame;

	region_add_pins(b, node->path);
	mask = region_add_mask(b, node, MASK_OPEN, region_mount_rights(rights, no_exec));
	mask->dev = node->st.st_dev; /* also where the tree around is not the host's */
	mask->ino = node->st.st_ino;
	frame = region_push(b, node->path, FROM_HOST, rights);
	frame->read_only = !(rights & SBX_WRITE);
	frame->no_exec = no_exec;
}

/* Is there a tree of the host around here at all? */
bool region_has_host(const struct builder *b)
{
	for (size_t i = 0; i < b->frames.count; i++)
		if (b->frames.items[i].source == FROM_HOST)
			return true;
	return false;
}

static void change(struct builder *b, const struct node *node, unsigned rights)
{
	const struct frame above = *region_top(b);
	bool read_only = !(rights & SBX_WRITE);
	bool no_exec = region_no_exec(b, rights);
	bool base_writable = above.base_writable;
	struct frame *frame;

	region_add_rule(b, node->path, rights & ~above.rights, 0);
	if (!(rights & SBX_READ)) {
		hide(b, node);
		return;
	}
	/* A FIFO, socket or device takes writes on a read-only mount too. */
	if (read_only && !above.read_only && !S_ISDIR(node->st.st_mode) &&
	    !S_ISREG(node->st.st_mode)) {
		hide(b, node);
		return;
	}
	/* What the backend mounts read-only stays so: it must mount this anew. */
	if ((!read_only && !above.base_writable) || !region_has_host(b)) {
		region_add_mount(b, node, MOUNT_BIND, rights);
		base_writable = !read_only;
	}
	if (above.source == HIDDEN || (above.ours && above.read_only && !read_only) ||
	    (above.no_exec && !no_exec)) {
		region_reopen(b, node, rights, no_exec);
	} else {
		if ((read_only && !above.read_only) || (no_exec && !above.no_exec)) {
			region_add_pins(b, node->path);
			region_add_mask(b, node, MASK_SELF, region_mount_rights(rights, no_exec));
		}
		frame = region_push(b, node->path, FROM_HOST, rights);
		frame->read_only = read_only;
		frame->no_exec = no_exec;
	}
	frame = region_top(b);
	frame->base_writable = base_writable;
	frame->ours = read_only != !base_writable || no_exec || frame->ours;
}

/* Does @node miss in a directory of another user that this one cannot write?
 * Then the sandbox can make nothing there either. */
static bool is_anothers(const struct launch *launch, const struct node *node)
{
	return S_ISDIR(node->st.st_mode) && node->st.st_uid != launch->uid &&
	       access(mem_copy(node->path, node->have), W_OK);
}

void region_keep_file(struct builder *b, const struct node *node)
{
	struct node file = *node;

	file.path = mem_copy(node->path, node->have);
	region_add_pins(b, file.path);
	region_add_mask(b, &file, MASK_SELF, region_top(b)->rights)->verify = false;
}

/* A denied name that does not exist, in a tree of the host. */
static void close_absent(struct builder *b, const struct node *node, unsigned rights)
{
	const struct frame *frame = region_top(b);
	struct node made = *node;

	if (!node->denied || rights == frame->rights)
		return;
	if (!(frame->rights & SBX_WRITE) || frame->read_only) {
		launch_detail(
		    b->launch, "%s: cannot be created inside: %.*s is read-only there (%s)",
		    node->path, (int)node->have, node->path, fsview_place(b->launch, node->rule));
		return;
	}
	if (!S_ISDIR(node->st.st_mode)) {
		region_keep_file(b, node);
		return;
	}
	if (is_anothers(b->launch, node)) {
		/* Only that directory must not be replaced. */
		region_add_pins(b, path_join(mem_copy(node->path, node->have), "x"));
		return;
	}
	if (fsview_create(b->launch, &made))
		change(b, &made, rights);
	else
		add_placeholder(b, node, rights);
}

void region_begin_inside(struct builder *b, const struct node *node, unsigned rights)
{
	const enum source source = region_top(b)->source;
	const bool no_exec = region_no_exec(b, rights);
	struct plan_mask *mask;
	struct frame *frame;

	if (!S_ISDIR(node->st.st_mode) ||
	    (!node_exists(node) && source != FROM_TMP && source != FROM_COPY))
		refuse("tmp %s: there is no such directory inside %s, and making one there is not "
		       "sbx-exec's business (%s): make it",
		       node->path, region_top(b)->path, fsview_place(b->launch, node->rule));
	region_add_rule(b, node->path, rights & ~region_top(b)->rights, 0);
	region_add_pins(b, node->path);
	mask = region_add_mask(b, node, MASK_TMP, region_mount_rights(rights, no_exec));
	mask->size = (uint64_t)region_size_kib(b, node) << 10;
	frame = region_push(b, node->path, FROM_TMP, rights);
	frame->ours = true;
	frame->read_only = false;
	frame->no_exec = no_exec;
}

/* What a seal in a tmp or a copy excepts: as private as what is around it.  In a tmp
 * there is nothing yet, so that stays closed. */
static void except_in_ours(struct builder *b, const struct node *node, unsigned rights,
			   enum sbx_fs_verb verb)
{
	if (verb == SBX_FS_COPY && node_exists(node))
		region_begin_copy(b, node, rights);
}

void region_inside_host(struct builder *b, const struct node *node, unsigned rights)
{
	enum sbx_fs_verb verb;

	if (node->verb == SBX_FS_TMP && (rights & SBX_READ)) {
		region_begin_inside(b, node, rights);
	} else if (node->verb == SBX_FS_COPY && (rights & SBX_READ)) {
		region_add_rule(b, node->path, rights & ~region_top(b)->rights, 0);
		region_begin_copy(b, node, rights);
	} else if (node->verb == SBX_FS_DEVICE && (rights & SBX_READ)) {
		region_begin(b, node, rights);
	} else if (region_top(b)->source == HIDDEN &&
		   fsview_origin(b->launch, node->path, SBX_READ, &verb) && fsview_is_made(verb)) {
		except_in_ours(b, node, rights, verb);
	} else if (!node_exists(node)) {
		close_absent(b, node, rights);
	} else if (rights != region_top(b)->rights) {
		change(b, node, rights);
	}
}
