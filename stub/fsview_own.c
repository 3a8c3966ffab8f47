/*
 * stub/fsview_own.c - the file rules of sbx-exec's own, which no policy has to say.
 *
 * What decides over the next launch is never writable inside: the blob, the launcher and
 * its helpers, the links and places by which they are found, the records, a .git file.
 * And what the helpers hand in is there to be read.
 */
#include <string.h>
#include <sys/auxv.h>

#include "stub/fsview_add.h"
#include "stub/launch.h"
#include "stub/out.h"

/* The blob, this program and its proxy: never writable inside, whatever is granted. */
static void add_own(struct launch *launch, const char *path)
{
	struct fsview_context c = {
		.launch = launch, .index = SBX_RULE_SELF, .verb = SBX_FS_SEAL, .rights = SBX_WRITE
	};

	fsview_add_literal(&c, path);
	if (!launch->options.check &&
	    !node_exists(&launch->view.nodes.items[launch->view.nodes.count - 1]))
		refuse("%s: replaced while starting: start again", path);
}

/* What the proxy writes for the program to trust, whatever else it may read.  Not made
 * yet (bundle.c). */
static void add_bundle(struct launch *launch)
{
	struct fsview_context c = {
		.launch = launch, .index = SBX_NONE, .verb = SBX_FS_GRANT, .rights = SBX_READ
	};

	fsview_add_point(&c, launch->proxy.bundle, false);
	fsview_add_node(&c, launch->proxy.bundle, NODE_RULE)->st.st_mode = S_IFREG;
}

/* What is absent now would be there later, and not be hidden: it is made. */
static void add_hidden(const struct fsview_context *c, const char *path)
{
	const struct options *options = &c->launch->options;
	struct walk walk;

	walk_path(path, &walk);
	if (walk.missing && !options->check && !options->dry_run) {
		walk_afresh(path, &walk);
		fsview_make(path, &walk, "slurm");
	}
	fsview_add_literal(c, path);
}

/* The clients, which are the same wherever they are run, and their way out, which is not
 * made yet.  What jobs are made of, and what says whose they are, is out of sight. */
static void add_slurm(struct launch *launch)
{
	const struct slurm *slurm = &launch->slurm;
	struct fsview_context c = { .launch = launch,
				    .index = SBX_RULE_SELF,
				    .verb = SBX_FS_SEAL,
				    .rights = SBX_READ | SBX_WRITE };

	add_hidden(&c, slurm->state);
	add_hidden(&c, slurm->jobs);
	if (slurm->helper.path)
		add_own(launch, slurm->helper.path);
	c.rights = SBX_WRITE;
	fsview_add_literal(&c, slurm->clients);
	c.index = SBX_NONE;
	c.verb = SBX_FS_GRANT;
	c.rights = SBX_READ | SBX_EXEC;
	fsview_add_literal(&c, slurm->clients);
	if (slurm->helper.path)
		fsview_add_node(&c, slurm->socket, NODE_SOCKET)->st.st_mode = S_IFSOCK;
}

/* The links by which the caller named the blob, or this program: whoever turns one
 * chooses what the next launch takes. */
static void add_own_links(struct launch *launch, const char *name)
{
	struct fsview_context c = {
		.launch = launch, .index = SBX_RULE_SELF, .verb = SBX_FS_SEAL, .rights = SBX_WRITE
	};
	struct walk walk;

	if (fsview_is_synthetic(name))
		return;
	walk_path(name[0] == '/' ? name : path_join(launch->cwd, name), &walk);
	if (!walk.error)
		fsview_add_hops(&c, walk.hops, walk.hop_count);
}

/* Strictly in @dir, and no record of a session or of jobs. */
static bool is_agents(const char *path, const char *dir)
{
	return path_within(path, dir) && strcmp(path, dir) &&
	       !path_within(path, path_join(dir, "sessions")) &&
	       !path_within(path, path_join(dir, "slurm"));
}

/* Where a policy is found by its name, and what sessions believe of one another.  What
 * a policy opens beneath is an agent's own; of the records nothing is. */
static void add_own_places(struct launch *launch)
{
	static const char places[][18] = { ".local/share/sbx", ".local/state/sbx" };
	const char *home = launch->vars.value[SBX_VAR_HOME];
	const uint32_t workspace = sbx_meta(&launch->blob)->workspace_rule;
	struct fsview *view = &launch->view;

	for (size_t i = 0; home && i < 2; i++) {
		struct fsview_context c = { .launch = launch,
					    .index = SBX_RULE_SELF,
					    .verb = SBX_FS_SEAL,
					    .rights = SBX_WRITE,
					    .except_first = (uint32_t)view->excepts.count };
		const char *path = path_join(home, places[i]), *real = walk_kernel_name(path);

		for (size_t k = 0; i && real && k < view->points.count; k++) {
			const struct sbx_fs_point *point = &view->points.items[k];

			if (fsview_is_grant(point->verb) && point->rule != workspace &&
			    (is_agents(point->path, path) || is_agents(point->path, real)))
				*vec_add(&view->excepts) = point->path;
		}
		c.except_count = (uint32_t)view->excepts.count - c.except_first;
		fsview_add_literal(&c, path);
	}
}

/* In a linked worktree or a submodule .git is a file that says where the
 * repository lies: whoever rewrites it has the host's git run a configuration
 * of his. */
static void add_git_file(struct launch *launch)
{
	struct fsview_context c = {
		.launch = launch, .index = SBX_RULE_SELF, .verb = SBX_FS_SEAL, .rights = SBX_WRITE
	};
	const char *path = path_join(launch->vars.value[SBX_VAR_WORKSPACE], ".git");
	struct stat st;

	if (!lstat(path, &st) && S_ISREG(st.st_mode))
		fsview_add_literal(&c, path);
}

void fsview_add_own(struct launch *launch)
{
	add_own(launch, launch->vars.value[SBX_VAR_POLICY]);
	add_own(launch, launch->vars.value[SBX_VAR_LAUNCHER]);
	if (launch->proxy.helper.path) {
		add_own(launch, launch->proxy.helper.path);
		add_bundle(launch);
	}
	if (launch->slurm.clients)
		add_slurm(launch);
	add_own_links(launch, launch->blob_name);
	add_own_links(launch, (const char *)getauxval(AT_EXECFN));
	add_own_places(launch);
	add_git_file(launch);
}
