/*
 * stub/regions.c - from nodes to mounts, masks, placeholders and Landlock rules.
 *
 * The nodes come sorted, so a stack of frames always holds what surrounds the
 * next one: where its files come from, which rights hold there, how it is
 * mounted.  Rights come from the verdict function alone; here it is only
 * decided how to make the kernel agree with it.
 *
 * What begins a tree is the backend's mount.  What narrows or widens a tree
 * inside it is a mask of ours, and every directory between a writable tree's
 * top and a mask is bound onto itself: a mount point cannot be renamed, so no
 * parent can be moved away from above a mask.
 */
#include "stub/regions.h"

#include <string.h>

#include "stub/launch.h"
#include "stub/prepare.h"
#include "stub/sys.h"

static void inside_ours(struct builder *b, const struct node *node, unsigned rights)
{
	const struct frame *frame = region_top(b);
	bool real = node->granted && node_exists(node) && (rights & SBX_READ);
	bool tmp = node->verb == SBX_FS_TMP && (rights & SBX_READ);

	if (frame->ours && tmp) {
		region_begin_inside(b, node, rights);
	} else if (real && frame->ours && node->verb == SBX_FS_GRANT) {
		bool writable = frame->base_writable;

		if (!region_has_host(b) || ((rights & SBX_WRITE) && !writable)) {
			region_add_mount(b, node, MOUNT_BIND, rights);
			writable = rights & SBX_WRITE;
		}
		region_add_rule(b, node->path, rights & ~frame->rights, 0);
		region_reopen(b, node, rights, region_no_exec(b, rights));
		region_top(b)->base_writable = writable;
	} else if (real || tmp) {
		region_begin(b, node, rights);
	} else if (frame->source == FROM_COPY && (rights & ~frame->rights) && node_exists(node)) {
		region_begin_copy(b, node, rights);
	} else if (frame->source == FROM_COPY && rights != frame->rights && !node_exists(node) &&
		   !S_ISDIR(node->st.st_mode)) {
		region_keep_file(b, node);
	} else if (rights != frame->rights && node->rule != SBX_RULE_SELF) {
		struct plan_mask *mask;

		region_add_pins(b, node->path);
		mask = region_add_mask(b, node, rights & SBX_READ ? MASK_SELF : MASK_HIDE, rights);
		mask->mode = S_IFDIR;
		region_push(b, node->path, rights & SBX_READ ? frame->source : HIDDEN, rights)
		    ->mask = b->plan->masks.count - 1;
	}
}

/* Made by the backend in every /dev. */
static bool is_native_device(const char *path)
{
	static const char names[][13] = { "/dev/null",   "/dev/zero",    "/dev/full",
					  "/dev/random", "/dev/urandom", "/dev/tty" };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(path, names[i]))
			return true;
	return false;
}

static void inside_dev(struct builder *b, const struct node *node, unsigned rights)
{
	const struct sbx_landlock *landlock = SBX_AT(&b->launch->blob, LANDLOCK, sbx_landlock, 0);

	if (!(rights & SBX_READ)) {
		if (is_native_device(node->path))
			region_add_mask(b, node, MASK_HIDE, 0)->if_present = true;
		return;
	}
	if (!is_native_device(node->path)) {
		region_begin(b, node, rights);
		return;
	}
	region_add_rule(b, node->path, rights, landlock->device);
}

static void inside_proc(struct builder *b, const struct node *node, unsigned rights)
{
	unsigned above = region_top(b)->rights;
	const char *path = node->path;

	if (rights & ~above) {
		/* A rule on /proc/self would be process 1's alone. */
		if (!strncmp(path, "/proc/self", 10) || !strncmp(path, "/proc/thread-self", 17))
			path = "/proc";
		region_add_rule(b, path, rights, 0);
	} else if (above & ~rights) {
		struct plan_mask *mask =
		    region_add_mask(b, node, rights & SBX_READ ? MASK_SELF : MASK_HIDE, rights);

		mask->if_present = true;
		region_push(b, path, rights & SBX_READ ? FROM_PROC : HIDDEN, rights)->mask =
		    SIZE_MAX;
	}
}

/* ---- all nodes ------------------------------------------------------------------ */

static bool opened_beneath(const struct launch *launch, const char *dir)
{
	for (size_t i = 0; i < launch->view.points.count; i++) {
		const struct sbx_fs_point *point = &launch->view.points.items[i];

		if (point->verb != SBX_FS_DENY && point->verb != SBX_FS_SEAL &&
		    path_within(point->path, dir))
			return true;
	}
	return false;
}

