/*
 * stub/bwrap.c - the plan as bubblewrap's arguments.
 *
 * Bubblewrap is taken from its fixed places only, and gets an empty
 * environment, so nothing that was planted can make another program of it.
 * Its arguments go through --args, its sources are descriptors that were
 * opened when the path was checked, and its command is this very program,
 * through a descriptor.
 */
#include "stub/backend.h"

#include <fcntl.h>
#include <unistd.h>

#include "stub/launch.h"
#include "stub/out.h"
#include "stub/protocol.h"

#define ARGS_MAX 8900 /* bubblewrap takes 9,000 */

const char *bwrap_find(const char **why)
{
#ifdef SBX_BWRAP_PATH /* tests: a program that claims to be bubblewrap */
	static const char places[][32] = { SBX_BWRAP_PATH };
#else
	static const char places[][32] = { "/usr/bin/bwrap", "/usr/local/bin/bwrap" };
#endif

	return backend_find_program(*places, sizeof(places) / sizeof(*places), sizeof(*places),
				    "bubblewrap", why);
}

static void add(struct backend *out, const char *arg)
{
	*vec_add(&out->args) = arg;
}

static void add3(struct backend *out, const char *a, const char *b, const char *c)
{
	add(out, a);
	add(out, b);
	if (c)
		add(out, c);
}

static void add_bind(struct backend *out, const struct plan_mount *mount)
{
	bool writable = mount->rights & SBX_WRITE;

	if (!out->by_name) {
		add3(out, writable ? "--bind-fd" : "--ro-bind-fd", out_number((unsigned)mount->fd),
		     mount->path);
		*vec_add(&out->fds) = mount->fd;
	} else {
		/* Older versions take a name; that it was this very inode is
		 * verified from inside. */
		add3(out, writable ? "--bind" : "--ro-bind", mount->path, mount->path);
	}
}

static void add_mount(struct backend *out, const struct plan_mount *mount)
{
	int empty;

	switch (mount->kind) {
	case MOUNT_BIND:
		add_bind(out, mount);
		break;
	case MOUNT_TMP:
		if (mount->size)
			add3(out, "--size", out_number(mount->size), NULL);
		add3(out, "--tmpfs", mount->path, NULL);
		break;
	case MOUNT_PROC:
		add3(out, "--proc", mount->path, NULL);
		break;
	case MOUNT_DEV:
		add3(out, "--dev", mount->path, NULL);
		break;
	case MOUNT_DEVICE:
		add3(out, "--dev-bind", mount->path, mount->path);
		break;
	case MOUNT_LINK:
		add3(out, "--symlink", mount->target, mount->path);
		break;
	case MOUNT_DIR:
		add3(out, "--dir", mount->path, NULL);
		break;
	case MOUNT_FILE:
		empty = open("/dev/null", O_RDONLY | O_CLOEXEC);
		add3(out, "--file", out_number((unsigned)empty), mount->path);
		*vec_add(&out->fds) = empty;
		break;
	}
}

/* Bubblewrap makes this name itself where standard output is one. */
static void add_terminal(struct backend *out)
{
	for (int fd = 0; fd < 3 && !isatty(STDOUT_FILENO); fd += 2)
		if (isatty(fd) && ttyname(fd)) {
			add3(out, "--dev-bind-try", mem_string(ttyname(fd)), "/dev/console");
			return;
		}
}

void bwrap_translate(struct launch *launch, struct backend *out)
{
	const struct plan *plan = &launch->plan;
	bool dev = false;

	add(out, "--unshare-all");
	if (plan->share_net)
		add(out, "--share-net");
	add(out, "--die-with-parent");
	add(out, "--as-pid-1");
	add3(out, "--cap-drop", "ALL", NULL);
	/* Root may map its own id once more, for the masks' user namespace,
	 * only if it could set file capabilities (user_namespaces(7), since
	 * Linux 5.12); the inner stage drops this one with the rest. */
	if (getuid() == 0)
		add3(out, "--cap-add", "CAP_SETFCAP", NULL);
	for (size_t i = 0; i < plan->mounts.count; i++) {
		add_mount(out, &plan->mounts.items[i]);
		dev |= plan->mounts.items[i].kind == MOUNT_DEV;
	}
	if (dev) {
		add_terminal(out);
		add3(out, "--remount-ro", "/dev", NULL);
	}
	add3(out, "--remount-ro", "/", NULL);
	add3(out, "--chdir", "/", NULL);
	if (out->args.count > ARGS_MAX)
		refuse(
		    "the policy grants %llu separate trees, more than bubblewrap can mount: grant "
		    "a directory above them",
		    (unsigned long long)plan->mounts.count);
	for (size_t i = 0; i < plan->masks.count; i++)
		if (plan->masks.items[i].copy_fd >= 0)
			*vec_add(&out->fds) = plan->masks.items[i].copy_fd;
	for (size_t i = 0; i < plan->pass_fds.count; i++)
		*vec_add(&out->fds) = (int)plan->pass_fds.items[i];
}

_Noreturn void bwrap_become(const struct backend *backend, const struct handover *inherit)
{
	const char *argv[] = { "bwrap",
			       "--args",
			       out_number((unsigned)backend_args_file(backend, '\0')),
			       "--",
			       out_string("/proc/self/fd/%d", inherit->self),
			       INNER_WORD,
			       out_number((unsigned)inherit->plan),
			       out_number((unsigned)inherit->socket),
			       out_number((unsigned)inherit->error),
			       NULL };

	backend_exec(backend, inherit, argv, sizeof(argv) / sizeof(*argv));
}
