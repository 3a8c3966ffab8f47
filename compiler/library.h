/*
 * compiler/library.h - from names to policy files.
 *
 * `std/NAME` is the installed stdlib and nothing else: a cloned repository
 * that holds a std/secrets.pol must not replace ours.  Other names are the
 * installed policies first, then the directories given with -I.
 */
#ifndef SBX_COMPILER_LIBRARY_H
#define SBX_COMPILER_LIBRARY_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/str.h"
#include "compiler/compiler.h"

struct library_file {
	const char *path; /* what is opened and printed in messages */
	const char *name; /* machine independent: "std/git.pol" */
};

/* Letters, digits and `-_.`, parts joined by `/`, none of them `.` or `..`. */
bool library_name_valid(struct str name);
/* False: there is no such file. */
bool library_find(struct arena *arena, const struct compile_options *options, struct str name,
		  struct library_file *out);
/* The nearest name there is, or NULL. */
const char *library_suggest(struct arena *arena, const struct compile_options *options,
			    struct str name);
/* For the command line: a file, "-" or a bare name; says on stderr when an
 * installed file stands in for one that is not there. */
bool library_find_main(struct arena *arena, const struct compile_options *options, const char *path,
		       struct library_file *out);
/* The path of an installed file that is no policy: "stdlib/init.table". */
const char *library_data(struct arena *arena, const char *name);
/* The program @name of ours, which lies beside this one. */
const char *library_program(struct arena *arena, const char *name);

#endif
