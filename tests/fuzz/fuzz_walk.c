/*
 * A tree of files and a policy's patterns: does the walk at the start find all that
 * they match?  The reference has no cleverness: it looks at everything in the tree,
 * and asks the matcher (fuzz_glob.c) of each.  And each name is looked up in both of
 * the launcher's ways: with what it remembers, and afresh.
 *
 * Items, a NUL behind each: "d" directory, "f" file, "l" a link, its target behind an
 * =; "s" a seal for a pattern, "w" one of writing alone, "g" a grant.
 */
#include "tests/fuzz/launcher.h"

#include <fcntl.h>
#include <ftw.h>
#include <sched.h>
#include <string.h>
#include <sys/mount.h>

#include "stub/fsview.h"
#include "stub/launch.h"
#include "stub/places.c"
#include "stub/sys.h"
#include "stub/uapi.h"

#define ITEMS_MAX 24
#define TEXT_MAX  64

static char top[32]; /* where trees are made */

struct pattern {
	char text[TEXT_MAX + sizeof(top) + 8];
	unsigned verb, rights;
};
static struct pattern patterns[ITEMS_MAX];
static size_t pattern_count;
static struct launch *launch;

/* ---- making ----------------------------------------------------------------------- */

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st;
	(void)type;
	return at->level ? remove(path) : 0;
}

static void remove_all(void)
{
	nftw(top, remove_one, 20, FTW_DEPTH | FTW_PHYS);
}

static void remove_top(void)
{
	remove_all();
	rmdir(top);
}

/* A file system in memory where that is allowed, since it is filled and emptied
 * thousands of times a second. */
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	strcpy(top, "/mnt");
	if (!unshare((getuid() ? CLONE_NEWUSER : 0) | CLONE_NEWNS) &&
	    !mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) &&
	    !mount("tmpfs", top, "tmpfs", 0, NULL))
		return 0;
	strcpy(top, "/tmp/sbx-fuzz.XXXXXX");
	if (!mkdtemp(top))
		fuzz_fault("no directory for the trees");
	atexit(remove_top);
	return 0;
}

/* Nothing outside @top: no empty name, no dots. */
static bool is_proper(const char *path)
{
	char text[TEXT_MAX + 2] = "/";

	strcat(text, path);
	return *path && !path_is_odd(text) && !strchr(path, '\\');
}

/* Where @text is made: a link that was made before leads nowhere out of @top. */
static int open_parent(const char *text, const char **leaf)
{
	const char *slash = strrchr(text, '/');
	char parent[TEXT_MAX + 1] = ".";

	*leaf = slash ? slash + 1 : text;
	if (slash)
		sprintf(parent, "%.*s", (int)(slash - text), text);
	return sys_openat2(AT_FDCWD, parent, O_PATH | O_DIRECTORY | O_CLOEXEC,
			   UAPI_RESOLVE_NO_SYMLINKS);
}

/* @target: of a symbolic link; 'd': a directory; else a file. */
static void make_one(char kind, const char *text, const char *target)
{
	const char *leaf;
	int parent = open_parent(text, &leaf);

	if (parent < 0)
		return;
	if (kind == 'd')
		mkdirat(parent, leaf, 0755);
	else if (target && *target && symlinkat(target, parent, leaf))
		; /* there already */
	else if (!target)
		close(openat(parent, leaf, O_CREAT | O_WRONLY | O_NOFOLLOW | O_CLOEXEC, 0644));
	close(parent);
}

