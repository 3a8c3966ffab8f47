/*
 * stub/plan.h - everything that will be done, before any of it is.
 *
 * One structure whatever the backend: the backend makes the base mounts and
 * the namespaces, our inner stage the masks, the Landlock domain, limits,
 * filter and the program's start.  --dry-run prints it; plan_pack() makes the
 * bytes that the inner stage reads from a sealed memfd.
 */
#ifndef SBX_STUB_PLAN_H
#define SBX_STUB_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "blob/blob.h"
#include "blob/enforce.h"
#include "blob/verdict.h"
#include "stub/mem.h"

enum mount_kind { /* the backend's */
	MOUNT_BIND,    /* of @fd; read-only unless @rights has SBX_WRITE */
	MOUNT_TMP,     /* @size bytes, 0: the kernel's default */
	MOUNT_PROC,
	MOUNT_DEV,
	MOUNT_DEVICE,  /* one node */
	MOUNT_LINK,    /* symbolic link to @target */
	MOUNT_DIR,     /* an empty directory, in our own root */
	MOUNT_FILE,    /* an empty file, likewise */
};
struct plan_mount {
	enum mount_kind kind;
	const char *path;
	const char *target;
	unsigned rights;
	uint32_t rule;
	uint64_t size;
	int fd;
	struct stat st; /* of @fd: verified from inside */
};

enum mask_kind { /* the inner stage's */
	MASK_HIDE,   /* an empty, closed directory or file */
	MASK_SELF,   /* bound onto itself: pinned, and read-only or noexec by @rights */
	MASK_OPEN,   /* a grant below something hidden or narrower: the real thing again */
	MASK_TMP,    /* an empty tmpfs */
	MASK_COPY,   /* a tmpfs with a copy of @copy_fd's file or tree */
	MASK_COVER,  /* a tmpfs that holds nothing but what is opened again in it */
	MASK_LINK,   /* in a cover: a symbolic link to @target */
};
struct plan_mask {
	enum mask_kind kind;
	const char *path;
	const char *target; /* of a link, made or pinned */
	unsigned rights;  /* what holds from here on */
	bool make;        /* in a tmpfs of ours: make the mount point */
	bool if_present;  /* nothing to do where it is not there */
	bool parents_open; /* HIDE: names below it are opened again */
	bool covered;     /* in a MASK_COVER: the directories on the way are open */
	bool verify;      /* false for a mere pin */
	uint32_t rule;
	uint64_t size;
	int copy_fd;      /* a number that the inner stage inherits, or -1 */
	uint64_t dev, ino; /* what must be there; 0: anything */
	uint32_t mode;    /* its type */
};
struct plan_rule { /* Landlock: @rights beneath @path */
	const char *path;
	unsigned rights;
	uint64_t extra; /* rights of Landlock's own added for devices, sockets */
	uint64_t dev, ino; /* what must be there; ino 0: anything */
};
struct plan_placeholder { /* made on the host while a session runs */
	const char *path;
	const char *text; /* NULL: a directory */
	size_t have;      /* of @path, what exists */
	uint32_t rule;
};
struct plan_limit {
	int resource; /* RLIMIT_* */
	uint64_t soft, hard;
};
enum { NAMESPACE_NET = 1u, NAMESPACE_COUNT = 6 };

struct plan {
	enum sbx_backend backend;
	VEC(struct plan_mount) mounts; /* in the order in which they are made */
	VEC(struct plan_mask) masks;   /* parents before children */
	/* Where there is a copy: what the rules say of each name in it. */
	VEC(struct sbx_fs_point) points;
	VEC(const char *) excepts;
	VEC(struct plan_rule) rules;
	VEC(struct plan_placeholder) placeholders;
	VEC(struct plan_limit) limits;
	VEC(uint16_t) ports; /* TCP ports that may be bound */
	VEC(const char *) environ;
	VEC(const char *) argv;
	const char *cwd;
	uint64_t cwd_dev, cwd_ino; /* 0: not checked */
	bool share_net;
	uint64_t landlock_fs, landlock_net, landlock_scoped; /* masked by the kernel's ABI */
	uint64_t landlock_read, landlock_write, landlock_exec;
	const void *filter;
	uint32_t filter_count;
	bool filter_init;    /* process 1 carries the filter too */
	bool broker;         /* connect(2) is answered outside: stub/broker.h */
	bool proxy;          /* net { mode proxy } */
	bool no_datagrams;   /* nor anything else that reaches a socket by its path */
	const void *shared_filter; /* `without namespaces`: what the landlock backend adds */
	uint32_t shared_filter_count; /* 0: none */
	uint32_t refused, shared_refused; /* calls by which each shows; 0: none */
	unsigned cpus;       /* 0: all */
	uint64_t wall_time;  /* seconds; 0: no limit */
	VEC(uint32_t) pass_fds;
	uint64_t namespaces[NAMESPACE_COUNT]; /* inode numbers outside */
	bool own_group;      /* the program leads a process group on the terminal */
	bool foreground;     /* the caller's group has the terminal: such a group gets it */
	uint64_t ignored;    /* signals ignored at the start, by bit */
	uint64_t blocked;
	uint32_t umask;      /* the caller's, and the program's; ours is 022 */
};

struct launch;
/* Nodes to mounts, masks, placeholders and Landlock rules. */
void plan_files(struct launch *launch);
/* O_PATH of @path, which is still what was @checked; refuses what is not. */
int plan_open(const char *path, const struct stat *checked);
/* Once the backend is known: covers, sources, order. */
void plan_settle(struct launch *launch);
/* Between the two: a file of the session's own that was in the plan before it was made. */
void plan_note_made(struct launch *launch, const char *path, const struct stat *st);
/* By path, one a path. */
void plan_sort_masks(struct plan *plan);
/* Does it lie on the host's own files, and not in a tmpfs of ours? */
bool mask_lies_on_host(const struct plan_mask *mask);
/* covers.c: one mount of a directory, and a cover, for many mounts in it. */
void plan_cover(struct launch *launch);
/* Is @path there inside: on a tree of the host that may be read? */
bool plan_shows(const struct launch *launch, const char *path);

/* To bytes and back; what is unpacked lies in @data, which is changed.  False: not a plan. */
void plan_pack(const struct plan *plan, const void **data, size_t *size);
bool plan_unpack(void *data, size_t size, struct plan *plan);

#endif
