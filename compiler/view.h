/*
 * compiler/view.h - a policy as it would stand here: variables and points.
 *
 * What sbx-exec works out before a launch, near enough to answer a question:
 * the real home directory and workspace, symbolic links followed.  Nothing is
 * opened and nothing is refused.
 */
#ifndef SBX_COMPILER_VIEW_H
#define SBX_COMPILER_VIEW_H

#include "base/arena.h"
#include "blob/verdict.h"
#include "compiler/compiler.h"

struct view {
	struct arena *arena;
	const struct sbx_blob *blob;
	const char *cwd;
	struct sbx_vars vars;
	struct {
		VEC_OF(struct sbx_fs_point)
	} points;
	struct {
		VEC_OF(const char *)
	} excepts;
	struct sbx_fs_set set;
	bool asks_hooks;  /* the policy speaks of $githooks */
	bool other_hooks; /* and git's configuration seems to put them elsewhere */
};

struct view_options {
	const char *workspace, *home, *blob_path, *launcher; /* NULL: as it is here */
	const struct define *defines;
	size_t define_count;
};

/* NULL, or why the question cannot be asked. */
const char *view_make(struct view *view, struct arena *arena, const struct sbx_blob *blob,
		      const struct view_options *options);

/* Adds a point for what each link leads to that a denied pattern matches: such a rule
 * holds for both.  Looks through what is granted where patterns begin. */
void view_find_links(struct view *view);

/*
 * @text as an absolute path: ~ and a $variable it starts with expanded, relative
 * to the current directory.  NULL: a variable that has no value.
 */
const char *view_path(const struct view *view, const char *text);
/* What a rule's template is here; NULL: a pattern, or a variable that has no value. */
const char *view_expand(const struct view *view, struct sbx_tmpl tmpl);
/* @path with its links followed, also those that lead to nothing, and the rest as it is. */
const char *view_real(struct arena *arena, const char *path);

#endif
