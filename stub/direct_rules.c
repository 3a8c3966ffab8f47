/*
 * stub/direct_rules.c - what Landlock alone would open of the host's files.
 *
 * The plan's own rules count on mounts: one on /tmp means a tmpfs there, one on
 * a copied file the copy.  Without mounts they would open the real thing.  So
 * here the rules are made from the nodes once more, each right only where it is
 * granted on the host's own file, and from these it is known what a policy asks
 * for that Landlock does not hold: a path at which the rules give more than the
 * verdict does.
 */
#include "stub/direct.h"

#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "stub/launch.h"
#include "stub/out.h"
#include "stub/prepare.h"
#include "stub/uapi.h"
#include "stub/vars.h"

/* Slaves of pseudo-terminals: Documentation/admin-guide/devices.txt of the kernel. */
#define PTS_FIRST 136u
#define PTS_LAST  143u

#define AROUND_MAX 64 /* one too many is a rule that says nothing new */

/* The rights of @path that are to the file of this name on the host.  A copy is
 * its like as long as nobody writes. */
static unsigned host_rights(const struct launch *launch, const char *path, bool *device)
{
	unsigned rights = 0;

	*device = false;
	for (unsigned right = SBX_READ; right <= SBX_EXEC; right <<= 1) {
		enum sbx_fs_verb verb;

		if (!fsview_origin(launch, path, right, &verb) || verb == SBX_FS_TMP ||
		    (verb == SBX_FS_COPY && right == SBX_WRITE))
			continue;
		rights |= right;
		*device |= verb == SBX_FS_DEVICE;
	}
	return rights;
}

unsigned direct_granted(const struct launch *launch, const char *path)
{
	unsigned granted = 0;

	for (size_t i = 0; i < launch->direct.rules.count; i++)
		if (path_within(path, launch->direct.rules.items[i].path))
			granted |= launch->direct.rules.items[i].rights;
	return granted;
}

static void add(struct launch *launch, const char *path, unsigned rights, uint64_t extra,
		const struct stat *st)
{
	*vec_add(&launch->direct.rules) = (struct plan_rule){ .path = path,
							      .rights = rights,
							      .extra = extra,
							      .dev = st ? st->st_dev : 0,
							      .ino = st ? st->st_ino : 0 };
}

/* ---- terminals ------------------------------------------------------------------- */

/* The caller's own terminal by its name: it is handed over in any case. */
static void add_terminal(struct launch *launch, int fd, uint64_t device)
{
	char path[64];
	struct stat st, named;
	ssize_t length;

	if (fstat(fd, &st) || !S_ISCHR(st.st_mode) || major(st.st_rdev) < PTS_FIRST ||
	    major(st.st_rdev) > PTS_LAST)
		return;
	length = readlink(out_string("/proc/self/fd/%d", fd), path, sizeof(path) - 1);
	if (length <= 0)
		return;
	path[length] = '\0';
	if (path_within(path, "/dev/pts") && !lstat(path, &named) && named.st_ino == st.st_ino &&
	    named.st_dev == st.st_dev)
		add(launch, mem_string(path), SBX_READ | SBX_WRITE, device, &st);
}

static void add_terminals(struct launch *launch)
{
	uint64_t device = SBX_AT(&launch->blob, LANDLOCK, sbx_landlock, 0)->device;

	if (process_says(launch, SBX_PROCESS_TERMINAL_NONE))
		return;
	add(launch, "/dev/tty", SBX_READ | SBX_WRITE, device, NULL);
	for (int fd = 0; fd < 3; fd++)
		add_terminal(launch, fd, device);
	if (process_says(launch, SBX_PROCESS_SHARE_TERMINALS)) {
		add(launch, "/dev/ptmx", SBX_READ | SBX_WRITE, device, NULL);
		add(launch, "/dev/pts", SBX_READ | SBX_WRITE, device, NULL);
	}
}

/* ---- nodes ----------------------------------------------------------------------- */

static void add_node(struct launch *launch, const struct node *node, unsigned above)
{
	const struct sbx_landlock *landlock = SBX_AT(&launch->blob, LANDLOCK, sbx_landlock, 0);
	const char *path = node->path;
	unsigned rights;
	bool device;

	if (node->kind == NODE_SOCKET) {
		add(launch, path, SBX_READ | SBX_WRITE, UAPI_LANDLOCK_FS_RESOLVE_UNIX, &node->st);
		return;
	}
	rights = host_rights(launch, path, &device);
	/* One on /proc/self would be the launcher's alone. */
	if (path_within(path, "/proc/self") || path_within(path, "/proc/thread-self"))
		path = "/proc";
	if (rights & ~above || device)
		add(launch, path, rights, device ? landlock->device : 0,
		    path_within(path, "/proc") ? NULL : &node->st);
}

void direct_find_rules(struct launch *launch)
{
	struct direct *direct = &launch->direct;
	size_t around[AROUND_MAX], depth = 0; /* the rules around a node, one inside another */

	if (direct->ruled)
		return;
	direct->ruled = true;
	for (size_t i = 0; i < launch->view.nodes.count; i++) {
		const struct node *node = &launch->view.nodes.items[i];
		size_t before = direct->rules.count;
		unsigned above = 0;

		if (node->kind == NODE_LINK ||
		    (node->kind == NODE_RULE && (!node->granted || !node_exists(node))))
			continue;
		while (depth &&
		       !path_within(node->path, direct->rules.items[around[depth - 1]].path))
			depth--;
		for (size_t k = 0; k < depth; k++)
			above |= direct->rules.items[around[k]].rights;
		add_node(launch, node, above);
		if (direct->rules.count > before && depth < AROUND_MAX)
			around[depth++] = before;
	}
	add_terminals(launch);
}

/* ---- assertions ------------------------------------------------------------------- */

/* Does the claim hold of the rules as it does of the policy? */
static bool claim_holds(const struct launch *launch, const struct sbx_assert *claim)
{
	static const unsigned rights[] = {
		[SBX_DO_READ] = SBX_READ, [SBX_DO_WRITE] = SBX_WRITE, [SBX_DO_EXEC] = SBX_EXEC
	};
	char real[PATH_MAX];
	const char *path;
	uint32_t unset;
	bool wild, granted;

	if (claim->action > SBX_DO_EXEC)
		return true;
	path = vars_expand_path(launch, claim->object, &wild, &unset);
	if (!path || wild)
		return true;
	if (walk_name(path, real, sizeof(real)))
		path = real;
	granted = direct_granted(launch, path) & rights[claim->action];
	return granted == (claim->head.verb == SBX_CAN);
}

const char *direct_broken_claims(const struct launch *launch)
{
	const char *first = NULL;
	unsigned count = 0;

	for (uint32_t i = 0; i < SBX_COUNT(&launch->blob, ASSERTS); i++) {
		const struct sbx_assert *claim = SBX_AT(&launch->blob, ASSERTS, sbx_assert, i);

		if (claim_holds(launch, claim))
			continue;
		count++;
		if (!first || launch->options.verbose)
			first = out_string("%s%s%s", first ? first : "", first ? ", " : "",
					   launch_place(launch, claim->head.loc));
	}
	if (!count)
		return NULL;
	return out_string("%u assertion%s (%s%s)", count, count > 1 ? "s" : "", first,
			  count > 1 && !launch->options.verbose ? ", ..." : "");
}
