/*
 * tests/lib/model.h - policies made in C, without a source text.
 */
#ifndef SBX_TESTS_LIB_MODEL_H
#define SBX_TESTS_LIB_MODEL_H

#include "emit/emit.h"

/* A policy with a workspace and nothing else. */
struct policy *model_new(struct arena *arena);
/* At least one record in every section, each field of a record set. */
struct policy *model_full(struct arena *arena);

struct tmpl model_text(struct arena *arena, const char *text);
/* A pattern: $workspace, then @pattern where it is not NULL. */
struct tmpl model_glob(struct arena *arena, const char *pattern);
struct fs_rule *model_fs(struct arena *arena, struct policy *policy, enum sbx_fs_verb verb,
			 unsigned rights, struct tmpl path);
struct sys_stmt *model_sys(struct arena *arena, struct policy *policy, enum sbx_sys_verb verb,
			   enum sbx_sys_action action, unsigned error);
/* By name; @rank of the statement's conditions is the caller's business. */
void model_use(struct arena *arena, struct sys_stmt *stmt, const char *name,
	       enum sbx_sys_rank rank);
void model_use_number(struct arena *arena, struct sys_stmt *stmt, const char *name, unsigned nr,
		      enum sbx_sys_rank rank);

/* Emits and opens; ends the program with a message where either fails. */
void model_open(struct arena *arena, const struct policy *policy, bool strip, struct emitted *out,
		struct sbx_blob *blob);

#endif
