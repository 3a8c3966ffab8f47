/*
 * stub/fsview.h - the policy's file rules, on this machine.
 *
 * Each rule becomes points of a struct sbx_fs_set: its name as written and,
 * where that is another, the name it resolves to.  A name that symbolic links
 * lead to is protected as much as the links.  Whatever may need a mount of its
 * own is a node; the plan is made from these, sorted.
 */
#ifndef SBX_STUB_FSVIEW_H
#define SBX_STUB_FSVIEW_H

#include <stdbool.h>
#include <sys/stat.h>

#include "blob/verdict.h"
#include "stub/mem.h"

enum node_kind {
	NODE_RULE,  /* what a rule names, or what its pattern matched */
	NODE_LINK,  /* a symbolic link that leads there */
	NODE_PROC,  /* /proc and /dev are always made afresh */
	NODE_DEV,
	NODE_SOCKET, /* net { allow unix P } */
};
struct node {
	const char *path; /* canonical */
	enum node_kind kind;
	uint32_t rule;    /* in SBX_SEC_FS; SBX_RULE_SELF; NODE_SOCKET: in SBX_SEC_NET */
	uint8_t verb;     /* enum sbx_fs_verb: the one that says what to mount */
	bool granted, denied; /* named by a grant; by a deny or seal */
	size_t have;      /* of @path, what exists */
	struct stat st;   /* of that part */
	const char *target; /* NODE_LINK */
};
static inline bool node_exists(const struct node *node)
{
	return !node->path[node->have];
}

struct fsview {
	VEC(struct sbx_fs_point) points;
	VEC(const char *) excepts;
	VEC(struct node) nodes; /* after fsview_sort(): by path, one a path */
	struct sbx_fs_set set;
	unsigned long scanned; /* directory entries read for patterns */
};

struct launch;
struct walk;

/* Expands every rule; makes directories marked `create` unless @dry.  Refuses
 * what is missing and not optional. */
void fsview_build(struct launch *launch);
/* create.c: mkdir -p beneath what exists, each step by descriptor; mode 0700.
 * @walk is a fresh one, of @path. */
void fsview_make(const char *path, struct walk *walk, const char *place);
/* A denied directory marked `create` that is absent: makes it, for good, and
 * says so in @node.  False: a placeholder has to stand there. */
bool fsview_create(const struct launch *launch, struct node *node);
/* Finds what the patterns match now, in one walk; adds nodes. */
void fsview_match_patterns(struct launch *launch);
/* Sorts the nodes and joins those with the same path. */
void fsview_sort(struct launch *launch);
/* The rights of @path: SBX_READ | SBX_WRITE | SBX_EXEC. */
unsigned fsview_rights(const struct launch *launch, const char *path);
/* Does it open files of the sandbox's own, and not the host's? */
static inline bool fsview_is_made(unsigned verb)
{
	return verb == SBX_FS_TMP || verb == SBX_FS_COPY;
}
/* Is @right granted on @path, and on what: the host's files (SBX_FS_GRANT), a
 * private tmpfs, a copy, a device? */
bool fsview_origin(const struct launch *launch, const char *path, unsigned right,
		   enum sbx_fs_verb *verb);
/* "std/git.pol:12", or which of our own rules it is. */
const char *fsview_place(const struct launch *launch, uint32_t rule);
/* NULL: one of our own. */
const struct sbx_fs_rule *fsview_rule(const struct launch *launch, uint32_t rule);
/* The bytes of a pattern's literal beginning, up to its first wildcard's
 * component, unescaped. */
const char *pattern_beginning(const char *pattern, size_t *length);

#endif
