/*
 * stub/bundle.c - the program's roots of trust, a file for each session.
 *
 * Where sbx-proxy ends TLS it does so with an authority of the session's own,
 * which the program has to trust; so $ca-bundle is a file that the proxy writes,
 * the system's roots and that one.  It lies beside the sessions' records
 * (sessions.c), where every backend can show it and no program can write, and is
 * locked as long as its session lives: one without a lock is a dead session's.
 * Its name is known, and in the plan, before it is made.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "stub/launch.h"
#include "stub/out.h"
#include "stub/proc.h"

void bundle_clear(int dir, const char *name)
{
	int fd = proc_open_own(dir, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0)
		return;
	if (!flock(fd, LOCK_EX | LOCK_NB))
		unlinkat(dir, name, 0);
	close(fd);
}

/* The plan was made before the file. */
static void note_in_plan(struct launch *launch, const struct stat *st)
{
	const char *path = launch->proxy.bundle;
	struct plan *plan = &launch->plan;

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

void bundle_make(struct launch *launch)
{
	struct proxy *proxy = &launch->proxy;
	const char *name = strrchr(proxy->bundle, '/') + 1;
	struct session session = { 0 };
	struct others others;
	struct stat st;

	if (!sessions_open(launch, &session))
		refuse("no place for the session's roots of trust: make ~/.local/state/sbx "
		       "writable: %s",
		       out_error(errno));
	if (!sessions_lock(&session))
		sessions_refuse();
	sessions_read_others(&session, &others); /* clears away those of dead sessions */
	proxy->bundle_dir = session.dir;
	proxy->bundle_fd =
	    openat(session.dir, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (proxy->bundle_fd < 0 || fchmod(proxy->bundle_fd, 0600) ||
	    flock(proxy->bundle_fd, LOCK_EX | LOCK_NB) || lstat(proxy->bundle, &st))
		refuse("%s: cannot be made: %s: see that its directory can be written",
		       proxy->bundle, out_error(errno));
	close(session.mutex); /* and with it the lock is gone */
	note_in_plan(launch, &st);
}

void bundle_remove(const struct launch *launch)
{
	if (launch->proxy.bundle)
		unlinkat(launch->proxy.bundle_dir, strrchr(launch->proxy.bundle, '/') + 1, 0);
}
