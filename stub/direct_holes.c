/*
 * stub/direct_holes.c - a file taken out of a directory of the system's, without mounts.
 *
 * Landlock takes nothing away inside what it grants.  But a grant of a directory can be
 * said again as grants of all that is in it, one each, and then one may be missing: in
 * /usr/bin there may be a program that is not to be run.  What is put there later is not
 * granted then, so this is done only where root alone changes the names, for files alone,
 * and only where the policy insists: it is a rule for each name.
 */
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "stub/direct.h"
#include "stub/duties.h"
#include "stub/launch.h"
#include "stub/sys.h"

/* One that only root changes, and no link. */
static bool is_roots(const char *dir)
{
	struct stat st;

	return dir[1] && !lstat(dir, &st) && S_ISDIR(st.st_mode) && !st.st_uid &&
	       !(st.st_mode & (S_IWGRP | S_IWOTH));
}

static bool can_split(const struct plan_rule *rule, const char *path)
{
	if (rule->rights & SBX_WRITE || rule->extra)
		return false;
	for (path = path_parent(path); is_roots(path); path = path_parent(path))
		if (!strcmp(path, rule->path))
			return true;
	return false;
}

bool direct_is_hole(const struct launch *launch, const struct node *node)
{
	if (node->kind != NODE_RULE || !node->denied || !node_exists(node) ||
	    !S_ISREG(node->st.st_mode) || !duty_insists(launch, node))
		return false;
	for (size_t i = 0; i < launch->direct.rules.count; i++) {
		const struct plan_rule *rule = &launch->direct.rules.items[i];

		if (path_within(node->path, rule->path) &&
		    rule->rights & ~fsview_rights(launch, node->path) &&
		    !can_split(rule, node->path))
			return false;
	}
	return true;
}

struct holes {
	struct launch *launch;
	VEC(const struct node *) nodes;
};

/* What is taken at @path, or somewhere beneath it; also of @st, by whichever name. */
static unsigned taken_in(const struct holes *holes, const char *path, const struct stat *st)
{
	unsigned taken = 0;

	for (size_t i = 0; i < holes->nodes.count; i++) {
		const struct node *node = holes->nodes.items[i];

		if (path_within(node->path, path) ||
		    (st && node->st.st_ino == st->st_ino && node->st.st_dev == st->st_dev))
			taken |= ~fsview_rights(holes->launch, node->path);
	}
	return taken;
}

static void split(const struct holes *holes, const char *dir, unsigned rights);

/* A link grants nothing by itself. */
static void add_entry(const struct holes *holes, int dir, const char *name, const char *path,
		      unsigned rights)
{
	unsigned taken;
	struct stat st;

	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) || S_ISLNK(st.st_mode))
		return;
	taken = taken_in(holes, path, &st);
	if (S_ISDIR(st.st_mode) && rights & taken) {
		split(holes, path, rights);
		return;
	}
	rights &= ~taken;
	if (rights)
		*vec_add(&holes->launch->direct.rules) = (struct plan_rule){
			.path = path, .rights = rights, .dev = st.st_dev, .ino = st.st_ino
		};
}

static void split(const struct holes *holes, const char *path, unsigned rights)
{
	_Alignas(struct uapi_dirent) char buffer[8192];
	int dir = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	long got;

	while (dir >= 0 && (got = syscall(SYS_getdents64, dir, buffer, sizeof(buffer))) > 0)
		for (long at = 0; at < got;) {
			const struct uapi_dirent *entry = (const void *)(buffer + at);

			at += entry->length;
			if (strcmp(entry->name, ".") && strcmp(entry->name, ".."))
				add_entry(holes, dir, entry->name, path_join(path, entry->name),
					  rights);
		}
	close(dir); /* of one that cannot be listed nothing is granted */
}

void direct_make_holes(struct launch *launch)
{
	struct holes holes = { .launch = launch };
	size_t count = launch->direct.rules.count;

	for (size_t i = 0; i < launch->view.nodes.count; i++)
		if (direct_is_hole(launch, &launch->view.nodes.items[i]))
			*vec_add(&holes.nodes) = &launch->view.nodes.items[i];
	for (size_t i = 0; i < count; i++) {
		struct plan_rule rule = launch->direct.rules.items[i];

		if (!(rule.rights & taken_in(&holes, rule.path, NULL)))
			continue;
		/* Its names may be seen, as what is in it may be. */
		launch->direct.rules.items[i].rights = 0;
		launch->direct.rules.items[i].extra =
		    rule.rights & SBX_READ ? UAPI_LANDLOCK_FS_READ_DIR : 0;
		split(&holes, rule.path, rule.rights);
	}
}
