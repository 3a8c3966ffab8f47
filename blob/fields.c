/*
 * blob/fields.c - every field of every record, from one table.
 *
 * A line of the table names a field and what its value may be: a string
 * reference, a list in another section, an enumeration below a bound, ...
 * A field that is not in the table may hold any value of its type.  After
 * this no reference in the blob leads out of the section it points into.
 */
#include "blob/check.h"

#include <string.h>

enum field_kind {
	STRING,      /* reference into STRINGS */
	STRING_OPT,  /* ... or SBX_NONE */
	LIST,        /* u32 first, u32 count: a run in section @arg */
	LIST8,       /* u32 first, u8 count */
	INDEX,       /* u32 in section @arg */
	INDEX_OPT,   /* u32 or SBX_NONE */
	INDEX16_OPT, /* u16 or SBX_NONE16 */
	BELOW8,      /* less than @arg */
	BELOW16,
	BELOW32,
	BITS32, /* no bit outside @arg */
	HEAD,   /* struct sbx_head with a verb less than @arg */
};

struct field {
	uint8_t section, kind;
	uint16_t offset;
	uint32_t arg;
	char name[20]; /* not a pointer, which would be relocated at every start */
};

#define FIELD(id, type, field, kind, arg)                                                          \
	{                                                                                          \
		SBX_SEC_##id, kind, offsetof(struct type, field), arg, #field                      \
	}
#define FLAGS                                                                                      \
	(SBX_F_OPTIONAL | SBX_F_BEST_EFFORT | SBX_F_SNAPSHOT | SBX_F_COMPAT | SBX_F_CREATE |       \
	 SBX_F_OVERRIDE | SBX_F_SHARED)
#define RIGHTS (SBX_READ | SBX_WRITE | SBX_EXEC)

