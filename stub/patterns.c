/*
 * stub/patterns.c - what the policy's patterns match now.
 *
 * One walk serves all patterns.  It starts where a pattern's literal beginning
 * meets a granted tree, never follows a link, does not descend where no
 * pattern can match, and gives up loudly rather than take for ever.
 */
#include "stub/fsview.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "stub/launch.h"
#include "stub/out.h"
#include "stub/uapi.h"

#define ENTRIES_MAX 2000000ul
#define DEPTH_MAX   256

struct pattern {
	const char *text;
	const char *last;    /* its last component */
	const char *literal; /* the same, unescaped, where it has no wildcard */
	char end;            /* the byte that each name it matches ends in; 0: any */
	const char *beginning;
	size_t components;
	bool any_depth; /* holds ** */
	struct sbx_fs_point point;
};
struct scan {
	struct launch *launch;
	VEC(struct pattern) patterns;
	VEC(const char *) roots;
	char path[PATH_MAX];
};

static bool is_grant(unsigned verb)
{
	return verb != SBX_FS_DENY && verb != SBX_FS_SEAL;
}

static size_t depth_of(const char *path)
{
	size_t depth = 0;

	for (; *path; path++)
		depth += *path == '/';
	return depth;
}

static void add_pattern(struct scan *scan, const struct sbx_fs_point *point)
{
	struct pattern *p = vec_add(&scan->patterns);
	size_t length, out = 0;
	char *literal;

	p->text = point->path;
	p->last = strrchr(point->path, '/') + 1;
	p->beginning = pattern_beginning(point->path, &length);
	p->components = depth_of(point->path);
	p->any_depth = out_find(point->path, "**") != NULL;
	p->point = *point;
	p->end = p->last[strlen(p->last) - 1];
	if (strchr("*?]", p->end))
		p->end = '\0';
	literal = mem_get(strlen(p->last) + 1);
	for (const char *s = p->last; *s; s++) {
		if (strchr("*?[", *s))
			return;
		if (*s == '\\' && s[1])
			s++;
		literal[out++] = *s;
	}
	p->literal = literal;
}

/* Where the walk must begin for @pattern: its beginning, or, for a pattern that
 * takes away, the granted trees beneath it. */
static void add_roots(struct scan *scan, const struct pattern *pattern)
{
	const struct fsview *view = &scan->launch->view;

	if (is_grant(pattern->point.verb) || fsview_rights(scan->launch, pattern->beginning)) {
		*vec_add(&scan->roots) = pattern->beginning;
		return;
	}
	for (size_t i = 0; i < view->points.count; i++) {
		const struct sbx_fs_point *point = &view->points.items[i];

		/* A tmp begins empty; a copy has all that is there. */
		if (!is_grant(point->verb) || point->verb == SBX_FS_TMP || point->wild)
			continue;
		if (path_within(point->path, pattern->beginning))
			*vec_add(&scan->roots) = point->path;
		else if (path_within(pattern->beginning, point->path))
			*vec_add(&scan->roots) = pattern->beginning;
	}
}

/* Is something in the directory in scan->path, which a pattern closes, opened again? */
static bool opened_beneath(const struct scan *scan)
{
	const struct fsview *view = &scan->launch->view;
	size_t length;

	for (size_t i = 0; i < view->points.count; i++) {
		const struct sbx_fs_point *point = &view->points.items[i];

		if (is_grant(point->verb) &&
		    path_within(point->wild ? pattern_beginning(point->path, &length) : point->path,
				scan->path))
			return true;
	}
	return false;
}

/* The first pattern that could match something beneath the directory in scan->path. */
static const struct pattern *could_match(const struct scan *scan)
{
	size_t depth = depth_of(scan->path);

	for (size_t i = 0; i < scan->patterns.count; i++) {
		const struct pattern *p = &scan->patterns.items[i];

		if ((p->any_depth || p->components > depth) &&
		    (path_within(scan->path, p->beginning) ||
		     path_within(p->beginning, scan->path)))
			return p;
	}
	return NULL;
}

