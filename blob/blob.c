/*
 * blob/blob.c - opening a blob: the container.
 *
 * From the outside in: magic, version, size, digest, section table.  The
 * version is looked at before anything whose layout a later version could
 * change.  Sections must lie one behind the other with nothing but zero bytes
 * between them, so there is one way to write a given content and no room for
 * bytes that no check reads.  What is inside the sections is checked by
 * fields.c, relations.c and program.c.
 */
#include "blob/blob.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "blob/check.h"

#define SPEC(id, type, least, most)                                                                \
	[SBX_SEC_##id] = { #id, sizeof(type), SBX_SECTION_CRITICAL, least, most }
static const struct sbx_section_spec specs[SBX_SEC_COUNT] = {
	SPEC(STRINGS, char, 1, UINT32_MAX),
	SPEC(TMPLS, struct sbx_tmpl, 1, UINT32_MAX),
	SPEC(VALUES, uint64_t, 1, UINT32_MAX),
	SPEC(CIDRS, struct sbx_cidr, 1, UINT32_MAX),
	SPEC(NOTES, struct sbx_note, 1, SBX_NONE16),
	SPEC(META, struct sbx_meta, 1, 1),
	SPEC(PARAMS, struct sbx_param, 1, SBX_PARAM_MAX),
	SPEC(FS, struct sbx_fs_rule, 1, UINT32_MAX),
	SPEC(FS_EXTRAS, struct sbx_fs_extra, 1, SBX_NONE16),
	SPEC(ENV, struct sbx_env_rule, 1, UINT32_MAX),
	SPEC(SYS_STMTS, struct sbx_sys_stmt, 1, SBX_SYS_STMTS_MAX),
	SPEC(SYS_ENTRIES, struct sbx_sys_entry, 1, UINT32_MAX),
	SPEC(SYS_CONDS, struct sbx_sys_cond, 1, UINT32_MAX),
	SPEC(SYS_NAMES, struct sbx_sys_name, 1, UINT32_MAX),
	SPEC(BPF_X86_64, struct sbx_bpf, 1, SBX_BPF_MAX),
	SPEC(BPF_AARCH64, struct sbx_bpf, 1, SBX_BPF_MAX),
	SPEC(BPF_SHARED_X86_64, struct sbx_bpf, 1, SBX_BPF_MAX),
	SPEC(BPF_SHARED_AARCH64, struct sbx_bpf, 1, SBX_BPF_MAX),
	SPEC(LANDLOCK, struct sbx_landlock, 1, 1),
	SPEC(NET, struct sbx_net_rule, 1, UINT32_MAX),
	SPEC(CREDENTIALS, struct sbx_credential, 1, UINT32_MAX),
	SPEC(LIMITS, struct sbx_limit_rule, 1, SBX_LIMIT_COUNT),
	SPEC(PROCESS, struct sbx_process_rule, 1, UINT32_MAX),
	SPEC(REQUIRE, struct sbx_require_rule, 1, UINT32_MAX),
	SPEC(SLOTS, struct sbx_slot, 1, UINT32_MAX),
	SPEC(SLURM, struct sbx_slurm_rule, 1, UINT32_MAX),
	SPEC(ASSERTS, struct sbx_assert, 1, UINT32_MAX),
	[SBX_SEC_FILES] = { "FILES", sizeof(struct sbx_file), 0, 1, SBX_FILES_MAX },
	[SBX_SEC_LOCS] = { "LOCS", sizeof(struct sbx_loc), 0, 1, UINT32_MAX },
	SPEC(JOBS, char, 1, UINT32_MAX),
};

const struct sbx_section_spec *sbx_section_spec(uint32_t id)
{
	return id < SBX_SEC_COUNT && *specs[id].name ? &specs[id] : NULL;
}

bool sbx_refuse(struct sbx_reason *why, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(why->text, sizeof(why->text), fmt, args);
	va_end(args);
	return false;
}

static bool all_zero(const uint8_t *from, const uint8_t *to)
{
	while (from < to)
		if (*from++)
			return false;
	return true;
}

static bool check_header(const uint8_t *data, size_t size, struct sbx_reason *why)
{
	const struct sbx_header *header = (const void *)data;
	uint8_t digest[32];

	if (size < sizeof(SBX_MAGIC) - 1 || memcmp(data, SBX_MAGIC, sizeof(header->magic)))
		return sbx_refuse(why, "not a policy blob: the first bytes are not those of one");
	if (size < offsetof(struct sbx_header, size))
		return sbx_refuse(why, "truncated: it ends inside the header");
	if (header->version != SBX_FORMAT_VERSION)
		return sbx_refuse(why,
				  "the blob is format version %u, this program reads version %d: "
				  "recompile with sbxc of the same release",
				  header->version, SBX_FORMAT_VERSION);
	if (size < sizeof(*header))
		return sbx_refuse(why, "truncated: it ends inside the header");
	if (header->size > SBX_BLOB_SIZE_MAX)
		return sbx_refuse(why, "too large: the header says %u bytes, the limit is %u",
				  header->size, SBX_BLOB_SIZE_MAX);
	if (header->size != size)
		return sbx_refuse(why, "%s: the header says %u bytes, there are %zu",
				  size < header->size ? "truncated" : "bytes behind the end",
				  header->size, size);
	if ((uintptr_t)data % 8)
		return sbx_refuse(why, "not aligned in memory");
	sbx_blob_digest(data, size, digest);
	if (memcmp(digest, header->digest, sizeof(digest)))
		return sbx_refuse(why, "damaged: the content does not have the digest it claims");
	if (header->kind > SBX_SITE)
		return sbx_refuse(why, "kind %u is neither a policy nor a site", header->kind);
	if (!all_zero(header->reserved, header->reserved + sizeof(header->reserved)))
		return sbx_refuse(why, "reserved bytes of the header are not zero");
	return true;
}

/* @end is where the section before this one ends; moves it on. */
static bool check_section(struct sbx_blob *blob, const struct sbx_section *section, uint32_t *end,
			  struct sbx_reason *why)
{
	const struct sbx_section_spec *spec = sbx_section_spec(section->id);
	uint32_t start = (*end + 7) & ~7u;

	if (section->offset != start)
		return sbx_refuse(why, "section %u starts at byte %u, not at %u", section->id,
				  section->offset, start);
	if (section->size > blob->size || section->offset > blob->size - section->size)
		return sbx_refuse(why, "section %u reaches behind the end", section->id);
	if ((uint64_t)section->count * section->record_size != section->size)
		return sbx_refuse(why, "section %u: %u records of %u bytes are not %u bytes",
				  section->id, section->count, section->record_size, section->size);
	if (section->flags & ~SBX_SECTION_CRITICAL)
		return sbx_refuse(why, "section %u has unknown flags", section->id);
	if (!all_zero(blob->base + *end, blob->base + start))
		return sbx_refuse(why, "bytes before section %u are not zero", section->id);
	*end = section->offset + section->size;
	if (!spec && section->flags & SBX_SECTION_CRITICAL)
		return sbx_refuse(why,
				  "section %u is unknown here and may not be ignored: the blob "
				  "needs a newer release than this one (format version %d)",
				  section->id, SBX_FORMAT_VERSION);
	if (!spec)
		return true;
	if (section->record_size != spec->record_size || section->flags != spec->flags)
		return sbx_refuse(why, "section %s: records of %u bytes, not %u, or wrong flags",
				  spec->name, section->record_size, spec->record_size);
	if (section->count < spec->min || section->count > spec->max)
		return sbx_refuse(why, "section %s: %u records, allowed are %u to %u", spec->name,
				  section->count, spec->min, spec->max);
	blob->section[section->id].records = blob->base + section->offset;
	blob->section[section->id].count = section->count;
	return true;
}

static bool check_sections(struct sbx_blob *blob, struct sbx_reason *why)
{
	const struct sbx_section *table = (const void *)(blob->base + sizeof(struct sbx_header));
	uint32_t room =
	    (blob->size - (uint32_t)sizeof(struct sbx_header)) / (uint32_t)sizeof(*table);
	uint32_t count = blob->header->section_count, end, before = 0;

	if (count > room)
		return sbx_refuse(why, "%u sections do not fit into %u bytes", count, blob->size);
	end = (uint32_t)(sizeof(struct sbx_header) + count * sizeof(*table));
	for (uint32_t i = 0; i < count; i++) {
		if (table[i].id <= before)
			return sbx_refuse(why, "section %u stands behind section %u", table[i].id,
					  before);
		before = table[i].id;
		if (!check_section(blob, &table[i], &end, why))
			return false;
	}
	if (blob->size != ((end + 7) & ~7u) || !all_zero(blob->base + end, blob->base + blob->size))
		return sbx_refuse(why, "bytes behind the last section");
	return true;
}

static void point_at(struct sbx_blob *blob, const void *data)
{
	memset(blob, 0, sizeof(*blob));
	blob->base = data;
	blob->header = data;
	blob->size = blob->header->size;
}

static bool check_blob(const void *data, size_t size, bool inner, struct sbx_blob *blob,
		       struct sbx_reason *why);

/* What is in it is held to all that the outer one is, its own digest too: a job's node gets
 * it as a file by itself. */
static bool check_jobs(const struct sbx_blob *blob, bool inner, struct sbx_reason *why)
{
	struct sbx_blob jobs;
	struct sbx_reason its;

	if (!SBX_COUNT(blob, JOBS))
		return true;
	if (inner)
		return sbx_refuse(why, "it has a policy of jobs of its own");
	if (!check_blob(blob->section[SBX_SEC_JOBS].records, SBX_COUNT(blob, JOBS), true, &jobs,
			&its))
		return sbx_refuse(why, "the policy of jobs: %s", its.text);
	return jobs.header->kind == SBX_POLICY ||
	       sbx_refuse(why, "the policy of jobs: a site policy cannot be run");
}

static bool check_blob(const void *data, size_t size, bool inner, struct sbx_blob *blob,
		       struct sbx_reason *why)
{
	if (!check_header(data, size, why))
		return false;
	point_at(blob, data);
	return check_sections(blob, why) && sbx_check_fields(blob, why) &&
	       sbx_check_relations(blob, why) && check_jobs(blob, inner, why);
}

const char *sbx_blob_open(const void *data, size_t size, struct sbx_blob *blob)
{
	static struct sbx_reason why;

	if (check_blob(data, size, false, blob, &why))
		return NULL;
	memset(blob, 0, sizeof(*blob));
	return why.text;
}

bool sbx_blob_jobs(const struct sbx_blob *blob, struct sbx_blob *jobs)
{
	struct sbx_reason why;

	if (!SBX_COUNT(blob, JOBS))
		return false;
	point_at(jobs, blob->section[SBX_SEC_JOBS].records);
	return check_sections(jobs, &why); /* again: it finds them */
}

const char *sbx_string(const struct sbx_blob *blob, uint32_t ref)
{
	return ref == SBX_NONE ? "" : (const char *)blob->section[SBX_SEC_STRINGS].records + ref;
}

const char *sbx_piece(const char *at, unsigned *mark, unsigned *value)
{
	unsigned byte = (unsigned char)*at;

	if (!byte)
		return NULL;
	*mark = byte <= SBX_MARK_BYTE ? byte : 0;
	if (!*mark) {
		*value = byte;
		return at + 1;
	}
	byte = (unsigned char)at[1];
	*value = *mark == SBX_MARK_WILD ? byte : byte - SBX_MARK_BASE;
	return at + 2;
}

const struct sbx_fs_extra *sbx_fs_extra(const struct sbx_blob *blob, const struct sbx_fs_rule *rule)
{
	static const struct sbx_fs_extra none = { .placeholder_text = SBX_NONE };

	return rule->extra == SBX_NONE16 ? &none
					 : SBX_AT(blob, FS_EXTRAS, sbx_fs_extra, rule->extra);
}

void sbx_place(const struct sbx_blob *blob, uint32_t loc, char *out, size_t size)
{
	const struct sbx_loc *place;

	if (loc == SBX_NONE) {
		snprintf(out, size, "(stripped)");
		return;
	}
	place = SBX_AT(blob, LOCS, sbx_loc, loc);
	snprintf(out, size, "%s:%u",
		 sbx_string(blob, SBX_AT(blob, FILES, sbx_file, place->file)->name), place->line);
	sbx_make_printable(out); /* a blob is a stranger's file */
}
