/*
 * stub/resolve.h - what a path is, here and now.
 *
 * Every path is looked at once, component by component, and from then on used
 * by the descriptor or compared with the inode that was found.
 */
#ifndef SBX_STUB_RESOLVE_H
#define SBX_STUB_RESOLVE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

struct hop { /* a symbolic link that the path crossed */
	const char *path;   /* where it lies; canonical */
	const char *target; /* its text */
	struct stat st;
};
struct walk {
	const char *path; /* canonical; a part that does not exist is appended */
	size_t have;      /* length of the part that exists; "/" is 1 */
	bool missing;     /* have < strlen(path) */
	int error;        /* 0, or why it cannot be looked at: EACCES, ELOOP, ... */
	int fd;           /* walk_afresh(): O_PATH, of the part that exists; -1 on error */
	struct stat st;   /* of the part that exists */
	struct hop *hops;
	size_t hop_count;
};

/* @path is absolute.  The final component is followed too.  What was looked at
 * once is remembered until walk_forget().  @fd is -1. */
void walk_path(const char *path, struct walk *out);
void walk_forget(void);
/* The same, but as it is at this moment, and with @fd. */
void walk_afresh(const char *path, struct walk *out);
/* Closes @fd. */
void walk_close(struct walk *walk);
/* places.c: true: it could be looked at this way, and all of @out is filled. */
bool walk_places(const char *path, struct walk *out);
#define HOPS_MAX 40 /* as the kernel's */
void walk_add_hop(struct walk *out, const char *path, const char *target, const struct stat *st);
/* The same, only for the canonical name; false when it cannot be had. */
bool walk_name(const char *path, char *out, size_t size);
/* The canonical name of @path, mostly in two system calls; NULL: it cannot be had. */
const char *walk_kernel_name(const char *path);

/* @path equals @dir or lies beneath it (both canonical). */
bool path_within(const char *path, const char *dir);
/* "/a/b" of "/a/b/c"; "/" of "/a". */
const char *path_parent(const char *path);
/* "a/b" and "c" -> "a/b/c"; "/" and "c" -> "/c". */
const char *path_join(const char *dir, const char *name);
/* Has @path an empty component, "." or ".."? */
bool path_is_odd(const char *path);
/* Order in which a directory comes before all that is beneath it, and these
 * directly after it. */
int path_compare(const char *a, const char *b);

#endif
