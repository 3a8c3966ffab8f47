/*
 * compiler/words.h - what a word as written means.
 *
 * A bare word: `\` quotes a punctuation byte, `* ? [ ]` are wildcards, `{a,b}`
 * makes several words of one, `$name` and `${name}` are variables.  A string:
 * \" \\ \$ \n \t \xNN and variables, nothing else.  Variables of a module
 * and constants are put in here; the others stay in the template for launch.
 *
 * Every function queues its own message and returns false on an error.
 */
#ifndef SBX_COMPILER_WORDS_H
#define SBX_COMPILER_WORDS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/diag.h"
#include "grammar/ast.h"
#include "ir/policy.h"

struct var {
	struct str name;
	enum sbx_param_type type;
	bool folded;       /* @value stands for it, else @id at launch */
	unsigned id;       /* enum sbx_var or SBX_VAR_PARAM + n */
	struct tmpl value; /* when folded, or once -D is applied to a param */
	struct span span;  /* where it was declared */
};
struct scope { /* the variables that one file sees */
	VEC_OF(struct var)
};

/* Of a note that says what to write at the place of its message. */
#define NO_PLACE ((struct span){ 0 })

struct words { /* what reading a word needs */
	struct arena *arena;
	struct diags *diags;
	const struct scope *scope;
};

struct tmpl_list {
	VEC_OF(struct tmpl)
};
struct str_list {
	VEC_OF(struct str)
};

#define WORD_WILD     1u    /* wildcards may stand in it */
#define WORD_CWD      2u    /* so may $cwd */
#define WORD_ASSERT   4u    /* and $policy, $launcher, $sibling */
#define WORD_OUTSIDE  8u    /* it is read, or run, outside: not from the workspace */
#define WORD_OVER_MAX 10000 /* words that one {a,b} may make */

/* Adds the paths that @word stands for to @out. */
bool words_paths(const struct words *words, const struct ast_word *word, unsigned flags,
		 struct tmpl_list *out);
/* One path, no alternatives. */
bool words_path(const struct words *words, const struct ast_word *word, unsigned flags,
		struct tmpl *out);
/* Any text with variables; a bare `~/x` is under $home. */
bool words_texts(const struct words *words, const struct ast_word *word, struct tmpl_list *out);
bool words_text(const struct words *words, const struct ast_word *word, struct tmpl *out);
/* Text known now: no variable of the launch.  `*` and `?` stay as they are. */
bool words_plains(const struct words *words, const struct ast_word *word, struct str_list *out);
bool words_plain(const struct words *words, const struct ast_word *word, struct str *out);

/* A plain decimal, at most @max. */
bool words_number(const struct words *words, const struct ast_word *word, uint64_t max,
		  uint64_t *out);
/* Decimal or 0x, with a sign: 64 bits. */
bool words_constant(const struct words *words, const struct ast_word *word, int64_t *out);
/* 512M: bytes.  15m, 2-00:00:00: seconds. */
bool words_size(const struct words *words, const struct ast_word *word, uint64_t *out);
bool words_time(const struct words *words, const struct ast_word *word, uint32_t *out);
/* As words_time, but 0 is an error: there it would be read as none. */
bool words_some_time(const struct words *words, const struct ast_word *word, uint32_t *out);
/* Is @text what the type wants?  For values given with -D and `with`. */
bool words_check_type(const struct words *words, const struct ast_word *word,
		      enum sbx_param_type type, struct tmpl *out, uint64_t *number);

/* Environment names; a * may stand in them. */
bool words_env_names(const struct words *words, const struct ast_word *word, struct str_list *out);

/*
 * The index of @word in the NULL-ended list @choices, or -1 with a message
 * that says what there is ("@what is one of ...").
 */
int words_choice(const struct words *words, const struct ast_word *word, const char *what,
		 const char *const *choices);

/* A host, literal address or CIDR with a port; @port 0 when none is said. */
struct host {
	enum sbx_net_kind kind;
	struct str name;
	struct sbx_cidr cidr;
	unsigned port;
	bool port_said;
};
struct host_list {
	VEC_OF(struct host)
};
bool words_hosts(const struct words *words, const struct ast_word *word, struct host_list *out);
bool words_range(const struct words *words, const struct ast_word *word, struct sbx_cidr *out);
bool words_port(const struct words *words, const struct ast_word *word, unsigned *out);

/* Built-in variables: the type of each is a path or a string. */
struct builtin_var {
	const char *name;
	enum sbx_var id;
	enum sbx_param_type type;
};
extern const struct builtin_var builtin_vars[SBX_VAR_COUNT];

/* For keys and messages: "$workspace/a*"; in the arena. */
const char *tmpl_show(struct arena *arena, const struct scope *scope, struct tmpl tmpl);
bool tmpl_has_wild(struct tmpl tmpl);
/*
 * As bytes that differ where the templates differ: a variable becomes a name
 * no path has, below / when the template starts with it.  With a wildcard the
 * rest is escaped as blob/verdict.h has its patterns; a literal one is plain.
 */
struct str tmpl_key(struct arena *arena, struct tmpl tmpl);
/* The text of a template that holds nothing else. */
bool tmpl_plain(struct arena *arena, struct tmpl tmpl, struct str *out);

#endif
