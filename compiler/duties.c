/*
 * compiler/duties.c - what a policy asks of a backend, on paper.
 *
 * A deny or seal is a duty of its own where what it takes is given right above
 * it: elsewhere nothing gives it, and that is what every backend starts from.
 * A grant is one where such a deny is right above it.
 */
#include "compiler/duties.h"

#include <string.h>

#include "blob/contest.h"
struct finder {
	struct arena *arena;
	const struct sbx_blob *blob;
	const struct sbx_fs_set *set;
	struct duties *out;
};

static const unsigned all_rights[] = { SBX_READ, SBX_WRITE, SBX_EXEC };

static void add(struct finder *f, enum sbx_duty what, enum sbx_section_id section, uint32_t rule,
		bool optional)
{
	for (size_t i = 0; i < f->out->count; i++) {
		const struct duty *duty = &f->out->items[i];

		if (duty->what == what && duty->section == section && duty->rule == rule)
			return;
	}
	*VEC_PUSH(f->arena, f->out) = (struct duty){ what, section, rule, optional };
}

static void add_plain(struct finder *f, enum sbx_duty what)
{
	add(f, what, SBX_SEC_META, SBX_NONE, false);
}

static bool is_soft(const struct sbx_head *head)
{
	return head->flags & SBX_F_BEST_EFFORT;
}

/* ---- files ------------------------------------------------------------------------ */

static const char *parent(struct arena *arena, const char *path)
{
	const char *end = strrchr(path, '/');

	return end == path ? "/" : arena_copy(arena, path, (size_t)(end - path));
}

/* Where a point begins to hold: a pattern at the directory before its first wildcard. */
static const char *top_of(struct arena *arena, const struct sbx_fs_point *point)
{
	size_t length = strcspn(point->path, "*?[\\");

	if (!point->wild)
		return parent(arena, point->path);
	while (length > 1 && point->path[--length] != '/')
		;
	return length ? arena_copy(arena, point->path, length) : "/";
}

/* Do grants at @path or above give @right there, whatever is taken away again?  What is
 * made for the session is not the host's: nothing lies beneath it. */
static bool is_given(const struct sbx_fs_set *set, const char *path, unsigned right)
{
	for (size_t i = 0; i < set->count; i++) {
		const struct sbx_fs_point *point = &set->points[i];
		bool gives = point->verb == SBX_FS_GRANT || point->verb == SBX_FS_DEVICE ||
			     (point->verb == SBX_FS_COPY && right != SBX_WRITE);

		if (gives && point->path && point->rights & right &&
		    sbx_fs_covers(point, path) >= 0)
			return true;
	}
	return false;
}

/* The same of one path, where a grant that is taken away at the very name that it speaks of
 * gives nothing beneath it either. */
static bool is_given_at(struct arena *arena, const struct sbx_fs_set *set, const char *path,
			unsigned right)
{
	for (;; path = parent(arena, path)) {
		if (sbx_fs_allows(set, path, right) && is_given(set, path, right))
			return true;
		if (!strcmp(path, "/"))
			return false;
	}
}

/* A grant of @right somewhere beneath @top, which a pattern may reach into. */
static bool grants_beneath(const struct sbx_fs_set *set, const char *top, unsigned right)
{
	for (size_t i = 0; i < set->count; i++) {
		const struct sbx_fs_point *point = &set->points[i];

		if (point->verb <= SBX_FS_DEVICE && point->path && point->rights & right &&
		    sbx_path_beneath(top, point->path) >= 0)
			return true;
	}
	return false;
}

