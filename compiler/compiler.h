/*
 * compiler/compiler.h - the stages of sbxc, top to bottom.
 *
 *	load.c    a file, what it extends and imports -> syntax trees
 *	check.c   each statement against the verb table (grammar/verbs.h)
 *	lower*.c  syntax trees -> struct policy, merged
 *	emit/     struct policy -> blob
 *	assert.c  assertions, on the blob just made (blob/verdict.h)
 *
 * The driver stops between stages once there are errors; nothing is written
 * unless the count is 0.
 */
#ifndef SBX_COMPILER_COMPILER_H
#define SBX_COMPILER_COMPILER_H

#include <stdbool.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/diag.h"
#include "emit/emit.h"
#include "grammar/ast.h"
#include "ir/policy.h"

/* Exit statuses of sbxc. */
#define SBXC_OK 0
#define SBXC_ERRORS 1 /* errors in a policy, or a lint finding */
#define SBXC_USAGE 2  /* bad command line */

struct define { /* -D name=value */
	const char *name, *value;
};
struct compile_options {
	const char *const *include_dirs; /* -I, in order */
	size_t include_dir_count;
	const struct define *defines;
	size_t define_count;
	bool strip;
	bool here; /* lint: look at this machine, too */
};

struct lifted { /* a module's claim that an override makes void */
	const char *text, *place, *override; /* "std/git.pol:12" */
};

struct parsed;
struct noted_import { /* `import NAME` with best-effort, or without */
	const struct parsed *module; /* compiler/load.h; another import may hold it firm */
	struct span span;
};

struct compilation {
	const char *input; /* the file or name to compile */
	struct {
		VEC_OF(const char *)
	} read; /* paths of all files that were */
	struct str text;   /* what to take it to hold; ptr NULL: what it holds */
	struct span asked; /* the `jobs` that names it, in @outer; else no place */
	const struct compilation *outer;
	struct compilation *jobs; /* the policy of its jobs, where it was compiled */
	struct arena arena;
	struct diags *diags;
	struct compile_options options;
	struct ast_file *main_file;  /* NULL: it could not be read */
	struct policy *policy;       /* NULL: errors before lowering */
	struct emitted blob;         /* size 0: errors */
	struct {
		VEC_OF(struct lifted)
	} lifted; /* these are not in the blob */
	struct {
		VEC_OF(struct noted_import)
	} soft, firm;
};

/*
 * Runs every stage on @path ("-": standard input; a bare name: the installed
 * policy).  Queues all messages; returns true when there is a blob.
 */
bool compile_path(struct compilation *c, const char *path);
void compilation_init(struct compilation *c, const struct compile_options *options);
void compilation_free(struct compilation *c);

/*
 * Opens @path as a blob or, where it is a policy source, compiles it.  Prints
 * what is wrong and returns false.  Used by dump and explain.
 */
bool open_blob_or_compile(struct compilation *c, const char *path, struct sbx_blob *blob);

/* Subcommands: argv[0] is the subcommand's name; they return an exit status. */
int cmd_compile(int argc, char **argv);
int cmd_lint(int argc, char **argv);
int cmd_dump(int argc, char **argv);
int cmd_explain(int argc, char **argv);
int cmd_prove(int argc, char **argv); /* prove/ */
int cmd_proof_status(int argc, char **argv);

/* Options that every subcommand that compiles takes: -I, -D, --colour.
 * Parses one option at argv[*index]; true when it was one of them. */
bool common_option(int argc, char **argv, int *index, struct compile_options *options,
		   struct arena *arena);

/* Lint: queues findings (warnings with L codes) for a compiled policy.  False: not all
 * that was asked could be. */
bool lint_policy(struct compilation *c);

/* stdout/stderr is a terminal and NO_COLOR is not set. */
bool colour_on(FILE *stream);

#endif
