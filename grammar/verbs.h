/*
 * grammar/verbs.h - the table of statements.
 *
 * No verb is a reserved word, so that system calls, hosts and variables of
 * any name need no quotes; what a statement means depends on the section it
 * stands in and is looked up here.
 */
#ifndef SBX_GRAMMAR_VERBS_H
#define SBX_GRAMMAR_VERBS_H

#include <stdbool.h>
#include <stdio.h>

#include "base/str.h"

enum verb_section {
	SECTION_TOP,
	SECTION_FS,
	SECTION_ENV,
	SECTION_SYSCALLS,
	SECTION_NET,
	SECTION_CREDENTIAL,
	SECTION_PROCESS,
	SECTION_LIMITS,
	SECTION_SLURM,
	SECTION_SLURM_COMMAND,
	SECTION_REQUIRE,
	SECTION_ASSERT,
	SECTION_NONE, /* of a verb: opens no block */
};

/* What the words after the verb are; a section's own file reads them. */
enum verb_object {
	OBJECT_NONE,
	OBJECT_PATH, /* a path, or one of the words of the verb's usage */
	OBJECT_NAME, /* a bare word, or the same in quotes */
	OBJECT_CALL, /* a system call or a @group */
	OBJECT_NUMBER,
	OBJECT_SIZE,
	OBJECT_TIME,
	OBJECT_WORDS, /* several kinds, see the usage */
};

/* Kinds of file. */
#define FILE_POLICY 1u
#define FILE_MODULE 2u
#define FILE_SITE   4u

#define V_ONCE      1u /* one statement in a file (in its block) */
#define V_VALUE     2u /* takes `= value` */
#define V_VALUE_OPT 4u /* may take `= value` */
#define V_NEEDED    8u /* the block is not complete without it */

#define VERB_MANY 0xffffu

struct verb {
	enum verb_section section;
	const char *word;
	enum verb_object object;
	unsigned min, max;       /* objects */
	unsigned mods;           /* 1 << enum ast_mod_kind */
	unsigned kinds;          /* FILE_* */
	unsigned flags;          /* V_* */
	enum verb_section opens; /* SECTION_NONE: no block */
	const char *usage, *help;
};

/* The table in its order, ended by a NULL word. */
extern const struct verb verbs[];

const struct verb *verb_find(enum verb_section section, struct str word);
/* A verb of that name in another section, or NULL. */
const struct verb *verb_find_elsewhere(enum verb_section section, struct str word);
/* The nearest verb of the section, or NULL. */
const char *verb_suggest(enum verb_section section, struct str word);
/* "fs", "credential"; "the top level". */
const char *section_name(enum verb_section section);
/* "policy", "module" or "site" for one FILE_ bit. */
const char *file_kind_name(unsigned kind);

/* The table as plain text, or as Markdown for the manual. */
void verbs_print(FILE *out, bool markdown);

#endif