/* Is this deny or seal, for one of the rights it takes, beneath what gives it? */
static bool takes_beneath(struct finder *f, const struct sbx_fs_point *point)
{
	const char *top = top_of(f->arena, point);

	/* These are PROCESSES and TERMINALS. */
	if (sbx_path_beneath("/proc", point->path) >= 0 ||
	    sbx_path_beneath("/dev", point->path) >= 0)
		return false;
	for (size_t i = 0; i < sizeof(all_rights) / sizeof(*all_rights); i++) {
		unsigned right = all_rights[i] & point->rights;

		if (!right)
			continue;
		if (point->wild &&
		    (is_given(f->set, top, right) || grants_beneath(f->set, top, right)))
			return true;
		if (!point->wild && is_given(f->set, top, right) &&
		    !sbx_fs_allows(f->set, point->path, right))
			return true;
	}
	return false;
}

/* What refuses right above this grant, where that is a deny beneath a grant. */
static bool gives_beneath(struct finder *f, const struct sbx_fs_point *point)
{
	const char *top = top_of(f->arena, point);

	for (size_t i = 0; i < sizeof(all_rights) / sizeof(*all_rights); i++) {
		struct sbx_fs_verdict verdict;

		if (!(all_rights[i] & point->rights) || point->wild)
			continue;
		sbx_fs_decide(f->set, top, all_rights[i], &verdict);
		if ((verdict.why == SBX_WHY_DENY || verdict.why == SBX_WHY_SEAL) &&
		    sbx_fs_allows(f->set, point->path, all_rights[i]) &&
		    takes_beneath(f, &f->set->points[verdict.point]))
			return true;
	}
	return false;
}

/* Does this seal leave something open beneath it, where it takes beneath what gives? */
static bool excepts_beneath(struct finder *f, const struct sbx_fs_point *point)
{
	if (point->verb != SBX_FS_SEAL || !takes_beneath(f, point))
		return false;
	for (uint32_t i = 0; i < point->except_count; i++)
		for (size_t k = 0; k < sizeof(all_rights) / sizeof(*all_rights); k++)
			if (all_rights[k] & point->rights &&
			    sbx_fs_allows(f->set, f->set->excepts[point->except_first + i],
					  all_rights[k]))
				return true;
	return false;
}

/* Most of what has a name there is a device. */
static bool is_node(const char *path)
{
	static const char *const others[] = { "/dev/shm", "/dev/pts", "/dev/mqueue" };

	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		if (sbx_path_beneath(others[i], path) >= 0)
			return false;
	return sbx_path_beneath("/dev", path) >= 0 && strcmp(path, "/dev");
}

static bool in_made(const struct sbx_fs_set *set, const struct sbx_fs_point *point)
{
	for (size_t i = 0; i < set->count; i++)
		if ((set->points[i].verb == SBX_FS_TMP || set->points[i].verb == SBX_FS_COPY) &&
		    set->points[i].path && sbx_path_beneath(set->points[i].path, point->path) >= 0)
			return true;
	return false;
}

/* A program in a directory that is root's wherever Linux is. */
static bool is_program(const char *path)
{
	static const char *const places[] = { "/usr/bin", "/usr/sbin", "/bin", "/sbin",
					      "/usr/local/bin" };

	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		size_t length = strlen(places[i]);

		if (!strncmp(path, places[i], length) && path[length] == '/' &&
		    !strchr(path + length + 1, '/'))
			return true;
	}
	return false;
}

bool duty_left_out(const struct sbx_blob *blob, const struct sbx_fs_set *set,
		   const struct sbx_fs_point *point)
{
	return point->path && !point->wild && point->rule < SBX_COUNT(blob, FS) &&
	       !is_soft(&SBX_AT(blob, FS, sbx_fs_rule, point->rule)->head) &&
	       is_program(point->path) && !is_given(set, point->path, SBX_WRITE);
}

