/*
 * compiler/load.h - a policy and all it takes in.
 */
#ifndef SBX_COMPILER_LOAD_H
#define SBX_COMPILER_LOAD_H

#include "compiler/compiler.h"
#include "compiler/words.h"

/*
 * The rank of a file when two of them say different things: the policy
 * itself is 0, what it extends 1, and so on; modules come last.
 */
#define LEVEL_MODULE 1000u

struct parsed {         /* one file, read and checked once */
	const char *id; /* "std/git", or the path of the main file */
	struct ast_file *ast;
	const struct ast_stmt *header; /* policy, module or site */
	unsigned kind;                 /* FILE_*; 0: unusable, messages are queued */
	unsigned file;                 /* index in struct program files */
	bool loading;                  /* on the way down: meeting it again is a cycle */
	bool firm;                     /* an import of it does not say best-effort */
};
struct unit { /* a file with the values of its parameters */
	struct parsed *parsed;
	unsigned level;
	struct scope *scope;
	const struct unit *importer; /* NULL: the main file */
	struct span import_span;     /* the `import`, `extend` or `jobs` that led here first */
};
struct program {
	struct {
		VEC_OF(struct unit *)
	} units; /* the main file first */
	struct {
		VEC_OF(const struct source *)
	} files;
	struct {
		VEC_OF(struct param)
	} params; /* of the main file and what it extends */
};

/* NULL: the main file could not be read at all.  Errors are queued. */
struct program *load_program(struct compilation *c, const char *path);

/* There is no file of that kind (FILE_*) by that name; did you mean another? */
void load_fail_name(struct compilation *c, struct span span, unsigned want, struct str name);

/* "imported here" down to the main file, for the message queued last. */
void unit_note_chain(struct diags *diags, const struct unit *unit);
/* The same for the file that @source is the text of. */
void program_note_chain(struct diags *diags, const struct program *program,
			const struct source *source);

/* check.c: each statement of a file against the verb table; its kind, or 0. */
unsigned check_file(struct arena *arena, struct diags *diags, const struct ast_file *file,
		    const struct ast_stmt **header);

/* scope.c: the variables of a file. */
void scope_init(struct arena *arena, struct scope *scope);
/* Adds the params of the main file, or of what it extends, to @program. */
void scope_add_policy(struct compilation *c, struct program *program, const struct parsed *parsed,
		      unsigned level, struct scope *scope);
/*
 * The variables of a module imported with @binds, read in @importer's scope;
 * *key tells one set of values from another.  False: an error was queued.
 */
bool scope_make_module(struct compilation *c, const struct parsed *parsed,
		       const struct ast_stmt *import, const struct scope *importer,
		       struct scope *scope, struct str *key);
/* Applies -D to the params of the main file; then @scope has their values. */
void scope_apply_defines(struct compilation *c, struct program *program, struct scope *scope);

#endif
