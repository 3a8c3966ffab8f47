/*
 * prove/claims_files.c - what a policy says of files.
 *
 * A rule covers its path and all beneath.  Where that is a directory here, what
 * is tried is a file in it; where a pattern, a name that it matches.  Beneath
 * prove's own places every name is made; elsewhere it is what the host has, and
 * only opened.
 */
#include <dirent.h>
#include <glob.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "blob/contest.h"
#include "compiler/duties.h"
#include "compiler/render.h"
#include "prove/prove.h"

#define BAIT_NAME "sbx-bait"

static const struct {
	unsigned right;
	const char *verb;
} rights[] = { { SBX_READ, "read" }, { SBX_WRITE, "write" }, { SBX_EXEC, "exec" } };

/* "/w/<any>/x*" as "/w/sbx/xsbx": a name that the pattern matches. */
static const char *witness(struct arena *arena, const char *pattern)
{
	char *out = arena_alloc(arena, 4 * strlen(pattern) + 1), *to = out;

	for (const char *p = pattern; *p; p++) {
		if (*p == '\\' && p[1]) {
			*to++ = *++p;
		} else if (*p == '*') {
			memcpy(to, "sbx", 3);
			to += 3;
			p += p[1] == '*';
		} else if (*p == '?') {
			*to++ = 'x';
		} else if (*p == '[') {
			*to++ = p[1] == '!' || p[1] == '^' ? '~' : p[1];
			p += strcspn(p, "]");
			if (!*p)
				break;
		} else {
			*to++ = *p;
		}
	}
	return out;
}

/* What the host has for a pattern, else a name that could be there. */
static const char *match(const struct prove *prove, const char *pattern)
{
	const char *name = witness(prove->arena, pattern);
	glob_t found = { 0 };

	if (!scratch_has(prove, name) && glob(pattern, 0, NULL, &found) == 0)
		name = arena_printf(prove->arena, "%s", found.gl_pathv[0]);
	globfree(&found);
	return name;
}

static const char *rule_path(const struct prove *prove, uint32_t index)
{
	const struct sbx_fs_rule *rule = SBX_AT(&prove->blob, FS, sbx_fs_rule, index);
	bool wild = false;
	const char *path = claim_expand(prove, rule->path, &wild);

	return path && wild ? match(prove, path) : path;
}

/* The path of a copy, or of a grant in what another rule takes away or makes anew: there
 * a mount of its own has to say what holds.  NULL: rule @index is none. */
static const char *path_inside(const struct prove *prove, uint32_t index)
{
	const struct sbx_fs_rule *rule = SBX_AT(&prove->blob, FS, sbx_fs_rule, index);
	bool wild = false;
	const char *path = claim_expand(prove, rule->path, &wild);

	if (!path || wild || !scratch_has(prove, path))
		return NULL;
	if (rule->head.verb == SBX_FS_COPY)
		return path;
	for (size_t i = 0; rule->head.verb == SBX_FS_GRANT && i < prove->view.points.count; i++) {
		const struct sbx_fs_point *point = &prove->view.points.items[i];

		if (point->verb != SBX_FS_GRANT && sbx_fs_covers(point, path) >= 0)
			return path;
	}
	return NULL;
}

/* The @n-th name that the seal @index excepts; NULL: there are no more, or it has no value. */
static const char *except_path(const struct prove *prove, uint32_t index, uint32_t n)
{
	const struct sbx_fs_rule *rule = SBX_AT(&prove->blob, FS, sbx_fs_rule, index);
	const struct sbx_fs_extra *extra = sbx_fs_extra(&prove->blob, rule);
	bool wild = false;

	return n < extra->except_count
		   ? claim_expand(prove,
				  *SBX_AT(&prove->blob, TMPLS, sbx_tmpl, extra->except_first + n),
				  &wild)
		   : NULL;
}

/* A name beneath @top that the pattern of rule @index matches, too; NULL: none. */
static const char *match_beneath(const struct prove *prove, uint32_t index, const char *top)
{
	const struct sbx_fs_rule *rule = SBX_AT(&prove->blob, FS, sbx_fs_rule, index);
	bool wild = false;
	const char *pattern = claim_expand(prove, rule->path, &wild);

	if (!pattern || !wild || rule->head.verb < SBX_FS_DENY)
		return NULL;
	for (const char *rest = pattern + strlen(pattern); rest-- > pattern;) {
		const char *name = arena_printf(prove->arena, "%s%s", top,
						witness(prove->arena, rest));

		if (*rest == '/' && sbx_glob_match(pattern, name))
			return name;
	}
	return NULL;
}

