/*
 * stub/watch.c - what the host does to the files under the masks.
 *
 * The kernel takes a mount away when the name it lies on is removed or another
 * file is renamed over it, in whatever namespace.  Nothing inside can do that to
 * a mask; the host's own git does it with each `git config`.  So the directories
 * that hold masked names are watched, and where a name is another file than
 * before, a child of ours enters the sandbox's namespaces, looks where a mount
 * is missing, and lays it again (masks.c).  A name that is gone altogether is
 * given the time that a program needs which removes and makes it anew; after it
 * a placeholder takes its place, as at the start.  The program may close its own
 * directories to reading, and so to us: then we look now and then.
 *
 * By F_NOTIFY and not inotify(7): the last close of an inotify descriptor waits
 * for the kernel's other processors, 8 to 20 ms at the end of each session, and
 * a user may have 128 of them.  What it lacks, the name, one stat(2) a mask finds.
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
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "stub/backend.h"
#include "stub/broker.h"
#include "stub/inner.h"
#include "stub/launch.h"
#include "stub/out.h"
#include "stub/proc.h"
#include "stub/protocol.h"
#include "stub/sys.h"

enum {
	PAUSE_MS = 3,    /* between two looks: a build makes many files */
	POLL_MS = 20,    /* the same where nothing can be watched */
	AGAIN_MS = 10,   /* more than a tick of the clock that files have their times from */
	MISSING_MS = 40, /* how long a name may be missing */
	CHILD_MS = 5000, /* for a child that lays masks */
	TRIES = 20,      /* of its, where they are replaced meanwhile */
	ENDING_TRIES = 40, /* 5 ms each: what an ending session may take to be gone */
	RETRY = 1,       /* its status where they all failed */
	NAMED_MAX = 4,   /* names in a message */
};

/* Can nobody but root change what is in @dir?  If that cannot be told, somebody can:
 * it may be away with the workspace, and come back without a word. */
static bool is_roots(const struct launch *launch, const char *dir)
{
	struct stat st;

	return !lstat(dir, &st) && st.st_uid != launch->uid && access(dir, W_OK);
}

/* The directory as it is now: after a change it may be another one. */
static int watch_directory(const struct launch *launch, const char *dir, bool *blind)
{
	int fd;

	if (is_roots(launch, dir))
		return -1;
	fd = sys_openat2(AT_FDCWD, dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW,
			 UAPI_RESOLVE_NO_SYMLINKS);
	if (fd >= 0 && !fcntl(fd, F_NOTIFY, DN_CREATE | DN_DELETE | DN_RENAME | DN_MULTISHOT))
		return fd;
	*blind = true;
	if (fd >= 0)
		close(fd);
	return -1;
}

static void watch_directories(const struct launch *launch, struct watching *w)
{
	w->blind = false;
	for (size_t i = 0; i < w->dirs.count; i++) {
		struct watched *watched = &w->dirs.items[i];

		if (watched->fd >= 0)
			close(watched->fd);
		watched->fd = watch_directory(launch, watched->dir, &w->blind);
	}
}

/* A number is soon given anew, so also by birth, which a file system may not know,
 * or by the last change.  @links: a file put back by another of its links counts as
 * another; a directory has one, and changes all the time. */
static struct identity identity_of(const char *path, bool links)
{
	struct identity identity = { 0 };
	struct uapi_statx stat = { 0 };

	if (sys_statx(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, &stat))
		return identity;
	identity.ino = stat.ino;
	links &= !S_ISDIR(stat.mode);
	memcpy(identity.born, stat.mask & UAPI_STATX_BTIME && !links ? stat.born : stat.changed,
	       sizeof(identity.born));
	memcpy(identity.dev, stat.dev, sizeof(identity.dev));
	return identity;
}

/* What was never protected needs no second look: a link, on firejail. */
static bool is_laid(const struct launch *launch, const struct plan_mask *mask)
{
	unsigned rights;

	return mask_lies_on_host(mask) &&
	       (launch->plan.backend != SBX_FIREJAIL || firejail_lays(mask, &rights));
}

