/*
 * stub/check.c - fail closed.
 *
 * A statement that protects and that nothing here enforces stops the launch,
 * by name.  One that only opens (a slot) stays shut, and a
 * line says so.  With --check all of it is listed instead.
 */
#include "stub/check.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "stub/launch.h"
#include "stub/out.h"
#include "stub/proc.h"
#include "stub/sys.h"

/* How many names a launch looks at, and how far below a rule's. */
#define LINKS_SCAN_MAX  50000
#define LINKS_DEPTH_MAX 64
#define LINKS_OPEN      (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

void launch_obstacle_text(struct launch *launch, const char *reason)
{
	if (!launch->options.check)
		refuse("%s", reason);
	out_print(STDOUT_FILENO, "no   %s\n", reason);
	launch->problems++;
}

/* Stops the launch, unless the rule is best-effort or --check only asks. */
#define cannot(launch, head, ...) launch_cannot(launch, head, out_string(__VA_ARGS__))
static void launch_cannot(struct launch *launch, const struct sbx_head *head, const char *reason)
{
	const char *place = launch_place(launch, head->loc);

	if (head->flags & SBX_F_BEST_EFFORT)
		launch_remark(launch, "not enforced (%s): %s", place, reason);
	else
		launch_obstacle(launch, "%s (%s)", reason, place);
}

static void require_kernel(struct launch *launch, const struct sbx_require_rule *rule)
{
	unsigned major = rule->value >> 16, minor = rule->value & 0xffff;
	unsigned long long have_major = 0, have_minor = 0;
	struct utsname name;
	const char *rest;

	if (!uname(&name)) {
		have_major = out_read_number(name.release, &rest);
		if (*rest == '.')
			have_minor = out_read_number(rest + 1, &rest);
	}
	if (have_major < major || (have_major == major && have_minor < minor))
		cannot(launch, &rule->head, "the policy wants kernel %u.%u, this is %s: update it",
		       major, minor, name.release);
}

static void require_one(struct launch *launch, const struct sbx_require_rule *rule)
{
	int abi = sys_landlock_abi();

	switch ((enum sbx_require)rule->what) {
	case SBX_REQUIRE_LANDLOCK:
		if (abi < (int)rule->value)
			cannot(launch, &rule->head,
			       "the policy wants Landlock ABI %u, this kernel has %d: update it",
			       rule->value, abi < 0 ? 0 : abi);
		break;
	case SBX_REQUIRE_KERNEL:
		require_kernel(launch, rule);
		break;
	case SBX_REQUIRE_BACKEND:
	case SBX_REQUIRE_PROOF:
		break; /* choose.c, proof.c */
	case SBX_REQUIRE_LIMITS:
		cannot(
		    launch, &rule->head,
		    "limits for the whole tree (cgroup) are not in this version, only per process: "
		    "take the line out");
		break;
	case SBX_REQUIRE_SIGNED:
		cannot(launch, &rule->head,
		       "this version does not know signatures: take the line out");
		break;
	}
}

/* Openings for which nobody is there: they stay shut. */
static void remark_shut(const struct launch *launch)
{
	if (SBX_COUNT(&launch->blob, SLOTS))
		launch_remark(
		    launch, "slots stay shut: nothing in this version can fill one (%s)",
		    launch_place(launch, SBX_AT(&launch->blob, SLOTS, sbx_slot, 0)->head.loc));
}

void check_requirements(struct launch *launch)
{
	for (uint32_t i = 0; i < SBX_COUNT(&launch->blob, REQUIRE); i++)
		require_one(launch, SBX_AT(&launch->blob, REQUIRE, sbx_require_rule, i));
	remark_shut(launch);
}

static bool resolve(void *context, const char *path, char *out, size_t size)
{
	(void)context;
	return walk_name(path, out, size);
}

/* $sibling is the host's directory beside the workspace.  Where a private tmpfs
 * lies over their parent (a workspace below /tmp), that one is out of sight, and
 * the name means a place in the tmpfs instead. */
static void settle_sibling(struct launch *launch)
{
	const char **sibling = &launch->vars.value[SBX_VAR_SIBLING];
	enum sbx_fs_verb verb;

	if (fsview_origin(launch, *sibling, SBX_READ, &verb) &&
	    (verb == SBX_FS_TMP || verb == SBX_FS_COPY))
		*sibling = "/sbx-out-of-sight";
}

