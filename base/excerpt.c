/*
 * Text of a policy on its way to a terminal.  It is walked in cells: a
 * printable ASCII byte, a whole UTF-8 character, or an escape `\xNN` for each
 * byte that is neither.  Control bytes move the cursor or worse, and the
 * direction overrides of Unicode make a line read as what it is not, so both
 * count as bytes to escape.  A character is taken to be one column wide; a
 * tab is printed as it is, in the caret line too, and is reckoned as eight.
 */
#include "base/excerpt.h"

#include <stdint.h>

#include "base/diag.h"
#include "base/utf8.h"

#define INDENT     4
#define WIDTH      120
#define CUT        "..."
#define CONTEXT    40 /* columns kept before the place in a line that is cut */
#define TAB_COLUMN 8

struct cell {
	size_t len;   /* bytes of the text */
	size_t width; /* columns */
	bool escape;
};

/* The cell at @at, which must be below text.len. */
static struct cell cell_at(struct str text, size_t at)
{
	uint32_t point;
	size_t len = utf8_decode(text.ptr + at, text.len - at, &point);

	if (len == 0 || utf8_is_control(point))
		return (struct cell){ 1, sizeof("\\xNN") - 1, true };
	return (struct cell){ len, 1, false };
}

static struct cell line_cell_at(struct str text, size_t at)
{
	if (text.ptr[at] == '\t')
		return (struct cell){ 1, TAB_COLUMN, false };
	return cell_at(text, at);
}

const char *diag_escape(struct arena *arena, struct str text)
{
	char *escaped = arena_array(arena, text.len + 1, sizeof("\\xNN") - 1);
	char *end = escaped;

	for (size_t at = 0; at < text.len;) {
		struct cell cell = cell_at(text, at);

		if (cell.escape) {
			end += sprintf(end, "\\x%02x", (unsigned char)text.ptr[at]);
		} else {
			memcpy(end, text.ptr + at, cell.len);
			end += cell.len;
		}
		at += cell.len;
	}
	return escaped;
}

static size_t width_of(struct str line, size_t from, size_t to)
{
	size_t width = 0;

	while (from < to) {
		struct cell cell = line_cell_at(line, from);

		width += cell.width;
		from += cell.len;
	}
	return width;
}

/* The offset after the cells that fit into @width columns from @from on. */
static size_t fit(struct str line, size_t from, size_t width)
{
	while (from < line.len) {
		struct cell cell = line_cell_at(line, from);

		if (cell.width > width)
			break;
		width -= cell.width;
		from += cell.len;
	}
	return from;
}

/* What of @line is shown so that @place is in it. */
static void window(struct str line, size_t place, size_t *from, size_t *to)
{
	size_t room = WIDTH - INDENT;

	*from = 0;
	*to = fit(line, 0, room);
	if (*to == line.len)
		return;
	*to = fit(line, 0, room - strlen(CUT));
	if (place + CONTEXT / 2 < *to)
		return;
	*from = place > CONTEXT ? place - CONTEXT : 0;
	while (*from < place && ((unsigned char)line.ptr[*from] & 0xc0) == 0x80)
		(*from)++;
	while (width_of(line, *from, place) > CONTEXT)
		*from += line_cell_at(line, *from).len;
	*to = fit(line, *from, room - strlen(CUT));
	if (*to < line.len)
		*to = fit(line, *from, room - 2 * strlen(CUT));
}

static void print_text(FILE *out, struct str line, size_t from, size_t to)
{
	while (from < to) {
		struct cell cell = line_cell_at(line, from);

		if (cell.escape)
			fprintf(out, "\\x%02x", (unsigned char)line.ptr[from]);
		else
			fwrite(line.ptr + from, 1, cell.len, out);
		from += cell.len;
	}
}

static void print_blank(FILE *out, struct str line, size_t from, size_t to)
{
	while (from < to) {
		struct cell cell = line_cell_at(line, from);

		if (line.ptr[from] == '\t')
			fputc('\t', out);
		else
			fprintf(out, "%*s", (int)cell.width, "");
		from += cell.len;
	}
}

void excerpt_print(FILE *out, bool colour, struct span span)
{
	struct line_column at = source_locate(span.source, span.start);
	struct str line = source_line(span.source, at.line);
	size_t place = at.column - 1, end, from, to;

	if (line.len == 0)
		return;
	if (place > line.len)
		place = line.len;
	end = span.end > span.start ? place + (span.end - span.start) : place;
	window(line, place, &from, &to);
	if (end > to)
		end = to;

	fprintf(out, "%*s%s", INDENT, "", from ? CUT : "");
	print_text(out, line, from, to);
	fprintf(out, "%s\n%*s%*s", to < line.len ? CUT : "", INDENT, "",
		from ? (int)strlen(CUT) : 0, "");
	print_blank(out, line, from, place);
	fprintf(out, "%s^", colour ? "\033[32m" : "");
	for (size_t i = 1, marked = width_of(line, place, end); i < marked; i++)
		fputc('~', out);
	fprintf(out, "%s\n", colour ? "\033[m" : "");
}
