/*
 * prove/edit.h - a blob that can be changed: sections that grow and shrink.
 *
 * A control run is the policy with rules taken out.  What is written is checked
 * and digested like any other blob, so sbx-exec sees nothing unusual.
 */
#ifndef SBX_PROVE_EDIT_H
#define SBX_PROVE_EDIT_H

#include "base/arena.h"
#include "base/str.h"
#include "blob/blob.h"

struct edit {
	struct arena *arena;
	uint32_t kind;
	struct {
		VEC_OF(uint8_t)
	} section[SBX_SEC_COUNT];
};

void edit_begin(struct edit *edit, struct arena *arena, const struct sbx_blob *blob);
/* Records of a section, and their number. */
#define EDIT_AT(edit, id, type, index)                                                             \
	(&((struct type *)(void *)(edit)->section[SBX_SEC_##id].items)[index])
#define EDIT_COUNT(edit, id, type)                                                                 \
	((uint32_t)((edit)->section[SBX_SEC_##id].count / sizeof(struct type)))
/* Puts a copy of @record, as long as one of that section, at its end. */
void edit_add(struct edit *edit, enum sbx_section_id id, const void *record);
void edit_drop(struct edit *edit, enum sbx_section_id id, uint32_t index);
void edit_clear(struct edit *edit, enum sbx_section_id id);
/* A new string, as a reference. */
uint32_t edit_string(struct edit *edit, const char *text);

/* $home as @path: it becomes the first param, and what was a param moves up. */
void edit_rebase_home(struct edit *edit, const char *path);

/* The blob, in the arena and opened; NULL, or what is wrong with it. */
const char *edit_end(struct edit *edit, struct sbx_blob *out);

#endif
