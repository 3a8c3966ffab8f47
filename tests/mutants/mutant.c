/*
 * tests/mutants/mutant.c - a launcher that enforces a little less than it is given.
 *
 *	mutant --list BLOB              the mutations that BLOB has, a line each
 *	mutant --same BLOB NAME DIR BACKEND
 *	                                would BLOB with it decide all the same here, for a
 *	                                workspace DIR on BACKEND?  0: yes
 *	mutant OPTIONS BLOB -- COMMAND  as sbx-exec, which lies beside it, on a mutant
 *
 * In the third form, as `sbxc prove --launcher` starts it, the mutation is the one
 * that the file beside it called `mutation` names, and BLOB is mutated in place: all but
 * control runs, which have no assertions left.  The mutant has none either, which
 * sbx-exec would see fail.  So prove holds the policy's claims against a launcher that
 * does not enforce one thing of it, and is not told which.
 *
 * A mutation is NAME:INDEX, the record's in its section.
 */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "blob/bpf.h"
#include "blob/check.h"
#include "compiler/duties.h"
#include "compiler/render.h"
#include "compiler/view.h"
#include "prove/edit.h"
#include "prove/prove.h"
#include "tests/mutants/calls.h"

#define BITS       16                  /* of Landlock's rights that kernels have by now */
#define MAKE_BLOCK (UINT64_C(1) << 11) /* LANDLOCK_ACCESS_FS_MAKE_BLOCK */

struct mutation {
	const char *name;
	enum sbx_section_id section;
	/* Does record @index get another meaning by it?  NULL edit: only ask. */
	bool (*apply)(struct edit *edit, uint32_t index);
	unsigned each; /* mutations a record */
};

#define FS(edit, i)  EDIT_AT(edit, FS, sbx_fs_rule, i)
#define BPF(edit, i) ((struct sbx_bpf *)(void *)(edit)->section[bpf_section].items + (i))

static enum sbx_section_id bpf_section; /* the program that is mutated now */

static bool drop_file(struct edit *edit, uint32_t index)
{
	if (EDIT_AT(edit, META, sbx_meta, 0)->workspace_rule == index)
		return false;
	edit_drop(edit, SBX_SEC_FS, index);
	return true;
}

/* Of three rights the one that @index names: taken from the rule, or put to it. */
static bool flip_right(struct edit *edit, uint32_t index)
{
	struct sbx_fs_rule *rule = FS(edit, index / 3);
	unsigned right = 1u << index % 3, rights = rule->rights ^ right;
	const uint8_t *path = edit->section[SBX_SEC_STRINGS].items + rule->path.text;

	/* To write what is another user's, no rule helps. */
	if (rule->head.verb == SBX_FS_GRANT && rights & right & SBX_WRITE && *path != SBX_MARK_VAR)
		return false;
	if (!rights || rule->head.verb == SBX_FS_TMP || rule->head.verb == SBX_FS_COPY ||
	    rule->head.verb == SBX_FS_DEVICE ||
	    (rule->head.verb == SBX_FS_GRANT && !(rights & SBX_READ)))
		return false;
	rule->rights = (uint8_t)rights;
	return true;
}

static bool open_file(struct edit *edit, uint32_t index)
{
	struct sbx_fs_rule *rule = FS(edit, index);

	if (rule->head.verb < SBX_FS_DENY)
		return false;
	rule->head.verb = SBX_FS_GRANT;
	rule->head.flags = SBX_F_OPTIONAL;
	rule->rights |= SBX_READ;
	rule->placeholder = 0;
	rule->extra = SBX_NONE16;
	return true;
}

static bool drop_variable(struct edit *edit, uint32_t index)
{
	edit_drop(edit, SBX_SEC_ENV, index);
	return true;
}

static bool flip_variable(struct edit *edit, uint32_t index)
{
	struct sbx_env_rule *rule = EDIT_AT(edit, ENV, sbx_env_rule, index);
	bool denies = rule->head.verb >= SBX_ENV_DENY;

	if (rule->head.verb == SBX_ENV_SET)
		rule->value.text = SBX_NONE;
	rule->head.verb = denies || rule->head.verb == SBX_ENV_SET ? SBX_ENV_PASS : SBX_ENV_DENY;
	return true;
}

static bool allow_call(struct edit *edit, uint32_t index)
{
	struct sbx_bpf *insn = BPF(edit, index);

	if (insn->code != SBX_BPF_RET || insn->k == SBX_RET_ALLOW)
		return false;
	insn->k = SBX_RET_ALLOW;
	return true;
}

