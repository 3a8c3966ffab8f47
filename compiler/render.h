/*
 * compiler/render.h - records of a blob as a person would have written them.
 *
 * The text is near enough to policy notation to be read as such; groups come
 * out flattened.  Nothing is escaped here: print with diag_escape().
 */
#ifndef SBX_COMPILER_RENDER_H
#define SBX_COMPILER_RENDER_H

#include "base/arena.h"
#include "blob/blob.h"

/* A path or value: "~/.ssh", "$workspace/src", "\"two words\"". */
const char *render_tmpl(struct arena *arena, const struct sbx_blob *blob, struct sbx_tmpl tmpl);

/* The statement at @index as far as it speaks of the call with these numbers. */
const char *render_rule_for_call(struct arena *arena, const struct sbx_blob *blob, uint32_t index,
				 const uint16_t nr[SBX_ARCH_COUNT]);

/*
 * The rule at @index of a section that holds rules, with its modifiers, on one
 * line without its section's name: "deny write $state/settings.json guards
 * endpoint".  A system call statement names at most @calls calls (0: all).
 */
const char *render_rule(struct arena *arena, const struct sbx_blob *blob,
			enum sbx_section_id section, uint32_t index, unsigned calls);
/* That rule's head, or NULL: the section holds no rules. */
const struct sbx_head *render_head(const struct sbx_blob *blob, enum sbx_section_id section,
				   uint32_t index);

/* Every place of a rule: "std/git.pol:12, claude.pol:3"; "(stripped)". */
const char *render_places(struct arena *arena, const struct sbx_blob *blob, uint32_t loc);

/* The policy's identity, in hexadecimal. */
const char *render_digest(struct arena *arena, const struct sbx_blob *blob);

/* The name of a call by its numbers, from libseccomp or the blob's own list. */
const char *render_call(struct arena *arena, const struct sbx_blob *blob,
			const uint16_t nr[SBX_ARCH_COUNT]);
/* "allow", "EPERM", "kill": what a statement answers. */
const char *render_answer(struct arena *arena, const struct sbx_sys_stmt *stmt);

#endif
