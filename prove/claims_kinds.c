/*
 * prove/claims_kinds.c - each way to change a directory, where nothing is granted and in the
 * workspace.
 *
 * The rules say read and write; to hold them, Landlock has a right for each kind of thing
 * that is made, removed or changed.
 */
#include <string.h>
#include <sys/syscall.h>

#include "probe/protocol.h"
#include "prove/calls.h"

#define PLACE "sbx-kinds"

/* By the calls of this architecture. */
#ifdef SYS_mkdir
#define CALL(old, at) SYS_##old
#else
#define CALL(old, at) SYS_##at
#endif

static const struct {
	const char *verb;
	unsigned right;
	uint32_t call;
} kinds[] = {
	{ "read", SBX_READ, CALL(open, openat) },
	{ "list", SBX_READ, CALL(open, openat) },
	{ "write", SBX_WRITE, CALL(open, openat) },
	{ "mkfile", SBX_WRITE, CALL(mknod, mknodat) },
	{ "remove", SBX_WRITE, CALL(unlink, unlinkat) },
	{ "mksubdir", SBX_WRITE, CALL(mkdir, mkdirat) },
	{ "mkfifo", SBX_WRITE, CALL(mknod, mknodat) },
	{ "mksocket", SBX_WRITE, CALL(mknod, mknodat) },
	{ "mknod", SBX_WRITE, CALL(mknod, mknodat) },
	{ "symlink", SBX_WRITE, CALL(symlink, symlinkat) },
	{ "rmdir", SBX_WRITE, CALL(rmdir, unlinkat) },
	{ "truncate", SBX_WRITE, SYS_truncate },
	{ "refer", SBX_WRITE, CALL(rename, renameat) },
	{ "run", SBX_EXEC, SYS_execve },
};

static void places(const struct prove *prove, const char *out[2])
{
	out[0] = arena_printf(prove->arena, "%s/" PLACE, prove->scratch.sibling);
	out[1] = arena_printf(prove->arena, "%s/" PLACE, prove->scratch.work);
}

void kinds_make(struct prove *prove)
{
	static const char *const directories[] = { PROBE_KIND_EMPTY, PROBE_KIND_FROM,
						   PROBE_KIND_TO };
	static const char *const files[] = { PROBE_KIND_FROM "/" PROBE_KIND_FILE, PROBE_KIND_GONE };
	const char *place[2];

	places(prove, place);
	for (size_t i = 0; i < 2; i++) {
		for (size_t n = 0; n < 3; n++)
			scratch_path(prove,
				     arena_printf(prove->arena, "%s/%s", place[i], directories[n]),
				     true, NULL);
		for (size_t n = 0; n < 2; n++)
			scratch_path(prove, arena_printf(prove->arena, "%s/%s", place[i], files[n]),
				     false, NULL);
	}
}

/* The file in @place that is there, or the place. */
static const char *object_of(struct prove *prove, const char *place, const char *verb)
{
	bool file = !strcmp(verb, "read") || !strcmp(verb, "write") || !strcmp(verb, "run");

	return file ? arena_printf(prove->arena, "%s/" PROBE_KIND_FROM "/" PROBE_KIND_FILE, place)
		    : place;
}

static bool may_call(const struct prove *prove, uint32_t nr)
{
	const uint64_t args[6] = { 0 };
	uint32_t first, second;

	return call_decide(prove, nr, args, &first, &second).action == SBX_ACT_ALLOW;
}

void claims_kinds(struct prove *prove)
{
	const char *place[2];

	places(prove, place);
	for (size_t i = 0; i < 2; i++)
		for (size_t n = 0; n < sizeof(kinds) / sizeof(kinds[0]); n++) {
			const char *object = object_of(prove, place[i], kinds[n].verb);
			struct claim *claim = claim_path(prove, SBX_SEC_FS, SBX_NONE, object,
							 kinds[n].right, kinds[n].verb);

			claim->object = place[i]; /* granted as a whole */
			/* No rule gives that: what works outside shows that it could. */
			if (!strcmp(kinds[n].verb, "mknod"))
				claim->itself = true, claim->through = false;
			if (claim->through && !may_call(prove, kinds[n].call))
				claim->why = "the policy does not allow the system call for it";
			if (i)
				claim->rule = claim->through ? "what is given in the workspace"
							     : "what is not given in the workspace";
			else
				claim->rule = claim->through ? "what is given beside the workspace"
							     : "nothing that no rule gives";
		}
}
