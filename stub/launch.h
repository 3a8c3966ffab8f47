/*
 * stub/launch.h - what one launch knows; main.c fills it from top to bottom.
 */
#ifndef SBX_STUB_LAUNCH_H
#define SBX_STUB_LAUNCH_H

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "blob/verdict.h"
#include "stub/direct.h"
#include "stub/duties.h"
#include "stub/fsview.h"
#include "stub/options.h"
#include "stub/placeholders.h"
#include "stub/plan.h"
#include "stub/proxy.h"
#include "stub/resolve.h"
#include "stub/slurm.h"

struct mendable { /* what the user can mend, of a rule that is best-effort */
	const char *path;
	unsigned taken; /* the rights that the rule takes there */
	const char *reason;
};

struct launch {
	struct options options;
	char **environ;
	uid_t uid;
	gid_t gid;
	struct rlimit descriptors; /* RLIMIT_NOFILE as the caller had it */

	const char *envelope; /* of --job, as it was submitted; NULL: it is none */
	size_t envelope_size;

	const char *blob_name; /* as it was found: links may lead from it */
	const char *blob_path; /* canonical */
	struct sbx_blob blob;

	struct sbx_vars vars;
	const char *git_root; /* where the .git of the workspace's repository is */
	const char *cwd; /* the caller's; canonical */
	struct stat cwd_stat;
	struct hop *home_hops; /* links on the way to $home */
	size_t home_hop_count;

	struct fsview view;
	struct plan plan;
	VEC(struct duty) duties; /* what is asked of the backend */
	VEC(struct mendable) mendable;

	struct session session; /* placeholders */
	struct proxy proxy;
	struct slurm slurm;
	struct direct direct;
	uint64_t session_since; /* ticks since boot, where children of the caller's are older; or 0 */

	unsigned problems; /* counted by --check */
};

struct backend;
struct outcome;
/* main.c: settles what depends on the backend; then starts it, and waits for the
 * end of the session, or with --check for its start. */
void launch_settle(struct launch *launch, struct backend *backend);
void launch_start(struct launch *launch, struct backend *backend, struct outcome *out);

/* check.c: something stands in the way.  Ends the launch; with --check it is
 * listed with all the others. */
#define launch_obstacle(launch, ...) launch_obstacle_text(launch, out_string(__VA_ARGS__))
void launch_obstacle_text(struct launch *launch, const char *reason);

/* "std/git.pol:12" of a rule, in the arena. */
const char *launch_place(const struct launch *launch, uint32_t loc);
/* A line under -v; and one that only -q silences. */
#define launch_detail(launch, ...)                                                                 \
	do {                                                                                       \
		if ((launch)->options.verbose)                                                     \
			note(__VA_ARGS__);                                                         \
	} while (0)
#define launch_remark(launch, ...)                                                                 \
	do {                                                                                       \
		if (!(launch)->options.quiet)                                                      \
			note(__VA_ARGS__);                                                         \
	} while (0)

#endif