void check_assertions(struct launch *launch)
{
	static const char polarity[][8] = { "can", "cannot", "never" };
	static const char action[][8] = { "read", "write", "exec",   "connect",
					  "call", "see",   "submit", "use" };
	static const struct sbx_assert_means means = { .resolve = resolve };
	struct sbx_assert_result *result = mem_get(sizeof(*result));

	settle_sibling(launch);
	for (uint32_t i = 0; i < SBX_COUNT(&launch->blob, ASSERTS); i++) {
		const struct sbx_assert *assertion = SBX_AT(&launch->blob, ASSERTS, sbx_assert, i);
		struct sbx_head head = assertion->head;

		sbx_assert_check(&launch->blob, i, &launch->vars, &launch->view.set, &means,
				 result);
		if (result->holds)
			continue;
		head.flags = 0;
		cannot(
		    launch, &head,
		    "here the policy does not hold what it asserts: %s %s %s: %s%s%s%s: start in "
		    "another directory, or change the policy",
		    polarity[assertion->head.verb], action[assertion->action], result->object,
		    result->reason, result->loc == SBX_NONE ? "" : " (",
		    result->loc == SBX_NONE ? "" : launch_place(launch, result->loc),
		    result->loc == SBX_NONE ? "" : ")");
	}
}

/* ---- hard links ------------------------------------------------------------ */

static bool is_host_grant(const struct node *node)
{
	return node->granted && node->kind == NODE_RULE && node->verb == SBX_FS_GRANT &&
	       node_exists(node);
}

static bool beneath_grant(const struct launch *launch, const char *path)
{
	for (size_t i = 0; i < launch->view.nodes.count; i++)
		if (is_host_grant(&launch->view.nodes.items[i]) &&
		    path_within(path, launch->view.nodes.items[i].path))
			return true;
	return false;
}

/* May another name of @path, a file on @dev, lie in a granted tree?  What is mounted
 * in one belongs to it. */
static bool may_be_granted(const struct launch *launch, const char *path, dev_t dev)
{
	struct proc_mount mount;
	char *mounts;

	for (size_t i = 0; i < launch->view.nodes.count; i++)
		if (is_host_grant(&launch->view.nodes.items[i]) &&
		    launch->view.nodes.items[i].st.st_dev == dev)
			return true;
	/* Mounts and files differ in their devices on some file systems. */
	if (beneath_grant(launch, path))
		return true;
	for (mounts = proc_mounts(); proc_next_mount(&mounts, &mount);)
		if (mount.dev == dev && beneath_grant(launch, mount.path))
			return true;
	return false;
}

/* What is taken at the names beneath a node, and held around it or sealed. */
struct links {
	struct launch *launch;
	const struct node *node;
	unsigned taken; /* SBX_READ | SBX_WRITE */
	unsigned seen;  /* directory entries, of all nodes */
	bool said;      /* that a symbolic link leads out */
	const char *unseen; /* where it became too much; NULL: nowhere */
};

/* `best-effort` waives what a backend cannot hold.  What the user can mend stops the
 * launch all the same, once it is known that the backend would hold the rule. */
static void cannot_protect(const struct links *links, const char *path, const char *reason)
{
	struct launch *launch = links->launch;
	const struct sbx_fs_rule *rule = fsview_rule(launch, links->node->rule);
	const struct sbx_head *head = rule ? &rule->head : NULL;

	if (head)
		reason = out_string("%s (%s)", reason, launch_place(launch, head->loc));
	if (head && head->flags & SBX_F_BEST_EFFORT)
		*vec_add(&launch->mendable) = (struct mendable){ path, links->taken, reason };
	else
		launch_obstacle(launch, "%s", reason);
}

void check_mendable(struct launch *launch)
{
	for (size_t i = 0; i < launch->mendable.count; i++) {
		const struct mendable *one = &launch->mendable.items[i];

		if (launch->plan.backend != SBX_LANDLOCK ||
		    !(direct_granted(launch, one->path) & one->taken))
			refuse("%s", one->reason);
	}
}

/* Another name reaches the same file past every mask.  Whoever neither owns a file
 * nor may write it cannot by another name either.  A pipe below a protected directory
 * is written through a read-only mount; one that is named is hidden. */
static void check_file(const struct links *links, const char *dir, const char *name,
		       const struct stat *st)
{
	struct launch *launch = links->launch;
	bool writes = st->st_uid == launch->uid || (st->st_mode & (S_IWGRP | S_IWOTH));
	bool pipe = name && S_ISFIFO(st->st_mode);
	const char *path;
	unsigned rights;

	if (!pipe && !(S_ISREG(st->st_mode) && st->st_nlink > 1))
		return;
	path = name ? path_join(dir, name) : dir;
	rights = fsview_rights(launch, path);
	if (!(links->taken & ~rights & (writes ? ~0u : SBX_READ)) ||
	    (pipe ? !(rights & SBX_READ) : !may_be_granted(launch, path, st->st_dev)))
		return;
	cannot_protect(
	    links, path,
	    pipe ? out_string("%s is a pipe, and no read-only mount keeps it from being written: "
			      "remove it",
			      path)
		 : out_string("%s is protected but has %u names (hard links), and one of the "
			      "others may lie in a granted tree: find it with `find -inum %llu` "
			      "and remove it, or make this one a file of its own with cp and mv",
			      path, (unsigned)st->st_nlink, (unsigned long long)st->st_ino));
}

/* A symbolic link in a protected directory leads to a file like any other; whoever runs
 * hooks by such links has to know. */