/* @name in @dir cannot be looked at.  What another's permissions keep from us they
 * keep from the sandbox; our own it could change, and look again. */
static void out_of_reach(struct scan *scan, int dir, const char *name)
{
	const struct pattern *pattern = could_match(scan);
	int error = errno;
	struct stat st;

	if (error == ENOENT || error == ENOTDIR || error == ELOOP)
		return;
	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) && fstat(dir, &st))
		memset(&st, 0, sizeof(st));
	else if (error == EACCES && st.st_uid != scan->launch->uid)
		return;
	if (!pattern)
		pattern = &scan->patterns.items[0];
	refuse("%s: %s, and %s may match in it (%s): %s", scan->path, out_error(error),
	       pattern->text, fsview_place(scan->launch, pattern->point.rule),
	       error != EACCES		     ? "correct it"
	       : (st.st_mode & 0500) != 0500 ? "chmod u+rwx it"
					     : "start outside the sandbox around this");
}

static void add_hit(struct scan *scan, const struct pattern *pattern, int dir, const char *name)
{
	struct fsview *view = &scan->launch->view;
	struct node *node;
	struct stat st;
	struct walk walk;

	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW)) {
		out_of_reach(scan, dir, name);
		return;
	}
	if (S_ISLNK(st.st_mode) && is_grant(pattern->point.verb))
		return; /* a link that matches opens nothing elsewhere */
	node = vec_add(&view->nodes);
	*node = (struct node){
		.path = mem_string(scan->path),
		.kind = S_ISLNK(st.st_mode) ? NODE_LINK : NODE_RULE,
		.rule = pattern->point.rule,
		.verb = pattern->point.verb,
		.granted = is_grant(pattern->point.verb),
		.denied = !is_grant(pattern->point.verb),
		.have = strlen(scan->path),
		.st = st,
	};
	if (!S_ISLNK(st.st_mode))
		return;
	walk_path(scan->path, &walk);
	if (walk.error)
		return;
	struct sbx_fs_point *point = vec_add(&view->points);
	*point = pattern->point;
	point->path = walk.path;
	point->wild = false;
	struct node *target = vec_add(&view->nodes);
	*target = view->nodes.items[view->nodes.count - 2];
	target->path = walk.path;
	target->kind = NODE_RULE;
	target->have = walk.have;
	target->st = walk.st;
}

/* Nearly all names end in another byte than what is looked for. */
static bool matches(const struct pattern *pattern, const char *name, size_t length,
		    const char *path)
{
	if (pattern->end && pattern->end != name[length - 1])
		return false;
	if (pattern->literal ? strcmp(pattern->literal, name) != 0
			     : !sbx_glob_match(pattern->last, name))
		return false;
	return sbx_glob_match(pattern->text, path);
}

/* Is nothing beneath a match open?  Landlock alone does not hold what is best-effort. */
static bool closes(const struct scan *scan, const struct pattern *pattern)
{
	uint32_t rule = pattern->point.rule;

	return !is_grant(pattern->point.verb) &&
	       pattern->point.rights == (SBX_READ | SBX_WRITE | SBX_EXEC) &&
	       !(rule < SBX_COUNT(&scan->launch->blob, FS) &&
		 SBX_AT(&scan->launch->blob, FS, sbx_fs_rule, rule)->head.flags &
		     SBX_F_BEST_EFFORT);
}

static bool worth_entering(const struct scan *scan)
{
	return !path_within(scan->path, "/proc") && !path_within(scan->path, "/sys") &&
	       !path_within(scan->path, "/dev") && could_match(scan);
}

static void scan_directory(struct scan *scan, int dir, size_t length, unsigned depth);

