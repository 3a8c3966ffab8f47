/*
 * emit/writer.c - sections that grow, and one of everything.
 *
 * Strings have a table of their own (strings.c).  All other interning is one
 * hash table: the key is a section and the bytes of a run of its records, the
 * value where that run stands.  A list is a run of templates, a rule's places
 * a run of locations; what they refer to is interned itself, so equal content
 * has equal bytes at every level.
 */
#include "emit/writer.h"

#include <string.h>

#include "blob/check.h"

void writer_init(struct writer *writer, struct strings *strings, bool strip)
{
	*writer = (struct writer){ .arena = strings->arena, .strings = strings, .strip = strip };
	for (uint32_t id = 0; id < SBX_SEC_COUNT; id++)
		if (sbx_section_spec(id))
			writer->section[id].record_size = sbx_section_spec(id)->record_size;
	if (strings->laid_out)
		writer_append(writer, SBX_SEC_STRINGS, strings->bytes, strings->size);
}

void writer_fail(struct writer *writer, const char *what)
{
	if (!writer->error)
		writer->error = arena_printf(writer->arena, "%s: too large for the format", what);
}

uint32_t writer_u32(struct writer *writer, uint64_t value, const char *what)
{
	if (value >= SBX_NONE)
		writer_fail(writer, what);
	return (uint32_t)value;
}

uint16_t writer_u16(struct writer *writer, uint64_t value, const char *what)
{
	if (value > UINT16_MAX)
		writer_fail(writer, what);
	return (uint16_t)value;
}

uint8_t writer_u8(struct writer *writer, uint64_t value, const char *what)
{
	if (value > UINT8_MAX)
		writer_fail(writer, what);
	return (uint8_t)value;
}

uint32_t writer_append(struct writer *writer, enum sbx_section_id id, const void *records,
		       size_t count)
{
	struct writer_section *section = &writer->section[id];
	size_t size = count * section->record_size;
	uint32_t first = section->count;

	if (size > SBX_BLOB_SIZE_MAX || section->size > SBX_BLOB_SIZE_MAX - size) {
		writer_fail(writer, sbx_section_spec(id)->name);
		return 0;
	}
	if (section->size + size > section->room) {
		size_t room = 2 * (section->size + size) + 256;
		uint8_t *data = arena_alloc(writer->arena, room);

		if (section->size)
			memcpy(data, section->data, section->size);
		section->data = data;
		section->room = room;
	}
	if (size)
		memcpy(section->data + section->size, records, size);
	section->size += size;
	section->count += (uint32_t)count;
	return first;
}

static uint64_t hash_run(uint32_t section, const void *records, size_t size)
{
	const uint8_t *p = records;
	uint64_t hash = 0xcbf29ce484222325u ^ section; /* FNV-1a */

	for (size_t i = 0; i < size; i++)
		hash = (hash ^ p[i]) * 0x100000001b3u;
	return hash ^ hash >> 32;
}

static void grow_slots(struct writer *writer)
{
	struct writer_slot *old = writer->slots;
	size_t old_room = writer->slot_room;

	writer->slot_room = old_room ? 2 * old_room : 256;
	writer->slots = arena_array(writer->arena, writer->slot_room, sizeof(*old));
	for (size_t i = 0; i < old_room; i++) {
		size_t at = old[i].hash & (writer->slot_room - 1);

		if (!old[i].count)
			continue;
		while (writer->slots[at].count)
			at = (at + 1) & (writer->slot_room - 1);
		writer->slots[at] = old[i];
	}
}

/* The index of a run equal to these records, appended if there is none. */
static uint32_t intern(struct writer *writer, enum sbx_section_id id, const void *records,
		       size_t count)
{
	struct writer_section *section = &writer->section[id];
	size_t size = count * section->record_size;
	uint64_t hash = hash_run(id, records, size);
	size_t at;

	if (!count)
		return 0;
	if (2 * (writer->slot_count + 1) > writer->slot_room)
		grow_slots(writer);
	for (at = hash & (writer->slot_room - 1); writer->slots[at].count;
	     at = (at + 1) & (writer->slot_room - 1)) {
		const struct writer_slot *slot = &writer->slots[at];

		if (slot->hash == hash && slot->section == id && slot->count == count &&
		    !memcmp(section->data + (size_t)slot->first * section->record_size, records,
			    size))
			return slot->first;
	}
	writer->slot_count++;
	writer->slots[at].hash = hash;
	writer->slots[at].section = id;
	writer->slots[at].first = writer_append(writer, id, records, count);
	writer->slots[at].count = (uint32_t)count;
	return writer->slots[at].first;
}

