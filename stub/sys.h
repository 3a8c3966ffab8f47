/*
 * stub/sys.h - system calls that musl has no function for.  All return as
 * syscall(2): -1 and errno on failure.
 */
#ifndef SBX_STUB_SYS_H
#define SBX_STUB_SYS_H

#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "stub/uapi.h"

static inline int sys_openat2(int dir, const char *path, int flags, uint64_t resolve)
{
	struct uapi_open_how how = { .flags = (uint64_t)(unsigned)(flags | O_CLOEXEC),
				     .resolve = resolve };

	return (int)syscall(SYS_openat2, dir, path, &how, sizeof(how));
}
static inline int sys_close_range(unsigned first, unsigned last, unsigned flags)
{
	return (int)syscall(SYS_close_range, first, last, flags);
}
static inline int sys_open_tree(int fd)
{
	return (int)syscall(SYS_open_tree, fd, "",
			    UAPI_OPEN_TREE_CLONE | UAPI_OPEN_TREE_CLOEXEC | UAPI_AT_RECURSIVE |
				    (unsigned)AT_EMPTY_PATH);
}
/* @recursive: with what is mounted below (UAPI_AT_RECURSIVE or 0). */
static inline int sys_mount_setattr(int fd, unsigned recursive, uint64_t set)
{
	struct uapi_mount_attr attr = { .attr_set = set };

	return (int)syscall(SYS_mount_setattr, fd, "", recursive | (unsigned)AT_EMPTY_PATH, &attr,
			    sizeof(attr));
}
static inline int sys_move_mount(int tree, int target)
{
	return (int)syscall(SYS_move_mount, tree, "", target, "",
			    UAPI_MOVE_MOUNT_F_EMPTY_PATH | UAPI_MOVE_MOUNT_T_EMPTY_PATH);
}
static inline int sys_statx(int dir, const char *path, int flags, struct uapi_statx *out)
{
	return (int)syscall(SYS_statx, dir, path, flags, UAPI_STATX_BASIC_STATS | UAPI_STATX_BTIME,
			    out);
}
/* Is what @fd stands for the root of a mount?  True where that cannot be had. */
static inline int sys_is_mount_root(int fd)
{
	struct uapi_statx stat = { 0 };

	return sys_statx(fd, "", AT_EMPTY_PATH, &stat) ||
	       stat.attributes & UAPI_STATX_ATTR_MOUNT_ROOT;
}
static inline int sys_fsopen(const char *type)
{
	return (int)syscall(SYS_fsopen, type, UAPI_FSOPEN_CLOEXEC);
}
static inline int sys_fsconfig_set(int fd, const char *key, const char *value)
{
	return (int)syscall(SYS_fsconfig, fd, UAPI_FSCONFIG_SET_STRING, key, value, 0);
}
static inline int sys_fsconfig_create(int fd)
{
	return (int)syscall(SYS_fsconfig, fd, UAPI_FSCONFIG_CMD_CREATE, NULL, NULL, 0);
}
static inline int sys_fsmount(int fd, unsigned attributes)
{
	return (int)syscall(SYS_fsmount, fd, UAPI_FSMOUNT_CLOEXEC, attributes);
}
/* Without musl's bookkeeping for threads, of which there are none. */
static inline pid_t sys_fork(void)
{
	return (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
}
static inline int sys_prlimit(int resource, const struct rlimit *new_limit, struct rlimit *old_limit)
{
	return (int)syscall(SYS_prlimit64, 0, resource, new_limit, old_limit);
}
static inline int sys_clock(int clock, struct timespec *now)
{
	return (int)syscall(SYS_clock_gettime, clock, now);
}
/* Milliseconds of CLOCK_MONOTONIC (supervise.c). */
uint64_t sys_now_ms(void);
/* The Landlock ABI, or -1: not built in, or not enabled (landlock.c). */
int sys_landlock_abi(void);

#endif
