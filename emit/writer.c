/*
 * emit/writer.c - sections that grow, and one of everything.
 *
 * All interning is one hash table: the key is a section and the bytes of a
 * run of its records, the value where that run stands.  A string is a run of
 * the STRINGS section with its NUL, a template a run of segments, a list a run
 * of templates, and so on; each level refers to the one below by index, so
 * equal content has equal bytes at every level.
 */
#include "emit/writer.h"

#include <string.h>

#include "blob/check.h"

void writer_init(struct writer *writer, struct arena *arena, bool strip)
{
	*writer = (struct writer){ .arena = arena, .strip = strip };
	for (uint32_t id = 0; id < SBX_SEC_COUNT; id++)
		if (sbx_section_spec(id))
			writer->section[id].record_size = sbx_section_spec(id)->record_size;
	writer_string(writer, STR_LIT(""));
}

static void fail(struct writer *writer, const char *what)
{
	if (!writer->error)
		writer->error = arena_printf(writer->arena, "%s: too large for the format", what);
}

uint32_t writer_u32(struct writer *writer, uint64_t value, const char *what)
{
	if (value >= SBX_NONE)
		fail(writer, what);
	return (uint32_t)value;
}

uint16_t writer_u16(struct writer *writer, uint64_t value, const char *what)
{
	if (value > UINT16_MAX)
		fail(writer, what);
	return (uint16_t)value;
}

uint8_t writer_u8(struct writer *writer, uint64_t value, const char *what)
{
	if (value > UINT8_MAX)
		fail(writer, what);
	return (uint8_t)value;
}

uint32_t writer_append(struct writer *writer, enum sbx_section_id id, const void *records,
		       size_t count)
{
	struct writer_section *section = &writer->section[id];
	size_t size = count * section->record_size;
	uint32_t first = section->count;

	if (size > SBX_BLOB_SIZE_MAX || section->size > SBX_BLOB_SIZE_MAX - size) {
		fail(writer, sbx_section_spec(id)->name);
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

uint32_t writer_string(struct writer *writer, struct str text)
{
	return intern(writer, SBX_SEC_STRINGS, str_cstr(writer->arena, text), text.len + 1);
}

uint32_t writer_string_opt(struct writer *writer, struct str text)
{
	return text.ptr ? writer_string(writer, text) : SBX_NONE;
}

struct sbx_tmpl writer_tmpl(struct writer *writer, struct tmpl tmpl)
{
	struct sbx_seg *segs = arena_array(writer->arena, tmpl.count, sizeof(*segs));

	for (size_t i = 0; i < tmpl.count; i++) {
		segs[i].kind = tmpl.segs[i].kind;
		segs[i].ref = tmpl.segs[i].kind == SBX_SEG_VAR
				  ? tmpl.segs[i].var
				  : writer_string(writer, tmpl.segs[i].text);
	}
	return (struct sbx_tmpl){ intern(writer, SBX_SEC_SEGS, segs, tmpl.count),
				  writer_u32(writer, tmpl.count, "template") };
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

uint32_t writer_cidrs(struct writer *writer, const struct sbx_cidr *cidrs, size_t count)
{
	return intern(writer, SBX_SEC_CIDRS, cidrs, count);
}

/* The words of one `{a,b}` share their places. */
static uint32_t write_places(struct writer *writer, const struct place *place)
{
	struct {
		VEC_OF(struct sbx_loc)
	} places = { 0 };

	for (; place && !writer->strip; place = place->next) {
		struct line_column at;

		if (!place->span.source)
			continue;
		at = source_locate(place->span.source, place->span.start);
		if (places.count)
			places.items[places.count - 1].more = 1;
		*VEC_PUSH(writer->arena, &places) = (struct sbx_loc){
			.file = writer_string(writer, str_from(place->span.source->name)),
			.line = at.line,
			.column = (uint16_t)(at.column < UINT16_MAX ? at.column : UINT16_MAX),
		};
	}
	return places.count ? intern(writer, SBX_SEC_LOCS, places.items, places.count) : SBX_NONE;
}

struct sbx_head writer_head(struct writer *writer, const struct rule_head *head)
{
	struct sbx_note note = {
		.compat = writer_string_opt(writer, head->compat),
		.because = writer_string_opt(writer, head->because),
		.guards = writer_string_opt(writer, head->guards),
		.waive_code = writer_string_opt(writer, head->waive_code),
		.waive_why = writer_string_opt(writer, head->waive_why),
	};
	bool noted = head->compat.ptr || head->because.ptr || head->guards.ptr ||
		     head->waive_code.ptr || head->waive_why.ptr;

	return (struct sbx_head){
		.loc = write_places(writer, &head->place),
		.flags = head->flags,
		.note = noted ? intern(writer, SBX_SEC_NOTES, &note, 1) : SBX_NONE,
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
		fail(writer, "blob");
	if (writer->error)
		return writer->error;
	memcpy(header.magic, SBX_MAGIC, sizeof(header.magic));
	header.size = (uint32_t)size;
	header.section_count = (uint32_t)count;
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
