/*
 * stub/closing.c - the end of a session: what to look at.
 *
 * What a policy lets be read and not written is mostly what the host runs later:
 * hooks, configuration, tasks of an editor.  Each is looked at before the session
 * and after it.  Where the rule was held, only the host can have changed it, and
 * its times tell.  Where it was not, the program can have, and has had time to
 * put things back: there the contents count, of directories too, to a bound.
 */
#include "stub/closing.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "stub/launch.h"
#include "stub/out.h"
#include "stub/supervise.h"
#include "stub/sys.h"

#define FILES_MAX 2000u
#define BYTES_MAX (64u << 20)
#define DEPTH_MAX 32u
#define NAMED_MAX 8u

struct looks { /* of a file at one time */
	bool there;
	dev_t dev;
	ino_t ino;
	off_t size;
	struct timespec modified, changed;
};
struct guarded {
	const char *path;
	struct looks before;
	uint8_t digest[32];
};
struct reading {
	struct sbx_sha256 sum;
	unsigned files, bytes; /* so far, over all */
};
static struct {
	VEC(struct guarded) files;
	struct looks head, index;
	bool held; /* the rules that guard them */
	struct reading reading;
} closing;

static bool is_empty(const char *path, const struct stat *st)
{
	_Alignas(struct uapi_dirent) char buffer[4096];
	long got = -1, entries = 0;
	int dir;

	if (!S_ISDIR(st->st_mode))
		return !st->st_size;
	dir = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (dir >= 0) {
		got = syscall(SYS_getdents64, dir, buffer, sizeof(buffer));
		close(dir);
	}
	for (long at = 0; at < got; entries++)
		at += ((const struct uapi_dirent *)(const void *)(buffer + at))->length;
	return got > 0 && entries <= 2; /* "." and ".." */
}

static struct looks look_at(const char *path)
{
	struct looks looks = { 0 };
	struct stat st;

	/* The sticky bit: a placeholder, of ours or another session's.  What is not
	 * held the program can mark so, too. */
	if (lstat(path, &st) || (st.st_mode & S_ISVTX && (closing.held || is_empty(path, &st))))
		return looks;
	looks.there = true;
	looks.dev = st.st_dev;
	looks.ino = st.st_ino;
	looks.size = st.st_size;
	looks.modified = st.st_mtim;
	looks.changed = st.st_ctim;
	return looks;
}

/* ---- contents -------------------------------------------------------------------- */

static bool is_within_bounds(const struct reading *r)
{
	return r->files < FILES_MAX && r->bytes < BYTES_MAX;
}

static void read_file(struct reading *r, int fd)
{
	char data[4096];
	ssize_t size;

	while (is_within_bounds(r) && (size = read(fd, data, sizeof(data))) > 0) {
		sbx_sha256_add(&r->sum, data, (size_t)size);
		r->bytes += (unsigned)size;
	}
}

static void read_entry(struct reading *r, int dir, const char *name, unsigned depth);

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void read_directory(struct reading *r, int fd, unsigned depth)
{
	_Alignas(struct uapi_dirent) char buffer[4096];
	VEC(const char *) names = { 0 };
	long got;

	while (names.count < FILES_MAX &&
	       (got = syscall(SYS_getdents64, fd, buffer, sizeof(buffer))) > 0)
		for (long at = 0; at < got;) {
			const struct uapi_dirent *entry = (const void *)(buffer + at);

			at += entry->length;
			if (strcmp(entry->name, ".") && strcmp(entry->name, ".."))
				*vec_add(&names) = mem_string(entry->name);
		}
	mem_sort(names.items, names.count, sizeof(*names.items), by_name);
	for (size_t i = 0; i < names.count; i++)
		read_entry(r, fd, names.items[i], depth + 1);
}

/* Its name, kind and content; whatever is no file or directory by what it says. */
static void read_entry(struct reading *r, int dir, const char *name, unsigned depth)
{
	char target[PATH_MAX];
	struct stat st = { 0 };
	ssize_t size;
	int fd;

	if (!is_within_bounds(r) || depth > DEPTH_MAX)
		return;
	r->files++;
	fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW);
	sbx_sha256_add(&r->sum, name, strlen(name) + 1);
	sbx_sha256_add(&r->sum, &st.st_mode, sizeof(st.st_mode));
	if (S_ISLNK(st.st_mode)) {
		size = readlinkat(dir, name, target, sizeof(target));
		sbx_sha256_add(&r->sum, target, size > 0 ? (size_t)size : 0);
		return;
	}
	if (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))
		return;
	sbx_sha256_add(&r->sum, &st.st_size, S_ISREG(st.st_mode) ? sizeof(st.st_size) : 0);
	fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return;
	if (S_ISREG(st.st_mode))
		read_file(r, fd);
	else
		read_directory(r, fd, depth);
	close(fd);
}

static void digest_of(const char *path, uint8_t digest[32])
{
	sbx_sha256_init(&closing.reading.sum);
	read_entry(&closing.reading, AT_FDCWD, path, 0);
	sbx_sha256_end(&closing.reading.sum, digest);
}