static void make(char kind, char *text)
{
	char *target = NULL;

	if (kind == 'l') {
		target = strchr(text, '=');
		if (!target)
			return;
		*target++ = '\0';
	}
	if (!is_proper(text))
		return;
	for (char *slash = text; (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		make_one('d', text, NULL);
		*slash = '/';
	}
	make_one(kind, text, target);
}

/* Which no policy may: the directory itself covers what is beneath it. */
static bool ends_open(const char *pattern)
{
	return !strcmp(strrchr(pattern, '/'), "/**");
}

static void add_pattern(char kind, const char *text)
{
	struct pattern *pattern = &patterns[pattern_count];

	/* As the compiler leaves them: absolute, no empty names.  One that opens would
	 * have all of this machine looked at. */
	sprintf(pattern->text, "%s/%s", *text == '/' && kind != 'g' ? "/**" : top,
		text + (*text == '/'));
	if (path_is_odd(pattern->text) || !strpbrk(pattern->text, "*?[") ||
	    ends_open(pattern->text))
		return;
	pattern->verb = kind == 'g' ? SBX_FS_GRANT : SBX_FS_SEAL;
	pattern->rights = kind == 'w' ? SBX_WRITE : SBX_READ | SBX_WRITE | SBX_EXEC;
	pattern_count++;
}

static void take_items(const uint8_t *data, size_t size)
{
	for (size_t i = 0; i < ITEMS_MAX && size > 1; i++) {
		size_t length = strnlen((const char *)data, size);
		char text[TEXT_MAX + 1];

		if (length > 1 && length <= TEXT_MAX) {
			memcpy(text, data + 1, length - 1);
			text[length - 1] = '\0';
			if (strchr("dfl", data[0]))
				make((char)data[0], text);
			else if (strchr("swg", data[0]))
				add_pattern((char)data[0], text);
		}
		length += length < size;
		data += length;
		size -= length;
	}
}

/* ---- looking ----------------------------------------------------------------------- */

static bool is_grant(const struct pattern *pattern)
{
	return pattern->verb == SBX_FS_GRANT;
}

static bool is_found(const char *path, const struct pattern *pattern)
{
	for (size_t i = 0; i < launch->view.nodes.count; i++) {
		const struct node *node = &launch->view.nodes.items[i];

		if (!strcmp(node->path, path) && node->granted == is_grant(pattern))
			return true;
	}
	return false;
}

/* In a directory that is closed as a whole? */
static bool is_closed(const char *path)
{
	char above[4096];

	strcpy(above, path);
	for (;;) {
		*strrchr(above, '/') = '\0';
		if (strlen(above) <= strlen(top))
			return false;
		for (size_t i = 0; i < pattern_count; i++)
			if (patterns[i].verb == SBX_FS_SEAL && patterns[i].rights != SBX_WRITE &&
			    sbx_glob_match(patterns[i].text, above))
				return true;
	}
}

static void check_ways(const char *path)
{
	struct walk known, fresh;

	walk_path(path, &known);
	walk_afresh(path, &fresh);
	walk_close(&fresh);
	if (known.error != fresh.error)
		fuzz_fault("%s: error %d, afresh %d", path, known.error, fresh.error);
	if (known.error)
		return;
	if (strcmp(known.path, fresh.path) || known.have != fresh.have ||
	    known.missing != fresh.missing || known.hop_count != fresh.hop_count ||
	    known.st.st_ino != fresh.st.st_ino)
		fuzz_fault("%s leads to %s, afresh to %s", path, known.path, fresh.path);
	for (size_t i = 0; i < known.hop_count; i++)
		if (strcmp(known.hops[i].path, fresh.hops[i].path) ||
		    strcmp(known.hops[i].target, fresh.hops[i].target))
			fuzz_fault("%s leads over %s, afresh over %s", path, known.hops[i].path,
				   fresh.hops[i].path);
}

static int check_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
	struct walk walk;

	(void)type;
	if (!at->level)
		return 0;
	check_ways(path);
	walk_path(path, &walk);
	for (size_t i = 0; i < pattern_count; i++) {
		const struct pattern *pattern = &patterns[i];

		if (!sbx_glob_match(pattern->text, path) ||
		    (S_ISLNK(st->st_mode) && is_grant(pattern)) || is_closed(path))
			continue;
		if (!is_found(path, pattern))
			fuzz_fault("'%s' matches %s, which was not found", pattern->text, path);
		if (S_ISLNK(st->st_mode) && !walk.error && !is_found(walk.path, pattern))
			fuzz_fault("'%s' matches %s, which leads to %s, which was not found",
				   pattern->text, path, walk.path);
	}
	return 0;
}

/* Nothing is opened that no pattern matches. */
static void check_found(void)
{
	for (size_t n = 0; n < launch->view.nodes.count; n++) {
		const struct node *node = &launch->view.nodes.items[n];
		bool matched = !node->granted; /* what is closed may be a link's end */

		for (size_t i = 0; i < pattern_count; i++)
			matched |=
			    is_grant(&patterns[i]) && sbx_glob_match(patterns[i].text, node->path);
		if (!matched || (node->granted && S_ISLNK(node->st.st_mode)))
			fuzz_fault("%s was opened, and no pattern says so", node->path);
	}
}

static void walk(void *data)
{
	(void)data;
	launch = mem_get(sizeof(*launch));
	launch->uid = getuid();
	*vec_add(&launch->view.points) =
	    (struct sbx_fs_point){ .path = top, .rule = SBX_RULE_SELF, .rights = 7 };
	launch->view.points.items[0].verb = SBX_FS_GRANT;
	for (size_t i = 0; i < pattern_count; i++)
		*vec_add(&launch->view.points) =
		    (struct sbx_fs_point){ .path = patterns[i].text,
					   .rule = SBX_RULE_SELF,
					   .verb = (uint8_t)patterns[i].verb,
					   .rights = (uint8_t)patterns[i].rights,
					   .wild = true };
	launch->view.set.points = launch->view.points.items;
	launch->view.set.count = launch->view.points.count;
	fsview_match_patterns(launch);
	nftw(top, check_one, 20, FTW_PHYS);
	check_found();
	walk_forget();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int back = open(".", O_PATH | O_CLOEXEC); /* the fuzzer has names of its own */

	if (chdir(top))
		fuzz_fault("%s is gone", top);
	pattern_count = 0;
	take_items(data, size);
	if (fchdir(back) || close(back))
		fuzz_fault("no way back");
	if (pattern_count && launcher_run(walk, NULL) > 0)
		fuzz_fault("the walk refused");
	memset(&places, 0, sizeof(places));
	remove_all();
	return 0;
}
