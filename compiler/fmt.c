/*
 * The layout of a policy source.
 *
 * A person decides where a line ends and what follows what; all blanks are
 * decided here, from nothing but the tokens, so that two texts that differ in
 * blanks alone come out as one.  A paragraph is a run of lines of one block
 * with no empty line in it:
 *
 *	indent    four blanks a block
 *	verbs     padded to the longest of their paragraph, and so are the names
 *	          of variables, params and numbers, actions in assertions, and
 *	          the parts of a Slurm option
 *	notes     (optional, compat "why" ...) in one column of their whole block,
 *	          a multiple of eight; the only one, and one behind a line
 *	          too long for it, has two blanks
 *	comments  behind a statement: in one column of their paragraph
 *	`\`       the next line goes on below the last of these columns
 *
 * A line with two statements takes no part, nor does one with a block that goes on.
 */
#include "compiler/fmt.h"

#include <stdint.h>
#include <stdlib.h>

#include "compiler/fmt_tokens.h"

#define INDENT 4
#define WIDTH  80 /* what ends behind this has no say in a column */

struct line {
	const struct fmt_token *tokens;
	unsigned count; /* without the token that ends it */
	unsigned block; /* which one it starts in; 0: none */
	unsigned indent;
	unsigned body;  /* column of the last cell, below which the next line may go on */
	unsigned width; /* of all before the comment */
	unsigned note;  /* its column; 0, in no block: one blank before it */
	unsigned comment;
	unsigned cell[FMT_NOTE]; /* columns, else 0 */
	unsigned head;           /* how many of its tokens take part in columns */
	unsigned noted;          /* the first FMT_NOTE of these, or count */
	bool goes_on;            /* ends with a `\` */
	bool continues;          /* the line before does */
	bool blank;              /* an empty line before it */
	bool alone;              /* opens or closes a block of more lines: no paragraph's */
	bool apart;              /* the first of a paragraph */
};

struct layout {
	struct arena *arena;
	struct {
		VEC_OF(struct line)
	} lines;
};

/* ---- lines ----------------------------------------------------------------------------- */

static bool ends_line(const struct fmt_token *token)
{
	return token->kind == FMT_BREAK || token->kind == FMT_CONTINUE;
}

/* A `;` that parts nothing from anything, a `\` before or behind which nothing stands. */
static bool is_idle(const struct fmt_token *last, const struct fmt_token *token,
		    const struct fmt_token *next)
{
	bool starts = !last || last->kind == FMT_BREAK || last->kind == FMT_SEMI;

	if (token->kind == FMT_SEMI)
		return starts || last->kind == FMT_OPEN || next->kind == FMT_BREAK ||
		       next->kind == FMT_CLOSE || next->kind == FMT_COMMENT ||
		       next->kind == FMT_SEMI;
	if (token->kind == FMT_CONTINUE)
		return starts || last->kind == FMT_CONTINUE || ends_line(next) ||
		       next->kind == FMT_COMMENT || next->kind == FMT_SEMI;
	return false;
}

/* Takes out what is idle, until nothing is: one may have made another so. */
static void drop_idle(struct fmt_tokens *tokens)
{
	size_t before;

	do {
		size_t count = 0;

		before = tokens->count;
		for (size_t i = 0; i < before; i++)
			if (i + 1 == before || !is_idle(count ? &tokens->items[count - 1] : NULL,
							&tokens->items[i], &tokens->items[i + 1]))
				tokens->items[count++] = tokens->items[i];
		tokens->count = count;
	} while (tokens->count < before);
}

/* Is it one statement, its block included, that ends with the line? */
static bool is_row(const struct line *line)
{
	unsigned depth = 0, closed = 0;

	for (unsigned i = 0; i < line->count; i++) {
		enum fmt_kind kind = line->tokens[i].kind;

		if (closed && kind != FMT_COMMENT)
			return false;
		if (kind == FMT_SEMI && !depth)
			return false;
		depth += kind == FMT_OPEN;
		if (kind == FMT_CLOSE && (!depth || !--depth))
			closed = i + 1;
		if (kind == FMT_CLOSE && !i)
			return false;
	}
	return !depth;
}

static unsigned head_of(const struct line *line)
{
	unsigned head = 0;

	if (line->continues || is_row(line))
		while (head < line->count && line->tokens[head++].kind != FMT_OPEN)
			;
	return head;
}

/* The first token of that column in the head, or line->count. */
static unsigned find(const struct line *line, enum fmt_column column)
{
	for (unsigned i = 0; i < line->head; i++)
		if (line->tokens[i].column == column)
			return i;
	return line->count;
}

/* The comment that ends the line, or line->count. */
static unsigned find_comment(const struct line *line)
{
	return line->count - (line->tokens[line->count - 1].kind == FMT_COMMENT);
}

