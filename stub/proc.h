/*
 * stub/proc.h - files of /proc; the small ones are read without allocating, since
 * they are read as often as the program likes to cause it.
 */
#ifndef SBX_STUB_PROC_H
#define SBX_STUB_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The beginning of @path into @text, ended by NUL; its length, 0: not to be had. */
size_t proc_read(const char *path, char *text, size_t size);
/* The number behind @label ("\nTgid:") in such a text, to this base; 0: not there. */
uint64_t proc_number(const char *text, const char *label, unsigned base);

/* By /proc/self/fd, where @fd is O_PATH. */
bool proc_chmod(int fd, mode_t mode);
/* openat(2) of what may be the caller's own and closed to him; its mode stays. */
int proc_open_own(int dir, const char *name, int flags);
/* For its owner to change what is in the directory @fd; *before: its mode until then.
 * False: there was nothing to do, or nothing could be done. */
bool proc_open_up(int fd, mode_t *before);

struct proc_mount {
	const char *path;
	dev_t dev;
	bool read_only;
};
/* What is mounted here, for proc_next_mount(), which goes on from *at; false: no more. */
char *proc_mounts(void);
bool proc_next_mount(char **at, struct proc_mount *out);

#endif
