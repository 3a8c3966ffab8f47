/*
 * stub/firejail_profile.c - the plan as firejail's profile.
 *
 * Firejail shows the host's own tree, so what is granted need not be mounted:
 * the Landlock domain says what may be opened.  Mounts hold what Landlock does
 * not.  Every directory of "/" is read-only, or hidden where nothing in it is
 * granted, so that no mode, time or attribute changes there; what may be
 * written is opened again; masks come last, parents first.
 *
 * Firejail skips, without a word, what is not there, what is not the user's to
 * open, and what it reads as another name.  The inner stage tries them all
 * (verify.c); firejail_lays() tells both which masks they are.
 */
#include "stub/backend.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "stub/launch.h"
#include "stub/out.h"
#include "stub/prepare.h"
#include "stub/proc.h"
#include "stub/sys.h"

/* What it would do by itself, turned off where it changes files that the plan
 * speaks of (the first seven) or the user's home (keep-config-pulse). */
static const char always[] = "allusers\0allow-debuggers\0writable-etc\0writable-var\0"
			     "writable-var-log\0writable-run-user\0keep-var-tmp\0"
			     "keep-config-pulse\0private-dev\0ipc-namespace\0caps.drop all\0"
			     "nonewprivs\0dbus-user none\0dbus-system none\0blacklist /dev/log\0";
/* For each name it goes through all that it has mounted: twice as many take four times
 * as long, and who plants repositories decides how many there are. */
#define MASKS_MAX 400

/* Its /dev has these where the host does. */
static const char no_devices[] = "nosound\0no3d\0notv\0nodvd\0novideo\0nou2f\0noinput\0";

static void add(struct backend *out, const char *word, const char *path)
{
	*vec_add(&out->args) = mem_join(word, path);
}

static void add_list(struct backend *out, const char *list)
{
	for (; *list; list += strlen(list) + 1)
		add(out, list, "");
}

/* ---- names ------------------------------------------------------------------------ */

bool firejail_can_name(const char *path)
{
	/* Patterns, comments, what it refuses and what it drops: tried byte by byte. */
	for (const char *at = path; *at; at++)
		if ((unsigned char)*at < ' ' || *at == 127 || strchr("\"\\*?[]{},!#%&;<>^", *at) ||
		    (*at == ' ' && (at[1] == ' ' || !at[1])) || (*at == '.' && at[1] == '.'))
			return false;
	return true;
}

bool firejail_lays(const struct plan_mask *mask, unsigned *rights)
{
	*rights = mask->kind == MASK_SELF ? mask->rights : 0;
	/* Without /proc neither firejail nor our inner stage works; Landlock holds it. */
	return !mask->make && !S_ISLNK(mask->mode) && mask->kind != MASK_OPEN &&
	       strcmp(mask->path, "/proc") && firejail_can_name(mask->path);
}

/* ---- the host's tree --------------------------------------------------------------- */

static bool private_tmp(const struct plan *plan)
{
	for (size_t i = 0; i < plan->mounts.count; i++)
		if (plan->mounts.items[i].kind == MOUNT_TMP &&
		    !strcmp(plan->mounts.items[i].path, "/tmp"))
			return true;
	return false;
}

/* Is anything granted in @dir, or around it, or does a link there lead to some? */
static bool is_used(const struct launch *launch, const char *dir)
{
	const struct plan *plan = &launch->plan;
	const struct fsview *view = &launch->view;
	const char *home = launch->vars.value[SBX_VAR_HOME];

	for (size_t i = 0; i < plan->rules.count; i++)
		if (path_within(plan->rules.items[i].path, dir) ||
		    path_within(dir, plan->rules.items[i].path))
			return true;
	for (size_t i = 0; i < view->nodes.count; i++)
		if (view->nodes.items[i].kind == NODE_LINK &&
		    path_within(view->nodes.items[i].path, dir))
			return true;
	/* It loads programs and looks users up until the end; and what is not there in a
	 * home is to be missed, not forbidden: git stops at the latter. */
	return !strcmp(dir, "/usr") || !strcmp(dir, "/etc") || (home && path_within(home, dir));
}

static void close_tree(const struct launch *launch, struct backend *out, const char *dir);

static void close_directory(const struct launch *launch, struct backend *out, const char *path)
{
	/* Of its own making, or where it keeps its state. */
	static const char own[] = "/proc\0/sys\0/dev\0/run/firejail\0";

	for (const char *at = own; *at; at += strlen(at) + 1)
		if (!strcmp(path, at))
			return;
	if (!strcmp(path, "/run"))
		close_tree(launch, out, path);
	else if (firejail_can_name(path) && (strcmp(path, "/tmp") || !private_tmp(&launch->plan)))
		add(out, is_used(launch, path) ? "read-only " : "blacklist ", path);
}

