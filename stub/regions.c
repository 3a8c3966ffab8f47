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
#include "stub/plan.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "stub/launch.h"
#include "stub/out.h"
#include "stub/sys.h"

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

static struct frame *top(struct builder *b)
{
	return &b->frames.items[b->frames.count - 1];
}

static struct frame *push(struct builder *b, const char *path, enum source source, unsigned rights)
{
	struct frame above = *top(b), *frame = vec_add(&b->frames);

	*frame = above;
	frame->path = path;
	frame->source = source;
	frame->rights = rights;
	return frame;
}

static void add_rule(struct builder *b, const char *path, unsigned rights, uint64_t extra)
{
	if (rights)
		*vec_add(&b->plan->rules) =
			(struct plan_rule){ .path = path, .rights = rights, .extra = extra };
}

static struct plan_mount *add_mount(struct builder *b, const struct node *node,
				    enum mount_kind kind, unsigned rights)
{
	struct plan_mount *mount = vec_add(&b->plan->mounts);

	*mount = (struct plan_mount){ .kind = kind,
				      .path = node->path,
				      .rights = rights,
				      .rule = node->kind == NODE_SOCKET ? SBX_NONE : node->rule,
				      .fd = node->fd,
				      .st = node->st };
	return mount;
}

static struct plan_mask *add_mask(struct builder *b, const struct node *node, enum mask_kind kind,
				  unsigned rights)
{
	struct plan *plan = b->plan;
	struct plan_mask *mask = vec_add(&plan->masks);
	enum source source = top(b)->source;

	*mask = (struct plan_mask){
		.kind = kind,
		.path = node->path,
		.rights = rights,
		.make = source == FROM_TMP || source == FROM_COPY || source == HIDDEN,
		.verify = true,
		.rule = node->rule,
		.copy_fd = -1,
		.mode = node->st.st_mode & S_IFMT,
	};
	if (source == FROM_HOST || source == HIDDEN) {
		mask->dev = node->st.st_dev;
		mask->ino = node->st.st_ino;
	}
	/* What is hidden above it must let names below be walked to. */
	for (size_t i = 0; i < b->frames.count && source == HIDDEN; i++) {
		const struct frame *above = &b->frames.items[i];

		if (above->source == HIDDEN && above->mask != SIZE_MAX)
			plan->masks.items[above->mask].parents_open = true;
	}
	return mask;
}

/* The rights that a mount has to show: execution is Landlock's, except where it
 * is taken away inside a tree that has it. */
static unsigned mount_rights(unsigned rights, bool no_exec)
{
	return no_exec ? rights & ~SBX_EXEC : rights | SBX_EXEC;
}

/* The directories between the frame's top and @path, bound onto themselves. */
static void add_pins(struct builder *b, const char *path)
{
	const struct frame *frame = top(b);
	struct plan *plan = b->plan;

	if (!(frame->rights & SBX_WRITE) || frame->source == HIDDEN)
		return;
	for (path = path_parent(path); strlen(path) > strlen(frame->path);
	     path = path_parent(path)) {
		bool known = false;

		for (size_t i = plan->masks.count; i && i + 12 > plan->masks.count && !known; i--)
			known = !strcmp(plan->masks.items[i - 1].path, path);
		if (known)
			return;
		*vec_add(&plan->masks) = (struct plan_mask){
			.kind = MASK_SELF,
			.path = path,
			.rights = mount_rights(frame->rights, frame->no_exec),
			.make = frame->source != FROM_HOST,
			.rule = SBX_NONE,
			.copy_fd = -1,
			.mode = S_IFDIR,
		};
	}
}

/* ---- a tree begins ---------------------------------------------------------- */

static int open_node(const struct node *node)
{
	int fd = node->fd;
	struct stat st;

	if (fd < 0)
		fd = sys_openat2(AT_FDCWD, node->path, O_PATH | O_NOFOLLOW, UAPI_RESOLVE_NO_SYMLINKS);
	if (fd < 0 || fstat(fd, &st) || st.st_ino != node->st.st_ino || st.st_dev != node->st.st_dev)
		refuse("%s changed while starting: start again", node->path);
	return fd;
}