static void find_files(struct finder *f)
{
	bool reads = false;

	for (size_t i = 0; i < f->set->count; i++) {
		const struct sbx_fs_point *point = &f->set->points[i];
		bool takes = point->verb == SBX_FS_DENY || point->verb == SBX_FS_SEAL;
		const struct sbx_fs_rule *rule;

		if (!point->path || point->rule >= SBX_COUNT(f->blob, FS))
			continue;
		rule = SBX_AT(f->blob, FS, sbx_fs_rule, point->rule);
		reads |= point->verb == SBX_FS_GRANT && !(point->rights & SBX_WRITE);
		if (takes && takes_beneath(f, point) && !duty_left_out(f->blob, f->set, point))
			add(f, SBX_DUTY_DENY_BENEATH, SBX_SEC_FS, point->rule,
			    is_soft(&rule->head));
		if ((point->verb == SBX_FS_GRANT && gives_beneath(f, point)) ||
		    excepts_beneath(f, point))
			add(f, SBX_DUTY_GRANT_BENEATH, SBX_SEC_FS, point->rule,
			    is_soft(&rule->head));
		if (point->verb == SBX_FS_GRANT && is_node(point->path))
			add(f, SBX_DUTY_DEVICE_CALLS, SBX_SEC_FS, point->rule,
			    is_soft(&rule->head));
		if (takes && !point->wild && in_made(f->set, point))
			add(f, SBX_DUTY_DENY_IN_TMP, SBX_SEC_FS, point->rule, is_soft(&rule->head));
		if (point->verb == SBX_FS_TMP)
			add(f, sbx_duty_of_tmp(point->path), SBX_SEC_FS, point->rule,
			    is_soft(&rule->head));
		if (point->verb == SBX_FS_TMP && sbx_fs_extra(f->blob, rule)->size_kib)
			add(f, SBX_DUTY_TMP_SIZE, SBX_SEC_FS, point->rule, is_soft(&rule->head));
		if (point->verb == SBX_FS_COPY)
			add(f, SBX_DUTY_COPY, SBX_SEC_FS, point->rule, is_soft(&rule->head));
	}
	if (reads)
		add_plain(f, SBX_DUTY_TRUNCATE);
	if (is_given(f->set, "/dev/sbx", SBX_READ))
		add_plain(f, SBX_DUTY_DEVICE_CALLS);
}

const struct sbx_fs_point *point_made(const struct sbx_fs_set *set,
				      const struct sbx_fs_verdict *verdict)
{
	if (verdict->point == SBX_NONE)
		return NULL;
	if (set->points[verdict->point].verb == SBX_FS_TMP)
		return &set->points[verdict->point];
	/* `exec /tmp` beside `tmp /tmp`: whichever decided, it is the tmpfs. */
	for (size_t i = 0; i < set->count; i++)
		if ((set->points[i].verb == SBX_FS_TMP || set->points[i].verb == SBX_FS_COPY) &&
		    (i == verdict->point ||
		     (verdict->allowed &&
		      !strcmp(set->points[i].path, set->points[verdict->point].path))))
			return &set->points[i];
	return NULL;
}

/* The best-effort tmp or copy that @point is, or whose own rights it gives. */
static const struct sbx_fs_point *soft_made(const struct sbx_blob *blob,
					    const struct sbx_fs_set *set,
					    const struct sbx_fs_point *point)
{
	for (size_t i = 0; i < set->count; i++) {
		const struct sbx_fs_point *made = &set->points[i];

		if ((made->verb == SBX_FS_TMP || made->verb == SBX_FS_COPY) && made->path &&
		    point->path && !strcmp(made->path, point->path) &&
		    is_soft(&SBX_AT(blob, FS, sbx_fs_rule, made->rule)->head))
			return made;
	}
	return NULL;
}

bool fs_set_unmade(struct arena *arena, const struct sbx_blob *blob, const struct sbx_fs_set *set,
		   struct sbx_fs_set *out)
{
	struct sbx_fs_point *points = arena_array(arena, set->count, sizeof(*points));
	bool any = false;

	for (size_t i = 0; i < set->count; i++) {
		const struct sbx_fs_point *made = NULL;

		points[i] = set->points[i];
		if (points[i].verb != SBX_FS_DENY && points[i].verb != SBX_FS_SEAL)
			made = soft_made(blob, set, &points[i]);
		if (!made)
			continue;
		any = true;
		points[i].rights &= made->verb == SBX_FS_COPY ? SBX_READ | SBX_EXEC : 0;
		points[i].verb = SBX_FS_GRANT;
	}
	*out = (struct sbx_fs_set){ points, set->count, set->excepts };
	return any;
}

