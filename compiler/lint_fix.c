/*
 * compiler/lint_fix.c - sbxc lint --fix.
 *
 * A fix is a span of bytes and what belongs there.  One round puts in all those
 * that do not touch each other; the result is compiled and linted like any
 * policy, which gives the next round, until there is nothing left to do: so a
 * second run does nothing.  Nothing is written before the end.
 */
#include "compiler/lint_fix.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/stages.h"

#define ROUNDS_MAX 1000

struct fixes {
	VEC_OF(const struct diag_message *)
};

static int by_place(const void *a, const void *b)
{
	const struct diag_message *x = *(const struct diag_message *const *)a;
	const struct diag_message *y = *(const struct diag_message *const *)b;

	if (x->fix_span.start != y->fix_span.start)
		return x->fix_span.start < y->fix_span.start ? -1 : 1;
	return (x->fix_span.end > y->fix_span.end) - (x->fix_span.end < y->fix_span.end);
}

/* Is the end of a statement between these two? */
static bool apart(struct span first, struct span second)
{
	const char *text = first.source->text.ptr;

	for (uint32_t at = first.end; at < second.start; at++)
		if (strchr(";{}", text[at]) || (text[at] == '\n' && (!at || text[at - 1] != '\\')))
			return true;
	return first.end > first.start && strchr(";\n", text[first.end - 1]);
}

/* Two insertions in one place are one: `tmp /a /b` has one size.  Of what goes, one a
 * statement: the last object of it has to take the statement along. */
static bool go_together(const struct diag_message *first, const struct diag_message *second)
{
	if (second->fix_span.start < first->fix_span.end ||
	    second->fix_span.start == first->fix_span.start)
		return false;
	return *first->fix || *second->fix || apart(first->fix_span, second->fix_span);
}

/* Those of the main file that can be done at once, in order. */
static void collect(struct compilation *c, struct fixes *out)
{
	const struct diag_message *message;
	size_t count = 0;

	for (size_t i = 0; (message = diag_message_at(c->diags, i)) != NULL; i++)
		if (message->fix && !message->waived &&
		    message->fix_span.source == c->main_file->source)
			*VEC_PUSH(&c->arena, out) = message;
	if (out->count)
		qsort(out->items, out->count, sizeof(*out->items), by_place);
	for (size_t i = 0; i < out->count; i++)
		if (!count || go_together(out->items[count - 1], out->items[i]))
			out->items[count++] = out->items[i];
	out->count = count;
}

/* The text with these fixes, in @arena. */
static struct str mend(struct arena *arena, struct str text, const struct fixes *fixes)
{
	size_t size = text.len + 1, at = 0;
	char *mended, *end;

	for (size_t i = 0; i < fixes->count; i++)
		size += strlen(fixes->items[i]->fix);
	end = mended = arena_array(arena, size, 1);
	for (size_t i = 0; i < fixes->count; i++) {
		const struct diag_message *message = fixes->items[i];

		memcpy(end, text.ptr + at, message->fix_span.start - at);
		end += message->fix_span.start - at;
		memcpy(end, message->fix, strlen(message->fix));
		end += strlen(message->fix);
		at = message->fix_span.end;
	}
	memcpy(end, text.ptr + at, text.len - at);
	end += text.len - at;
	return (struct str){ mended, (size_t)(end - mended) };
}

/* What was done, to be said when it is: the messages go with their compilation. */
static const char *describe(struct arena *arena, const struct fixes *fixes)
{
	const char *text = "";

	for (size_t i = 0; i < fixes->count; i++) {
		const struct diag_message *message = fixes->items[i];
		struct line_column at = source_locate(message->span.source, message->span.start);

		text = arena_printf(arena, "%s%s:%u:%u: mended: %s [%s]\n", text,
				    diag_escape(arena, str_from(message->span.source->path)),
				    at.line, at.column, diag_escape(arena, str_from(message->text)),
				    diag_code_name(message->code));
	}
	return text;
}

/* Compiles @text in the place of what @c holds. */
static bool recompile(struct compilation *c, const char *path, struct str text,
		      bool (*again)(struct compilation *c, const char *path))
{
	const struct compile_options options = c->options;

	compilation_free(c);
	compilation_init(c, &options);
	c->text = text;
	return text.len <= SOURCE_SIZE_MAX && again(c, path);
}

/* Does as many fixes at once as make a policy that compiles.  False: there is none. */
static bool do_round(struct compilation *c, const char *path, struct arena *arena, struct str *text,
		     bool (*again)(struct compilation *c, const char *path))
{
	size_t most = SIZE_MAX;

	for (;;) {
		struct fixes fixes = { 0 };

		collect(c, &fixes);
		if (fixes.count > most)
			fixes.count = most;
		if (!fixes.count)
			return false;

		struct str mended = mend(arena, *text, &fixes);
		const char *done = describe(arena, &fixes);

		most = fixes.count / 2;
		if (recompile(c, path, mended, again)) {
			fputs(done, stderr);
			*text = mended;
			return true;
		}
		if (!recompile(c, path, *text, again))
			return false; /* somebody changes what it imports */
	}
}

static bool write_back(const char *path, const char *file, struct str text, bool changed)
{
	if (strcmp(path, "-") == 0)
		return fwrite(text.ptr, 1, text.len, stdout) == text.len;
	return !changed || output_replace(file, text.ptr, text.len);
}

bool lint_fix(struct compilation *c, const char *path,
	      bool (*again)(struct compilation *c, const char *path), bool clean)
{
	struct arena arena = { 0 };
	struct str text;
	const char *file;
	bool changed = false;

	if (!c->main_file)
		return false;
	file = arena_printf(&arena, "%s", c->main_file->source->path);
	text = c->main_file->source->text;
	text = (struct str){ arena_copy(&arena, text.ptr, text.len), text.len };
	for (unsigned round = 0; clean && round < ROUNDS_MAX; round++) {
		if (!do_round(c, path, &arena, &text, again))
			break;
		changed = true;
	}
	bool written = write_back(path, file, text, changed);

	c->text = (struct str){ 0 }; /* it was copied, and goes now */
	arena_free(&arena);
	return written;
}
