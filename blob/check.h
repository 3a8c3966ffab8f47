/*
 * blob/check.h - the parts of the validator; only blob.c calls them.
 *
 * Each check returns true, or false with a one-line reason in @why.  They run
 * in this order, and each may rely on the ones before it.
 */
#ifndef SBX_BLOB_CHECK_H
#define SBX_BLOB_CHECK_H

#include "blob/blob.h"

struct sbx_reason {
	char text[192];
};

/* Sets the reason; always false, for `return sbx_refuse(...)`. */
bool sbx_refuse(struct sbx_reason *why, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* What a section of this version holds; NULL: not a known section. */
struct sbx_section_spec {
	char name[20]; /* "": unused id */
	uint32_t record_size;
	uint32_t flags;
	uint32_t min, max; /* records */
};
const struct sbx_section_spec *sbx_section_spec(uint32_t id);

/* Every field of every record: references, enumerations, lists (fields.c). */
bool sbx_check_fields(const struct sbx_blob *blob, struct sbx_reason *why);
/* What two fields or two records must agree on (relations.c). */
bool sbx_check_relations(const struct sbx_blob *blob, struct sbx_reason *why);
/* One program: what seccomp(2) would accept of what emit/ generates (program.c). */
bool sbx_check_program(const struct sbx_bpf *insns, uint32_t count, const char *name,
		       struct sbx_reason *why);
#define SBX_BPF_MAX 4096

#endif
