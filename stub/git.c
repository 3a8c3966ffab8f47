/*
 * stub/git.c - $gitdir, $gitcommon and $githooks.
 *
 * Whoever can write into the workspace can write a .git file that names any
 * directory, and a policy that opens $gitdir would then open that one.  So a
 * repository elsewhere counts only if it names this workspace too: a linked
 * worktree by its gitdir file, a submodule by core.worktree.  A .git that is a
 * symbolic link has no such proof and is not taken as a repository.  The
 * repository must be the user's, and its root never the home directory or
 * above.
 */
#include "stub/vars.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "stub/launch.h"
#include "stub/mem.h"
#include "stub/out.h"

#define SMALL_FILE 65536

static bool policy_asks(const struct launch *launch)
{
	static const char marks[][3] = { { SBX_MARK_VAR, SBX_MARK_BASE + SBX_VAR_GITDIR },
					 { SBX_MARK_VAR, SBX_MARK_BASE + SBX_VAR_GITCOMMON },
					 { SBX_MARK_VAR, SBX_MARK_BASE + SBX_VAR_GITHOOKS } };
	const char *text = sbx_string(&launch->blob, 0);
	const char *end = text + SBX_COUNT(&launch->blob, STRINGS);

	for (; text < end; text += strlen(text) + 1)
		for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++)
			if (strstr(text, marks[i]))
				return true;
	return false;
}

/* The file @name in @dir, its last newline cut off; NULL: none. */
static char *read_small(const char *dir, const char *name)
{
	int fd = open(path_join(dir, name), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct stat st;
	ssize_t size;
	char *text;

	if (fd < 0)
		return NULL;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_size > SMALL_FILE) {
		close(fd);
		return NULL;
	}
	text = mem_get((size_t)st.st_size + 1);
	size = read(fd, text, (size_t)st.st_size);
	close(fd);
	while (size > 0 && (text[size - 1] == '\n' || text[size - 1] == '\r'))
		size--;
	text[size > 0 ? size : 0] = '\0';
	return text;
}

/* @text, relative to @dir, as an existing directory's canonical name. */
static const char *directory_at(const char *dir, const char *text, struct stat *st)
{
	struct walk walk;

	if (!*text)
		return NULL;
	walk_path(*text == '/' ? text : path_join(dir, text), &walk);
	if (walk.error || walk.missing || !S_ISDIR(walk.st.st_mode))
		return NULL;
	*st = walk.st;
	return walk.path;
}

/*
 * The last value of @section.@key in a git configuration; NULL: none.  Quotes
 * and escapes are undone as git does; includes are not followed.
 */
static const char *config_value(const char *text, const char *section, const char *key)
{
	const char *value = NULL;
	bool inside = false;

	while (text && *text) {
		size_t length = strcspn(text, "\n");
		const char *line = out_skip(text);
		size_t key_length = strlen(key), out = 0;
		const char *end = text + length;

		text = *end ? end + 1 : end;
		if (*line == '[') {
			inside = !strncasecmp(line + 1, section, strlen(section)) &&
				 line[1 + strlen(section)] == ']';
			continue;
		}
		if (!inside || strncasecmp(line, key, key_length))
			continue;
		line += key_length;
		line = out_skip(line);
		if (*line++ != '=')
			continue;
		line = out_skip(line);
		char *copy = mem_get((size_t)(end - line) + 1);
		bool quoted = false;
		while (line < end && (quoted || (*line != '#' && *line != ';'))) {
			if (*line == '"')
				quoted = !quoted;
			else if (*line == '\\' && line + 1 < end)
				copy[out++] = *++line;
			else
				copy[out++] = *line;
			line++;
		}
		while (out && strchr(" \t\r", copy[out - 1]))
			out--;
		copy[out] = '\0';
		value = copy;
	}
	return value;
}