static const struct field fields[] = {
	FIELD(TMPLS, sbx_tmpl, text, STRING_OPT, 0),
	FIELD(CIDRS, sbx_cidr, bits, BELOW32, 129),

	FIELD(NOTES, sbx_note, compat, STRING_OPT, 0),
	FIELD(NOTES, sbx_note, because, STRING_OPT, 0),
	FIELD(NOTES, sbx_note, guards, STRING_OPT, 0),
	FIELD(NOTES, sbx_note, waive_code, STRING_OPT, 0),
	FIELD(NOTES, sbx_note, waive_why, STRING_OPT, 0),

	FIELD(META, sbx_meta, name, STRING, 0),
	FIELD(META, sbx_meta, summary, STRING_OPT, 0),
	FIELD(META, sbx_meta, workspace, STRING_OPT, 0),
	FIELD(META, sbx_meta, workspace_rule, INDEX_OPT, SBX_SEC_FS),
	FIELD(META, sbx_meta, command_first, LIST, SBX_SEC_TMPLS),
	FIELD(META, sbx_meta, net_mode, BELOW32, SBX_NET_HOST + 1),
	FIELD(META, sbx_meta, net_mode_head, HEAD, 1),
	FIELD(META, sbx_meta, sys_default, INDEX, SBX_SEC_SYS_STMTS),
	FIELD(META, sbx_meta, unbounded, BITS32, (2u << SBX_UNBOUNDED_SLURM) - 1),
	FIELD(META, sbx_meta, compiler, STRING, 0),

	FIELD(PARAMS, sbx_param, head, HEAD, 1),
	FIELD(PARAMS, sbx_param, name, STRING, 0),
	FIELD(PARAMS, sbx_param, type, BELOW32, SBX_PARAM_TIME + 1),
	FIELD(PARAMS, sbx_param, value, STRING_OPT, 0),
	FIELD(PARAMS, sbx_param, under, STRING_OPT, 0),
	FIELD(PARAMS, sbx_param, choice_first, LIST, SBX_SEC_TMPLS),

	FIELD(FS, sbx_fs_rule, head, HEAD, SBX_FS_SEAL + 1),
	FIELD(FS, sbx_fs_rule, path, STRING, 0),
	FIELD(FS, sbx_fs_rule, rights, BELOW8, RIGHTS + 1),
	FIELD(FS, sbx_fs_rule, placeholder, BELOW8, SBX_PLACEHOLDER_FILE + 1),
	FIELD(FS, sbx_fs_rule, extra, INDEX16_OPT, SBX_SEC_FS_EXTRAS),
	FIELD(FS_EXTRAS, sbx_fs_extra, except_first, LIST, SBX_SEC_TMPLS),
	FIELD(FS_EXTRAS, sbx_fs_extra, placeholder_text, STRING_OPT, 0),

	FIELD(ENV, sbx_env_rule, head, HEAD, SBX_ENV_SEAL + 1),
	FIELD(ENV, sbx_env_rule, name, STRING, 0),
	FIELD(ENV, sbx_env_rule, value, STRING_OPT, 0),

	FIELD(SYS_STMTS, sbx_sys_stmt, head, HEAD, SBX_SYS_DEFAULT + 1),
	FIELD(SYS_STMTS, sbx_sys_stmt, action, BELOW8, SBX_ACT_KILL + 1),
	FIELD(SYS_STMTS, sbx_sys_stmt, error, BELOW16, 4096),
	FIELD(SYS_STMTS, sbx_sys_stmt, cond_first, LIST8, SBX_SEC_SYS_CONDS),
	FIELD(SYS_CONDS, sbx_sys_cond, arg, BELOW8, 6),
	FIELD(SYS_CONDS, sbx_sys_cond, op, BELOW8, SBX_IN + 1),
	FIELD(SYS_CONDS, sbx_sys_cond, is_signed, BELOW8, 2),
	FIELD(SYS_CONDS, sbx_sys_cond, value_first, LIST, SBX_SEC_VALUES),
	FIELD(SYS_CONDS, sbx_sys_cond, name, STRING_OPT, 0),
	FIELD(SYS_NAMES, sbx_sys_name, name, STRING, 0),
	FIELD(SYS_NAMES, sbx_sys_name, nr, BELOW32, SBX_SYS_ABSENT),

	FIELD(NET, sbx_net_rule, head, HEAD, SBX_NETV_LISTEN + 1),
	FIELD(NET, sbx_net_rule, kind, BELOW8, SBX_NETK_PORT + 1),
	FIELD(NET, sbx_net_rule, reserved, BELOW8, 1),
	FIELD(NET, sbx_net_rule, host, STRING_OPT, 0),
	FIELD(NET, sbx_net_rule, cidr.bits, BELOW32, 129),
	FIELD(NET, sbx_net_rule, path, STRING_OPT, 0),
	FIELD(NET, sbx_net_rule, at_first, LIST, SBX_SEC_CIDRS),
	FIELD(NET, sbx_net_rule, method_first, LIST, SBX_SEC_TMPLS),
	FIELD(NET, sbx_net_rule, prefix, STRING_OPT, 0),

	FIELD(CREDENTIALS, sbx_credential, head, HEAD, 1),
	FIELD(CREDENTIALS, sbx_credential, name, STRING, 0),
	FIELD(CREDENTIALS, sbx_credential, source, BELOW32, SBX_SOURCE_EXEC + 1),
	FIELD(CREDENTIALS, sbx_credential, source_first, LIST, SBX_SEC_TMPLS),
	FIELD(CREDENTIALS, sbx_credential, json, STRING_OPT, 0),
	FIELD(CREDENTIALS, sbx_credential, host_first, LIST, SBX_SEC_TMPLS),
	FIELD(CREDENTIALS, sbx_credential, header, STRING_OPT, 0),
	FIELD(CREDENTIALS, sbx_credential, scheme, BELOW32, SBX_SCHEME_BASIC + 1),
	FIELD(CREDENTIALS, sbx_credential, basic_user, STRING_OPT, 0),

	FIELD(LIMITS, sbx_limit_rule, head, HEAD, 1),
	FIELD(LIMITS, sbx_limit_rule, limit, BELOW32, SBX_LIMIT_COUNT),
	FIELD(LIMITS, sbx_limit_rule, zero, BELOW32, 1),

	FIELD(PROCESS, sbx_process_rule, head, HEAD, 1),
	FIELD(PROCESS, sbx_process_rule, what, BELOW32, SBX_PROCESS_SHARE_ATTRIBUTES + 1),

	FIELD(REQUIRE, sbx_require_rule, head, HEAD, 1),
	FIELD(REQUIRE, sbx_require_rule, what, BELOW32, SBX_REQUIRE_SIGNED + 1),
	FIELD(REQUIRE, sbx_require_rule, first, LIST, SBX_SEC_TMPLS),

	FIELD(SLOTS, sbx_slot, head, HEAD, 1),
	FIELD(SLOTS, sbx_slot, name, STRING, 0),
	FIELD(SLOTS, sbx_slot, rights, BITS32, RIGHTS),
	FIELD(SLOTS, sbx_slot, under, STRING_OPT, 0),

	FIELD(SLURM, sbx_slurm_rule, head, HEAD, SBX_SLURM_JOBS + 1),
	FIELD(SLURM, sbx_slurm_rule, value_kind, BELOW8, SBX_TAKES_COUNT),
	FIELD(SLURM, sbx_slurm_rule, op, BELOW8, 3),
	FIELD(SLURM, sbx_slurm_rule, flags, BELOW8, SBX_SLURM_NO_SCRIPT + 1),
	FIELD(SLURM, sbx_slurm_rule, reserved, BELOW8, 1),
	FIELD(SLURM, sbx_slurm_rule, command, STRING_OPT, 0),
	FIELD(SLURM, sbx_slurm_rule, option, STRING_OPT, 0),
	FIELD(SLURM, sbx_slurm_rule, short_name, STRING_OPT, 0),
	FIELD(SLURM, sbx_slurm_rule, env, STRING_OPT, 0),
	FIELD(SLURM, sbx_slurm_rule, value_first, LIST, SBX_SEC_TMPLS),

	FIELD(ASSERTS, sbx_assert, head, HEAD, SBX_NEVER + 1),
	FIELD(ASSERTS, sbx_assert, action, BELOW8, SBX_DO_USE + 1),
	FIELD(ASSERTS, sbx_assert, is_path, BELOW8, 2),
	FIELD(ASSERTS, sbx_assert, object, STRING, 0),

	FIELD(FILES, sbx_file, name, STRING, 0),
};

