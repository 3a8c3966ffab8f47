/*
 * stub/watch.c - what the host does to the files under the masks.
 *
 * The kernel takes a mount away when the name it lies on is removed or another
 * file is renamed over it, in whatever namespace.  Nothing inside can do that to
 * a mask; the host's own git does it with each `git config`.  So the directories
 * that hold masked names are watched, and after an event about one of them a
 * child of ours enters the sandbox's namespaces, looks where a mount is missing,
 * and lays it again (masks.c).  A name that is gone altogether is given the time
 * that a program needs which removes and makes it anew, whoever that is; after
 * it a placeholder takes its place, as at the start.
 *
 * In between the program can write there.  What cannot be closed again ends the
 * session.  firejail's mounts are root's: there it is only said.
 */
#include "stub/watch.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "stub/inner.h"
#include "stub/launch.h"
#include "stub/out.h"
#include "stub/sys.h"

enum {
	GONE_MS = 40,    /* how long a name may be missing */
	CHILD_MS = 5000, /* for a child that lays masks */
	TRIES = 20,      /* of its, where they are replaced meanwhile */
	NAMED_MAX = 4,   /* names in a message */
};
#define CHANGES (IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_ONLYDIR)

static struct watched *find(const struct watching *w, const char *dir)
{
	for (size_t i = w->dirs.count; i--;)
		if (!strcmp(w->dirs.items[i].dir, dir))
			return &w->dirs.items[i];
	return NULL;
}

/* The directory as it is now: after a change it may be another one. */
static int watch_directory(const struct launch *launch, const struct watching *w, const char *dir)
{
	char link[32];
	int fd =
	    sys_openat2(AT_FDCWD, dir, O_PATH | O_DIRECTORY | O_NOFOLLOW, UAPI_RESOLVE_NO_SYMLINKS);
	int descriptor = -1;
	struct stat st;

	if (fd < 0)
		return -1;
	out_text(link, sizeof(link), "/proc/self/fd/%d", fd);
	if (!fstat(fd, &st) && (st.st_uid == launch->uid || !access(link, W_OK))) {
		/* New names count only while one is missing: programs make many. */
		descriptor = inotify_add_watch(w->events, link, CHANGES | (w->due ? IN_CREATE : 0));
		if (descriptor < 0)
			launch_remark(launch,
				      "what others do in %s goes unnoticed: %s: raise "
				      "fs.inotify.max_user_watches",
				      dir, out_error(errno));
	}
	close(fd);
	return descriptor;
}

void watch_start(struct launch *launch, struct watching *w)
{
	const struct plan *plan = &launch->plan;

	w->events = -1;
	if (plan->backend == SBX_LANDLOCK)
		return;
	for (size_t i = 0; i < plan->masks.count; i++) {
		const char *dir;

		if (!mask_lies_on_host(&plan->masks.items[i]))
			continue;
		dir = path_parent(plan->masks.items[i].path);
		if (find(w, dir))
			continue;
		if (w->events < 0)
			w->events = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
		if (w->events < 0) {
			launch_remark(launch,
				      "what others do to protected names goes unnoticed: %s: "
				      "raise fs.inotify.max_user_instances",
				      out_error(errno));
			return;
		}
		*vec_add(&w->dirs) = (struct watched){ dir, watch_directory(launch, w, dir) };
	}
}

void watch_stop(struct watching *w)
{
	if (w->events >= 0)
		close(w->events);
	w->events = -1;
	w->due = 0;
}

/* ---- what happened -------------------------------------------------------------- */

/* Does a mask lie on @name in the directory @descriptor?  Marks it for firejail. */
static bool mark(const struct launch *launch, struct watching *w, int descriptor, const char *name)
{
	const struct plan *plan = &launch->plan;
	bool any = false;

	for (size_t i = 0; i < plan->masks.count; i++) {
		const char *path = plan->masks.items[i].path;
		const struct watched *watched;

		if (strcmp(strrchr(path, '/') + 1, name) ||
		    !mask_lies_on_host(&plan->masks.items[i]))
			continue;
		watched = find(w, path_parent(path));
		if (!watched || watched->descriptor != descriptor)
			continue;
		if (plan->backend == SBX_FIREJAIL)
			w->state[i] = MASK_LAID;
		any = true;
	}
	return any;
}

/* True: something befell a masked name. */
static bool read_events(const struct launch *launch, struct watching *w)
{
	_Alignas(struct inotify_event) char buffer[4096];
	bool any = false;
	ssize_t size;

	while ((size = read(w->events, buffer, sizeof(buffer))) > 0)
		for (ssize_t at = 0; at < size;) {
			const struct inotify_event *event = (const void *)(buffer + at);

			at += (ssize_t)(sizeof(*event) + event->len);
			if (event->mask & IN_Q_OVERFLOW)
				any = true;
			else if (event->len)
				any |= mark(launch, w, event->wd, event->name);
		}
	return any;
}

/* ---- laying again ----------------------------------------------------------------- */

static _Noreturn void lay(const struct launch *launch, const struct watching *w, int mounts)
{
	struct inner inner = { .plan = launch->plan, .socket = -1 };
	int user = ioctl(mounts, UAPI_NS_GET_USERNS);

	/* Not by /proc/PID/ns/user: that is another one where the program has one. */
	if (user < 0 || setns(user, CLONE_NEWUSER) || setns(mounts, CLONE_NEWNS))
		refuse("the sandbox's mounts cannot be reached: %s", out_error(errno));
	/* Who goes on replacing it causes another event. */
	for (unsigned i = 0; i < TRIES && !masks_apply_again(&inner, w->state); i++)
		;
	_exit(0);
}