static bool terminal_allowed(const struct launch *launch)
{
	for (uint32_t i = 0; i < SBX_COUNT(&launch->blob, PROCESS); i++)
		if (SBX_AT(&launch->blob, PROCESS, sbx_process_rule, i)->what ==
		    SBX_PROCESS_TERMINAL_NONE)
			return false;
	return true;
}

static void add_proc(struct builder *b, const struct node *node, unsigned rights)
{
	/* It is there in any case, since our inner stage is started through it; a
	 * policy that does not open it finds it closed. */
	region_add_mount(b, node, MOUNT_PROC, rights);
	if (!(rights & SBX_READ) && !opened_beneath(b->launch, "/proc")) {
		struct plan_mask *mask = region_add_mask(b, node, MASK_HIDE, 0);

		mask->dev = mask->ino = 0;
		mask->mode = S_IFDIR;
	}
	region_add_rule(b, "/proc", rights & ~region_top(b)->rights, 0);
	region_push(b, "/proc", FROM_PROC, rights)->ours = false;
}

static void add_dev(struct builder *b, const struct node *node, unsigned rights)
{
	const struct sbx_landlock *landlock = SBX_AT(&b->launch->blob, LANDLOCK, sbx_landlock, 0);
	bool terminal = terminal_allowed(b->launch);

	if (!terminal && !opened_beneath(b->launch, "/dev") && region_top(b)->source != FROM_HOST)
		return;
	region_add_mount(b, node, MOUNT_DEV, rights);
	region_add_rule(b, "/dev", rights & ~region_top(b)->rights, 0);
	if (terminal) {
		region_add_rule(b, "/dev/pts", SBX_READ | SBX_WRITE, landlock->device);
		region_add_rule(b, "/dev/tty", SBX_READ | SBX_WRITE, landlock->device);
	}
	region_push(b, "/dev", FROM_DEV, rights)->ours = false;
}

static void add_link(struct builder *b, const struct node *node)
{
	enum source source = region_top(b)->source;

	if (source == FROM_HOST) {
		if (node->denied && (region_top(b)->rights & SBX_WRITE)) {
			struct plan_mask *mask;

			region_add_pins(b, node->path);
			mask = region_add_mask(b, node, MASK_SELF, region_top(b)->rights);
			mask->verify = false;
			mask->target = node->target;
		}
	} else if (node->granted && source != HIDDEN && !region_top(b)->ours) {
		struct plan_mount *mount = region_add_mount(b, node, MOUNT_LINK, 0);

		mount->target = node->target;
		mount->rule = SBX_NONE;
	}
}

static void add_socket(struct builder *b, const struct node *node)
{
	if (region_top(b)->source != FROM_HOST && !region_top(b)->ours &&
	    region_top(b)->source != HIDDEN)
		region_begin_host(b, node, SBX_READ | SBX_WRITE);
	region_add_rule(b, node->path, SBX_READ | SBX_WRITE, UAPI_LANDLOCK_FS_RESOLVE_UNIX);
}

/* Where a tmp or a copy outweighs a grant, its own files are what is granted. */
static bool is_ours(struct builder *b, const struct node *node)
{
	const struct frame *frame = region_top(b);
	enum sbx_fs_verb verb;

	return node->kind == NODE_RULE && node->verb == SBX_FS_GRANT &&
	       frame->source != FROM_NOTHING && frame->source != FROM_HOST &&
	       fsview_origin(b->launch, node->path, SBX_READ, &verb) && fsview_is_made(verb);
}

static void add_node(struct builder *b, const struct node *given)
{
	struct node copy = *given, *node = &copy;
	enum sbx_fs_verb verb;
	unsigned rights;

	while (!path_within(node->path, region_top(b)->path))
		b->frames.count--;
	/* Denied where nothing was granted: most seals, and no question at all. */
	if (!node->granted && region_top(b)->source == FROM_NOTHING)
		return;
	rights = node->kind == NODE_LINK ? 0 : fsview_rights(b->launch, node->path);
	node->granted = node->granted && !is_ours(b, node);
	switch (node->kind) {
	case NODE_PROC:
		add_proc(b, node, rights);
		return;
	case NODE_DEV:
		add_dev(b, node, rights);
		return;
	case NODE_LINK:
		add_link(b, node);
		return;
	case NODE_SOCKET:
		add_socket(b, node);
		return;
	case NODE_RULE:
		break;
	}
	switch (region_top(b)->source) {
	case FROM_NOTHING:
		/* What a seal of a copy's own name excepts begins here, as a copy. */
		if (fsview_origin(b->launch, node->path, SBX_READ, &verb))
			node->verb = (uint8_t)verb;
		region_begin(b, node, rights);
		break;
	case FROM_HOST:
	case HIDDEN:
		region_inside_host(b, node, rights);
		break;
	case FROM_TMP:
	case FROM_COPY:
		inside_ours(b, node, rights);
		break;
	case FROM_PROC:
		inside_proc(b, node, rights);
		break;
	case FROM_DEV:
		inside_dev(b, node, rights);
		break;
	}
}