static void check_symlink(struct links *links, const char *path)
{
	struct walk walk;

	walk_path(path, &walk);
	if (links->said || walk.error ||
	    !(fsview_rights(links->launch, walk.path) & links->taken & SBX_WRITE))
		return;
	links->said = true;
	launch_remark(links->launch,
		      "%s leads to %s, which can be written inside: deny that as well", path,
		      walk.path);
}

/* The directory @dir, @path, cannot be looked at, by errno.  What another's permissions
 * keep from us they keep from the sandbox, and so does what a sandbox around hides; our
 * own may have been closed inside, so that other names of what is in it do not show. */
static void check_unseen(const struct links *links, int dir, const char *path)
{
	int error = errno;
	struct statvfs fs;
	struct stat st;

	if (error == ENOENT || error == ENOTDIR || error == ELOOP)
		return;
	if (error == EACCES && !fstat(dir, &st) && !fstatvfs(dir, &fs) &&
	    (st.st_uid != links->launch->uid || fs.f_flag & ST_RDONLY))
		return;
	cannot_protect(links, path,
		       out_string("%s: %s, and what is protected in it may have other names (hard "
				  "links): %s",
				  path, out_error(error),
				  error == EACCES ? "chmod u+rwx it" : "correct it"));
}

static void check_directory(struct links *links, int parent, const char *name, const char *path,
			    unsigned depth);

static void check_entry(struct links *links, int dir, const struct uapi_dirent *entry,
			const char *path, unsigned depth)
{
	const char *name = entry->name;
	struct stat st = { 0 };

	if (!strcmp(name, ".") || !strcmp(name, ".."))
		return;
	links->seen++;
	if (entry->type == DT_DIR)
		st.st_mode = S_IFDIR;
	else if (entry->type == DT_LNK)
		st.st_mode = S_IFLNK;
	else if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW)) {
		if (errno == EACCES) /* it may be listed, and not be entered */
			check_unseen(links, dir, path);
		return;
	}
	if (S_ISLNK(st.st_mode))
		check_symlink(links, path_join(path, name));
	else if (S_ISDIR(st.st_mode))
		check_directory(links, dir, name, path_join(path, name), depth + 1);
	else
		check_file(links, path, name, &st);
}

static void check_directory(struct links *links, int parent, const char *name, const char *path,
			    unsigned depth)
{
	_Alignas(struct uapi_dirent) char buffer[8192];
	long got = 0;
	int dir;

	if (depth > LINKS_DEPTH_MAX || links->seen >= LINKS_SCAN_MAX) {
		if (!links->unseen)
			links->unseen = path;
		return;
	}
	dir = openat(parent, name, LINKS_OPEN);
	while (dir >= 0 && (got = syscall(SYS_getdents64, dir, buffer, sizeof(buffer))) > 0)
		for (long at = 0; at < got;) {
			const struct uapi_dirent *entry = (const void *)(buffer + at);

			at += entry->length;
			if (links->seen < LINKS_SCAN_MAX)
				check_entry(links, dir, entry, path, depth);
			else if (!links->unseen)
				links->unseen = path;
		}
	if (dir < 0 || got < 0) {
		int error = errno, named = openat(parent, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);

		errno = error;
		check_unseen(links, named < 0 ? parent : named, path);
		close(named);
	}
	if (dir >= 0)
		close(dir);
}

/* A seal takes wherever the other name lies; a deny what is granted around it. */
static unsigned taken_at(struct launch *launch, const struct node *node)
{
	unsigned taken = fsview_rights(launch, path_parent(node->path));
	const struct sbx_fs_rule *rule = fsview_rule(launch, node->rule);

	if (!rule)
		return S_ISDIR(node->st.st_mode) ? taken & SBX_WRITE : SBX_WRITE;
	if (rule->head.verb == SBX_FS_SEAL)
		taken |= rule->rights;
	return taken & (SBX_READ | SBX_WRITE) & ~fsview_rights(launch, node->path);
}

void check_hard_links(struct launch *launch)
{
	struct links links = { .launch = launch };

	for (size_t i = 0; i < launch->view.nodes.count; i++) {
		const struct node *node = &launch->view.nodes.items[i];

		if (node->kind != NODE_RULE || !node->denied || !node_exists(node))
			continue;
		links.node = node;
		links.said = false;
		links.taken = taken_at(launch, node);
		if (!links.taken)
			continue;
		if (S_ISDIR(node->st.st_mode))
			check_directory(&links, AT_FDCWD, node->path, node->path, 0);
		else
			check_file(&links, node->path, NULL, &node->st);
	}
	if (links.unseen)
		launch_remark(launch,
			      "not all that is protected was looked at for other names (hard links), "
			      "since it is more than %u names or %u directories deep: %s is the "
			      "first that was not",
			      LINKS_SCAN_MAX, LINKS_DEPTH_MAX, links.unseen);
}
