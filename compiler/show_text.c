/*
 * compiler/show_text.c - a picture for a terminal.
 *
 *	rwx      $workspace                                  claude.pol:25
 *	r-x      +- .git/hooks .vscode: never to write       std/git.pol:14
 *	         |  ! compat: the reason
 *
 * The state stands first, in its colour; names wrap under the first one, with
 * the lines of the tree going on beside them.
 */
#include <stdio.h>
#include <string.h>

#include "base/diag.h"
#include "base/utf8.h"
#include "compiler/render.h"
#include "compiler/show.h"

#define STATE_WIDTH 9
#define QUIET_NAMES 8 /* of a list in a short picture */

struct printer {
	struct show *show;
	bool quiet, colour;
	unsigned width;
	unsigned column;
	bool begun;         /* a word stands on this line */
	const char *margin; /* what a wrapped line begins with, after the state */
};

static const char *const colours[SHOW_TONE_COUNT] = {
	[SHOW_WRITE] = "1;33",   [SHOW_EXEC] = "32",  [SHOW_READ] = "36", [SHOW_DEVICE] = "35",
	[SHOW_PRIVATE] = "1;34", [SHOW_WAY] = "2",    [SHOW_PLAIN] = "",  [SHOW_HOLE] = "1;31",
	[SHOW_SHUT] = "31",      [SHOW_SEALED] = "31"
};

static unsigned columns_of(const char *text)
{
	unsigned columns = 0;

	for (; *text; text++)
		columns += ((unsigned char)*text & 0xc0) != 0x80;
	return columns;
}

static void put(struct printer *p, const char *colour, const char *text)
{
	if (p->colour && *colour)
		printf("\033[%sm%s\033[0m", colour, text);
	else
		fputs(text, stdout);
	p->column += columns_of(text);
}

static void new_line(struct printer *p)
{
	putchar('\n');
	p->column = 0;
	p->begun = false;
	put(p, "", arena_printf(p->show->arena, "%*s", STATE_WIDTH + 2, ""));
	put(p, "2", p->margin);
}

/* @text by its blanks: a word that does not fit begins a new line. */
static void put_words(struct printer *p, const char *colour, const char *text)
{
	text = diag_escape(p->show->arena, str_from(text));
	while (*(text += strspn(text, " "))) {
		size_t length = strcspn(text, " ");
		const char *word = arena_copy(p->show->arena, text, length);

		if (p->begun && p->column + 1 + columns_of(word) > p->width)
			new_line(p);
		if (p->begun)
			put(p, "", " ");
		put(p, colour, word);
		p->begun = true;
		text += length;
	}
}

static bool goes_on(const struct show_part *part, size_t index, unsigned depth)
{
	for (size_t i = index + 1; i < part->rows.count; i++) {
		if (part->rows.items[i].depth < depth)
			return false;
		if (part->rows.items[i].depth == depth)
			return true;
	}
	return false;
}

/* The lines of the tree before a name, and beside what follows it. */
static const char *branches(struct printer *p, const struct show_part *part, size_t index,
			    bool first)
{
	unsigned depth = part->rows.items[index].depth;
	struct text text = { .arena = p->show->arena };

	for (unsigned level = 1; level < depth; level++)
		text_add(&text, "%s", goes_on(part, index, level) ? "│  " : "   ");
	if (depth && first)
		text_add(&text, "%s", goes_on(part, index, depth) ? "├─ " : "└─ ");
	else if (depth)
		text_add(&text, "%s", goes_on(part, index, depth) ? "│  " : "   ");
	return text_end(&text);
}

static void print_names(struct printer *p, const struct show_row *row)
{
	size_t shown = row->names.count;

	if (p->quiet && shown > QUIET_NAMES + 1)
		shown = QUIET_NAMES;
	if (row->label)
		put_words(p, "2", arena_printf(p->show->arena, "%s:", row->label));
	for (size_t i = 0; i < shown; i++)
		put_words(p, row->depth || row->tone == SHOW_WAY ? "" : "1", row->names.items[i]);
	if (shown < row->names.count)
		put_words(p, "2",
			  arena_printf(p->show->arena, "and %zu more", row->names.count - shown));
}

