/*
 * compiler/fmt_tokens.h - a policy source as the tokens that fmt lays out.
 */
#ifndef SBX_COMPILER_FMT_TOKENS_H
#define SBX_COMPILER_FMT_TOKENS_H

#include "grammar/ast.h"

enum fmt_kind {
	FMT_WORD,     /* also `=`, `&` and comparisons */
	FMT_OPEN,     /* { */
	FMT_CLOSE,    /* } */
	FMT_SEMI,     /* ; */
	FMT_COMMENT,  /* without the blanks at its end */
	FMT_CONTINUE, /* the `\` before a line break, and the break */
	FMT_BREAK,    /* a line break that ends a statement, or an empty line */
};

/* What is aligned with the same of the lines around. */
enum fmt_column {
	FMT_NONE,
	FMT_FIRST,  /* behind the verb */
	FMT_SECOND, /* `read` in `can read`, a value, an option's letter */
	FMT_THIRD,  /* an option's kind */
	FMT_FOURTH, /* its `env` */
	FMT_BRACE,  /* behind the name of a section: only with their like */
	FMT_NOTE,   /* optional, best-effort, compat "why" ... */
};

struct fmt_token {
	enum fmt_kind kind;
	enum fmt_column column;
	bool alone; /* FMT_FIRST, where the verb is not padded: `language 1` */
	struct str text;
};
struct fmt_tokens {
	VEC_OF(struct fmt_token)
};

/* All of @file, which parsed without an error, in order; ends with a FMT_BREAK. */
void fmt_tokenize(struct arena *arena, const struct ast_file *file, struct fmt_tokens *out);

#endif
