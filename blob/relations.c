/*
 * blob/relations.c - what fields and records must agree on.
 *
 * fields.c has shown that each value is possible by itself.  Here: which
 * sections must be there, what a verb needs beside it, orders that readers
 * search by, and the seccomp programs.
 */
#include "blob/check.h"

#include <string.h>

#define FOR_EACH(blob, id, type, var)                                                              \
	for (const struct type *var = (blob)->section[SBX_SEC_##id].records,                       \
			       *var##_end = var ? var + SBX_COUNT(blob, id) : var;                 \
	     var != var##_end; var++)

static bool check_presence(const struct sbx_blob *blob, struct sbx_reason *why)
{
	static const uint32_t needed[] = {
		SBX_SEC_STRINGS,    SBX_SEC_META,        SBX_SEC_SYS_STMTS,
		SBX_SEC_BPF_X86_64, SBX_SEC_BPF_AARCH64, SBX_SEC_LANDLOCK,
	};

	for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++)
		if (!blob->section[needed[i]].count)
			return sbx_refuse(why, "section %s is missing",
					  sbx_section_spec(needed[i])->name);
	return true;
}

static bool check_strings(const struct sbx_blob *blob, struct sbx_reason *why)
{
	const char *strings = blob->section[SBX_SEC_STRINGS].records;
	uint32_t count = SBX_COUNT(blob, STRINGS);

	if (strings[0] || strings[count - 1])
		return sbx_refuse(why, "the string table does not start and end with NUL");
	return true;
}

/*
 * Marks, in all strings at once: no other string has such bytes, and a
 * reference into the middle of a mark reads its second byte as text.
 */
static bool check_marks(const struct sbx_blob *blob, struct sbx_reason *why)
{
	const char *at = blob->section[SBX_SEC_STRINGS].records;
	const char *end = at + SBX_COUNT(blob, STRINGS), *next;
	unsigned mark, value;

	for (; at < end; at = next ? next : at + 1) {
		bool fine = true;

		next = sbx_piece(at, &mark, &value);
		if (!next || !mark)
			continue;
		if (mark == SBX_MARK_VAR)
			fine = value < SBX_VAR_COUNT ||
			       (value >= SBX_VAR_PARAM &&
				value - SBX_VAR_PARAM < SBX_COUNT(blob, PARAMS));
		else if (mark == SBX_MARK_WILD)
			fine = value && strchr("*?[]\\", (int)value);
		else
			fine = value && value <= SBX_MARK_BYTE;
		if (!fine)
			return sbx_refuse(why, "a mark %u in a template stands for nothing", mark);
	}
	return true;
}

/* A param may use those before it only, so their values can be had in order. */
static bool uses_only_before(const struct sbx_blob *blob, struct sbx_tmpl tmpl, uint32_t param)
{
	const char *at = sbx_string(blob, tmpl.text);
	unsigned mark, value;

	while ((at = sbx_piece(at, &mark, &value)))
		if (mark == SBX_MARK_VAR && value >= SBX_VAR_PARAM + param)
			return false;
	return true;
}

static bool check_params(const struct sbx_blob *blob, struct sbx_reason *why)
{
	for (uint32_t i = 0; i < SBX_COUNT(blob, PARAMS); i++) {
		const struct sbx_param *param = SBX_AT(blob, PARAMS, sbx_param, i);
		bool fine = uses_only_before(blob, param->value, i) &&
			    uses_only_before(blob, param->under, i);

		for (uint32_t n = 0; fine && n < param->choice_count; n++)
			fine = uses_only_before(
			    blob, *SBX_AT(blob, TMPLS, sbx_tmpl, param->choice_first + n), i);
		if (!fine)
			return sbx_refuse(why, "param %u uses itself or a later one", i);
	}
	return true;
}

static bool check_locs(const struct sbx_blob *blob, struct sbx_reason *why)
{
	uint32_t count = SBX_COUNT(blob, LOCS), files = SBX_COUNT(blob, FILES);

	FOR_EACH(blob, LOCS, sbx_loc, loc)
	if (loc->file >= files)
		return sbx_refuse(why, "a location in file %u of %u", loc->file, files);
	if (count && SBX_AT(blob, LOCS, sbx_loc, count - 1)->more)
		return sbx_refuse(why, "the last location says that one follows");
	return true;
}

/* Paths start at the root, or with a variable that does. */
static bool is_absolute(const struct sbx_blob *blob, struct sbx_tmpl tmpl)
{
	unsigned mark, value;

	if (!sbx_piece(sbx_string(blob, tmpl.text), &mark, &value))
		return false;
	if (mark == SBX_MARK_VAR)
		return value != SBX_VAR_USER && value != SBX_VAR_UID;
	return !mark && value == '/';
}

static bool check_fs(const struct sbx_blob *blob, struct sbx_reason *why)
{
	const struct sbx_meta *meta = sbx_meta(blob);
	uint32_t n = 0;

	FOR_EACH(blob, FS, sbx_fs_rule, rule)
	{
		if (!rule->rights)
			return sbx_refuse(why, "file rule %u speaks of no right", n);
		if (!is_absolute(blob, rule->path))
			return sbx_refuse(why, "file rule %u has a path that is not absolute", n);
		if (sbx_fs_extra(blob, rule)->except_count && rule->head.verb != SBX_FS_SEAL)
			return sbx_refuse(why, "file rule %u has exceptions and is no seal", n);
		n++;
	}
	if (meta->workspace_rule != SBX_NONE && !sbx_present(meta->workspace))
		return sbx_refuse(why, "a workspace rule without a workspace");
	if (blob->header->kind == SBX_POLICY &&
	    (meta->workspace_rule == SBX_NONE || meta->unbounded))
		return sbx_refuse(why, "a policy needs a workspace and leaves nothing unbounded");
	return true;
}

static bool check_statements(const struct sbx_blob *blob, struct sbx_reason *why)
{
	uint32_t n = 0;

	FOR_EACH(blob, SYS_STMTS, sbx_sys_stmt, stmt)
	{
		bool allows = stmt->action == SBX_ACT_ALLOW;

		if ((stmt->head.verb == SBX_SYS_ALLOW && !allows) ||
		    ((stmt->head.verb == SBX_SYS_DENY || stmt->head.verb == SBX_SYS_SEAL) &&
		     allows))
			return sbx_refuse(why, "system call statement %u: verb and action differ",
					  n);
		if ((stmt->action == SBX_ACT_ERRNO) != (stmt->error != 0))
			return sbx_refuse(
			    why, "system call statement %u: errno without need or none", n);
		if (stmt->head.verb == SBX_SYS_DEFAULT && stmt->cond_count)
			return sbx_refuse(why, "the default action has a condition");
		if (stmt->head.flags & SBX_F_SHARED && stmt->head.verb != SBX_SYS_DENY &&
		    stmt->head.verb != SBX_SYS_SEAL)
			return sbx_refuse(why, "system call statement %u: shared and takes nothing",
					  n);
		n++;
	}
	if (SBX_AT(blob, SYS_STMTS, sbx_sys_stmt, sbx_meta(blob)->sys_default)->head.verb !=
	    SBX_SYS_DEFAULT)
		return sbx_refuse(why, "the default action is not a default statement");
	return true;
}

static bool check_conditions(const struct sbx_blob *blob, struct sbx_reason *why)
{
	uint32_t n = 0;

	FOR_EACH(blob, SYS_CONDS, sbx_sys_cond, cond)
	{
		if (cond->width != 4 && cond->width != 8)
			return sbx_refuse(why, "condition %u: width %u", n, cond->width);
		if (cond->width == 4 && cond->mask >> 32)
			return sbx_refuse(why, "condition %u: mask wider than the argument", n);
		if (!cond->value_count || (cond->value_count > 1 && cond->op != SBX_IN))
			return sbx_refuse(why, "condition %u: %u values", n, cond->value_count);
		n++;
	}
	return true;
}

static bool entry_before(const struct sbx_sys_entry *a, const struct sbx_sys_entry *b)
{
	if (a->nr[SBX_X86_64] != b->nr[SBX_X86_64])
		return a->nr[SBX_X86_64] < b->nr[SBX_X86_64];
	if (a->nr[SBX_AARCH64] != b->nr[SBX_AARCH64])
		return a->nr[SBX_AARCH64] < b->nr[SBX_AARCH64];
	return a->stmt < b->stmt;
}

/* What only a second program holds is held by none if there is no such program. */
static bool is_programmed(const struct sbx_blob *blob, const struct sbx_sys_entry *entry)
{
	return (entry->nr[SBX_X86_64] == SBX_SYS_ABSENT || SBX_COUNT(blob, BPF_SHARED_X86_64)) &&
	       (entry->nr[SBX_AARCH64] == SBX_SYS_ABSENT || SBX_COUNT(blob, BPF_SHARED_AARCH64));
}

static bool check_entries(const struct sbx_blob *blob, struct sbx_reason *why)
{
	const struct sbx_sys_entry *before = NULL;

	FOR_EACH(blob, SYS_ENTRIES, sbx_sys_entry, entry)
	{
		const struct sbx_sys_stmt *stmt;

		if (entry->stmt >= SBX_COUNT(blob, SYS_STMTS))
			return sbx_refuse(why, "a system call entry of no statement");
		stmt = SBX_AT(blob, SYS_STMTS, sbx_sys_stmt, entry->stmt);
		if (before && !entry_before(before, entry))
			return sbx_refuse(why, "system call entries are not sorted");
		before = entry;
		if (stmt->head.verb == SBX_SYS_DEFAULT || entry->rank == SBX_RANK_DEFAULT)
			return sbx_refuse(why, "a system call entry with the default's rank");
		if ((stmt->head.verb == SBX_SYS_SEAL) != (entry->rank == SBX_RANK_SEAL) ||
		    (stmt->head.verb != SBX_SYS_SEAL &&
		     (stmt->cond_count != 0) != (entry->rank == SBX_RANK_WHERE)))
			return sbx_refuse(why, "a system call entry's rank is not its statement's");
		if (stmt->head.flags & SBX_F_SHARED && !is_programmed(blob, entry))
			return sbx_refuse(why, "a shared system call entry without its program");
	}
	return true;
}

static bool check_net(const struct sbx_blob *blob, struct sbx_reason *why)
{
	uint32_t n = 0;

	FOR_EACH(blob, NET, sbx_net_rule, rule)
	{
		bool named = rule->kind == SBX_NETK_HOST || rule->kind == SBX_NETK_SUFFIX ||
			     rule->kind == SBX_NETK_ABSTRACT;
		bool listens = rule->head.verb == SBX_NETV_LISTEN;

		if (named && rule->host == SBX_NONE)
			return sbx_refuse(why, "network rule %u has no name", n);
		if ((rule->kind == SBX_NETK_UNIX) != (sbx_present(rule->path)))
			return sbx_refuse(why, "network rule %u: path without need or none", n);
		if (listens ? rule->kind != SBX_NETK_PORT && rule->kind != SBX_NETK_UNIX
			    : rule->kind == SBX_NETK_PORT)
			return sbx_refuse(why, "network rule %u: kind %u does not go with its verb",
					  n, rule->kind);
		n++;
	}
	return true;
}

/* A rule without its policy would let jobs run under the session's. */
static bool check_slurm(const struct sbx_blob *blob, struct sbx_reason *why)
{
	bool policy = SBX_COUNT(blob, JOBS);
	uint32_t rules = 0;

	FOR_EACH(blob, SLURM, sbx_slurm_rule, rule)
	rules += rule->head.verb == SBX_SLURM_JOBS;
	if (rules != policy)
		return sbx_refuse(why, "rules that name a policy of jobs: %u, such policies: %u",
				  rules, policy);
	return !policy || blob->header->kind == SBX_POLICY ||
	       sbx_refuse(why, "a site policy with a policy of jobs");
}

static bool check_asserts(const struct sbx_blob *blob, struct sbx_reason *why)
{
	uint32_t n = 0;

	FOR_EACH(blob, ASSERTS, sbx_assert, claim)
	{
		if (claim->action <= SBX_DO_EXEC
			? !claim->is_path
			: claim->is_path && claim->action != SBX_DO_CONNECT)
			return sbx_refuse(why, "assertion %u: path without need or none", n);
		n++;
	}
	return true;
}

static bool check_programs(const struct sbx_blob *blob, struct sbx_reason *why)
{
	for (uint32_t id = SBX_SEC_BPF_X86_64; id <= SBX_SEC_BPF_SHARED_AARCH64; id++)
		if (blob->section[id].count &&
		    !sbx_check_program(blob->section[id].records, blob->section[id].count,
				       sbx_section_spec(id)->name, why))
			return false;
	return true;
}

bool sbx_check_relations(const struct sbx_blob *blob, struct sbx_reason *why)
{
	return check_presence(blob, why) && check_strings(blob, why) && check_marks(blob, why) &&
	       check_params(blob, why) && check_locs(blob, why) && check_fs(blob, why) &&
	       check_statements(blob, why) && check_conditions(blob, why) &&
	       check_entries(blob, why) && check_net(blob, why) && check_slurm(blob, why) &&
	       check_asserts(blob, why) && check_programs(blob, why);
}