void writer_append_rule(struct writer *writer, enum sbx_section_id id, const void *record,
			const struct rule_head *head)
{
	writer_append(writer, id, record, 1);
	*VEC_PUSH(writer->arena, &writer->heads[id]) = head;
}

uint16_t writer_intern16(struct writer *writer, enum sbx_section_id id, const void *record)
{
	uint32_t index = intern(writer, id, record, 1);

	if (index >= SBX_NONE16)
		writer_fail(writer, sbx_section_spec(id)->name);
	return (uint16_t)index;
}

static bool is_mark(char byte)
{
	return byte && (unsigned char)byte <= SBX_MARK_BYTE;
}

/* Only the name of a file can have bytes that look like marks. */
uint32_t writer_string(struct writer *writer, struct str text)
{
	char *clean = arena_alloc(writer->arena, text.len + 1);

	for (size_t i = 0; i < text.len; i++)
		clean[i] = is_mark(text.ptr[i]) ? '?' : text.ptr[i];
	return writer_u32(writer, strings_place(writer->strings, (struct str){ clean, text.len }),
			  "strings");
}

uint32_t writer_string_opt(struct writer *writer, struct str text)
{
	return text.ptr ? writer_string(writer, text) : SBX_NONE;
}

/* One segment behind @to; returns the end. */
static char *mark_segment(char *to, const struct seg *seg)
{
	if (seg->kind == SBX_SEG_VAR) {
		*to++ = SBX_MARK_VAR;
		*to++ = (char)(SBX_MARK_BASE + seg->var);
		return to;
	}
	for (size_t i = 0; i < seg->text.len; i++) {
		char byte = seg->text.ptr[i];

		if (seg->kind == SBX_SEG_GLOB && strchr("*?[]\\", byte)) {
			*to++ = SBX_MARK_WILD;
		} else if (is_mark(byte)) {
			*to++ = SBX_MARK_BYTE;
			byte = (char)(byte + SBX_MARK_BASE);
		}
		*to++ = byte;
	}
	return to;
}

struct sbx_tmpl writer_tmpl(struct writer *writer, struct tmpl tmpl)
{
	size_t room = 1;
	char *text, *end;

	if (!tmpl.count)
		return (struct sbx_tmpl){ SBX_NONE };
	for (size_t i = 0; i < tmpl.count; i++)
		room += 2 + 2 * tmpl.segs[i].text.len;
	text = end = arena_alloc(writer->arena, room);
	for (size_t i = 0; i < tmpl.count; i++)
		end = mark_segment(end, &tmpl.segs[i]);
	return (struct sbx_tmpl){ writer_u32(
	    writer, strings_place(writer->strings, (struct str){ text, (size_t)(end - text) }),
	    "strings") };
}

uint32_t writer_tmpls(struct writer *writer, struct tmpls tmpls)
{
	struct sbx_tmpl *list = arena_array(writer->arena, tmpls.count, sizeof(*list));

	for (size_t i = 0; i < tmpls.count; i++)
		list[i] = writer_tmpl(writer, tmpls.items[i]);
	return intern(writer, SBX_SEC_TMPLS, list, tmpls.count);
}

uint32_t writer_values(struct writer *writer, const uint64_t *values, size_t count)
{
	return intern(writer, SBX_SEC_VALUES, values, count);
}

uint32_t writer_conditions(struct writer *writer, const struct sbx_sys_cond *conds, size_t count)
{
	return intern(writer, SBX_SEC_SYS_CONDS, conds, count);
}

uint32_t writer_cidrs(struct writer *writer, const struct sbx_cidr *cidrs, size_t count)
{
	return intern(writer, SBX_SEC_CIDRS, cidrs, count);
}

