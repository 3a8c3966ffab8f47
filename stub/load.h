/*
 * stub/load.h - finding, trusting and reading the blob.
 */
#ifndef SBX_STUB_LOAD_H
#define SBX_STUB_LOAD_H

#include <stdbool.h>
#include <sys/stat.h>

struct launch;
/* Fills launch->blob and blob_path; refuses what it cannot trust. */
void load_blob(struct launch *launch);
/* Owned by root (or by the user, where @user_too), and writable by no one
 * else.  Inside a user namespace that does not map root, root's files are seen
 * as the overflow uid's: these count only on a read-only file system. */
bool owner_trusted(const struct stat *st, int fd, bool user_too);
/* Is uid 0 here the initial namespace's? */
bool root_is_root(void);

#endif