/* Marks the masks that lie on another file than before; true: there are some. */
static bool compare(const struct launch *launch, struct watching *w)
{
	bool any = false;

	for (size_t i = 0; i < launch->plan.masks.count; i++) {
		const struct plan_mask *mask = &launch->plan.masks.items[i];
		struct identity now;

		w->state[i] = MASK_UNKNOWN;
		if (!is_laid(launch, mask))
			continue;
		/* firejail's cannot be looked at, to tell whether it was only written. */
		now = identity_of(mask->path, launch->plan.backend != SBX_FIREJAIL);
		if (memcmp(&now, &w->seen[i], sizeof(now))) {
			w->state[i] = MASK_LIFTED;
			any = true;
		}
		w->seen[i] = now;
	}
	return any;
}

static bool knows(const struct watching *w, const char *dir)
{
	for (size_t i = w->dirs.count; i--;)
		if (!strcmp(w->dirs.items[i].dir, dir))
			return true;
	return false;
}

void watch_start(struct launch *launch, struct watching *w)
{
	const struct plan *plan = &launch->plan;

	if (plan->backend == SBX_LANDLOCK)
		return;
	for (size_t i = 0; i < plan->masks.count; i++) {
		const char *dir;

		if (!mask_lies_on_host(&plan->masks.items[i]))
			continue;
		dir = path_parent(plan->masks.items[i].path);
		if (!knows(w, dir))
			*vec_add(&w->dirs) = (struct watched){ dir, -1 };
	}
	if (!w->dirs.count)
		return;
	w->state = mmap(NULL, plan->masks.count, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			-1, 0);
	if (w->state == MAP_FAILED)
		refuse("out of memory");
	w->seen = mem_get(plan->masks.count * sizeof(*w->seen));
	watch_directories(launch, w);
	compare(launch, w);
	w->due = w->blind;
}

/* The kernel tells of a directory who asked for it: this process asks anew. */
void watch_take_over(const struct launch *launch, struct watching *w, uint64_t now)
{
	w->lifted = 0;
	watch_directories(launch, w);
	watch_notice(w, now);
}

void watch_notice(struct watching *w, uint64_t now)
{
	uint64_t next = w->looked + PAUSE_MS > now ? w->looked + PAUSE_MS : now;

	if (w->seen && (!w->due || next < w->due))
		w->due = next;
}

/* ---- laying again ----------------------------------------------------------------- */

/* @words: a MESSAGE_FAILED goes there, as from the inner stage. */
static _Noreturn void lay(const struct launch *launch, const struct watching *w, int mounts,
			  int words)
{
	struct inner inner = { .plan = launch->plan, .socket = words };
	int user = ioctl(mounts, UAPI_NS_GET_USERNS);

	/* Not by /proc/PID/ns/user: that is another one where the program has one. */
	if (user < 0 || setns(user, CLONE_NEWUSER) || setns(mounts, CLONE_NEWNS))
		inner_fail(&inner, "the sandbox's mounts cannot be reached: %s", out_error(errno));
	for (unsigned i = 0; i < TRIES; i++)
		if (masks_apply_again(&inner, w->state)) {
			char devices[MESSAGE_TEXT];

			broker_list_devices(&launch->plan, devices, sizeof(devices));
			inner_send(&inner, MESSAGE_NOTE, 0, devices);
			_exit(0);
		}
	_exit(RETRY);
}

/* NULL, or why it could not. */
static const char *wait_for_child(struct watching *w, pid_t child, int words)
{
	struct pollfd end = { (int)syscall(SYS_pidfd_open, child, 0), POLLIN, 0 };
	struct message message = { 0 };
	int status = 1;

	if (end.fd >= 0 && poll(&end, 1, CHILD_MS) == 0)
		kill(child, SIGKILL);
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	if (end.fd >= 0)
		close(end.fd);
	w->again = WIFEXITED(status) && WEXITSTATUS(status) == RETRY;
	if (w->again)
		return NULL;
	if (read(words, &message, sizeof(message) - 1) <= 0)
		return "the sandbox's mounts do not answer";
	if (status)
		return mem_string(message.text);
	w->devices = mem_string(message.text);
	return NULL;
}