static uint32_t node_size_kib(const struct builder *b, const struct node *node)
{
	const struct sbx_blob *blob = &b->launch->blob;
	uint32_t size = 0;

	/* A node may stand for several rules; the size is the tmp rule's. */
	for (size_t i = 0; i < b->launch->view.points.count; i++) {
		const struct sbx_fs_point *point = &b->launch->view.points.items[i];

		if (point->verb == SBX_FS_TMP && !strcmp(point->path, node->path))
			size = SBX_AT(blob, FS, sbx_fs_rule, point->rule)->size_kib;
	}
	return size;
}

static bool is_device(const struct node *node)
{
	return S_ISCHR(node->st.st_mode) || S_ISBLK(node->st.st_mode);
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

static void begin_tmp(struct builder *b, const struct node *node, unsigned rights)
{
	struct plan_mount *mount = add_mount(b, node, MOUNT_TMP, rights);
	struct frame *frame;

	mount->size = (uint64_t)node_size_kib(b, node) << 10;
	frame = push(b, node->path, FROM_TMP, rights);
	frame->base_writable = true;
	frame->read_only = frame->no_exec = frame->ours = false;
}

static void begin_copy(struct builder *b, const struct node *node, unsigned rights)
{
	struct plan_mask *mask;

	if (top(b)->source == FROM_NOTHING || (top(b)->source == FROM_TMP && !top(b)->ours))
		add_mount(b, node, S_ISDIR(node->st.st_mode) ? MOUNT_DIR : MOUNT_FILE, rights);
	else if (top(b)->source == FROM_HOST)
		add_pins(b, node->path);
	mask = add_mask(b, node, MASK_COPY, rights);
	mask->dev = mask->ino = 0;
	mask->copy_fd = open(out_string("/proc/self/fd/%d", open_node(node)), O_RDONLY | O_CLOEXEC);
	if (mask->copy_fd < 0)
		refuse("%s: cannot be copied: %s (%s): mark the rule optional or correct it",
		       node->path, out_error(errno), fsview_place(b->launch, node->rule));
	struct frame *frame = push(b, node->path, FROM_COPY, rights);
	frame->base_writable = frame->ours = true;
	frame->read_only = frame->no_exec = false;
}

static void begin_host(struct builder *b, const struct node *node, unsigned rights)
{
	struct plan_mount *mount;
	struct frame *frame;

	if (S_ISSOCK(node->st.st_mode) && node->kind != NODE_SOCKET)
		refuse("%s is a socket (%s): open it by net { allow unix %s }", node->path,
		       fsview_place(b->launch, node->rule), node->path);
	mount = add_mount(b, node, is_device(node) ? MOUNT_DEVICE : MOUNT_BIND, rights);
	if (node_exists(node))
		mount->fd = open_node(node);
	frame = push(b, node->path, FROM_HOST, rights);
	frame->base_writable = rights & SBX_WRITE;
	frame->read_only = !frame->base_writable;
	frame->no_exec = frame->ours = false;
}

static void begin(struct builder *b, const struct node *node, unsigned rights)
{
	const struct sbx_landlock *landlock = SBX_AT(&b->launch->blob, LANDLOCK, sbx_landlock, 0);

	if (!(rights & SBX_READ) || (!node_exists(node) && !node->granted))
		return;
	add_rule(b, node->path, rights, node->verb == SBX_FS_DEVICE ? landlock->device : 0);
	if (node->verb == SBX_FS_TMP)
		begin_tmp(b, node, rights);
	else if (node->verb == SBX_FS_COPY)
		begin_copy(b, node, rights);
	else
		begin_host(b, node, rights);
}

/* ---- inside a tree of the host ------------------------------------------------ */

static void add_placeholder(struct builder *b, const struct node *node, unsigned rights)
{
	const struct sbx_fs_rule *rule = SBX_AT(&b->launch->blob, FS, sbx_fs_rule, node->rule);
	bool is_file = rule->placeholder == SBX_PLACEHOLDER_FILE;
	struct plan_mask *mask;
	struct frame *frame;

	*vec_add(&b->plan->placeholders) = (struct plan_placeholder){
		.path = node->path,
		.text = is_file ? sbx_string(&b->launch->blob, rule->placeholder_text) : NULL,
		.have = node->have,
		.rule = node->rule,
	};
	add_pins(b, node->path);
	if (rights & SBX_READ)
		mask = add_mask(b, node, MASK_SELF,
				mount_rights(rights, !(rights & SBX_EXEC) &&
							     (top(b)->rights & SBX_EXEC)));
	else
		mask = add_mask(b, node, MASK_HIDE, 0);
	mask->dev = mask->ino = 0;
	mask->mode = is_file ? S_IFREG : S_IFDIR;
	frame = push(b, node->path, rights & SBX_READ ? FROM_HOST : HIDDEN, rights);
	frame->mask = SIZE_MAX;
	frame->read_only = true;
}

/* A denied name that does not exist, in a tree of the host. */
static void close_absent(struct builder *b, const struct node *node, unsigned rights)
{
	const struct frame *frame = top(b);

	if (!node->denied || rights == frame->rights)
		return;
	if (!(frame->rights & SBX_WRITE) || frame->read_only) {
		launch_detail(b->launch,
			      "%s: cannot be created inside: %.*s is read-only there (%s)",
			      node->path, (int)node->have, node->path,
			      fsview_place(b->launch, node->rule));
		return;
	}
	if (!S_ISDIR(node->st.st_mode)) {
		/* A file stands where a directory would have to: keep it there. */
		struct node file = *node;

		file.path = mem_copy(node->path, node->have);
		add_pins(b, file.path);
		add_mask(b, &file, MASK_SELF, frame->rights)->verify = false;
		return;
	}
	add_placeholder(b, node, rights);
}

static void hide(struct builder *b, const struct node *node)
{
	struct frame *frame;

	add_pins(b, node->path);
	add_mask(b, node, MASK_HIDE, 0);
	frame = push(b, node->path, HIDDEN, 0);
	frame->mask = b->plan->masks.count - 1;
}

/* The real thing again, below something hidden or narrower. */
static void reopen(struct builder *b, const struct node *node, unsigned rights, bool no_exec)
{
	struct frame *frame;

	add_pins(b, node->path);
	add_mask(b, node, MASK_OPEN, mount_rights(rights, no_exec));
	frame = push(b, node->path, FROM_HOST, rights);
	frame->read_only = !(rights & SBX_WRITE);
	frame->no_exec = no_exec;
}

/* Is there a tree of the host around here at all? */
static bool has_host(const struct builder *b)
{
	for (size_t i = 0; i < b->frames.count; i++)
		if (b->frames.items[i].source == FROM_HOST)
			return true;
	return false;
}

static void change(struct builder *b, const struct node *node, unsigned rights)
{
	const struct frame above = *top(b);
	bool read_only = !(rights & SBX_WRITE);
	bool no_exec = !(rights & SBX_EXEC) && ((above.rights & SBX_EXEC) || above.no_exec);
	bool base_writable = above.base_writable;
	struct frame *frame;

	add_rule(b, node->path, rights & ~above.rights, 0);
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
	if ((!read_only && !above.base_writable) || !has_host(b)) {
		add_mount(b, node, MOUNT_BIND, rights)->fd = open_node(node);
		base_writable = !read_only;
	}
	if (above.source == HIDDEN || (above.ours && above.read_only && !read_only) ||
	    (above.no_exec && !no_exec)) {
		reopen(b, node, rights, no_exec);
	} else {
		if ((read_only && !above.read_only) || (no_exec && !above.no_exec)) {
			add_pins(b, node->path);
			add_mask(b, node, MASK_SELF, mount_rights(rights, no_exec));
		}
		frame = push(b, node->path, FROM_HOST, rights);
		frame->read_only = read_only;
		frame->no_exec = no_exec;
	}
	frame = top(b);
	frame->base_writable = base_writable;
	frame->ours = read_only != !base_writable || no_exec || frame->ours;
}

static void begin_inside(struct builder *b, const struct node *node, unsigned rights)
{
	struct plan_mask *mask;
	struct frame *frame;

	if (!node_exists(node) || !S_ISDIR(node->st.st_mode))
		refuse("tmp %s: there is no such directory inside %s, and making one there is not "
		       "sbx-exec's business (%s): make it",
		       node->path, top(b)->path, fsview_place(b->launch, node->rule));
	add_rule(b, node->path, rights & ~top(b)->rights, 0);
	add_pins(b, node->path);
	mask = add_mask(b, node, MASK_TMP, rights);
	mask->size = (uint64_t)node_size_kib(b, node) << 10;
	frame = push(b, node->path, FROM_TMP, rights);
	frame->ours = frame->base_writable = true;
	frame->read_only = frame->no_exec = false;
}

static void inside_host(struct builder *b, const struct node *node, unsigned rights)
{
	if (node->verb == SBX_FS_TMP && (rights & SBX_READ)) {
		begin_inside(b, node, rights);
	} else if (node->verb == SBX_FS_COPY && (rights & SBX_READ)) {
		add_rule(b, node->path, rights & ~top(b)->rights, 0);
		begin_copy(b, node, rights);
	} else if (node->verb == SBX_FS_DEVICE && (rights & SBX_READ)) {
		begin(b, node, rights);
	} else if (!node_exists(node)) {
		close_absent(b, node, rights);
	} else if (rights != top(b)->rights) {
		change(b, node, rights);
	}
}

/* ---- inside what is ours ------------------------------------------------------ */

static void inside_ours(struct builder *b, const struct node *node, unsigned rights)
{
	const struct frame *frame = top(b);
	bool real = node->granted && node_exists(node) && (rights & SBX_READ);

	if (real && frame->ours && node->verb == SBX_FS_GRANT) {
		if (!has_host(b))
			add_mount(b, node, MOUNT_BIND, rights)->fd = open_node(node);
		add_rule(b, node->path, rights & ~frame->rights, 0);
		reopen(b, node, rights, false);
	} else if (real || (node->verb == SBX_FS_TMP && (rights & SBX_READ) && !frame->ours)) {
		begin(b, node, rights);
	} else if (rights != frame->rights && node->rule != SBX_RULE_SELF) {
		struct plan_mask *mask;

		add_pins(b, node->path);
		mask = add_mask(b, node, rights & SBX_READ ? MASK_SELF : MASK_HIDE, rights);
		mask->mode = S_IFDIR;
		push(b, node->path, rights & SBX_READ ? frame->source : HIDDEN, rights)->mask =
			b->plan->masks.count - 1;
	}
}

static void inside_dev(struct builder *b, const struct node *node, unsigned rights)
{
	const struct sbx_landlock *landlock = SBX_AT(&b->launch->blob, LANDLOCK, sbx_landlock, 0);

	if (!(rights & SBX_READ)) {
		if (is_native_device(node->path))
			add_mask(b, node, MASK_HIDE, 0)->if_present = true;
		return;
	}
	if (!is_native_device(node->path)) {
		begin(b, node, rights);
		return;
	}
	add_rule(b, node->path, rights, landlock->device);
}

static void inside_proc(struct builder *b, const struct node *node, unsigned rights)
{
	unsigned above = top(b)->rights;
	const char *path = node->path;

	if (rights & ~above) {
		/* A rule on /proc/self would be process 1's alone. */
		if (!strncmp(path, "/proc/self", 10) || !strncmp(path, "/proc/thread-self", 17))
			path = "/proc";
		add_rule(b, path, rights, 0);
	} else if (above & ~rights) {
		struct plan_mask *mask = add_mask(b, node,
						  rights & SBX_READ ? MASK_SELF : MASK_HIDE, rights);

		mask->if_present = true;
		push(b, path, rights & SBX_READ ? FROM_PROC : HIDDEN, rights)->mask = SIZE_MAX;
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
	add_mount(b, node, MOUNT_PROC, rights);
	if (!(rights & SBX_READ) && !opened_beneath(b->launch, "/proc")) {
		struct plan_mask *mask = add_mask(b, node, MASK_HIDE, 0);

		mask->dev = mask->ino = 0;
		mask->mode = S_IFDIR;
	}
	add_rule(b, "/proc", rights & ~top(b)->rights, 0);
	push(b, "/proc", FROM_PROC, rights)->ours = false;
}

static void add_dev(struct builder *b, const struct node *node, unsigned rights)
{
	const struct sbx_landlock *landlock = SBX_AT(&b->launch->blob, LANDLOCK, sbx_landlock, 0);
	bool terminal = terminal_allowed(b->launch);

	if (!terminal && !opened_beneath(b->launch, "/dev") && top(b)->source != FROM_HOST)
		return;
	add_mount(b, node, MOUNT_DEV, rights);
	add_rule(b, "/dev", rights & ~top(b)->rights, 0);
	if (terminal) {
		add_rule(b, "/dev/pts", SBX_READ | SBX_WRITE, landlock->device);
		add_rule(b, "/dev/tty", SBX_READ | SBX_WRITE, landlock->device);
	}
	push(b, "/dev", FROM_DEV, rights)->ours = false;
}

static void add_link(struct builder *b, const struct node *node)
{
	enum source source = top(b)->source;

	if (source == FROM_HOST) {
		if (node->denied && (top(b)->rights & SBX_WRITE)) {
			add_pins(b, node->path);
			add_mask(b, node, MASK_SELF, top(b)->rights)->verify = false;
		}
	} else if (node->granted && source != HIDDEN && !top(b)->ours) {
		struct plan_mount *mount = add_mount(b, node, MOUNT_LINK, 0);

		mount->target = node->target;
		mount->rule = SBX_NONE;
	}
}

static void add_socket(struct builder *b, const struct node *node)
{
	if (top(b)->source != FROM_HOST && !top(b)->ours && top(b)->source != HIDDEN)
		begin_host(b, node, SBX_READ | SBX_WRITE);
	add_rule(b, node->path, SBX_READ | SBX_WRITE, UAPI_LANDLOCK_FS_RESOLVE_UNIX);
}

static void add_node(struct builder *b, const struct node *node)
{
	unsigned rights;

	while (!path_within(node->path, top(b)->path))
		b->frames.count--;
	/* Denied where nothing was granted: most seals, and no question at all. */
	if (!node->granted && top(b)->source == FROM_NOTHING)
		return;
	rights = node->kind == NODE_LINK ? 0 : fsview_rights(b->launch, node->path);
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
	switch (top(b)->source) {
	case FROM_NOTHING:
		begin(b, node, rights);
		break;
	case FROM_HOST:
	case HIDDEN:
		inside_host(b, node, rights);
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

static void sort_masks(struct plan *plan)
{
	struct plan_mask *masks = plan->masks.items;
	size_t count = 0;

	mem_sort(masks, plan->masks.count, sizeof(*masks), by_path);
	for (size_t i = 0; i < plan->masks.count; i++)
		if (!count || strcmp(masks[count - 1].path, masks[i].path))
			masks[count++] = masks[i];
	plan->masks.count = count;
}

void plan_files(struct launch *launch)
{
	struct builder b = { .launch = launch, .plan = &launch->plan };

	*vec_add(&b.frames) = (struct frame){ .path = "/", .source = FROM_NOTHING, .read_only = true };
	for (size_t i = 0; i < launch->view.nodes.count; i++)
		add_node(&b, &launch->view.nodes.items[i]);
	sort_masks(&launch->plan);
}

bool plan_shows(const struct launch *launch, const char *path)
{
	enum sbx_fs_verb verb;

	return fsview_origin(launch, path, SBX_READ, &verb) && verb == SBX_FS_GRANT &&
	       !path_within(path, "/proc") && !path_within(path, "/dev");
}