/* A pattern holds what is there at the launch. */
static bool is_wild(const struct prove *prove, uint32_t index)
{
	bool wild = false;

	claim_expand(prove, SBX_AT(&prove->blob, FS, sbx_fs_rule, index)->path, &wild);
	return wild;
}

static const char *assert_path(const struct prove *prove, uint32_t index)
{
	const struct sbx_assert *claim = SBX_AT(&prove->blob, ASSERTS, sbx_assert, index);
	bool wild = false;

	return claim->is_path && claim->action <= SBX_DO_EXEC
		   ? claim_expand(prove, claim->object, &wild)
		   : NULL;
}

/* ---- baits -------------------------------------------------------------------------- */

struct bait {
	const char *path, *text;
	bool directory;
};
struct baits {
	VEC_OF(struct bait)
};

/* And not that one itself. */
static bool is_beneath(const char *path, const char *top)
{
	return sbx_path_beneath(top, path) >= 0 && strcmp(path, top) != 0;
}

static struct bait bait_of_rule(const struct prove *prove, uint32_t index)
{
	const struct sbx_fs_rule *rule = SBX_AT(&prove->blob, FS, sbx_fs_rule, index);
	const struct sbx_fs_extra *extra = sbx_fs_extra(&prove->blob, rule);
	const char *git = prove->view.vars.value[SBX_VAR_GITDIR];
	struct bait bait = { .path = rule_path(prove, index) };
	bool made = rule->head.verb == SBX_FS_TMP || rule->head.verb == SBX_FS_COPY;

	if (!bait.path || !scratch_has(prove, bait.path))
		return (struct bait){ 0 };
	if (rule->placeholder == SBX_PLACEHOLDER_FILE)
		bait.text = extra->placeholder_text == SBX_NONE
				? ""
				: sbx_string(&prove->blob, extra->placeholder_text);
	/* What git keeps without a suffix are directories. */
	bait.directory =
	    rule->head.flags & SBX_F_CREATE || made || rule->placeholder == SBX_PLACEHOLDER_DIR ||
	    (git && !bait.text && is_beneath(bait.path, git) && rule->head.verb >= SBX_FS_DENY);
	return bait;
}

static void make_bait(struct prove *prove, const struct baits *baits, struct bait *bait)
{
	for (size_t i = 0; i < baits->count; i++)
		bait->directory |= is_beneath(baits->items[i].path, bait->path);
	scratch_path(prove, bait->path, bait->directory, bait->text);
	if (bait->directory)
		scratch_path(prove, arena_printf(prove->arena, "%s/" BAIT_NAME, bait->path), false,
			     NULL);
}

void claims_baits(struct prove *prove)
{
	struct baits baits = { 0 };
	const char *path;

	for (uint32_t i = 0; i < SBX_COUNT(&prove->blob, FS); i++) {
		struct bait bait = bait_of_rule(prove, i);

		if (bait.path)
			*VEC_PUSH(prove->arena, &baits) = bait;
	}
	for (uint32_t i = 0; i < SBX_COUNT(&prove->blob, ASSERTS); i++) {
		path = assert_path(prove, i);
		if (path && scratch_has(prove, path))
			*VEC_PUSH(prove->arena, &baits) = (struct bait){ .path = path };
	}
	for (uint32_t i = 0; i < SBX_COUNT(&prove->blob, FS); i++) {
		const char *top = path_inside(prove, i), *name;

		for (uint32_t k = 0; top && k < SBX_COUNT(&prove->blob, FS); k++)
			if ((name = match_beneath(prove, k, top)))
				*VEC_PUSH(prove->arena, &baits) = (struct bait){ .path = name };
	}
	/* A launch may find them there, and then has to hold what is around them. */
	for (uint32_t i = 0; i < SBX_COUNT(&prove->blob, FS); i++)
		for (uint32_t n = 0; (path = except_path(prove, i, n)); n++)
			if (scratch_has(prove, path))
				*VEC_PUSH(prove->arena, &baits) = (struct bait){ .path = path };
	for (size_t i = 0; i < baits.count; i++)
		make_bait(prove, &baits, &baits.items[i]);
	net_baits(prove);
	kinds_make(prove);
}