static bool run_fits(const struct sbx_blob *blob, uint32_t section, uint32_t first, uint32_t count)
{
	return (uint64_t)first + count <= blob->section[section].count;
}

static bool head_fits(const struct sbx_blob *blob, const struct sbx_head *head, uint32_t verbs)
{
	return (head->loc < SBX_COUNT(blob, LOCS) || head->loc == SBX_NONE) &&
	       (head->note < SBX_COUNT(blob, NOTES) || head->note == SBX_NONE16) &&
	       !(head->flags & ~FLAGS) && head->verb < verbs;
}

static bool value_fits(const struct sbx_blob *blob, const struct field *field, const uint8_t *at)
{
	const uint32_t strings = SBX_COUNT(blob, STRINGS);
	uint32_t word, next = 0;
	uint16_t half;

	memcpy(&half, at, sizeof(half));
	switch (field->kind) {
	case HEAD:
		return head_fits(blob, (const struct sbx_head *)(const void *)at, field->arg);
	case BELOW8:
		return *at < field->arg;
	case BELOW16:
		return half < field->arg;
	case INDEX16_OPT:
		return half < blob->section[field->arg].count || half == SBX_NONE16;
	}
	memcpy(&word, at, sizeof(word));
	switch (field->kind) {
	case STRING:
		return word < strings;
	case STRING_OPT:
		return word < strings || word == SBX_NONE;
	case INDEX:
		return word < blob->section[field->arg].count;
	case INDEX_OPT:
		return word < blob->section[field->arg].count || word == SBX_NONE;
	case BELOW32:
		return word < field->arg;
	case BITS32:
		return !(word & ~field->arg);
	case LIST8:
		return run_fits(blob, field->arg, word, at[sizeof(word)]);
	case LIST:
		memcpy(&next, at + sizeof(word), sizeof(next));
		return run_fits(blob, field->arg, word, next);
	}
	return false;
}

bool sbx_check_fields(const struct sbx_blob *blob, struct sbx_reason *why)
{
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		const struct field *field = &fields[i];
		const struct sbx_section_spec *spec = sbx_section_spec(field->section);
		const uint8_t *record = blob->section[field->section].records;

		for (uint32_t n = 0; n < blob->section[field->section].count; n++) {
			if (!value_fits(blob, field, record + field->offset))
				return sbx_refuse(why, "section %s, record %u: %s is out of range",
						  spec->name, n, field->name);
			record += spec->record_size;
		}
	}
	return true;
}