/* False: it failed, and has said why. */
static bool lay_in_child(const struct launch *launch, struct watching *w, int mounts)
{
	struct pollfd end = { -1, POLLIN, 0 };
	int status = 1;
	pid_t child;

	for (size_t i = 0; i < launch->plan.masks.count; i++)
		w->state[i] =
		    mask_lies_on_host(&launch->plan.masks.items[i]) ? MASK_HELD : MASK_UNKNOWN;
	child = sys_fork();
	if (child == 0)
		lay(launch, w, mounts);
	if (child < 0)
		return false;
	end.fd = (int)syscall(SYS_pidfd_open, child, 0);
	if (end.fd >= 0 && poll(&end, 1, CHILD_MS) == 0)
		kill(child, SIGKILL);
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	if (end.fd >= 0)
		close(end.fd);
	return status == 0;
}

/* "a, b and 3 more" of the masks in this @state; mere pins only where they are all. */
static const char *names_of(const struct launch *launch, const struct watching *w,
			    enum mask_state state, unsigned *count)
{
	const struct plan *plan = &launch->plan;
	const char *names = "";

	*count = 0;
	for (unsigned pins = 0; pins < 2 && !*count; pins++)
		for (size_t i = 0; i < plan->masks.count; i++) {
			const struct plan_mask *mask = &plan->masks.items[i];

			if (w->state[i] != state || mask->make || !(mask->verify || pins))
				continue;
			if ((*count)++ < NAMED_MAX)
				names = out_string("%s%s%s", names, *names ? ", " : "", mask->path);
		}
	if (*count > NAMED_MAX)
		names = out_string("%s and %u more", names, *count - NAMED_MAX);
	return names;
}

static const char *stand_in(struct launch *launch, const struct watching *w)
{
	for (size_t i = 0; i < launch->plan.masks.count; i++) {
		const struct plan_mask *mask = &launch->plan.masks.items[i];

		/* Where nobody can write, nobody can make the name either. */
		if (w->state[i] == MASK_GONE && !placeholders_make_again(launch, mask) &&
		    errno != EROFS)
			return out_string("%s was removed from outside, and cannot be held: %s: "
					  "session ended, look at what is there",
					  mask->path, out_error(errno));
	}
	return NULL;
}

static void say_laid(const struct launch *launch, struct watching *w)
{
	unsigned count;
	const char *names = names_of(launch, w, MASK_LAID, &count);

	if (!count)
		return;
	w->lifted += count;
	launch_remark(launch, "replaced or removed from outside, and protected again: %s", names);
}

/* One look inside; false: the session must end. */
static bool lay_and_say(struct launch *launch, struct watching *w, int mounts, unsigned *gone)
{
	if (!lay_in_child(launch, w, mounts))
		return false;
	say_laid(launch, w);
	names_of(launch, w, MASK_GONE, gone);
	return true;
}

static const char *check(struct launch *launch, struct watching *w, bool due, uint64_t now)
{
	int mounts = open(out_string("/proc/%d/ns/mnt", w->inner), O_RDONLY | O_CLOEXEC);
	const char *why = NULL;
	unsigned gone = 0;
	bool good;

	if (mounts < 0 && (errno == ENOENT || errno == ESRCH))
		return NULL; /* it is over anyway */
	good = mounts >= 0 && lay_and_say(launch, w, mounts, &gone);
	if (good && gone && due) {
		why = stand_in(launch, w);
		good = why || lay_and_say(launch, w, mounts, &gone);
	}
	if (!gone)
		w->due = 0;
	else if (!w->due)
		w->due = now + GONE_MS;
	for (size_t i = 0; i < w->dirs.count; i++)
		w->dirs.items[i].descriptor = watch_directory(launch, w, w->dirs.items[i].dir);
	if (mounts >= 0)
		close(mounts);
	return good ? why
		    : "a protected name was replaced from outside, and cannot be protected again: "
		      "session ended, look at what is there";
}

static void report_only(const struct launch *launch, struct watching *w)
{
	unsigned count;
	const char *names = names_of(launch, w, MASK_LAID, &count);

	memset(w->state, MASK_UNKNOWN, launch->plan.masks.count);
	w->lifted += count;
	if (count)
		launch_remark(launch,
			      "replaced or removed from outside, and no longer protected (firejail "
			      "cannot do it again): %s",
			      names);
}

const char *watch_look(struct launch *launch, struct watching *w, uint64_t now)
{
	bool due = w->due && now >= w->due, any;

	if (!w->state) {
		w->state = mmap(NULL, launch->plan.masks.count, PROT_READ | PROT_WRITE,
				MAP_SHARED | MAP_ANONYMOUS, -1, 0);
		if (w->state == MAP_FAILED)
			return "no memory to look at the masks: session ended";
	}
	any = read_events(launch, w);
	if (due)
		w->due = 0;
	if (launch->plan.backend == SBX_FIREJAIL)
		report_only(launch, w);
	else if (any || due)
		return check(launch, w, due, now);
	return NULL;
}