/* NULL, or why it could not. */
static const char *lay_in_child(const struct launch *launch, struct watching *w, int mounts)
{
	const char *why = "no process for it";
	int words[2];
	pid_t child;

	for (size_t i = 0; i < launch->plan.masks.count; i++)
		w->state[i] =
		    mask_lies_on_host(&launch->plan.masks.items[i]) ? MASK_HELD : MASK_UNKNOWN;
	if (pipe2(words, O_CLOEXEC | O_NONBLOCK))
		return why;
	child = sys_fork();
	if (child == 0)
		lay(launch, w, mounts, words[1]);
	if (child > 0)
		why = wait_for_child(w, child, words[0]);
	close(words[0]);
	close(words[1]);
	return why;
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
			return out_string("%s is gone, and nothing can stand in for it (%s)",
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
	w->again = true;
	launch_remark(launch, "replaced or removed while it ran, and protected again: %s", names);
}

/* One look inside; NULL, or why the session must end. */
static const char *lay_and_say(struct launch *launch, struct watching *w, int mounts,
			       unsigned *gone)
{
	const char *why = lay_in_child(launch, w, mounts);

	if (why)
		return why;
	say_laid(launch, w);
	names_of(launch, w, MASK_GONE, gone);
	return NULL;
}

/*
 * Its first process may be ending just now, and with it all others: what cannot be
 * reached then is nobody's any more.
 */
static bool is_ending(const struct watching *w)
{
	static const struct timespec pause = { 0, 5000000 };
	char name[32], text[512];

	out_text(name, sizeof(name), "/proc/%d/stat", w->inner);
	for (unsigned i = 0; i < ENDING_TRIES; i++) {
		const char *state = proc_read(name, text, sizeof(text)) ? strrchr(text, ')') : NULL;

		/* "1 (sbx-exec) Z ...": a zombie is one whose processes are all dead. */
		if (!state || !strncmp(state, ") Z", 3) || !strncmp(state, ") X", 3))
			return true;
		nanosleep(&pause, NULL);
	}
	return false;
}

static const char *check(struct launch *launch, struct watching *w, uint64_t now)
{
	const char *why;
	unsigned gone = 0;
	char name[32];
	int mounts;

	out_text(name, sizeof(name), "/proc/%d/ns/mnt", w->inner);
	mounts = open(name, O_RDONLY | O_CLOEXEC);
	if (mounts < 0 && (errno == ENOENT || errno == ESRCH))
		return NULL; /* it is over anyway */
	why = mounts < 0 ? "the sandbox's mounts cannot be reached"
			 : lay_and_say(launch, w, mounts, &gone);
	if (!why && gone && w->missing && now >= w->missing) {
		w->missing = 0;
		why = stand_in(launch, w);
		if (!why)
			why = lay_and_say(launch, w, mounts, &gone);
	}
	if (mounts >= 0)
		close(mounts);
	if (!gone)
		w->missing = 0;
	else if (!w->missing)
		w->missing = now + MISSING_MS;
	/* Directories may be others now, and so to be watched. */
	watch_directories(launch, w);
	w->due = now + (w->again ? AGAIN_MS : PAUSE_MS);
	if (why && is_ending(w))
		return NULL;
	if (why)
		why = out_string("a protected name was replaced or removed while the session ran, "
				 "and could not be protected again: %s: session ended: "
				 "look at what has that name now, and at where it leads",
				 why);
	return why;
}

static void report_only(const struct launch *launch, struct watching *w)
{
	unsigned count;
	const char *names = names_of(launch, w, MASK_LIFTED, &count);

	w->lifted += count;
	launch_remark(launch,
		      "replaced or removed while it ran, and no longer protected (firejail cannot "
		      "do it again): %s",
		      names);
	watch_directories(launch, w);
}

const char *watch_look(struct launch *launch, struct watching *w, uint64_t now)
{
	bool changed = compare(launch, w);

	w->looked = now;
	w->due = 0;
	if (changed && launch->plan.backend == SBX_FIREJAIL)
		report_only(launch, w);
	else if (changed || w->again || (w->missing && now >= w->missing))
		return check(launch, w, now);
	else
		w->due = w->missing;
	if (w->blind) {
		watch_directories(launch, w);
		if (!w->due || w->due > now + POLL_MS)
			w->due = now + POLL_MS;
	}
	return NULL;
}

void watch_end(struct watching *w)
{
	for (size_t i = 0; i < w->dirs.count; i++)
		if (w->dirs.items[i].fd >= 0)
			close(w->dirs.items[i].fd);
	w->dirs.count = 0;
	/* To be ignored takes away one that is blocked, too. */
	signal(SIGIO, signal(SIGIO, SIG_IGN));
}