/* ---- what is tried ------------------------------------------------------------------ */

static bool is_directory(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* Some program in a directory of the host. */
static const char *program_in(struct prove *prove, const char *top)
{
	DIR *directory = opendir(top);
	const char *found = NULL;
	struct dirent *entry;
	struct stat st;

	while (directory && !found && (entry = readdir(directory))) {
		const char *path = arena_printf(prove->arena, "%s/%s", top, entry->d_name);

		if (stat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_mode & 0111)
			found = path;
	}
	if (directory)
		closedir(directory);
	return found;
}

static uint32_t decider(struct prove *prove, const char *path)
{
	struct sbx_fs_verdict verdict;

	sbx_fs_decide(&prove->view.set, view_real(prove->arena, path), SBX_EXEC, &verdict);
	return verdict.point;
}

/* One that no nearer rule decides about, if there is such a one. */
static const char *program_beneath(struct prove *prove, const char *top)
{
	static const char *const places[] = { "/bin",   "/sbin",      "/libexec",
					      "/games", "/local/bin", "" };
	const char *found = NULL;

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		const char *program =
		    program_in(prove, arena_printf(prove->arena, "%s%s", top, places[i]));

		if (program && decider(prove, program) == decider(prove, top))
			return program;
		if (!found)
			found = program;
	}
	return found;
}

/* What of @path is tried for @right; where nothing can be, *why says so. */
static const char *object_of(struct prove *prove, const char *path, unsigned right,
			     const char **why)
{
	bool own = scratch_has(prove, path);
	const char *inside;
	struct stat st;

	if (own && is_directory(path))
		return arena_printf(prove->arena, "%s/" BAIT_NAME, path);
	if (own)
		return path;
	if (stat(path, &st)) {
		*why = "this host has no such name, and its place is not prove's to write in";
		return path;
	}
	if (!S_ISDIR(st.st_mode) || right == SBX_READ)
		return path;
	if (right == SBX_WRITE) {
		*why = "a directory of the host, in which nothing is made";
		return path;
	}
	inside = program_beneath(prove, path);
	if (!inside)
		*why = "no program in it to execute";
	return inside ? inside : path;
}

/* No session starts where what is refused so is not held: Landlock has ways of its own for
 * some of it, such as a program that is left out of /usr/bin. */
static bool is_insisted(const struct prove *prove, const struct sbx_fs_verdict *verdict)
{
	uint32_t rule = verdict->allowed || verdict->point == SBX_NONE
			    ? SBX_RULE_SELF
			    : prove->view.points.items[verdict->point].rule;

	return rule < SBX_COUNT(&prove->blob, FS) &&
	       !(SBX_AT(&prove->blob, FS, sbx_fs_rule, rule)->head.flags & SBX_F_BEST_EFFORT);
}

/* What this backend does not hold, and the policy says it can do without. */
static const char *not_held(struct prove *prove, const char *path, unsigned right,
			    const struct sbx_fs_verdict *verdict)
{
	enum sbx_duty duty = duty_of_path(prove->arena, &prove->view.set, path, right, verdict);

	if (target_holds(&prove->target, duty) || is_insisted(prove, verdict))
		return NULL;
	return arena_printf(prove->arena, "not held on %s: %s",
			    sbx_backend_name(prove->target.backend),
			    sbx_lack_why(duty, prove->target.backend));
}

struct claim *claim_path(struct prove *prove, enum sbx_section_id section, uint32_t rule,
			 const char *path, unsigned right, const char *verb)
{
	struct claim *claim = claim_add(prove, section, rule);
	struct sbx_fs_verdict verdict;
	const char *real = view_real(prove->arena, path);
	const struct sbx_fs_point *made;
	struct stat st;

	sbx_fs_decide(&prove->view.set, real, right, &verdict);
	made = point_made(&prove->view.set, &verdict);
	if (made && made->verb == SBX_FS_TMP && strcmp(made->path, real)) {
		if (right != SBX_WRITE)
			claim->why = "nothing is there yet: it begins empty";
		verb = "make";
	}
	claim->through = verdict.allowed;
	claim->object = path;
	claim->right = right;
	claim->tried = arena_printf(prove->arena, "%s %s", verb, scratch_shown(prove, path));
	if (!strcmp(verb, "exec") && scratch_has(prove, path))
		verb = "run";
	claim->request =
	    arena_printf(prove->arena, "%s %s", verb, claim_escaped(prove->arena, path));
	claim->outside = true;
	claim->itself = !verdict.allowed && verdict.point != SBX_NONE &&
			prove->view.points.items[verdict.point].rule == SBX_RULE_SELF;
	/* To open a device can be to do something to it. */
	if (stat(path, &st) == 0 && (S_ISCHR(st.st_mode) || S_ISBLK(st.st_mode)))
		claim->outside = claim->through;
	if (not_held(prove, real, right, &verdict))
		claim->why = not_held(prove, real, right, &verdict);
	return claim;
}