static void refuse_gitdir(const char *root, const char *why)
{
	refuse("%s/.git: %s; whoever can write there could point the sandbox at another "
	       "repository: run `git worktree repair`, or start elsewhere",
	       root, why);
}

/* A .git file: "gitdir: PATH". */
static void resolve_file(struct launch *launch, const char *root)
{
	const char *text = read_small(root, ".git"), *gitdir, *common, *back;
	struct stat st, back_st, root_st;

	if (!text || strncmp(text, "gitdir: ", 8))
		refuse_gitdir(root, "neither a directory nor a `gitdir:` file");
	gitdir = directory_at(root, text + 8, &st);
	if (!gitdir)
		refuse_gitdir(root, "names a directory that does not exist");
	if (st.st_uid != launch->uid)
		refuse_gitdir(root, "names a repository of another user");
	back = read_small(gitdir, "gitdir");
	if (back) { /* a linked worktree */
		struct walk walk;

		walk_path(*back == '/' ? back : path_join(gitdir, back), &walk);
		if (walk.error || walk.missing || strcmp(walk.path, path_join(root, ".git")))
			refuse_gitdir(root,
				      "names a worktree whose own record names another place");
		text = read_small(gitdir, "commondir");
		common = text ? directory_at(gitdir, text, &st) : NULL;
		if (!common || st.st_uid != launch->uid ||
		    !path_within(gitdir, path_join(common, "worktrees")))
			refuse_gitdir(root, "names a worktree whose repository cannot be found");
	} else { /* a submodule */
		back = config_value(read_small(gitdir, "config"), "core", "worktree");
		if (!back || !directory_at(gitdir, back, &back_st) || stat(root, &root_st) ||
		    back_st.st_ino != root_st.st_ino || back_st.st_dev != root_st.st_dev)
			refuse_gitdir(root, "names a repository that does not name it back");
		common = gitdir;
	}
	launch->vars.value[SBX_VAR_GITDIR] = gitdir;
	launch->vars.value[SBX_VAR_GITCOMMON] = common;
}

static void set_hooks(struct launch *launch, const char *root)
{
	const char *common = launch->vars.value[SBX_VAR_GITCOMMON];
	const char *home = launch->vars.value[SBX_VAR_HOME];
	const char *path = config_value(read_small(common, "config"), "core", "hooksPath");
	struct walk walk;

	if (!path || !*path)
		path = path_join(common, "hooks");
	else if (!strncmp(path, "~/", 2) && home)
		path = mem_join(home, path + 1);
	else if (*path != '/')
		path = path_join(root, path);
	walk_path(path, &walk);
	if (walk.error)
		refuse("core.hooksPath of %s: %s: %s: correct it", common, path,
		       out_error(walk.error));
	launch->vars.value[SBX_VAR_GITHOOKS] = walk.path;
}

void git_resolve(struct launch *launch)
{
	const char *home = launch->vars.value[SBX_VAR_HOME];
	struct stat st;

	if (!policy_asks(launch))
		return;
	for (const char *root = launch->vars.value[SBX_VAR_WORKSPACE];; root = path_parent(root)) {
		if (strlen(root) == 1 || (home && path_within(home, root)))
			return;
		if (lstat(path_join(root, ".git"), &st))
			continue;
		if (S_ISLNK(st.st_mode)) {
			launch_remark(launch,
				      "%s/.git is a symbolic link: not taken as this workspace's "
				      "repository",
				      root);
			return;
		}
		if (st.st_uid != launch->uid)
			refuse(
			    "%s/.git belongs to uid %u, not to you: git would not trust it either",
			    root, (unsigned)st.st_uid);
		if (S_ISDIR(st.st_mode)) {
			launch->vars.value[SBX_VAR_GITDIR] = path_join(root, ".git");
			launch->vars.value[SBX_VAR_GITCOMMON] = path_join(root, ".git");
		} else {
			resolve_file(launch, root);
		}
		set_hooks(launch, root);
		return;
	}
}