static bool opens_block(const struct line *line)
{
	unsigned end = find_comment(line);

	return end && line->tokens[end - 1].kind == FMT_OPEN;
}

static void split_lines(struct layout *l, const struct fmt_tokens *tokens)
{
	struct {
		VEC_OF(unsigned)
	} open = { 0 };
	unsigned blocks = 0;
	bool blank = false, continues = false, opened = false;

	for (size_t i = 0; i < tokens->count;) {
		struct line line = { .tokens = &tokens->items[i], .continues = continues };
		unsigned leading = 0;
		bool closing = true;

		line.block = open.count ? open.items[open.count - 1] : 0;
		for (; !ends_line(&tokens->items[i]); i++, line.count++) {
			enum fmt_kind kind = tokens->items[i].kind;

			closing &= kind == FMT_CLOSE;
			if (line.count == 0)
				line.indent = (unsigned)open.count;
			leading += closing;
			if (kind == FMT_OPEN)
				*VEC_PUSH(l->arena, &open) = ++blocks;
			if (kind == FMT_CLOSE)
				open.count--;
		}
		continues = line.goes_on = tokens->items[i++].kind == FMT_CONTINUE;
		if (!line.count) {
			blank = true;
			continue;
		}
		line.indent = (line.indent - leading) * INDENT;
		line.head = head_of(&line);
		line.noted = find(&line, FMT_NOTE);
		/* No empty line at the top of a file or a block, nor at its end. */
		line.blank = blank && l->lines.count && !leading && !opened;
		opened = opens_block(&line);
		line.alone = opened || leading;
		blank = false;
		*VEC_PUSH(l->arena, &l->lines) = line;
	}
	for (size_t i = 0; i < l->lines.count; i++) {
		struct line *line = &l->lines.items[i];

		line->apart = !i || line->blank || line->alone || line->block != line[-1].block;
	}
}

/* ---- columns --------------------------------------------------------------------------- */

/* Characters, as far as one is one column. */
static unsigned width_of(struct str text)
{
	unsigned width = 0;

	for (size_t i = 0; i < text.len; i++)
		width += ((unsigned char)text.ptr[i] & 0xc0) != 0x80;
	return width;
}

/* Where the token goes, if what is before it ends at @end. */
static unsigned place(const struct line *line, unsigned index, unsigned end)
{
	const struct fmt_token *token = &line->tokens[index];
	unsigned column = index || line->continues ? end + (index > 0) : line->indent;

	if (token->kind == FMT_SEMI)
		return end;
	if (token->kind == FMT_COMMENT && index)
		return line->comment > column ? line->comment : column;
	if (index >= line->head)
		return column;
	if (token->column == FMT_NOTE) {
		if (!line->note || index != line->noted)
			return column;
		return line->note >= column ? line->note : column + 1;
	}
	if (token->column && !line->continues && line->cell[token->column] > column)
		return line->cell[token->column];
	return column;
}

/* The column at which the tokens before @stop end. */
static unsigned measure(const struct line *line, unsigned stop)
{
	unsigned end = line->continues ? line->body : line->indent;

	for (unsigned i = 0; i < stop; i++)
		end = place(line, i, end) + width_of(line->tokens[i].text);
	return end;
}

/* Where that cell would start by itself; 0: the line has no say in the column. */
static unsigned start_of(const struct line *line, enum fmt_column column)
{
	unsigned index = find(line, column);

	/* An option without a letter is as long as one with it. */
	if (index == line->count && column == FMT_SECOND)
		index = find(line, FMT_THIRD);
	if (index == line->count || line->continues || line->tokens[index].alone)
		return 0;
	return measure(line, index) + 1;
}

static void align_cells(struct line *lines, size_t count)
{
	for (enum fmt_column column = FMT_FIRST; column < FMT_NOTE; column++) {
		unsigned most = 0;

		for (size_t i = 0; i < count; i++) {
			unsigned start = start_of(&lines[i], column);

			if (start > most && start <= WIDTH)
				most = start;
		}
		for (size_t i = 0; i < count; i++)
			if (start_of(&lines[i], column))
				lines[i].cell[column] = most;
	}
}

/* Where a line that goes on does so. */
static void hang(struct line *lines, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct line *line = &lines[i];

		if (line->continues) {
			line->body = i ? line[-1].body : line->indent + INDENT;
			continue;
		}
		line->body = line->indent + INDENT;
		for (enum fmt_column column = FMT_FIRST; column < FMT_NOTE; column++) {
			unsigned index = find(line, column), at;

			if (index == line->count)
				continue;
			at = place(line, index, measure(line, index));
			if (at <= WIDTH)
				line->body = at;
		}
	}
}