/* ---- before ------------------------------------------------------------------------ */

/* To be read and not written, by a rule. */
static bool is_guarded(const struct plan_mask *mask)
{
	return mask->verify && mask->rule != SBX_NONE && mask->kind == MASK_SELF &&
	       !(mask->rights & SBX_WRITE) && mask_lies_on_host(mask);
}

static const char *git_file(const struct launch *launch, const char *name)
{
	const char *dir = launch->vars.value[SBX_VAR_GITDIR];

	return dir ? path_join(dir, name) : "";
}

void closing_remember(struct launch *launch)
{
	const struct plan *plan = &launch->plan;
	const struct sbx_machine none = { 0 };

	if (launch->options.quiet)
		return;
	closing.held = sbx_enforcer(SBX_DUTY_DENY_BENEATH, plan->backend, &none);
	for (size_t i = 0; i < plan->masks.count; i++) {
		struct guarded *guarded;

		if (!is_guarded(&plan->masks.items[i]))
			continue;
		guarded = vec_add(&closing.files);
		guarded->path = plan->masks.items[i].path;
		guarded->before = look_at(guarded->path);
		if (!closing.held && guarded->before.there)
			digest_of(guarded->path, guarded->digest);
	}
	closing.head = look_at(git_file(launch, "HEAD"));
	closing.index = look_at(git_file(launch, "index"));
}

/* ---- after ------------------------------------------------------------------------- */

static bool is_changed(const struct guarded *guarded)
{
	struct looks now = look_at(guarded->path);
	uint8_t digest[32];

	if (closing.held || !now.there || !guarded->before.there)
		return memcmp(&now, &guarded->before, sizeof(now));
	digest_of(guarded->path, digest);
	return memcmp(digest, guarded->digest, sizeof(digest));
}

/* "a, b and 3 more", as seen from the workspace. */
struct names {
	const char *text;
	unsigned count;
};

static const char *short_name(const struct launch *launch, const char *path)
{
	const char *workspace = launch->vars.value[SBX_VAR_WORKSPACE];
	size_t length = strlen(workspace);

	return path_within(path, workspace) && path[length] == '/' ? path + length + 1 : path;
}

static void add_name(struct names *names, const char *name)
{
	if (names->count++ < NAMED_MAX)
		names->text = out_string("%s%s%s", names->text, *names->text ? ", " : "", name);
}

static void end_names(struct names *names)
{
	if (names->count > NAMED_MAX)
		names->text = out_string("%s and %u more", names->text, names->count - NAMED_MAX);
}

static struct names find_changed(const struct launch *launch)
{
	struct names names = { "", 0 };

	for (size_t i = 0; i < closing.files.count; i++)
		if (is_changed(&closing.files.items[i]))
			add_name(&names, short_name(launch, closing.files.items[i].path));
	end_names(&names);
	return names;
}

/* Nothing is asked, and nobody executed, where no commit and no switch was made. */
static struct names find_differing(const struct launch *launch)
{
	const char *workspace = launch->vars.value[SBX_VAR_WORKSPACE];
	struct looks head = look_at(git_file(launch, "HEAD"));
	struct looks index = look_at(git_file(launch, "index"));
	struct names names = { "", 0 };
	VEC(const char *) asked = { 0 };
	bool *differs;

	if (!memcmp(&head, &closing.head, sizeof(head)) &&
	    !memcmp(&index, &closing.index, sizeof(index)))
		return names;
	for (size_t i = 0; i < closing.files.count; i++) {
		const char *path = closing.files.items[i].path;

		if (path_within(path, workspace) &&
		    !path_within(path, launch->vars.value[SBX_VAR_GITDIR]))
			*vec_add(&asked) = short_name(launch, path);
	}
	differs = mem_get(asked.count + 1);
	if (asked.count)
		closing_ask_head(launch, asked.items, asked.count, differs);
	for (size_t i = 0; i < asked.count; i++)
		if (differs[i])
			add_name(&names, asked.items[i]);
	end_names(&names);
	return names;
}

void closing_report(struct launch *launch, const struct outcome *outcome)
{
	struct names changed, differ;
	const char *line = "";

	if (launch->options.quiet || !outcome->started)
		return;
	closing.reading.files = closing.reading.bytes = 0;
	changed = find_changed(launch);
	differ = find_differing(launch);
	if (outcome->refused)
		line = out_string("; %u connection%s refused", outcome->refused,
				  outcome->refused == 1 ? "" : "s");
	if (outcome->lifted)
		line = out_string("%s; protection lifted from outside: %u", line, outcome->lifted);
	if (changed.count)
		line = out_string("%s; changed while it ran: %s (the host runs these)", line,
				  changed.text);
	if (!is_within_bounds(&closing.reading))
		line = out_string("%s; not all protected files were compared: too many", line);
	if (differ.count)
		line = out_string("%s; differ from HEAD: %s", line, differ.text);
	if (*line)
		note("%s", line + 2);
}
