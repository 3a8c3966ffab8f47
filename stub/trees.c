/*
 * stub/trees.c - where a tree begins: the backend's mounts.
 */
#include "stub/regions.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "stub/launch.h"
#include "stub/out.h"
#include "stub/sys.h"

struct frame *region_top(struct builder *b)
{
	return &b->frames.items[b->frames.count - 1];
}

struct frame *region_push(struct builder *b, const char *path, enum source source, unsigned rights)
{
	struct frame above = *region_top(b), *frame = vec_add(&b->frames);

	*frame = above;
	frame->path = path;
	frame->source = source;
	frame->rights = rights;
	return frame;
}

void region_add_rule(struct builder *b, const char *path, unsigned rights, uint64_t extra)
{
	if (rights)
		*vec_add(&b->plan->rules) =
		    (struct plan_rule){ .path = path, .rights = rights, .extra = extra };
}

struct plan_mount *region_add_mount(struct builder *b, const struct node *node,
				    enum mount_kind kind, unsigned rights)
{
	struct plan_mount *mount = vec_add(&b->plan->mounts);

	*mount = (struct plan_mount){ .kind = kind,
				      .path = node->path,
				      .rights = rights,
				      .rule = node->kind == NODE_SOCKET ? SBX_NONE : node->rule,
				      .fd = -1,
				      .st = node->st };
	return mount;
}

struct plan_mask *region_add_mask(struct builder *b, const struct node *node, enum mask_kind kind,
				  unsigned rights)
{
	struct plan *plan = b->plan;
	struct plan_mask *mask = vec_add(&plan->masks);
	enum source source = region_top(b)->source;

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

unsigned region_mount_rights(unsigned rights, bool no_exec)
{
	return no_exec ? rights & ~SBX_EXEC : rights | SBX_EXEC;
}

bool region_no_exec(const struct builder *b, unsigned rights)
{
	for (size_t i = 0; i < b->frames.count && !(rights & SBX_EXEC); i++)
		if (b->frames.items[i].rights & SBX_EXEC)
			return true;
	return false;
}

void region_add_pins(struct builder *b, const char *path)
{
	const struct frame *frame = region_top(b);
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
			.rights = region_mount_rights(frame->rights, frame->no_exec),
			.make = frame->source != FROM_HOST,
			.rule = SBX_NONE,
			.copy_fd = -1,
			.mode = S_IFDIR,
		};
	}
}

int plan_open(const char *path, const struct stat *checked)
{
	int fd = sys_openat2(AT_FDCWD, path, O_PATH | O_NOFOLLOW, UAPI_RESOLVE_NO_SYMLINKS);
	struct stat st;

	if (fd < 0 && (errno == ENOSYS || errno == EPERM))
		refuse("openat2(2) is refused here, by a sandbox around or a kernel before 5.6: "
		       "start outside it");
	if (fd < 0 && errno == EMFILE)
		refuse("%s: %s: raise the limit, `ulimit -n`", path, out_error(errno));
	if (fd < 0 || fstat(fd, &st) || st.st_ino != checked->st_ino || st.st_dev != checked->st_dev)
		refuse("%s changed while starting: start again", path);
	return fd;
}

uint32_t region_size_kib(const struct builder *b, const struct node *node)
{
	const struct sbx_blob *blob = &b->launch->blob;
	uint32_t size = 0;

	/* A node may stand for several rules; the size is the tmp rule's. */
	for (size_t i = 0; i < b->launch->view.points.count; i++) {
		const struct sbx_fs_point *point = &b->launch->view.points.items[i];

		if (point->verb == SBX_FS_TMP && !strcmp(point->path, node->path))
			size = sbx_fs_extra(blob, SBX_AT(blob, FS, sbx_fs_rule, point->rule))
				   ->size_kib;
	}
	return size;
}

static bool is_device(const struct node *node)
{
	return S_ISCHR(node->st.st_mode) || S_ISBLK(node->st.st_mode);
}

static void begin_tmp(struct builder *b, const struct node *node, unsigned rights)
{
	struct plan_mount *mount = region_add_mount(b, node, MOUNT_TMP, rights);
	struct frame *frame;

	mount->size = (uint64_t)region_size_kib(b, node) << 10;
	frame = region_push(b, node->path, FROM_TMP, rights);
	frame->base_writable = true;
	frame->read_only = frame->no_exec = frame->ours = false;
}

void region_begin_copy(struct builder *b, const struct node *node, unsigned rights)
{
	struct plan_mask *mask;
	const bool no_exec = region_no_exec(b, rights);

	/* To open a pipe would wait for who writes it. */
	if (!S_ISDIR(node->st.st_mode) && !S_ISREG(node->st.st_mode))
		refuse("%s: neither a file nor a directory, so it has no copy (%s): correct it",
		       node->path, fsview_place(b->launch, node->rule));
	if (region_top(b)->source == FROM_NOTHING ||
	    (region_top(b)->source == FROM_TMP && !region_top(b)->ours))
		region_add_mount(b, node, S_ISDIR(node->st.st_mode) ? MOUNT_DIR : MOUNT_FILE,
				 rights);
	else if (region_top(b)->source == FROM_HOST)
		region_add_pins(b, node->path);
	mask = region_add_mask(b, node, MASK_COPY, region_mount_rights(rights, no_exec));
	mask->dev = mask->ino = 0;
	mask->copy_fd =
	    open(out_string("/proc/self/fd/%d", plan_open(node->path, &node->st)), O_RDONLY | O_CLOEXEC);
	if (mask->copy_fd < 0)
		refuse("%s: cannot be copied: %s (%s): mark the rule optional or correct it",
		       node->path, out_error(errno), fsview_place(b->launch, node->rule));
	struct frame *frame = region_push(b, node->path, FROM_COPY, rights);
	frame->ours = true;
	frame->read_only = false;
	frame->no_exec = no_exec;
}

void region_begin_host(struct builder *b, const struct node *node, unsigned rights)
{
	const bool no_exec = region_no_exec(b, rights);
	struct plan_mount *mount;
	struct frame *frame;

	if (S_ISSOCK(node->st.st_mode) && node->kind != NODE_SOCKET)
		refuse("%s is a socket (%s): open it by net { allow unix %s }", node->path,
		       fsview_place(b->launch, node->rule), node->path);
	mount = region_add_mount(b, node, is_device(node) ? MOUNT_DEVICE : MOUNT_BIND, rights);
	if (!node_exists(node)) /* --dry-run: to be made */
		memset(&mount->st, 0, sizeof(mount->st));
	frame = region_push(b, node->path, FROM_HOST, rights);
	frame->base_writable = rights & SBX_WRITE;
	frame->read_only = !frame->base_writable;
	frame->no_exec = no_exec;
	frame->ours = false;
	if (no_exec && mount->kind == MOUNT_BIND)
		region_add_mask(b, node, MASK_SELF, region_mount_rights(rights, true));
}

void region_begin(struct builder *b, const struct node *node, unsigned rights)
{
	const struct sbx_landlock *landlock = SBX_AT(&b->launch->blob, LANDLOCK, sbx_landlock, 0);

	if (!(rights & SBX_READ) || (!node_exists(node) && !node->granted))
		return;
	region_add_rule(b, node->path, rights, node->verb == SBX_FS_DEVICE ? landlock->device : 0);
	if (node->verb == SBX_FS_TMP)
		begin_tmp(b, node, rights);
	else if (node->verb == SBX_FS_COPY)
		region_begin_copy(b, node, rights);
	else
		region_begin_host(b, node, rights);
}