static bool turn_jump(struct edit *edit, uint32_t index)
{
	struct sbx_bpf *insn = BPF(edit, index);
	uint8_t yes = insn->jt;

	if (insn->code != SBX_BPF_JEQ || insn->jt == insn->jf)
		return false;
	insn->jt = insn->jf;
	insn->jf = yes;
	return true;
}

/* A mutant that lets through what prove asks of the proxy would go out to the network. */
static bool goes_out(struct edit *edit, uint32_t index)
{
	const struct sbx_net_rule *rule = EDIT_AT(edit, NET, sbx_net_rule, index);
	const char *strings = (const char *)edit->section[SBX_SEC_STRINGS].items;

	if (EDIT_AT(edit, META, sbx_meta, 0)->net_mode != SBX_NET_PROXY)
		return false;
	if (rule->kind == SBX_NETK_ADDRESS)
		return rule->cidr.address[12] != 127; /* this host, in IPv4 */
	return (rule->kind == SBX_NETK_HOST || rule->kind == SBX_NETK_SUFFIX) &&
	       !host_is_harmless(strings + rule->host);
}

static bool flip_net(struct edit *edit, uint32_t index)
{
	struct sbx_head *head = &EDIT_AT(edit, NET, sbx_net_rule, index)->head;

	if (goes_out(edit, index))
		return false;
	if (head->verb == SBX_NETV_LISTEN)
		edit_drop(edit, SBX_SEC_NET, index);
	else
		head->verb = head->verb == SBX_NETV_ALLOW ? SBX_NETV_DENY : SBX_NETV_ALLOW;
	return true;
}

static bool open_net(struct edit *edit, uint32_t index)
{
	struct sbx_meta *meta = EDIT_AT(edit, META, sbx_meta, index);

	meta->net_mode = meta->net_mode == SBX_NET_HOST ? SBX_NET_NONE : SBX_NET_HOST;
	return true;
}

static bool lift_limit(struct edit *edit, uint32_t index)
{
	edit_drop(edit, SBX_SEC_LIMITS, index);
	return true;
}

/* What is shared opens nothing by itself, and without it no session starts. */
static bool drop_process(struct edit *edit, uint32_t index)
{
	if (EDIT_AT(edit, PROCESS, sbx_process_rule, index)->what >= SBX_PROCESS_SHARE_PROCESSES)
		return false;
	edit_drop(edit, SBX_SEC_PROCESS, index);
	return true;
}

static bool forget_right(struct edit *edit, uint32_t index)
{
	struct sbx_landlock *landlock = EDIT_AT(edit, LANDLOCK, sbx_landlock, 0);
	uint64_t right = UINT64_C(1) << index;
	/* Nobody without a capability makes a block device, and no session has one. */
	bool was = landlock->handled_fs & right & ~MAKE_BLOCK;

	/* What is not handled may not be in a rule. */
	landlock->handled_fs &= ~right;
	landlock->read &= ~right;
	landlock->write &= ~right;
	landlock->exec &= ~right;
	landlock->device &= ~right;
	return was;
}

static const struct mutation mutations[] = {
	{ "fs-drop", SBX_SEC_FS, drop_file, 1 },
	{ "fs-right", SBX_SEC_FS, flip_right, 3 },
	{ "fs-open", SBX_SEC_FS, open_file, 1 },
	{ "env-drop", SBX_SEC_ENV, drop_variable, 1 },
	{ "env-flip", SBX_SEC_ENV, flip_variable, 1 },
	{ "bpf-allow", SBX_SEC_BPF_X86_64, allow_call, 1 },
	{ "bpf-turn", SBX_SEC_BPF_X86_64, turn_jump, 1 },
	{ "bpf-shared-allow", SBX_SEC_BPF_SHARED_X86_64, allow_call, 1 },
	{ "bpf-shared-turn", SBX_SEC_BPF_SHARED_X86_64, turn_jump, 1 },
	{ "net-flip", SBX_SEC_NET, flip_net, 1 },
	{ "net-mode", SBX_SEC_META, open_net, 1 },
	{ "limit-lift", SBX_SEC_LIMITS, lift_limit, 1 },
	{ "process-drop", SBX_SEC_PROCESS, drop_process, 1 },
	{ "landlock-fs", SBX_SEC_LANDLOCK, forget_right, BITS },
};
#define COUNT (sizeof(mutations) / sizeof(mutations[0]))

static bool read_blob(struct arena *arena, const char *path, struct sbx_blob *out)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	off_t size = fd < 0 ? -1 : lseek(fd, 0, SEEK_END);
	uint8_t *data = size > 0 ? arena_alloc(arena, (size_t)size) : NULL;
	bool good = data && pread(fd, data, (size_t)size, 0) == size;

	if (fd >= 0)
		close(fd);
	return good && !sbx_blob_open(data, (size_t)size, out);
}

