/*
 * Messages are queued in the order the stages find them and printed in the
 * order a reader meets the places: files by first use, then offset.  Notes
 * hang on the message queued before them and move with it.
 *
 * A file can be hostile or plainly broken, so what is kept and what is shown
 * are both bounded: past QUEUE_MAX messages only the count goes on, and past
 * SHOWN_MAX errors only the number of the others is printed.  base/excerpt.c
 * prints the source line and its carets.
 */
#include "base/diag.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/excerpt.h"

#define QUEUE_MAX 10000
#define SHOWN_MAX 50
#define TEXT_MAX  600 /* a word in a message may be a megabyte long */

struct message {
	struct diag_message said;
	size_t file;  /* index in diags.files */
	size_t order; /* as queued: ties keep it */
	struct diag_note **notes_end;
};

struct diags {
	struct arena *arena;
	struct {
		VEC_OF(struct message *)
	} queue;
	struct {
		VEC_OF(const struct source *)
	} files;
	struct message *last; /* what a note belongs to; NULL: not kept */
	unsigned errors, warnings, shown;
	bool sorted;
};

static const struct {
	const char *name, *title;
} codes[] = {
#define CODE(id, title) { #id, title },
#include "base/codes.def"
#undef CODE
};

struct diags *diags_new(struct arena *arena)
{
	struct diags *diags = ARENA_NEW(arena, struct diags);

	diags->arena = arena;
	return diags;
}

static size_t file_index(struct diags *diags, const struct source *source)
{
	for (size_t i = 0; i < diags->files.count; i++)
		if (diags->files.items[i] == source)
			return i;
	*VEC_PUSH(diags->arena, &diags->files) = source;
	return diags->files.count - 1;
}

__attribute__((format(printf, 2, 0))) static const char *format(struct arena *arena,
								const char *fmt, va_list args)
{
	char text[TEXT_MAX + 1];
	int len = vsnprintf(text, sizeof(text), fmt, args);

	if (len < 0)
		BUG("a message that cannot be formatted");
	return arena_printf(arena, "%s%s", text, len > TEXT_MAX ? "..." : "");
}

__attribute__((format(printf, 5, 0))) static void queue(struct diags *diags, bool error,
							enum diag_code code, struct span span,
							const char *fmt, va_list args)
{
	struct message *message;

	diags->last = NULL;
	if (diags->queue.count >= QUEUE_MAX)
		return;
	message = ARENA_NEW(diags->arena, struct message);
	message->said = (struct diag_message){ .error = error, .code = code, .span = span };
	message->file = file_index(diags, span.source);
	message->order = diags->queue.count;
	message->said.text = format(diags->arena, fmt, args);
	message->notes_end = &message->said.notes;
	*VEC_PUSH(diags->arena, &diags->queue) = message;
	diags->last = message;
	diags->sorted = false;
}

void diag_error(struct diags *diags, enum diag_code code, struct span span, const char *fmt, ...)
{
	va_list args;

	diags->errors++;
	va_start(args, fmt);
	queue(diags, true, code, span, fmt, args);
	va_end(args);
}

void diag_warning(struct diags *diags, enum diag_code code, struct span span, const char *fmt, ...)
{
	va_list args;

	diags->warnings++;
	va_start(args, fmt);
	queue(diags, false, code, span, fmt, args);
	va_end(args);
}

void diag_waived(struct diags *diags, enum diag_code code, struct span span, struct str why,
		 const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	queue(diags, false, code, span, fmt, args);
	va_end(args);
	if (diags->last)
		diags->last->said.waived = arena_copy(diags->arena, why.ptr, why.len);
}

void diag_fix(struct diags *diags, struct span span, const char *text)
{
	if (!diags->last)
		return;
	diags->last->said.fix = text;
	diags->last->said.fix_span = span;
}

void diag_note(struct diags *diags, struct span span, const char *fmt, ...)
{
	struct diag_note *note;
	va_list args;

	if (!diags->last)
		return;
	note = ARENA_NEW(diags->arena, struct diag_note);
	note->span = span;
	va_start(args, fmt);
	note->text = format(diags->arena, fmt, args);
	va_end(args);
	*diags->last->notes_end = note;
	diags->last->notes_end = &note->next;
}

unsigned diag_errors(const struct diags *diags)
{
	return diags->errors;
}

unsigned diag_warnings(const struct diags *diags)
{
	return diags->warnings;
}

static int by_place(const void *a, const void *b)
{
	const struct message *x = *(struct message *const *)a;
	const struct message *y = *(struct message *const *)b;

	if (x->file != y->file)
		return x->file < y->file ? -1 : 1;
	if (x->said.span.start != y->said.span.start)
		return x->said.span.start < y->said.span.start ? -1 : 1;
	return x->order < y->order ? -1 : 1;
}

static void sort(struct diags *diags)
{
	if (!diags->sorted && diags->queue.count)
		qsort(diags->queue.items, diags->queue.count, sizeof(*diags->queue.items),
		      by_place);
	diags->sorted = true;
}

const struct diag_message *diag_message_at(struct diags *diags, size_t index)
{
	sort(diags);
	return index < diags->queue.count ? &diags->queue.items[index]->said : NULL;
}

static void print_line(struct diags *diags, FILE *out, bool colour, struct span span,
		       const char *kind, const char *hue, const char *text, const char *code)
{
	const char *bold = colour ? "\033[1m" : "", *plain = colour ? "\033[m" : "";

	fputs(bold, out);
	if (span.source) {
		struct line_column at = source_locate(span.source, span.start);

		fprintf(out, "%s:%u:%u: ", diag_escape(diags->arena, str_from(span.source->path)),
			at.line, at.column);
	}
	fprintf(out, "%s%s:%s ", colour ? hue : "", kind, plain);
	fputs(diag_escape(diags->arena, str_from(text)), out);
	if (code)
		fprintf(out, " [%s]", code);
	fputc('\n', out);
	if (span.source)
		excerpt_print(out, colour, span);
}

void diag_flush(struct diags *diags, FILE *out, bool colour)
{
	unsigned unshown = 0;

	sort(diags);
	for (size_t i = 0; i < diags->queue.count; i++) {
		const struct diag_message *m = &diags->queue.items[i]->said;
		bool error = m->error;

		if (m->waived)
			continue;
		if (error && diags->shown >= SHOWN_MAX) {
			unshown++;
			continue;
		}
		diags->shown += error;
		print_line(diags, out, colour, m->span, error ? "error" : "warning",
			   error ? "\033[31m" : "\033[35m", m->text, diag_code_name(m->code));
		for (const struct diag_note *n = m->notes; n; n = n->next)
			print_line(diags, out, colour, n->span, "note", "\033[36m", n->text, NULL);
	}
	if (diags->queue.count == QUEUE_MAX)
		fputs("many more messages are not shown\n", out);
	else if (unshown)
		fprintf(out, "%u more error%s not shown\n", unshown,
			unshown == 1 ? " is" : "s are");
	diags->queue.count = 0;
	diags->last = NULL;
}

const char *diag_code_name(enum diag_code code)
{
	if (code >= DIAG_CODE_COUNT)
		BUG("no such code");
	return codes[code].name;
}

const char *diag_code_title(enum diag_code code)
{
	if (code >= DIAG_CODE_COUNT)
		BUG("no such code");
	return codes[code].title;
}
