/*
 * stub/git.c - $gitdir, $gitcommon and $githooks.
 *
 * Whoever can write into the workspace can write a .git file that names any
 * directory, and a policy that opens $gitdir would then open that one.  So a
 * repository elsewhere counts only where git itself would have put it, if it
 * is whole and if it names this workspace too: a linked worktree is
 * COMMON/worktrees/NAME and says so in its gitdir file, a submodule lies in
 * .git/modules above and says so in core.worktree.  The repository must be the
 * user's, and its root never the home directory or above.
 *
 * core.hooksPath is as easily written where there was no repository yet.  It
 * closes what it names, and opens nothing: hooks outside are not there.
 */
#include "stub/git.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "stub/launch.h"
#include "stub/mem.h"
#include "stub/out.h"
#include "stub/vars.h"

#define FILE_MAX (1l << 20)

static bool policy_asks(const struct launch *launch)
{
	return vars_wanted(launch, SBX_VAR_GITDIR) || vars_wanted(launch, SBX_VAR_GITCOMMON) ||
	       vars_wanted(launch, SBX_VAR_GITHOOKS);
}

/* The file @path, its last newline cut off; NULL: there is none. */
static const char *read_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;
	ssize_t size;
	char *text;

	if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
		return NULL;
	if (fd < 0 || fstat(fd, &st))
		refuse("%s: %s, and git would follow it: chmod u+rwx what is in the way", path,
		       out_error(errno));
	if (!S_ISREG(st.st_mode) || st.st_size > FILE_MAX)
		refuse("%s: not a file of at most 1 MiB, and git would follow it: correct it",
		       path);
	text = mem_get((size_t)st.st_size + 1);
	size = read(fd, text, (size_t)st.st_size);
	close(fd);
	for (ssize_t i = 0; i < size; i++)
		if (!text[i])
			text[i] = '#'; /* git reads on behind it */
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

static bool has(const char *dir, const char *name)
{
	return !access(path_join(dir, name), F_OK);
}

static bool is_whole(const char *dir)
{
	return has(dir, "HEAD") && has(dir, "objects/.") && has(dir, "refs/.");
}

static _Noreturn void refuse_gitdir(const char *root, const char *why)
{
	refuse("%s/.git: %s; whoever can write there could point the sandbox at another "
	       "repository: put it right (git worktree repair), or start elsewhere",
	       root, why);
}

/* Is @common the repository of the linked worktree @gitdir? */
static bool holds_worktree(const char *common, const char *gitdir)
{
	const char *text = read_file(path_join(gitdir, "commondir")), *found;
	struct stat st;

	found = text ? directory_at(gitdir, text, &st) : NULL;
	return found && !strcmp(found, common) &&
	       !strcmp(path_parent(gitdir), path_join(common, "worktrees"));
}

/* Is @gitdir a submodule's of a repository above @root, for @root? */
static bool holds_submodule(const char *gitdir, const char *root)
{
	const char *config = read_file(path_join(gitdir, "config")), *back;
	const char *above = root;
	struct stat st;
	bool includes;

	do {
		above = path_parent(above);
		if (!above[1])
			return false;
	} while (!path_within(path_parent(gitdir), path_join(above, ".git/modules")));
	back = config ? git_config_core(config, "worktree", &includes) : NULL;
	back = back ? directory_at(gitdir, back, &st) : NULL;
	return back && !strcmp(back, root);
}

/* A .git file: "gitdir: PATH". */
static void resolve_file(struct launch *launch, const char *root)
{
	const char *text = read_file(path_join(root, ".git")), *gitdir, *common, *back;
	struct stat st;

	if (!text || strncmp(text, "gitdir: ", 8))
		refuse_gitdir(root, "neither a directory nor a `gitdir:` file");
	gitdir = directory_at(root, text + 8, &st);
	if (!gitdir)
		refuse_gitdir(root, "names a directory that does not exist");
	common = gitdir;
	back = read_file(path_join(gitdir, "gitdir"));
	if (back) { /* a linked worktree */
		struct walk walk;

		walk_path(*back == '/' ? back : path_join(gitdir, back), &walk);
		if (walk.error || walk.missing || strcmp(walk.path, path_join(root, ".git")))
			refuse_gitdir(root,
				      "names a worktree whose own record names another place");
		common = path_parent(path_parent(gitdir));
		if (!holds_worktree(common, gitdir))
			refuse_gitdir(root, "names a worktree whose repository cannot be found");
	} else if (!holds_submodule(gitdir, root)) {
		refuse_gitdir(root, "names a repository that does not name it back");
	}
	if (!is_whole(common) || !has(common, "config"))
		refuse_gitdir(root, "names what is no repository");
	if (st.st_uid != launch->uid || stat(common, &st) || st.st_uid != launch->uid)
		refuse_gitdir(root, "names a repository of another user");
	launch->vars.value[SBX_VAR_GITDIR] = gitdir;
	launch->vars.value[SBX_VAR_GITCOMMON] = common;
}