static bool write_blob(const char *path, const struct sbx_blob *blob)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	bool good = fd >= 0 && write(fd, blob->base, blob->size) == (ssize_t)blob->size;

	if (fd >= 0)
		close(fd);
	return good;
}

static bool mutate(struct arena *arena, const struct sbx_blob *blob, const struct mutation *how,
		   uint32_t index, struct sbx_blob *out)
{
	struct edit edit;

	edit_begin(&edit, arena, blob);
	bpf_section = how->section;
	if (!how->apply(&edit, index))
		return false;
	edit_clear(&edit, SBX_SEC_ASSERTS);
	return !edit_end(&edit, out);
}

/* "NAME:INDEX" */
static bool mutate_named(struct arena *arena, const struct sbx_blob *blob, const char *name,
			 struct sbx_blob *out)
{
	size_t length = strcspn(name, ":");

	for (size_t i = 0; i < COUNT; i++)
		if (strlen(mutations[i].name) == length &&
		    !strncmp(mutations[i].name, name, length) && name[length])
			return mutate(arena, blob, &mutations[i],
				      (uint32_t)strtoul(name + length + 1, NULL, 10), out);
	return false;
}

static int list(struct arena *arena, const struct sbx_blob *blob)
{
	for (size_t i = 0; i < COUNT; i++) {
		const struct mutation *how = &mutations[i];

		for (uint32_t n = 0; n < blob->section[how->section].count * how->each; n++) {
			const struct sbx_head *head =
			    render_head(blob, how->section, n / how->each);
			struct sbx_blob out;

			if (mutate(arena, blob, how, n, &out))
				printf(
				    "%s:%u\t%s\n", how->name, n,
				    head ? render_rule(arena, blob, how->section, n / how->each, 4)
					 : "");
		}
	}
	return 0;
}

/* ---- would it be noticed at all? ------------------------------------------------------- */

/* A name that @pattern matches. */
static const char *witness(struct arena *arena, const char *pattern)
{
	char *out = arena_alloc(arena, 4 * strlen(pattern) + 1), *to = out;

	for (const char *p = pattern; *p; p++)
		if (*p == '*')
			to = stpcpy(to, p[1] == '*' ? "" : "sbx");
		else if (*p == '[' && strchr(p, ']'))
			*to++ = p[1], p = strchr(p, ']');
		else
			*to++ = *p;
	return out;
}

/* A file of the host without an x bit is executed by nobody, nor is what would be in one. */
static bool is_no_program(const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return errno == ENOTDIR;
	return S_ISREG(st.st_mode) && !(st.st_mode & 0111);
}

/* What cannot be read is hidden whole, so that no other right counts. */
static bool same_file(const struct view views[2], const char *name)
{
	const char *path = view_real(views[0].arena, name);

	for (unsigned right = SBX_READ; right <= SBX_EXEC; right <<= 1) {
		struct sbx_fs_verdict verdict[2];
		const struct sbx_fs_point *made[2];

		if (right == SBX_EXEC && is_no_program(path))
			continue;
		for (size_t i = 0; i < 2; i++) {
			sbx_fs_decide(&views[i].set, path, right, &verdict[i]);
			made[i] = point_made(&views[i].set, &verdict[i]);
			verdict[i].allowed &= sbx_fs_allows(&views[i].set, path, SBX_READ);
		}
		if (verdict[0].allowed != verdict[1].allowed || !made[0] != !made[1])
			return false;
	}
	return true;
}

static bool same_files(struct arena *arena, const struct view views[2])
{
	for (size_t i = 0; i < 2; i++)
		for (size_t n = 0; n < views[i].points.count; n++) {
			const struct sbx_fs_point *point = &views[i].points.items[n];
			const char *path = point->wild ? witness(arena, point->path) : point->path;

			if (!same_file(views, path) ||
			    !same_file(views, arena_printf(arena, "%s/sbx-x", path)))
				return false;
		}
	return true;
}

static bool same_variable(const struct sbx_blob blobs[2], const char *name)
{
	struct sbx_env_verdict verdict[2];

	for (size_t i = 0; i < 2; i++)
		sbx_env_decide(&blobs[i], name, &verdict[i]);
	return verdict[0].visible == verdict[1].visible &&
	       (!verdict[0].visible || verdict[0].set == verdict[1].set);
}

