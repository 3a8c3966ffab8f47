/*
 * base/diag.h - what we tell the author of a policy.
 *
 *	FILE:LINE:COL: error: lower case, with which word [C1004]
 *	    write $state compat "x"
 *	    ^~~~~
 *	FILE:LINE:COL: note: the other place, or the fix
 *
 * Messages are queued and printed in order of place by diag_flush(); the
 * verdict of a compilation is diag_errors(), never a parser's return value.
 * A note belongs to the message queued before it.  Text that came from a
 * policy is escaped when it is printed (control bytes and invalid UTF-8 as
 * \xNN), so a hostile file cannot write to the terminal.
 */
#ifndef SBX_BASE_DIAG_H
#define SBX_BASE_DIAG_H

#include <stdbool.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/source.h"

/* Stable codes, never reused: base/codes.def, one line each. */
enum diag_code {
#define CODE(id, title) DIAG_##id,
#include "base/codes.def"
#undef CODE
	DIAG_CODE_COUNT
};

struct diags;

struct diags *diags_new(struct arena *arena);
void diag_error(struct diags *diags, enum diag_code code, struct span span,
		const char *fmt, ...) __attribute__((format(printf, 4, 5)));
void diag_warning(struct diags *diags, enum diag_code code, struct span span,
		  const char *fmt, ...) __attribute__((format(printf, 4, 5)));
/* @span.source NULL: a note with no place. */
void diag_note(struct diags *diags, struct span span, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* A finding that the policy waives, for the reason @why: not counted and not printed. */
void diag_waived(struct diags *diags, enum diag_code code, struct span span, struct str why,
		 const char *fmt, ...) __attribute__((format(printf, 5, 6)));
/* What would mend the message queued before it: @text in the place of @span. */
void diag_fix(struct diags *diags, struct span span, const char *text);
unsigned diag_errors(const struct diags *diags);
unsigned diag_warnings(const struct diags *diags);
/* Prints what is queued, sorted by file (in order of first use) and place. */
void diag_flush(struct diags *diags, FILE *out, bool colour);

/* What is queued, for other forms of output than diag_flush()'s. */
struct diag_note {
	struct span span;
	const char *text;
	struct diag_note *next;
};
struct diag_message {
	bool error;
	enum diag_code code;
	struct span span;
	const char *text;
	const char *waived;   /* the reason, or NULL */
	const char *fix;      /* what to put at @fix_span, or NULL */
	struct span fix_span;
	struct diag_note *notes;
};
/* The message number @index in order of place; NULL past the last. */
const struct diag_message *diag_message_at(struct diags *diags, size_t index);

/* "P0304" and its one-line title. */
const char *diag_code_name(enum diag_code code);
const char *diag_code_title(enum diag_code code);

/* Escapes for a terminal or a log; the result is in the arena. */
const char *diag_escape(struct arena *arena, struct str text);

/*
 * The candidate nearest to @word (edit distance with swaps, at most a third
 * of its length), or NULL: for "did you mean".
 */
const char *suggest(struct str word, const char *const *candidates,
		    size_t count);

#endif