/* Would it be seen there?  What is the host's is not written, and seldom executed. */
static bool can_tell(const struct prove *prove, const char *object, unsigned right)
{
	struct stat st;

	return scratch_has(prove, object) ||
	       (right == SBX_EXEC && stat(object, &st) == 0 && S_ISREG(st.st_mode) &&
		st.st_mode & 0111);
}

/* Also the rights that the rule does not speak of, as others have them: it has to leave them
 * as they are. */
static void add_rights(struct prove *prove, uint32_t index, const char *path)
{
	const struct sbx_fs_rule *rule = SBX_AT(&prove->blob, FS, sbx_fs_rule, index);
	bool takes = rule->head.verb >= SBX_FS_DENY, made = rule->head.verb == SBX_FS_TMP;

	for (size_t i = 0; i < sizeof(rights) / sizeof(rights[0]); i++) {
		const bool own = rule->rights & rights[i].right;
		const char *why = NULL, *object;
		struct claim *claim;

		object = made ? path : object_of(prove, path, rights[i].right, &why);
		if (!own && (made || why || !can_tell(prove, object, rights[i].right)))
			continue;
		claim = claim_path(prove, SBX_SEC_FS, index, object, rights[i].right, rights[i].verb);
		if (made && rights[i].right == SBX_EXEC)
			why = "nothing is there yet: it begins empty";
		if (own && claim->through == takes && !why)
			why = takes ? "another rule opens it" : "another rule closes it";
		claim->outside &= !made;
		if (why)
			claim->why = why;
	}
}

/* In a copy, or a grant inside another rule: what that does not give, and what patterns
 * keep out of it. */
static void add_inside(struct prove *prove, uint32_t index)
{
	const unsigned given = SBX_AT(&prove->blob, FS, sbx_fs_rule, index)->rights;
	const char *top = path_inside(prove, index), *name, *why = NULL;
	struct sbx_fs_verdict verdict;

	for (size_t i = 0; top && i < sizeof(rights) / sizeof(rights[0]); i++) {
		const unsigned right = rights[i].right;

		name = object_of(prove, top, right, &why);
		sbx_fs_decide(&prove->view.set, view_real(prove->arena, name), right, &verdict);
		if (!(given & right) && !verdict.allowed)
			claim_path(prove, SBX_SEC_FS, index, name, right, rights[i].verb);
		for (uint32_t k = 0; k < SBX_COUNT(&prove->blob, FS); k++) {
			if (!(SBX_AT(&prove->blob, FS, sbx_fs_rule, k)->rights & right) ||
			    !(name = match_beneath(prove, k, top)))
				continue;
			sbx_fs_decide(&prove->view.set, view_real(prove->arena, name), right,
				      &verdict);
			if (!verdict.allowed)
				claim_path(prove, SBX_SEC_FS, k, name, right, rights[i].verb);
		}
	}
}

/* What a seal takes, where it says that it does not: as other rules have it. */
static void add_excepts(struct prove *prove, uint32_t index)
{
	const unsigned taken = SBX_AT(&prove->blob, FS, sbx_fs_rule, index)->rights;
	const char *path;

	for (uint32_t n = 0; (path = except_path(prove, index, n)); n++)
		for (size_t i = 0; i < sizeof(rights) / sizeof(rights[0]); i++) {
			const char *why = NULL, *object;
			struct claim *claim;

			if (!(taken & rights[i].right))
				continue;
			object = object_of(prove, path, rights[i].right, &why);
			claim = claim_path(prove, SBX_SEC_FS, index, object, rights[i].right,
					 rights[i].verb);
			if (why)
				claim->why = why;
		}
}