static void align_comments(struct line *lines, size_t count)
{
	unsigned most = 0;

	for (size_t i = 0; i < count; i++) {
		struct line *line = &lines[i];
		unsigned index = find_comment(line);

		if (!index || index == line->count)
			continue;
		line->width = measure(line, index);
		if (line->width > most && line->width <= WIDTH)
			most = line->width;
	}
	for (size_t i = 0; i < count; i++)
		if (lines[i].width)
			lines[i].comment = (lines[i].width > most ? lines[i].width : most) + 2;
}

static void each_paragraph(struct layout *l, void (*align)(struct line *lines, size_t count))
{
	size_t start = 0;

	for (size_t i = 1; i <= l->lines.count; i++) {
		if (i < l->lines.count && !l->lines.items[i].apart)
			continue;
		align(&l->lines.items[start], i - start);
		start = i;
	}
}

struct notes {
	unsigned count; /* of them in a block */
	unsigned most;  /* the last column at which one would start by itself */
};

/*
 * One column a block, whose lines need not stand together, and in steps of
 * eight, so that one more rule seldom moves the others: policies are reviewed
 * as differences.  A note that is the only one has nothing to stand below.
 */
static void align_notes(struct layout *l)
{
	struct notes *notes;
	unsigned blocks = 0;

	for (size_t i = 0; i < l->lines.count; i++)
		if (l->lines.items[i].block > blocks)
			blocks = l->lines.items[i].block;
	notes = arena_array(l->arena, blocks + 1, sizeof(*notes));
	for (size_t i = 0; i < l->lines.count; i++) {
		const struct line *line = &l->lines.items[i];
		unsigned index = line->noted, end;

		if (!line->block || index == line->count)
			continue;
		end = measure(line, index) + 2;
		if (end > WIDTH)
			continue;
		notes[line->block].count++;
		if (end > notes[line->block].most)
			notes[line->block].most = end;
	}
	for (size_t i = 0; i < l->lines.count; i++) {
		struct line *line = &l->lines.items[i];
		const struct notes *of = &notes[line->block];

		line->note = of->count > 1 ? (of->most + 7) / 8 * 8 : of->most;
	}
}

/* ---- the text -------------------------------------------------------------------------- */

static void print_line(FILE *out, const struct line *line)
{
	unsigned end = 0;

	if (line->blank)
		fputc('\n', out);
	for (unsigned i = 0; i < line->count; i++) {
		struct str text = line->tokens[i].text;
		unsigned at = place(line, i, i ? end : line->continues ? line->body : line->indent);

		fprintf(out, "%*s", (int)(at - end), "");
		fwrite(text.ptr, 1, text.len, out);
		end = at + width_of(text);
	}
	fputs(line->goes_on ? " \\\n" : "\n", out);
}

struct str fmt_layout(struct arena *arena, const struct ast_file *file)
{
	struct arena scratch = { 0 }; /* many times the text, and of no use behind it */
	struct layout l = { .arena = &scratch };
	struct fmt_tokens tokens = { 0 };
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		out_of_memory();
	fmt_tokenize(&scratch, file, &tokens);
	drop_idle(&tokens);
	split_lines(&l, &tokens);
	each_paragraph(&l, align_cells);
	each_paragraph(&l, hang);
	align_notes(&l);
	each_paragraph(&l, align_comments);
	for (size_t i = 0; i < l.lines.count; i++)
		print_line(out, &l.lines.items[i]);
	if (ferror(out) || fclose(out) != 0)
		out_of_memory();

	struct str result = { arena_copy(arena, text, size), size };

	free(text);
	arena_free(&scratch);
	return result;
}

/* The next of @tokens that is no empty line. */
static const struct fmt_token *next_token(const struct fmt_tokens *tokens, size_t *index)
{
	const struct fmt_token *token;

	do {
		if (*index == tokens->count)
			return NULL;
		token = &tokens->items[(*index)++];
	} while (token->kind == FMT_BREAK &&
		 (*index == 1 || tokens->items[*index - 2].kind == FMT_BREAK));
	return token;
}

bool fmt_same(const struct ast_file *a, const struct ast_file *b)
{
	struct arena scratch = { 0 };
	struct fmt_tokens tokens[2] = { 0 };
	size_t index[2] = { 0 };
	const struct fmt_token *x, *y;

	fmt_tokenize(&scratch, a, &tokens[0]);
	fmt_tokenize(&scratch, b, &tokens[1]);
	drop_idle(&tokens[0]);
	drop_idle(&tokens[1]);
	do {
		x = next_token(&tokens[0], &index[0]);
		y = next_token(&tokens[1], &index[1]);
		if (!x || !y)
			break;
	} while (x->kind == y->kind && (ends_line(x) || str_equal(x->text, y->text)));
	arena_free(&scratch);
	return !x && !y;
}