static int by_path(const void *a, const void *b)
{
	const struct plan_mask *left = a, *right = b;
	int order = path_compare(left->path, right->path);

	return order ? order : (int)right->verify - (int)left->verify;
}

void plan_sort_masks(struct plan *plan)
{
	struct plan_mask *masks = plan->masks.items;
	size_t count = 0;

	mem_sort(masks, plan->masks.count, sizeof(*masks), by_path);
	for (size_t i = 0; i < plan->masks.count; i++)
		if (!count || strcmp(masks[count - 1].path, masks[i].path))
			masks[count++] = masks[i];
	plan->masks.count = count;
}

bool mask_lies_on_host(const struct plan_mask *mask)
{
	return !mask->make && !mask->covered && mask->kind != MASK_COVER &&
	       !path_within(mask->path, "/proc") && !path_within(mask->path, "/dev");
}

static void open_mounts(struct plan *plan)
{
	for (size_t i = 0; i < plan->mounts.count; i++) {
		struct plan_mount *mount = &plan->mounts.items[i];

		if (mount->kind == MOUNT_BIND && mount->st.st_ino)
			mount->fd = plan_open(mount->path, &mount->st);
		/* No rule names these; what is new inside is told from them. */
		if (mount->kind == MOUNT_PROC || mount->kind == MOUNT_DEV)
			lstat(mount->path, &mount->st);
	}
}

/* So that each copy can be compared with what they say.  A copy of the policy is not the
 * policy, nor of the launcher. */
static void keep_points(struct launch *launch)
{
	const struct fsview *view = &launch->view;
	bool copies = false;

	for (size_t i = 0; i < launch->plan.masks.count; i++)
		copies |= launch->plan.masks.items[i].kind == MASK_COPY;
	for (size_t i = 0; copies && i < view->points.count; i++)
		if (view->points.items[i].rule != SBX_RULE_SELF)
			*vec_add(&launch->plan.points) = view->points.items[i];
	for (size_t i = 0; copies && i < view->excepts.count; i++)
		*vec_add(&launch->plan.excepts) = view->excepts.items[i];
}

void plan_files(struct launch *launch)
{
	struct builder b = { .launch = launch, .plan = &launch->plan };

	*vec_add(&b.frames) =
	    (struct frame){ .path = "/", .source = FROM_NOTHING, .read_only = true };
	for (size_t i = 0; i < launch->view.nodes.count; i++)
		add_node(&b, &launch->view.nodes.items[i]);
	plan_sort_masks(&launch->plan);
	keep_points(launch);
}

void plan_settle(struct launch *launch)
{
	/* Covers save bubblewrap's mounts; nobody else mounts what is granted. */
	if (launch->plan.backend == SBX_BWRAP) {
		plan_cover(launch);
		plan_sort_masks(&launch->plan);
	}
	/* Without mounts, Landlock's rules are checked against the inodes instead. */
	if (launch->plan.backend != SBX_LANDLOCK) {
		prepare_namespaces(launch);
		open_mounts(&launch->plan);
	}
}

bool plan_shows(const struct launch *launch, const char *path)
{
	enum sbx_fs_verb verb;

	return fsview_origin(launch, path, SBX_READ, &verb) && verb == SBX_FS_GRANT &&
	       !path_within(path, "/proc") && !path_within(path, "/dev");
}

void plan_note_made(struct launch *launch, const char *path, const struct stat *st)
{
	struct plan *plan = &launch->plan;

	for (size_t i = 0; i < launch->view.nodes.count; i++)
		if (!strcmp(launch->view.nodes.items[i].path, path))
			launch->view.nodes.items[i].st = *st;
	for (size_t i = 0; i < plan->mounts.count; i++)
		if (!strcmp(plan->mounts.items[i].path, path))
			plan->mounts.items[i].st = *st;
	for (size_t i = 0; i < plan->masks.count; i++)
		if (!strcmp(plan->masks.items[i].path, path)) {
			plan->masks.items[i].dev = st->st_dev;
			plan->masks.items[i].ino = st->st_ino;
		}
	for (size_t i = 0; i < launch->direct.rules.count; i++)
		if (!strcmp(launch->direct.rules.items[i].path, path)) {
			launch->direct.rules.items[i].dev = st->st_dev;
			launch->direct.rules.items[i].ino = st->st_ino;
		}
}