/* Is it this name that is kept, in a directory which can be written? */
static bool is_kept(struct prove *prove, uint32_t index, const char *path)
{
	const struct sbx_fs_rule *rule = SBX_AT(&prove->blob, FS, sbx_fs_rule, index);
	const char *above = arena_copy(prove->arena, path, (size_t)(strrchr(path, '/') - path));

	if (!(rule->rights & SBX_WRITE) || !scratch_has(prove, path) ||
	    !sbx_fs_allows(&prove->view.set, above, SBX_WRITE) ||
	    sbx_fs_allows(&prove->view.set, path, SBX_WRITE))
		return false;
	for (size_t i = 0; i < prove->view.points.count; i++) {
		/* A grant at or beneath it is a mount of its own, which nothing moves. */
		const struct sbx_fs_point *point = &prove->view.points.items[i];

		if (point->verb < SBX_FS_DENY &&
		    (!strcmp(point->path, path) || is_beneath(point->path, path)))
			return false;
	}
	return true;
}

/* It could be moved, replaced or removed, or be written by a second name. */
static void add_ways(struct prove *prove, uint32_t index, const char *path)
{
	static const char *const ways[] = { "move", "exchange", "link", "unlink" };
	const size_t count = is_directory(path) ? 2 : sizeof(ways) / sizeof(ways[0]);

	for (size_t i = 0; i < count; i++)
		claim_path(prove, SBX_SEC_FS, index, path, SBX_WRITE, ways[i]);
}

/* Does another rule speak of something in it, or git of what makes it a repository? */
static bool is_needed(const struct prove *prove, const char *path)
{
	static const char *const parts[] = { "HEAD", "objects", "refs" };
	const char *git = prove->view.vars.value[SBX_VAR_GITDIR];

	for (size_t i = 0; git && i < sizeof(parts) / sizeof(parts[0]); i++)
		if (!strcmp(path, arena_printf(prove->arena, "%s/%s", git, parts[i])))
			return true;
	for (size_t i = 0; i < prove->view.points.count; i++)
		if (is_beneath(prove->view.points.items[i].path, path))
			return true;
	return false;
}

/* A name that is not there yet could be made, too. */
static void add_absent(struct prove *prove, uint32_t index, const char *path)
{
	static const char *const ways[] = { "make", "over", "displace" };

	if (is_needed(prove, path))
		return;
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		struct claim *claim = claim_path(prove, SBX_SEC_FS, index, path, SBX_WRITE, ways[i]);

		claim->apart = APART_ABSENT;
		claim->outside = false;
		claim->tried = arena_printf(prove->arena, "%s, while it is absent", claim->tried);
	}
}

void claims_files(struct prove *prove)
{
	for (uint32_t i = 0; i < SBX_COUNT(&prove->blob, FS); i++) {
		const char *path = rule_path(prove, i);

		if (!path)
			continue; /* a variable without a value: it says nothing here */
		add_rights(prove, i, path);
		add_inside(prove, i);
		add_excepts(prove, i);
		if (SBX_AT(&prove->blob, FS, sbx_fs_rule, i)->head.verb < SBX_FS_DENY ||
		    !is_kept(prove, i, path))
			continue;
		add_ways(prove, i, path);
		if (!is_wild(prove, i))
			add_absent(prove, i, path);
	}
	for (uint32_t i = 0; i < SBX_COUNT(&prove->blob, ASSERTS); i++) {
		const char *path = assert_path(prove, i), *why = NULL;
		const struct sbx_assert *said = SBX_AT(&prove->blob, ASSERTS, sbx_assert, i);
		unsigned right = 1u << said->action;
		struct claim *claim;
		struct sbx_fs_verdict verdict;

		if (!path)
			continue;
		sbx_fs_decide(&prove->view.set, view_real(prove->arena, path), right, &verdict);
		if (!point_made(&prove->view.set, &verdict))
			path = object_of(prove, path, right, &why);
		claim = claim_path(prove, SBX_SEC_ASSERTS, i, path, right, rights[said->action].verb);
		if (point_made(&prove->view.set, &verdict))
			claim->outside = false;
		if (why)
			claim->why = why;
	}
	claims_kinds(prove);
}