static struct sbx_loc write_place(struct writer *writer, struct span span)
{
	uint32_t line = source_locate(span.source, span.start).line;
	struct sbx_file file = { writer_string(writer, str_from(span.source->name)) };
	uint32_t index = intern(writer, SBX_SEC_FILES, &file, 1);

	if (line > SBX_LINE_MAX || index >= SBX_FILES_MAX)
		writer_fail(writer, "source locations");
	return (struct sbx_loc){ .line = line & SBX_LINE_MAX, .file = index & (SBX_FILES_MAX - 1) };
}

/* All that is said on one line shares its place. */
static uint32_t write_places(struct writer *writer, const struct place *place)
{
	struct {
		VEC_OF(struct sbx_loc)
	} places = { 0 };

	for (; place && !writer->strip; place = place->next) {
		if (!place->span.source)
			continue;
		if (places.count)
			places.items[places.count - 1].more = 1;
		*VEC_PUSH(writer->arena, &places) = write_place(writer, place->span);
	}
	return places.count ? intern(writer, SBX_SEC_LOCS, places.items, places.count) : SBX_NONE;
}

struct sbx_head writer_head(struct writer *writer, const struct rule_head *head, unsigned verb)
{
	/* The record is for who reads a blob; one says enough there. */
	const struct waiver *waiver = head->waivers;
	const struct str none = { 0 };
	struct sbx_note note = {
		.compat = writer_string_opt(writer, head->compat),
		.because = writer_string_opt(writer, head->because),
		.guards = writer_string_opt(writer, head->guards),
		.waive_code = writer_string_opt(writer, waiver ? waiver->code : none),
		.waive_why = writer_string_opt(writer, waiver ? waiver->why : none),
	};
	bool noted = head->compat.ptr || head->because.ptr || head->guards.ptr ||
		     waiver;

	return (struct sbx_head){
		.loc = write_places(writer, &head->place),
		.note = noted ? writer_intern16(writer, SBX_SEC_NOTES, &note) : SBX_NONE16,
		.flags = writer_u8(writer, head->flags, "modifiers"),
		.verb = (uint8_t)verb,
	};
}

static size_t align8(size_t size)
{
	return (size + 7) & ~(size_t)7;
}

const char *writer_finish(struct writer *writer, enum sbx_kind kind, struct emitted *out)
{
	struct sbx_header header = { .version = SBX_FORMAT_VERSION, .kind = kind };
	struct sbx_section table[SBX_SEC_COUNT];
	size_t size, count = 0;

	for (uint32_t id = 0; id < SBX_SEC_COUNT; id++)
		if (writer->section[id].count)
			table[count++] = (struct sbx_section){ .id = id };
	size = sizeof(header) + count * sizeof(table[0]);
	for (size_t i = 0; i < count; i++) {
		const struct writer_section *section = &writer->section[table[i].id];

		size = align8(size);
		table[i].flags = sbx_section_spec(table[i].id)->flags;
		table[i].offset = writer_u32(writer, size, "blob");
		table[i].size = (uint32_t)section->size;
		table[i].count = section->count;
		table[i].record_size = section->record_size;
		size += section->size;
	}
	size = align8(size);
	if (size > SBX_BLOB_SIZE_MAX)
		writer_fail(writer, "blob");
	if (writer->error)
		return writer->error;
	memcpy(header.magic, SBX_MAGIC, sizeof(header.magic));
	header.size = (uint32_t)size;
	header.section_count = (uint32_t)count;
	for (uint32_t id = 0; id < SBX_SEC_COUNT; id++)
		out->heads[id] = writer->heads[id].items;
	out->size = size;
	out->data = arena_alloc(writer->arena, size);
	memcpy(out->data, &header, sizeof(header));
	memcpy(out->data + sizeof(header), table, count * sizeof(table[0]));
	for (size_t i = 0; i < count; i++)
		memcpy(out->data + table[i].offset, writer->section[table[i].id].data,
		       table[i].size);
	sbx_blob_digest(out->data, size, out->data + offsetof(struct sbx_header, digest));
	return NULL;
}
