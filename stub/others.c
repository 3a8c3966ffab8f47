/*
 * stub/others.c - what live sessions mask, this one leaves alone.
 *
 * A mask goes when the name it lies on is replaced outside, and for one session
 * another is outside: one with a wider policy in the same workspace could rename
 * the first one's .git/config away.  So it starts with these names masked too.
 * A session that begins later finds its masks lifted by one that was not told of
 * them; that is the watch's business (watch.c).  Without mounts nothing can be
 * masked: a session on landlock says what it could undo.
 */
#include "stub/placeholders.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "stub/direct.h"
#include "stub/launch.h"
#include "stub/out.h"

/* The writable tree of the host that @path lies in, without being it. */
static const char *tree_around(const struct plan *plan, const char *path)
{
	const char *around = NULL;

	for (size_t i = 0; i < plan->mounts.count; i++) {
		const struct plan_mount *mount = &plan->mounts.items[i];

		if (path_within(path, mount->path) && (!around || path_within(mount->path, around)))
			around = mount->kind == MOUNT_BIND && mount->rights & SBX_WRITE
				     ? mount->path
				     : NULL;
	}
	return around && strcmp(around, path) ? around : NULL;
}

static struct plan_mask *find(struct plan *plan, const char *path)
{
	for (size_t i = 0; i < plan->masks.count; i++)
		if (!strcmp(plan->masks.items[i].path, path))
			return &plan->masks.items[i];
	return NULL;
}

static bool has_masks_beneath(const struct plan *plan, const char *path)
{
	for (size_t i = 0; i < plan->masks.count; i++)
		if (path_within(plan->masks.items[i].path, path))
			return true;
	return false;
}

static void add(struct plan *plan, const char *path, enum mask_kind kind, unsigned rights,
		const struct stat *st)
{
	*vec_add(&plan->masks) = (struct plan_mask){
		.kind = kind,
		.path = path,
		.rights = rights | SBX_EXEC,
		.verify = !(rights & SBX_WRITE),
		.rule = SBX_NONE,
		.copy_fd = -1,
		.dev = st->st_dev,
		.ino = st->st_ino,
		.mode = st->st_mode & S_IFMT,
	};
}

static void hold(struct launch *launch, const struct masked *masked)
{
	struct plan *plan = &launch->plan;
	const char *top = tree_around(plan, masked->path), *path = masked->path;
	unsigned rights = fsview_rights(launch, path);
	struct plan_mask *mask = find(plan, path);
	enum sbx_fs_verb verb;
	struct stat st;
	bool hide;

	if (!top || !(rights & SBX_WRITE) || !fsview_origin(launch, path, SBX_WRITE, &verb) ||
	    verb != SBX_FS_GRANT || lstat(path, &st))
		return;
	launch_detail(launch, "%s: held for another session", path);
	if (mask) {
		mask->rights &= ~(unsigned)SBX_WRITE;
		mask->verify = true;
		return;
	}
	hide = masked->hidden && !has_masks_beneath(plan, path);
	add(plan, path, hide ? MASK_HIDE : MASK_SELF, hide ? 0 : SBX_READ, &st);
	while (strcmp(path = path_parent(path), top))
		if (!find(plan, path) && !lstat(path, &st))
			add(plan, path, MASK_SELF, SBX_READ | SBX_WRITE, &st);
}

static bool writes_host(const struct plan *plan)
{
	for (size_t i = 0; i < plan->mounts.count; i++)
		if (plan->mounts.items[i].kind == MOUNT_BIND &&
		    plan->mounts.items[i].rights & SBX_WRITE)
			return true;
	return false;
}

/* Where nothing can be noted, nobody else has noted anything either, unless it was
 * possible before. */
static bool open_records(const struct launch *launch, struct session *session)
{
	if (sessions_open(launch, session))
		return true;
	if (errno != ENOENT)
		launch_remark(launch,
			      "what other sandboxes protect here is not known, since "
			      "~/.local/state/sbx/sessions cannot be used: %s",
			      out_error(errno));
	return false;
}

/* One line: what landlock would have to mask, and cannot. */
static void say_unheld(struct launch *launch)
{
	const struct masked *first = NULL;
	struct session *session = &launch->session;
	struct others others;
	unsigned more = 0;

	if (!open_records(launch, session) || !sessions_lock(session))
		return;
	sessions_read_others(session, &others);
	sessions_unlock(session);
	session->others_died = others.dead_names.count; /* what they left is cleared away */
	for (size_t i = 0; i < others.masked.count; i++) {
		const struct masked *masked = &others.masked.items[i];

		if (!(direct_granted(launch, masked->path) & SBX_WRITE))
			continue;
		if (!first)
			first = masked;
		else
			more++;
		launch_detail(launch, "%s: masked by %s, and open here", masked->path,
			      masked->session);
	}
	if (first)
		launch_remark(launch,
			      "landlock cannot hold what %s masks, and this one may write: %s%s: "
			      "use --backend bwrap",
			      first->session, first->path,
			      more ? out_string(" and %u more names (-v lists them)", more) : "");
}

void others_hold(struct launch *launch)
{
	struct session *session = &launch->session;
	struct others others;

	if (!writes_host(&launch->plan))
		return;
	if (launch->plan.backend == SBX_LANDLOCK)
		say_unheld(launch);
	if (launch->plan.backend == SBX_LANDLOCK || !open_records(launch, session))
		return;
	sessions_hold(session);
	sessions_read_others(session, &others);
	sessions_unlock(session);
	session->others_died = others.dead_names.count;
	if (others.stray)
		launch_remark(launch,
			      "~/.local/state/sbx/sessions/%s is no record of a session: remove it",
			      others.stray);
	for (size_t i = 0; i < others.masked.count; i++)
		hold(launch, &others.masked.items[i]);
	if (others.masked.count)
		plan_sort_masks(&launch->plan);
}