/* The directory of what @point matches of @path: itself or one above. */
static const char *top_at(struct arena *arena, const struct sbx_fs_point *point, const char *path)
{
	int depth = sbx_fs_covers(point, path);
	const char *end = path;

	if (!point->wild || depth < 0)
		return top_of(arena, point);
	while (depth-- > 0 && *end)
		end += 1 + strcspn(end + 1, "/");
	return parent(arena, arena_copy(arena, path, (size_t)(end - path)));
}

/* Is @path, where @right is allowed, what a seal excepts that takes beneath what gives it? */
static bool is_excepted(struct arena *arena, const struct sbx_fs_set *set, const char *path,
			unsigned right)
{
	for (size_t i = 0; i < set->count; i++) {
		const struct sbx_fs_point *point = &set->points[i];

		if (point->verb == SBX_FS_SEAL && point->except_count && point->rights & right &&
		    sbx_fs_covers(point, path) >= 0 &&
		    is_given_at(arena, set, top_at(arena, point, path), right))
			return true;
	}
	return false;
}

enum sbx_duty duty_of_path(struct arena *arena, const struct sbx_fs_set *set, const char *path,
			   unsigned right, const struct sbx_fs_verdict *verdict)
{
	uint32_t denial = verdict->allowed ? verdict->loser : verdict->point;
	const struct sbx_fs_point *point;

	if (verdict->point == SBX_NONE)
		return SBX_DUTY_GRANTS;
	point = &set->points[verdict->point];
	if (point->rule == SBX_RULE_SELF)
		return SBX_DUTY_DENY_BENEATH;
	point = point_made(set, verdict);
	if (point)
		return point->verb == SBX_FS_TMP ? sbx_duty_of_tmp(point->path) : SBX_DUTY_COPY;
	if (verdict->allowed && is_excepted(arena, set, path, right))
		return SBX_DUTY_GRANT_BENEATH;
	if (denial == SBX_NONE || verdict->loser == SBX_NONE)
		return SBX_DUTY_GRANTS;
	point = &set->points[denial];
	if (point->verb < SBX_FS_DENY)
		return SBX_DUTY_GRANTS; /* of the host's own, in a tmp or a copy */
	if (!is_given_at(arena, set, top_at(arena, point, path), right))
		return SBX_DUTY_GRANTS;
	/* Of one name the literal wins: nothing lies over it that would have to be lifted. */
	if (verdict->allowed && point->wild && !set->points[verdict->point].wild &&
	    sbx_fs_covers(point, parent(arena, set->points[verdict->point].path)) < 0)
		return SBX_DUTY_GRANTS;
	return verdict->allowed ? SBX_DUTY_GRANT_BENEATH : SBX_DUTY_DENY_BENEATH;
}

/* ---- the rest ----------------------------------------------------------------------- */

static bool shares(const struct sbx_blob *blob, enum sbx_process what)
{
	for (uint32_t i = 0; i < SBX_COUNT(blob, PROCESS); i++)
		if (SBX_AT(blob, PROCESS, sbx_process_rule, i)->what == what)
			return true;
	return false;
}

static bool may_call(const struct sbx_blob *blob, uint32_t nr)
{
	struct sbx_sys_verdict verdict;
	bool depends;

	sbx_sys_decide_name(blob, SBX_X86_64, nr, &verdict, &depends);
	return verdict.action == SBX_ACT_ALLOW || depends;
}