static void print_place(struct printer *p, const struct show_row *row)
{
	const char *place = show_place(p->show->arena, row);

	place = diag_escape(p->show->arena, str_from(place));
	if (p->quiet || !*place)
		return;
	if (p->begun && p->column + 2 + columns_of(place) > p->width)
		new_line(p);
	if (p->column + columns_of(place) < p->width)
		put(p, "",
		    arena_printf(p->show->arena, "%*s",
				 (int)(p->width - p->column - columns_of(place)), ""));
	put(p, "2", place);
}

static void print_row(struct printer *p, const struct show_part *part, size_t index)
{
	const struct show_row *row = &part->rows.items[index];
	const char *state = diag_escape(p->show->arena, str_from(row->state));
	int blanks = STATE_WIDTH - (int)columns_of(state);

	p->column = 0;
	p->begun = false;
	put(p, "", "  ");
	put(p, colours[row->tone], state);
	put(p, "", arena_printf(p->show->arena, "%*s", blanks > 0 ? blanks : 1, ""));
	put(p, "2", branches(p, part, index, true));
	p->margin = arena_printf(p->show->arena, "%s%s", branches(p, part, index, false),
				 goes_on(part, index, row->depth + 1) ? "│  " : "   ");
	print_names(p, row);
	if (row->said && !(p->quiet && row->names.count > 1)) {
		put_words(p, "2", "—");
		put_words(p, "2", row->said);
	}
	print_place(p, row);
	if (row->hole) {
		new_line(p);
		put_words(p, "1;33", "!");
		p->margin = arena_printf(p->show->arena, "%s  ", p->margin);
		put_words(p, "33", row->hole);
	}
	putchar('\n');
}

static void print_lead(struct printer *p, const char *lead)
{
	putchar(' ');
	p->column = 1;
	p->margin = "";
	for (lead = diag_escape(p->show->arena, str_from(lead)); *(lead += strspn(lead, " "));) {
		size_t length = strcspn(lead, " ");

		if (p->column + 1 + length > p->width) {
			fputs("\n ", stdout);
			p->column = 1;
		}
		put(p, "", " ");
		put(p, "2", arena_copy(p->show->arena, lead, length));
		lead += length;
	}
	putchar('\n');
}

static void print_top(struct printer *p)
{
	const struct sbx_meta *meta = sbx_meta(p->show->blob);
	const char *summary = sbx_string(p->show->blob, meta->summary);

	put(p, "1", p->show->blob->header->kind == SBX_SITE ? "site policy " : "policy ");
	put(p, "1", diag_escape(p->show->arena, str_from(sbx_string(p->show->blob, meta->name))));
	putchar('\n');
	if (*summary)
		print_lead(p, summary);
	if (meta->command_count && !p->quiet) {
		struct text text = { .arena = p->show->arena };

		text_add(&text, "It runs");
		for (uint32_t i = 0; i < meta->command_count; i++)
			text_add(&text, " %s",
				 render_tmpl(p->show->arena, p->show->blob,
					     *SBX_AT(p->show->blob, TMPLS, sbx_tmpl,
						     meta->command_first + i)));
		print_lead(p, text_end(&text));
	}
}

void show_print(struct show *show, bool quiet, bool colour, unsigned width)
{
	struct printer p = { .show = show, .quiet = quiet, .colour = colour, .width = width };

	print_top(&p);
	for (size_t i = 0; i < show->parts.count; i++) {
		const struct show_part *part = &show->parts.items[i];

		if (quiet && part->detail && !part->lead)
			continue;
		putchar('\n');
		put(&p, "1;4", part->title);
		putchar('\n');
		if (part->lead)
			print_lead(&p, part->lead);
		for (size_t n = 0; !(quiet && part->detail) && n < part->rows.count; n++)
			print_row(&p, part, n);
	}
}