/* core.hooksPath, in git's order; NULL: none. */
static const char *hooks_path(const struct launch *launch)
{
	const char *common = launch->vars.value[SBX_VAR_GITCOMMON];
	const char *home = launch->vars.value[SBX_VAR_HOME];
	const char *files[] = {
		path_join(launch->vars.value[SBX_VAR_GITDIR], "config.worktree"),
		path_join(common, "config"),
		"/etc/gitconfig",
		home ? path_join(home, ".gitconfig") : NULL,
		home ? path_join(home, ".config/git/config") : NULL,
	};
	static const unsigned char order[] = { 0, 1, 3, 4, 2 };

	for (size_t i = 0; i < sizeof(order); i++) {
		const char *name = files[order[i]], *text = name ? read_file(name) : NULL;
		const char *value;
		bool includes;

		if (!text)
			continue;
		value = git_config_core(text, "hookspath", &includes);
		if (i < 2 && includes)
			launch_remark(launch,
				      "%s includes other files: what git runs by them is not "
				      "protected",
				      name);
		if (value)
			return value;
	}
	return NULL;
}

static void set_hooks(struct launch *launch, const char *root)
{
	const char *common = launch->vars.value[SBX_VAR_GITCOMMON];
	const char *workspace = launch->vars.value[SBX_VAR_WORKSPACE];
	const char *home = launch->vars.value[SBX_VAR_HOME];
	const char *usual = path_join(common, "hooks"), *path = hooks_path(launch);
	struct walk walk;

	if (!path || !*path)
		path = usual;
	else if (!strncmp(path, "~/", 2) && home)
		path = mem_join(home, path + 1);
	else if (*path != '/')
		path = path_join(root, path);
	walk_path(path, &walk);
	if (walk.error)
		refuse("core.hooksPath of %s: %s: %s: correct it", common, path,
		       out_error(walk.error));
	/* std/git protects the usual name itself. */
	for (size_t i = 0; i < walk.hop_count; i++)
		if (strcmp(walk.hops[i].path, usual) &&
		    (path_within(walk.hops[i].path, workspace) ||
		     path_within(walk.hops[i].path, common)))
			refuse("core.hooksPath of %s leads over the symbolic link %s, which could "
			       "be changed inside: name its target",
			       common, walk.hops[i].path);
	if (path_within(walk.path, workspace) || path_within(walk.path, common))
		launch->vars.value[SBX_VAR_GITHOOKS] = walk.path;
	else
		launch_detail(launch,
			      "git's hooks are in %s, outside the workspace: not there inside",
			      walk.path);
}

bool git_would_use(const char *dir)
{
	const char *git = path_join(dir, ".git");
	struct stat st;

	return is_whole(dir) || (!lstat(git, &st) && (!S_ISDIR(st.st_mode) || is_whole(git)));
}

/* The repository whose .git is in @root. */
static void resolve_at(struct launch *launch, const char *root, const struct stat *st)
{
	const char *git = path_join(root, ".git"), *text;
	const char *workspace = launch->vars.value[SBX_VAR_WORKSPACE];

	launch->git_root = root;
	if (S_ISLNK(st->st_mode))
		refuse_gitdir(root, "is a symbolic link");
	if (st->st_uid != launch->uid)
		refuse("%s belongs to uid %u, not to you: git would not trust it either", git,
		       (unsigned)st->st_uid);
	if (S_ISDIR(st->st_mode)) {
		launch->vars.value[SBX_VAR_GITDIR] = git;
		launch->vars.value[SBX_VAR_GITCOMMON] = git;
	} else {
		resolve_file(launch, root);
	}
	git = launch->vars.value[SBX_VAR_GITCOMMON];
	text = git == launch->vars.value[SBX_VAR_GITDIR] ? read_file(path_join(git, "commondir"))
							 : NULL;
	/* An empty one, as a full disk leaves it, leads nowhere: git stops there. */
	if (text && *text && strcmp(text, "."))
		refuse("%s/commondir: points git at another repository: remove it", git);
	if (path_within(workspace, git) ||
	    path_within(workspace, launch->vars.value[SBX_VAR_GITDIR]))
		refuse("%s lies inside the repository %s itself: cd to a work tree", workspace,
		       git);
	set_hooks(launch, root);
}

void git_resolve(struct launch *launch)
{
	const char *home = launch->vars.value[SBX_VAR_HOME];
	struct stat st;

	if (!policy_asks(launch))
		return;
	if (is_whole(launch->vars.value[SBX_VAR_WORKSPACE]))
		refuse("%s is a bare repository, hooks and all: work in a clone of it",
		       launch->vars.value[SBX_VAR_WORKSPACE]);
	for (const char *root = launch->vars.value[SBX_VAR_WORKSPACE];; root = path_parent(root)) {
		if (strlen(root) == 1 || (home && path_within(home, root)))
			return;
		if (!lstat(path_join(root, ".git"), &st)) {
			resolve_at(launch, root, &st);
			return;
		}
	}
}
