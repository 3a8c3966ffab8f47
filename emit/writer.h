/*
 * emit/writer.h - sections that grow, and one of everything.
 *
 * Records are appended to sections; whatever a record refers to (strings,
 * lists, notes, places) is interned, so equal content is written once and
 * the same policy gives the same bytes.  The first failure is kept in
 * writer->error and the rest goes on harmlessly.
 */
#ifndef SBX_EMIT_WRITER_H
#define SBX_EMIT_WRITER_H

#include "base/arena.h"
#include "emit/emit.h"
#include "emit/strings.h"
#include "ir/policy.h"

struct writer_section {
	uint8_t *data;
	size_t size, room;
	uint32_t record_size, count;
};

struct writer_slot { /* one interned run; count 0: free */
	uint64_t hash;
	uint32_t section, first, count;
};

struct writer {
	struct arena *arena;
	struct strings *strings;
	struct writer_section section[SBX_SEC_COUNT];
	struct {
		VEC_OF(const struct rule_head *)
	} heads[SBX_SEC_COUNT]; /* of the rules in each section */
	struct writer_slot *slots;
	size_t slot_count, slot_room; /* room is a power of two */
	bool strip;
	const char *error; /* NULL, or what went wrong first */
};

void writer_init(struct writer *writer, struct strings *strings, bool strip);

/* Appends @count records; returns the index of the first. */
uint32_t writer_append(struct writer *writer, enum sbx_section_id id, const void *records,
		       size_t count);
#define WRITER_ADD(writer, id, record) writer_append((writer), SBX_SEC_##id, (record), 1)
/* The same for a rule that comes from one with this head. */
void writer_append_rule(struct writer *writer, enum sbx_section_id id, const void *record,
			const struct rule_head *head);
#define WRITER_ADD_RULE(writer, id, record, head)                                                  \
	writer_append_rule((writer), SBX_SEC_##id, (record), (head))
/* The index of a record equal to this, below SBX_NONE16. */
uint16_t writer_intern16(struct writer *writer, enum sbx_section_id id, const void *record);

/* Strings: "" is offset 0; *_opt gives SBX_NONE for a NULL pointer. */
uint32_t writer_string(struct writer *writer, struct str text);
uint32_t writer_string_opt(struct writer *writer, struct str text);
struct sbx_tmpl writer_tmpl(struct writer *writer, struct tmpl tmpl);
/* Lists return the first index; the count is the caller's. */
uint32_t writer_tmpls(struct writer *writer, struct tmpls tmpls);
uint32_t writer_values(struct writer *writer, const uint64_t *values, size_t count);
uint32_t writer_conditions(struct writer *writer, const struct sbx_sys_cond *conds, size_t count);
uint32_t writer_cidrs(struct writer *writer, const struct sbx_cidr *cidrs, size_t count);
struct sbx_head writer_head(struct writer *writer, const struct rule_head *head, unsigned verb);

/* Keeps what is too large for the format, if it is the first failure. */
void writer_fail(struct writer *writer, const char *what);
/* Narrowing that cannot happen with a policy that passed the compiler's checks. */
uint32_t writer_u32(struct writer *writer, uint64_t value, const char *what);
uint16_t writer_u16(struct writer *writer, uint64_t value, const char *what);
uint8_t writer_u8(struct writer *writer, uint64_t value, const char *what);

/* Header, section table, digest: the blob.  Returns the error, or NULL. */
const char *writer_finish(struct writer *writer, enum sbx_kind kind, struct emitted *out);

#endif
