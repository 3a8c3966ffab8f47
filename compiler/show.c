/*
 * compiler/show.c - rows of a picture: places, reasons, rows that say the same.
 */
#include "compiler/show.h"

#include <string.h>

#include "compiler/render.h"

struct show_part *show_part(struct show *show, const char *id, const char *title,
			    const char *state_head, const char *name_head)
{
	struct show_part *part = VEC_PUSH(show->arena, &show->parts);

	*part = (struct show_part){
		.id = id, .title = title, .state_head = state_head, .name_head = name_head
	};
	return part;
}

bool show_unbounded(struct show *show, struct show_part *part, enum sbx_unbounded section)
{
	if (!(sbx_meta(show->blob)->unbounded & 1u << section))
		return false;
	part->lead = "Unbounded: this site policy leaves the section to the user's.";
	return true;
}

struct show_row *show_row(struct show *show, struct show_part *part, enum show_tone tone,
			  const char *state, const struct sbx_head *head)
{
	struct show_row *row = VEC_PUSH(show->arena, &part->rows);

	*row = (struct show_row){ .tone = tone, .state = state };
	if (head)
		show_head(show, row, head);
	return row;
}

void show_name(struct show *show, struct show_row *row, const char *name)
{
	*VEC_PUSH(show->arena, &row->names) = name;
}

void show_say(struct show *show, const char **words, const char *more)
{
	if (!*words)
		*words = *more ? more : NULL;
	else if (!strstr(*words, more))
		*words = arena_printf(show->arena, "%s, %s", *words, more);
}

static void add_note(struct show *show, struct show_row *row, const struct sbx_note *note)
{
	if (note->compat != SBX_NONE)
		show_say(show, &row->hole, sbx_string(show->blob, note->compat));
	if (note->guards != SBX_NONE)
		show_say(
		    show, &row->said,
		    arena_printf(show->arena, "guards %s", sbx_string(show->blob, note->guards)));
	if (note->because != SBX_NONE)
		show_say(
		    show, &row->said,
		    arena_printf(show->arena, "because %s", sbx_string(show->blob, note->because)));
	if (note->waive_code != SBX_NONE)
		show_say(show, &row->said,
			 arena_printf(show->arena, "waives %s: %s",
				      sbx_string(show->blob, note->waive_code),
				      sbx_string(show->blob, note->waive_why)));
}

static void add_place(struct show *show, struct show_row *row, uint32_t loc)
{
	const struct sbx_loc *at;

	if (loc == SBX_NONE)
		return;
	at = SBX_AT(show->blob, LOCS, sbx_loc, loc);
	if (row->file) {
		row->more_places++;
	} else {
		row->file =
		    sbx_string(show->blob, SBX_AT(show->blob, FILES, sbx_file, at->file)->name);
		row->line = row->last_line = at->line;
	}
	for (; at->more; at++)
		row->more_places++;
}

void show_head(struct show *show, struct show_row *row, const struct sbx_head *head)
{
	static const struct {
		unsigned flag;
		const char *words;
	} flags[] = {
		{ SBX_F_BEST_EFFORT, "best-effort" },
		{ SBX_F_SNAPSHOT, "for names there are at the start" },
		{ SBX_F_CREATE, "made when missing" },
		{ SBX_F_OVERRIDE, "overrides a module's deny" },
	};

	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
		if (head->flags & flags[i].flag)
			show_say(show, &row->said, flags[i].words);
	if (head->note != SBX_NONE16)
		add_note(show, row, SBX_AT(show->blob, NOTES, sbx_note, head->note));
	add_place(show, row, head->loc);
}

static bool same(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

bool show_alike(const struct show_row *a, const struct show_row *b)
{
	return a->tone == b->tone && !a->more_places && !b->more_places &&
	       same(a->state, b->state) && same(a->said, b->said) && same(a->hole, b->hole) &&
	       same(a->file, b->file);
}

void show_gather(struct show *show, struct show_part *part, const struct show_row *like,
		 const char *name)
{
	struct show_row *row = NULL;

	for (size_t i = part->rows.count; !row && !strchr(name, ' ') && i-- > 0;)
		if (show_alike(&part->rows.items[i], like) &&
		    !strchr(part->rows.items[i].names.items[0], ' '))
			row = &part->rows.items[i];
	if (!row) {
		row = VEC_PUSH(show->arena, &part->rows);
		*row = *like;
	}
	if (like->line < row->line)
		row->line = like->line;
	if (like->last_line > row->last_line)
		row->last_line = like->last_line;
	show_name(show, row, name);
}

const char *show_place(struct arena *arena, const struct show_row *row)
{
	if (!row->file)
		return "";
	if (row->more_places)
		return arena_printf(arena, "%s:%u and %u more", row->file, row->line,
				    row->more_places);
	if (row->last_line != row->line)
		return arena_printf(arena, "%s:%u-%u", row->file, row->line, row->last_line);
	return arena_printf(arena, "%s:%u", row->file, row->line);
}