static void find_network(struct finder *f)
{
	uint32_t mode = sbx_meta(f->blob)->net_mode;
	bool network = mode != SBX_NET_HOST;

	if (network)
		add_plain(f, mode == SBX_NET_PROXY ? SBX_DUTY_PROXY : SBX_DUTY_NO_NETWORK);
	for (uint32_t i = 0; i < SBX_COUNT(f->blob, CREDENTIALS); i++)
		add(f, SBX_DUTY_CREDENTIALS, SBX_SEC_CREDENTIALS, i, false);
	for (uint32_t i = 0; network && i < SBX_COUNT(f->blob, NET); i++) {
		const struct sbx_net_rule *rule = SBX_AT(f->blob, NET, sbx_net_rule, i);

		if (rule->head.verb == SBX_NETV_LISTEN && rule->kind == SBX_NETK_PORT)
			add(f, SBX_DUTY_LISTEN, SBX_SEC_NET, i, is_soft(&rule->head));
	}
	if (may_call(f->blob, 42)) { /* connect(2) */
		add_plain(f, SBX_DUTY_PATH_SOCKETS);
		add_plain(f, SBX_DUTY_ABSTRACT_SOCKETS);
	}
}

static void find_process(struct finder *f)
{
	const struct sbx_blob *blob = f->blob;

	for (uint32_t i = 0; i < SBX_COUNT(blob, PROCESS); i++) {
		const struct sbx_process_rule *rule = SBX_AT(blob, PROCESS, sbx_process_rule, i);

		if (rule->what == SBX_PROCESS_USERNS)
			add(f, SBX_DUTY_USER_NAMESPACES, SBX_SEC_PROCESS, i, is_soft(&rule->head));
		if (rule->what == SBX_PROCESS_TERMINAL)
			add(f, SBX_DUTY_TERMINALS, SBX_SEC_PROCESS, i,
			    is_soft(&rule->head) || shares(blob, SBX_PROCESS_SHARE_TERMINALS));
	}
	for (uint32_t i = 0; i < SBX_COUNT(blob, ASSERTS); i++) {
		const struct sbx_assert *claim = SBX_AT(blob, ASSERTS, sbx_assert, i);

		if (claim->head.verb == SBX_CAN && claim->action == SBX_DO_USE &&
		    !strcmp(sbx_string(blob, claim->object.text), "pty"))
			add(f, SBX_DUTY_TERMINALS, SBX_SEC_ASSERTS, i,
			    shares(blob, SBX_PROCESS_SHARE_TERMINALS));
	}
	for (uint32_t i = 0; i < SBX_COUNT(blob, LIMITS); i++) {
		const struct sbx_limit_rule *rule = SBX_AT(blob, LIMITS, sbx_limit_rule, i);

		if (rule->limit == SBX_LIMIT_PROCESSES)
			add(f, SBX_DUTY_PROCESS_COUNT, SBX_SEC_LIMITS, i, is_soft(&rule->head));
	}
	if (is_given(f->set, "/dev/pts/ptmx", SBX_READ))
		add(f, SBX_DUTY_TERMINALS, SBX_SEC_META, SBX_NONE,
		    shares(blob, SBX_PROCESS_SHARE_TERMINALS));
	if (is_given(f->set, "/proc/1", SBX_READ))
		add(f, SBX_DUTY_PROCESSES, SBX_SEC_META, SBX_NONE,
		    shares(blob, SBX_PROCESS_SHARE_PROCESSES));
	add(f, SBX_DUTY_SIGNALS, SBX_SEC_META, SBX_NONE, shares(blob, SBX_PROCESS_SHARE_SIGNALS));
	add(f, SBX_DUTY_ATTRIBUTES, SBX_SEC_META, SBX_NONE,
	    shares(blob, SBX_PROCESS_SHARE_ATTRIBUTES));
	add_plain(f, SBX_DUTY_SAME_USER);
	if (!shares(blob, SBX_PROCESS_USERNS))
		add_plain(f, SBX_DUTY_DESCRIPTORS);
}

void duties_collect(struct arena *arena, const struct sbx_blob *blob, const struct sbx_fs_set *set,
		    struct duties *out)
{
	struct finder f = { arena, blob, set, out };

	add_plain(&f, SBX_DUTY_GRANTS);
	find_files(&f);
	find_network(&f);
	find_process(&f);
}
