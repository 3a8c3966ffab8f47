/*
 * stub/uapi.h - the kernel's constants that musl does not give us.
 *
 * musl-gcc does not see <linux/...>, and a launcher should not change with the
 * headers it was built against.  tests/e2e/uapi.c compares each of these with
 * the system's.  Kernel versions: mount API 5.2, mount_setattr 5.12, openat2
 * 5.6, statx's mount root 5.8, close_range 5.9, Landlock 5.13.
 */
#ifndef SBX_STUB_UAPI_H
#define SBX_STUB_UAPI_H

#include <stdint.h>

struct uapi_open_how {
	uint64_t flags, mode, resolve;
};
#define UAPI_RESOLVE_NO_MAGICLINKS 0x02
#define UAPI_RESOLVE_NO_SYMLINKS   0x04
#define UAPI_RESOLVE_BENEATH	   0x08
#define UAPI_RESOLVE_IN_ROOT	   0x10

#define UAPI_CLOSE_RANGE_CLOEXEC 4u

/* mount(2), open_tree(2), move_mount(2), fsopen(2) and their kin */
#define UAPI_OPEN_TREE_CLONE	     1u
#define UAPI_OPEN_TREE_CLOEXEC	     02000000u
#define UAPI_AT_RECURSIVE	     0x8000u
#define UAPI_MOVE_MOUNT_F_EMPTY_PATH 0x04u
#define UAPI_MOVE_MOUNT_T_EMPTY_PATH 0x40u
#define UAPI_FSOPEN_CLOEXEC	     1u
#define UAPI_FSMOUNT_CLOEXEC	     1u
#define UAPI_FSCONFIG_SET_STRING     1u
#define UAPI_FSCONFIG_CMD_CREATE     6u
#define UAPI_MOUNT_ATTR_RDONLY	     0x01u
#define UAPI_MOUNT_ATTR_NOSUID	     0x02u
#define UAPI_MOUNT_ATTR_NODEV	     0x04u
#define UAPI_MOUNT_ATTR_NOEXEC	     0x08u
struct uapi_mount_attr {
	uint64_t attr_set, attr_clr, propagation, userns_fd;
};

struct uapi_dirent { /* struct linux_dirent64: getdents64(2) */
	uint64_t ino, offset;
	unsigned short length;
	unsigned char type;
	char name[];
};

/* statx(2) */
struct uapi_statx {
	uint32_t mask, block_size;
	uint64_t attributes;
	uint32_t links, uid, gid;
	uint16_t mode, unused;
	uint64_t ino, size, blocks, attributes_mask;
	uint64_t accessed[2], born[2], changed[2], modified[2];
	uint32_t device[2], dev[2];
	uint64_t others[14];
};
#define UAPI_STATX_BASIC_STATS	   0x7ffu
#define UAPI_STATX_BTIME	   0x800u
#define UAPI_STATX_ATTR_MOUNT_ROOT 0x2000u /* Linux 5.8 */

/* ioctl_ns(2) */
#define UAPI_NS_GET_USERNS 0xb701

/* statfs(2) */
#define UAPI_TMPFS_MAGIC 0x01021994

/* landlock(7) */
#define UAPI_LANDLOCK_CREATE_RULESET_VERSION 1u
#define UAPI_LANDLOCK_CREATE_RULESET_ERRATA  2u /* from Linux 6.15 on */
#define UAPI_LANDLOCK_RULE_PATH_BENEATH	     1
#define UAPI_LANDLOCK_RULE_NET_PORT	     2
#define UAPI_LANDLOCK_FS_EXECUTE	     (1ull << 0)
#define UAPI_LANDLOCK_FS_WRITE_FILE	     (1ull << 1)
#define UAPI_LANDLOCK_FS_READ_FILE	     (1ull << 2)
#define UAPI_LANDLOCK_FS_READ_DIR	     (1ull << 3)
#define UAPI_LANDLOCK_FS_REFER		     (1ull << 13)
#define UAPI_LANDLOCK_FS_TRUNCATE	     (1ull << 14)
#define UAPI_LANDLOCK_FS_IOCTL_DEV	     (1ull << 15)
/* ABI 9; newer than some systems' headers */
#define UAPI_LANDLOCK_FS_RESOLVE_UNIX	     (1ull << 16)
#define UAPI_LANDLOCK_NET_BIND_TCP	     (1ull << 0)
#define UAPI_LANDLOCK_NET_CONNECT_TCP	     (1ull << 1)
#define UAPI_LANDLOCK_SCOPE_ABSTRACT	     (1ull << 0)
#define UAPI_LANDLOCK_SCOPE_SIGNAL	     (1ull << 1)
struct uapi_landlock_ruleset {
	uint64_t fs, net, scoped;
};
struct uapi_landlock_path {
	uint64_t access;
	int32_t parent_fd;
} __attribute__((packed));
struct uapi_landlock_port {
	uint64_t access, port;
};

/* pidfd_open(2) */
#define UAPI_PIDFD_THREAD 0200u /* O_EXCL; 6.9 */

/* seccomp(2) */
#define UAPI_SECCOMP_SET_MODE_FILTER 1u
#define UAPI_SECCOMP_NEW_LISTENER    (1ul << 3) /* 5.0 */
#define UAPI_SECCOMP_WAIT_KILLABLE   (1ul << 5) /* 5.19 */
#define UAPI_SECCOMP_RET_USER_NOTIF  0x7fc00000u
struct uapi_sock_fprog {
	unsigned short len;
	const void *filter;
};
struct uapi_sock_filter {
	uint16_t code;
	uint8_t jt, jf;
	uint32_t k;
};
struct uapi_notif {
	uint64_t id;
	uint32_t pid, flags;
	int32_t nr;
	uint32_t arch;
	uint64_t ip, args[6];
};
struct uapi_notif_answer {
	uint64_t id;
	int64_t value;
	int32_t error;
	uint32_t flags;
};
#define UAPI_NOTIF_RECV	     0xc0502100u
#define UAPI_NOTIF_SEND	     0xc0182101u
#define UAPI_NOTIF_ID_VALID  0x80082102u /* as up to 5.7; later kernels take it too */
#define UAPI_NOTIF_SET_FLAGS 0x40082104u /* 6.6 */
#define UAPI_NOTIF_SYNC_WAKE 1ul

/* capabilities(7) */
#define UAPI_CAP_VERSION_3 0x20080522u
struct uapi_cap_header {
	uint32_t version;
	int pid;
};
struct uapi_cap_data {
	uint32_t effective, permitted, inheritable;
};

#endif