static void close_tree(const struct launch *launch, struct backend *out, const char *dir)
{
	_Alignas(struct uapi_dirent) char buffer[4096];
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	long got;

	if (fd < 0)
		refuse("%s cannot be listed: %s: use --backend bwrap", dir, out_error(errno));
	while ((got = syscall(SYS_getdents64, fd, buffer, sizeof(buffer))) > 0)
		for (long at = 0; at < got;) {
			const struct uapi_dirent *entry = (const void *)(buffer + at);
			struct stat st;

			at += entry->length;
			if (strcmp(entry->name, ".") && strcmp(entry->name, "..") &&
			    !fstatat(fd, entry->name, &st, AT_SYMLINK_NOFOLLOW) &&
			    S_ISDIR(st.st_mode))
				close_directory(launch, out, path_join(dir, entry->name));
		}
	close(fd);
}

static void add_mounts(const struct launch *launch, struct backend *out)
{
	const struct plan *plan = &launch->plan;
	bool devices = false;

	for (size_t i = 0; i < plan->mounts.count; i++)
		devices |= plan->mounts.items[i].kind == MOUNT_DEVICE;
	if (!devices)
		add_list(out, no_devices);
	if (private_tmp(plan)) {
		/* By private-tmp it would keep some of the host's names; this one
		 * cannot exist, so all are gone. */
		char name[NAME_MAX + 2];

		memset(name, 'n', sizeof(name) - 1);
		name[sizeof(name) - 1] = '\0';
		add(out, "whitelist /tmp/", name);
	}
	close_tree(launch, out, "/");
	for (size_t i = 0; i < plan->mounts.count; i++) {
		const struct plan_mount *mount = &plan->mounts.items[i];
		struct statvfs fs;

		if (mount->kind == MOUNT_BIND && path_within(mount->path, "/tmp") &&
		    private_tmp(plan)) {
			add(out, "whitelist ", mount->path);
			if (!(mount->rights & SBX_WRITE))
				add(out, "read-only ", mount->path);
		} else if (mount->kind == MOUNT_TMP && strcmp(mount->path, "/tmp") &&
			   strcmp(mount->path, "/dev/shm")) {
			add(out, "blacklist ", mount->path);
		}
		/* It would open what the host itself mounted read-only. */
		if (mount->kind == MOUNT_BIND && mount->rights & SBX_WRITE && mount->fd >= 0 &&
		    !S_ISSOCK(mount->st.st_mode) && !fstatvfs(mount->fd, &fs) &&
		    !(fs.f_flag & ST_RDONLY))
			add(out, "read-write ", mount->path);
	}
}

/* ---- masks ------------------------------------------------------------------------- */

static void add_mask(struct backend *out, const struct plan_mask *mask)
{
	unsigned rights;

#ifdef SBX_TEST_WITHOUT_MASK
	return;
#endif
	if (!firejail_lays(mask, &rights))
		return;
	if (!rights) {
		/* Also what should be a copy, or empty: at least it is not the host's. */
		add(out, "blacklist ", mask->path);
		return;
	}
	/* Opening what is open would do nothing, and pin nothing. */
	add(out, "read-only ", mask->path);
	if (rights & SBX_WRITE)
		add(out, "read-write ", mask->path);
	if (!(rights & SBX_EXEC))
		add(out, "noexec ", mask->path);
}

static bool is_writable(const struct plan *plan, const char *path)
{
	for (size_t i = 0; i < plan->mounts.count; i++)
		if (plan->mounts.items[i].kind == MOUNT_BIND &&
		    plan->mounts.items[i].rights & SBX_WRITE &&
		    path_within(path, plan->mounts.items[i].path))
			return true;
	return false;
}

/* To open a tree is to open what is mounted in it, too: what the host itself
 * mounted read-only there is closed again. */
static void close_read_only_mounts(const struct plan *plan, struct backend *out)
{
	struct proc_mount mount;

	for (char *at = proc_mounts(); proc_next_mount(&at, &mount);) {
		if (!mount.read_only || !is_writable(plan, mount.path))
			continue;
		if (!firejail_can_name(mount.path))
			refuse("firejail would make %s writable, which it cannot name: use "
			       "--backend bwrap",
			       mount.path);
		add(out, "read-only ", mount.path);
	}
}

void firejail_translate(struct launch *launch, struct backend *out)
{
	struct plan *plan = &launch->plan;
	const uint64_t all[6] = { (uint64_t)-1, SIGKILL };

	if (!plan->landlock_fs)
		refuse("firejail: user namespaces are allowed, so Landlock would hold no path: use "
		       "--backend bwrap");
	if (plan->masks.count > MASKS_MAX)
		refuse("firejail: %u names to protect would take it too long, %s the last of them: "
		       "remove what does not belong there, or use --backend bwrap",
		       (unsigned)plan->masks.count, plan->masks.items[plan->masks.count - 1].path);
	backend_drop_process_limit(plan);
	add_list(out, always);
	if (!plan->share_net)
		add(out, "net none", "");
	add_mounts(launch, out);
	for (size_t i = 0; i < plan->masks.count; i++)
		add_mask(out, &plan->masks.items[i]);
	close_read_only_mounts(plan, out);
	for (size_t i = 0; i < plan->pass_fds.count; i++) {
		add(out, "keep-fd ", out_number(plan->pass_fds.items[i]));
		*vec_add(&out->fds) = (int)plan->pass_fds.items[i];
	}
	/* Our inner stage ends all others, firejail would wait for them. */
	plan->filter_init = plan->filter_init && process_may_call(launch, false, SYS_kill, all);
}
