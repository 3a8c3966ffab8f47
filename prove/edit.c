/*
 * prove/edit.c - a blob that can be changed.
 *
 * Records refer to strings by offset and to each other by index, so strings are
 * only added and, of what others refer to by index, only file rules are dropped:
 * the workspace's rule is the one reference to these.
 */
#include "prove/edit.h"

#include <string.h>

#include "blob/check.h"

#define HOME_NAME "sbx-prove-home"

static uint8_t *grow(struct edit *edit, enum sbx_section_id id, size_t size)
{
	for (size_t i = 0; i < size; i++)
		*VEC_PUSH(edit->arena, &edit->section[id]) = 0;
	return edit->section[id].items + edit->section[id].count - size;
}

void edit_begin(struct edit *edit, struct arena *arena, const struct sbx_blob *blob)
{
	*edit = (struct edit){ .arena = arena, .kind = blob->header->kind };
	for (unsigned id = 1; id < SBX_SEC_COUNT; id++) {
		const struct sbx_section_spec *spec = sbx_section_spec(id);
		size_t size = spec ? blob->section[id].count * (size_t)spec->record_size : 0;

		if (size)
			memcpy(grow(edit, (enum sbx_section_id)id, size), blob->section[id].records,
			       size);
	}
}

void edit_add(struct edit *edit, enum sbx_section_id id, const void *record)
{
	size_t size = sbx_section_spec(id)->record_size;

	memcpy(grow(edit, id, size), record, size);
}

void edit_drop(struct edit *edit, enum sbx_section_id id, uint32_t index)
{
	size_t size = sbx_section_spec(id)->record_size, end = edit->section[id].count;
	uint8_t *at = edit->section[id].items + index * size;

	memmove(at, at + size, end - (index + 1) * size);
	edit->section[id].count -= size;
	if (id == SBX_SEC_FS) {
		struct sbx_meta *meta = EDIT_AT(edit, META, sbx_meta, 0);

		if (meta->workspace_rule != SBX_NONE && meta->workspace_rule > index)
			meta->workspace_rule--;
	}
}

void edit_clear(struct edit *edit, enum sbx_section_id id)
{
	edit->section[id].count = 0;
}

uint32_t edit_string(struct edit *edit, const char *text)
{
	uint32_t at = (uint32_t)edit->section[SBX_SEC_STRINGS].count;
	size_t length = strlen(text);

	/* A mark is never plain text. */
	for (const char *p = text; *p; p++) {
		if ((unsigned char)*p <= SBX_MARK_BYTE) {
			*grow(edit, SBX_SEC_STRINGS, 1) = SBX_MARK_BYTE;
			*grow(edit, SBX_SEC_STRINGS, 1) = (uint8_t)(SBX_MARK_BASE + *p);
		} else {
			*grow(edit, SBX_SEC_STRINGS, 1) = (uint8_t)*p;
		}
	}
	grow(edit, SBX_SEC_STRINGS, 1);
	return length ? at : 0;
}

static void move_variables(struct edit *edit)
{
	uint8_t *at = edit->section[SBX_SEC_STRINGS].items;
	uint8_t *end = at + edit->section[SBX_SEC_STRINGS].count;

	for (; at + 1 < end; at++) {
		unsigned var;

		if (*at < SBX_MARK_VAR || *at > SBX_MARK_BYTE)
			continue;
		if (*at++ != SBX_MARK_VAR)
			continue;
		var = *at - SBX_MARK_BASE;
		if (var == SBX_VAR_HOME)
			*at = SBX_MARK_BASE + SBX_VAR_PARAM;
		else if (var >= SBX_VAR_PARAM)
			*at = (uint8_t)(*at + 1);
	}
}

void edit_rebase_home(struct edit *edit, const char *path)
{
	struct sbx_param *params, home = {
		.head = { .loc = SBX_NONE, .note = SBX_NONE16 },
		.type = SBX_PARAM_PATH,
		.under.text = SBX_NONE,
		.max = UINT64_MAX,
	};
	uint32_t count;

	move_variables(edit);
	home.name = edit_string(edit, HOME_NAME);
	home.value.text = edit_string(edit, path);
	edit_add(edit, SBX_SEC_PARAMS, &home);
	/* The others' defaults may use it, and a param uses only those before it. */
	params = EDIT_AT(edit, PARAMS, sbx_param, 0);
	count = EDIT_COUNT(edit, PARAMS, sbx_param);
	memmove(params + 1, params, (count - 1) * sizeof(*params));
	params[0] = home;
}

static uint32_t padded(size_t size)
{
	return (uint32_t)((size + 7) & ~(size_t)7);
}

const char *edit_end(struct edit *edit, struct sbx_blob *out)
{
	uint32_t count = 0, at = sizeof(struct sbx_header);
	struct sbx_section *table;
	struct sbx_header *header;
	uint8_t *data;
	size_t size = 0;

	for (unsigned id = 1; id < SBX_SEC_COUNT; id++) {
		count += edit->section[id].count != 0;
		size += padded(edit->section[id].count);
	}
	at += count * (uint32_t)sizeof(*table);
	size += padded(at);
	data = arena_alloc(edit->arena, size);
	header = (void *)data;
	table = (void *)(data + sizeof(*header));
	memcpy(header->magic, SBX_MAGIC, sizeof(header->magic));
	header->version = SBX_FORMAT_VERSION;
	header->size = (uint32_t)size;
	header->section_count = count;
	header->kind = edit->kind;
	for (unsigned id = 1; id < SBX_SEC_COUNT; id++) {
		const struct sbx_section_spec *spec = sbx_section_spec(id);
		uint32_t bytes = (uint32_t)edit->section[id].count;

		if (!bytes)
			continue;
		at = padded(at);
		*table++ = (struct sbx_section){
			id, spec->flags, at, bytes, bytes / spec->record_size, spec->record_size
		};
		memcpy(data + at, edit->section[id].items, bytes);
		at += bytes;
	}
	sbx_blob_digest(data, size, header->digest);
	return sbx_blob_open(data, size, out);
}