/* Names of the one's rules, and what the patterns of two have in common: "A*", "*B" -> "AB". */
static bool same_variables(struct arena *arena, const struct sbx_blob blobs[2])
{
	uint32_t count = SBX_COUNT(&blobs[0], ENV);

	for (uint32_t i = 0; i < count; i++)
		for (uint32_t n = 0; n < count; n++) {
			const char *one =
			    sbx_string(&blobs[0], SBX_AT(&blobs[0], ENV, sbx_env_rule, i)->name);
			const char *two =
			    sbx_string(&blobs[0], SBX_AT(&blobs[0], ENV, sbx_env_rule, n)->name);

			if (!same_variable(blobs, witness(arena, one)) ||
			    (*two == '*' && strchr(one, '*') &&
			     !same_variable(blobs,
					    arena_printf(arena, "%.*s%s", (int)strcspn(one, "*"),
							 one, witness(arena, two + 1)))))
				return false;
		}
	return true;
}

static bool same_section(const struct sbx_blob blobs[2], enum sbx_section_id id)
{
	uint32_t count = blobs[0].section[id].count;

	return count == blobs[1].section[id].count &&
	       (!count || !memcmp(blobs[0].section[id].records, blobs[1].section[id].records,
				  count * (size_t)sbx_section_spec(id)->record_size));
}

/* Hosts and addresses bind where there is a proxy alone. */
static bool same_net(const struct sbx_blob blobs[2])
{
	uint32_t count = SBX_COUNT(&blobs[0], NET);

	if (sbx_meta(&blobs[0])->net_mode == SBX_NET_PROXY || count != SBX_COUNT(&blobs[1], NET))
		return same_section(blobs, SBX_SEC_NET);
	for (uint32_t i = 0; i < count; i++) {
		const struct sbx_net_rule *rule = SBX_AT(&blobs[0], NET, sbx_net_rule, i);

		if (rule->kind >= SBX_NETK_UNIX &&
		    rule->head.verb != SBX_AT(&blobs[1], NET, sbx_net_rule, i)->head.verb)
			return false;
	}
	return true;
}

static int compare(struct arena *arena, const struct sbx_blob *blob, const char *name,
		   const char *workspace, const char *backend)
{
	static const enum sbx_section_id others[] = { SBX_SEC_LIMITS, SBX_SEC_PROCESS,
						      SBX_SEC_LANDLOCK };
	const struct view_options options = { .workspace = workspace };
	struct sbx_blob blobs[2] = { *blob };
	struct view views[2];

	if (!mutate_named(arena, blob, name, &blobs[1]))
		return 2;
	for (size_t i = 0; i < 2; i++)
		if (view_make(&views[i], arena, &blobs[i], &options))
			return 2;
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (!same_section(blobs, others[i]))
			return 1;
	return sbx_meta(&blobs[0])->net_mode != sbx_meta(&blobs[1])->net_mode || !same_net(blobs) ||
	       !same_files(arena, views) || !same_variables(arena, blobs) ||
	       !same_calls(arena, blobs, !strcmp(backend, "landlock"));
}

/* ---- as a launcher ---------------------------------------------------------------------- */

/* The word before "--". */
static const char *blob_of(int argc, char **argv)
{
	for (int i = 2; i < argc; i++)
		if (!strcmp(argv[i], "--"))
			return argv[i - 1];
	return NULL;
}

static int launch(struct arena *arena, int argc, char **argv)
{
	char self[PATH_MAX], name[64] = "";
	const char *path = blob_of(argc, argv), *here;
	struct sbx_blob blob, out;
	ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
	int fd;

	if (length <= 0)
		return 125;
	self[length] = '\0';
	here = dirname(self);
	fd = open(arena_printf(arena, "%s/mutation", here), O_RDONLY | O_CLOEXEC);
	if (!path || fd < 0 || read(fd, name, sizeof(name) - 1) < 0 ||
	    !read_blob(arena, path, &blob))
		return 125;
	close(fd);
	name[strcspn(name, "\n")] = '\0';
	if (*name && SBX_COUNT(&blob, ASSERTS) &&
	    (!mutate_named(arena, &blob, name, &out) || !write_blob(path, &out)))
		return 125;
	argv[0] = arena_printf(arena, "%s/sbx-exec", here);
	execv(argv[0], argv);
	return 125;
}

int main(int argc, char **argv)
{
	struct arena arena = { 0 };
	struct sbx_blob blob;

	if (argc == 3 && !strcmp(argv[1], "--list"))
		return !read_blob(&arena, argv[2], &blob) || list(&arena, &blob);
	if (argc == 6 && !strcmp(argv[1], "--same"))
		return read_blob(&arena, argv[2], &blob)
			   ? compare(&arena, &blob, argv[3], argv[4], argv[5])
			   : 2;
	return launch(&arena, argc, argv);
}
