/*
 * stub/covers.c - thirty files of /etc by one mount.
 *
 * Each mount of the backend's reads the whole mount table, each of ours costs
 * a tenth of that.  So where several names in one directory are granted and
 * the directory itself is not, the backend binds the directory, read-only, and
 * the inner stage lays an empty tmpfs over it in which the granted names alone
 * are opened again.  What lies under a cover is locked there as under any mask.
 *
 * Only directories of root's that no one else may write are covered: what is
 * for a moment in reach of the inner stage, and never of the program, is then
 * at most the system's.
 */
#include "stub/plan.h"

#include <string.h>

#include "stub/launch.h"

#define COVER_MIN 3 /* names in a directory that make it worth while */

/* What a cover can hold: a read-only tree of the host, or a link. */
static bool fits_cover(const struct plan_mount *mount)
{
	return mount->kind == MOUNT_LINK ||
	       (mount->kind == MOUNT_BIND && !(mount->rights & SBX_WRITE) &&
		(S_ISDIR(mount->st.st_mode) || S_ISREG(mount->st.st_mode)));
}

/* The mounts beneath @dir, which lie side by side around @at.  False: one of
 * them does not fit, or something else is mounted on @dir or above it. */
static bool find_range(const struct plan *plan, const char *dir, size_t at, size_t *first,
		       size_t *end)
{
	for (size_t i = 0; i < plan->mounts.count; i++)
		if (path_within(dir, plan->mounts.items[i].path))
			return false;
	for (size_t i = 0; i < plan->masks.count; i++)
		if (path_within(dir, plan->masks.items[i].path))
			return false;
	for (*first = at; *first && path_within(plan->mounts.items[*first - 1].path, dir);)
		--*first;
	for (*end = at; *end < plan->mounts.count; ++*end) {
		if (!path_within(plan->mounts.items[*end].path, dir))
			break;
		if (!fits_cover(&plan->mounts.items[*end]))
			return false;
	}
	for (size_t i = *first; i < at; i++)
		if (!fits_cover(&plan->mounts.items[i]))
			return false;
	return *end - *first >= COVER_MIN;
}

/* The directory itself, if it is one that may be covered. */
static bool is_system_directory(const struct launch *launch, const char *dir, struct stat *st)
{
	const char *home = launch->vars.value[SBX_VAR_HOME];
	struct walk walk;

	if (!dir[1] || (home && (path_within(home, dir) || path_within(dir, home))))
		return false;
	walk_path(dir, &walk);
	*st = walk.st;
	return !walk.error && !walk.missing && !walk.hop_count && st->st_uid == 0 &&
	       !(st->st_mode & 022);
}

static void add_mask(struct plan *plan, const struct plan_mount *mount, enum mask_kind kind)
{
	*vec_add(&plan->masks) = (struct plan_mask){
		.kind = kind,
		.path = mount->path,
		.target = mount->target,
		.rights = mount->rights | SBX_EXEC, /* execution is Landlock's */
		.make = kind != MASK_COVER,
		.covered = kind != MASK_COVER,
		.verify = kind != MASK_LINK,
		.rule = mount->rule,
		.copy_fd = -1,
		.dev = mount->st.st_dev,
		.ino = mount->st.st_ino,
		.mode = kind == MASK_LINK ? S_IFLNK : mount->st.st_mode & S_IFMT,
	};
}

void plan_cover(struct launch *launch)
{
	struct plan *plan = &launch->plan;
	const char *refused = "";

	for (size_t at = 0; at < plan->mounts.count; at++) {
		struct plan_mount cover = {
			.kind = MOUNT_BIND, .rights = SBX_READ, .rule = SBX_NONE, .fd = -1
		};
		size_t first, end;

		if (!fits_cover(&plan->mounts.items[at]))
			continue;
		cover.path = path_parent(plan->mounts.items[at].path);
		if (!strcmp(cover.path, refused))
			continue;
		refused = cover.path;
		if (!find_range(plan, cover.path, at, &first, &end))
			continue;
		if (!is_system_directory(launch, cover.path, &cover.st))
			continue;
		add_mask(plan, &cover, MASK_COVER);
		for (size_t i = first; i < end; i++)
			add_mask(plan, &plan->mounts.items[i],
				 plan->mounts.items[i].kind == MOUNT_LINK ? MASK_LINK : MASK_OPEN);
		plan->mounts.items[first] = cover;
		memmove(&plan->mounts.items[first + 1], &plan->mounts.items[end],
			(plan->mounts.count - end) * sizeof(cover));
		plan->mounts.count -= end - first - 1;
		at = first;
	}
}