static void scan_entry(struct scan *scan, int dir, const struct uapi_dirent *entry, size_t length,
		       unsigned depth)
{
	size_t name_length = strlen(entry->name);
	bool closed = false, is_dir = entry->type == 4;
	struct stat st;
	int fd;

	if (!strcmp(entry->name, ".") || !strcmp(entry->name, ".."))
		return;
	if (length + 1 + name_length >= sizeof(scan->path))
		refuse("%s: a path in it is too long to be compared with the policy's patterns: "
		       "remove it",
		       scan->path);
	if (++scan->launch->view.scanned > ENTRIES_MAX)
		refuse("looking for %s: more than %llu names: narrow the pattern (%s)",
		       scan->patterns.items[0].text, (unsigned long long)ENTRIES_MAX,
		       fsview_place(scan->launch, scan->patterns.items[0].point.rule));
	scan->path[length] = '/';
	memcpy(scan->path + length + 1, entry->name, name_length + 1);
	for (size_t i = 0; i < scan->patterns.count; i++) {
		const struct pattern *pattern = &scan->patterns.items[i];

		if (!matches(pattern, entry->name, name_length, scan->path))
			continue;
		add_hit(scan, pattern, dir, entry->name);
		closed |= closes(scan, pattern);
	}
	if (entry->type == 0 && !fstatat(dir, entry->name, &st, AT_SYMLINK_NOFOLLOW))
		is_dir = S_ISDIR(st.st_mode);
	if (!is_dir || (closed && !opened_beneath(scan)) || !worth_entering(scan))
		return;
	if (depth == DEPTH_MAX)
		refuse("%s: directories nested more than %d deep: narrow the policy's patterns",
		       scan->path, DEPTH_MAX);
	fd = openat(dir, entry->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0) {
		out_of_reach(scan, dir, entry->name);
		return;
	}
	scan_directory(scan, fd, length + 1 + name_length, depth + 1);
	close(fd);
}

static void scan_directory(struct scan *scan, int dir, size_t length, unsigned depth)
{
	_Alignas(struct uapi_dirent) char buffer[8192];
	long got;

	while ((got = syscall(SYS_getdents64, dir, buffer, sizeof(buffer))) > 0)
		for (long at = 0; at < got;) {
			const struct uapi_dirent *entry = (const void *)(buffer + at);

			at += entry->length;
			scan_entry(scan, dir, entry, length, depth);
		}
	if (got < 0)
		refuse("%s: %s", scan->path, out_error(errno));
}

static int by_path(const void *a, const void *b)
{
	return path_compare(*(const char *const *)a, *(const char *const *)b);
}

void fsview_match_patterns(struct launch *launch)
{
	struct fsview *view = &launch->view;
	struct scan *scan = mem_get(sizeof(*scan));
	const char *done = NULL;

#ifdef SBX_TEST_WITHOUT_PATTERN
	return;
#endif
	scan->launch = launch;
	for (size_t i = 0; i < view->points.count; i++)
		if (view->points.items[i].wild)
			add_pattern(scan, &view->points.items[i]);
	for (size_t i = 0; i < scan->patterns.count; i++)
		add_roots(scan, &scan->patterns.items[i]);
	mem_sort(scan->roots.items, scan->roots.count, sizeof(char *), by_path);
	for (size_t i = 0; i < scan->roots.count; i++) {
		const char *root = scan->roots.items[i];
		struct walk walk;
		int fd;

		if (done && path_within(root, done))
			continue;
		strcpy(scan->path, strlen(root) > 1 ? root : "");
		fd = open(root, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (fd < 0) {
			int error = errno;

			walk_path(root, &walk); /* an error: fsview.c has decided */
			errno = error;
			if (!walk.error)
				out_of_reach(scan, AT_FDCWD, root);
			continue;
		}
		scan_directory(scan, fd, strlen(scan->path), 0);
		close(fd);
		done = root;
	}
	/* Matches may have added points. */
	view->set.points = view->points.items;
	view->set.count = view->points.count;
}
