/*
 * compiler/show.h - a whole policy as a person would draw it.
 *
 * show_files.c, show_calls.c, show_rest.c and show_backends.c make parts of
 * rows; show_text.c and show_html.c print the same rows for a terminal and as a
 * page.  What is drawn is the machine that claims are checked on (model_vars), so
 * one blob gives one picture everywhere.  Strings are raw: who prints them escapes.
 */
#ifndef SBX_COMPILER_SHOW_H
#define SBX_COMPILER_SHOW_H

#include "blob/verdict.h"
#include "compiler/text.h"

enum show_tone { /* in the order in which neighbours are listed */
	SHOW_WRITE,
	SHOW_EXEC,
	SHOW_READ,
	SHOW_DEVICE,
	SHOW_PRIVATE,
	SHOW_WAY, /* nothing of its own, only the way to what is beneath */
	SHOW_PLAIN,
	SHOW_HOLE,
	SHOW_SHUT,
	SHOW_SEALED,
	SHOW_TONE_COUNT
};

struct show_names {
	VEC_OF(const char *)
};

struct show_row {
	unsigned depth; /* in a tree; 0: its roots */
	enum show_tone tone;
	const char *state; /* "rwx", "sealed", "EPERM": one short word */
	const char *label; /* what the names are about, or NULL */
	struct show_names names;
	const char *said; /* what else the policy says of them, or NULL */
	const char *hole; /* the reason for which the checklist is left, or NULL */
	const char *file; /* where it stands, or NULL */
	unsigned line, last_line, more_places;
};

struct show_part {
	const char *id, *title, *lead; /* lead: a sentence, or NULL */
	const char *state_head, *name_head;
	bool detail; /* left out of a short picture */
	struct {
		VEC_OF(struct show_row)
	} rows;
};

struct show {
	struct arena *arena;
	const struct sbx_blob *blob;
	struct sbx_vars vars;
	struct sbx_fs_set set;
	struct {
		VEC_OF(struct show_part)
	} parts;
};

struct show_part *show_part(struct show *show, const char *id, const char *title,
			    const char *state_head, const char *name_head);
/* A section that a site policy does not bound: @part says so, and is complete. */
bool show_unbounded(struct show *show, struct show_part *part, enum sbx_unbounded section);
/* An empty row; @head: where it stands and why, or NULL. */
struct show_row *show_row(struct show *show, struct show_part *part, enum show_tone tone,
			  const char *state, const struct sbx_head *head);
void show_name(struct show *show, struct show_row *row, const char *name);
/* Adds @more to @words, after a comma, unless it is said already. */
void show_say(struct show *show, const char **words, const char *more);
/* Place, reason and modifiers of a rule. */
void show_head(struct show *show, struct show_row *row, const struct sbx_head *head);
/* Adds @name to an earlier row that says the same as @like, or makes one of it; a name of
 * several words has a row for itself. */
void show_gather(struct show *show, struct show_part *part, const struct show_row *like,
		 const char *name);
bool show_alike(const struct show_row *a, const struct show_row *b);
const char *show_place(struct arena *arena, const struct show_row *row);

/* Each adds its part, where there is something to tell. */
void show_holes(struct show *show);
void show_files(struct show *show);
void show_environment(struct show *show);
void show_network(struct show *show);
void show_calls(struct show *show);
void show_process(struct show *show);
void show_jobs(struct show *show);
void show_backends(struct show *show);
void show_claims(struct show *show);

/* @quiet: without places, details and long lists. */
void show_print(struct show *show, bool quiet, bool colour, unsigned width);
/* One page that needs nothing else; the text is in the arena. */
struct text show_html(struct show *show, bool quiet);

#endif
