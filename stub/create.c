/*
 * stub/create.c - directories that a rule marked `create` makes, once and for good.
 */
#include "stub/fsview.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "stub/launch.h"
#include "stub/mem.h"
#include "stub/out.h"
#include "stub/proc.h"
#include "stub/resolve.h"

void fsview_make(const char *path, struct walk *walk, const char *place)
{
	int dir = walk->fd;

	if (walk->error)
		refuse("%s: cannot be made: %s (%s)", path, out_error(walk->error), place);
	/* Whoever wrote a link would choose where: a program did, perhaps, in an earlier
	 * session.  Which ones it could is known only when all rules are. */
	for (size_t i = 0; i < walk->hop_count; i++)
		if (walk->hops[i].st.st_uid || !getuid())
			refuse("%s does not exist, and is not made over the symbolic link %s (%s): "
			       "if that is yours, mkdir -p %s",
			       path, walk->hops[i].path, place, walk->path);
	for (const char *name = walk->path + walk->have; *name;) {
		size_t length;
		const char *one;
		bool made;
		int next;

		name += *name == '/';
		length = strcspn(name, "/");
		one = mem_copy(name, length);
		name += length;
		made = !mkdirat(dir, one, 0700);
		next = made || errno == EEXIST
			   ? openat(dir, one, O_PATH | O_NOFOLLOW | O_DIRECTORY | O_CLOEXEC)
			   : -1;
		if (next < 0)
			refuse("%s: cannot be made: %s (%s)", path, out_error(errno), place);
		if (made) /* a default ACL may have made less of it */
			proc_chmod(next, 0700);
		close(dir);
		dir = next;
	}
	fstat(dir, &walk->st);
	close(dir);
	walk->fd = -1;
	walk_forget(); /* it is there now */
	walk->have = strlen(walk->path);
	walk->missing = false;
}

bool fsview_create(const struct launch *launch, struct node *node)
{
	const struct sbx_fs_rule *rule = fsview_rule(launch, node->rule);
	const char *place = fsview_place(launch, node->rule);
	struct walk walk;

	if (!rule || !(rule->head.flags & SBX_F_CREATE) || launch->options.dry_run ||
	    launch->options.check)
		return false;
	walk_afresh(node->path, &walk);
	if (walk.hop_count)
		refuse("%s changed while starting: start again", node->path);
	fsview_make(node->path, &walk, place);
	launch_detail(launch, "%s: made (%s)", node->path, place);
	node->st = walk.st;
	node->have = walk.have;
	return true;
}
