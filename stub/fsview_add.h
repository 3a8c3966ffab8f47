/*
 * stub/fsview_add.h - how a rule, of the policy's or of our own, gets into the view.
 */
#ifndef SBX_STUB_FSVIEW_ADD_H
#define SBX_STUB_FSVIEW_ADD_H

#include "stub/fsview.h"

struct hop;

/* The rule under treatment. */
struct fsview_context {
	struct launch *launch;
	uint32_t index;
	const struct sbx_fs_rule *rule; /* NULL: one of our own */
	uint8_t verb, rights;
	uint32_t except_first, except_count;
};

static inline bool fsview_is_grant(unsigned verb)
{
	return verb != SBX_FS_DENY && verb != SBX_FS_SEAL;
}

/* What the kernel makes anew in every sandbox, whatever the host's looks like. */
bool fsview_is_synthetic(const char *path);
/* @wild: @path is a pattern. */
void fsview_add_point(const struct fsview_context *c, const char *path, bool wild);
struct node *fsview_add_node(const struct fsview_context *c, const char *path, enum node_kind kind);
/* The links that a walk went through, a node each. */
void fsview_add_hops(const struct fsview_context *c, const struct hop *hops, size_t count);
/* All of these that a path without wildcards needs. */
void fsview_add_literal(const struct fsview_context *c, const char *path);
/* fsview_own.c: what is protected or opened whatever the policy says; after its rules. */
void fsview_add_own(struct launch *launch);

#endif
