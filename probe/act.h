/*
 * probe/act.h - the actions, each a real one.
 *
 * Each does what its name says and undoes it; the answer is 0 or an errno
 * value.  None asks access(2) or what a variable says: only what the kernel
 * does counts.
 */
#ifndef SBX_PROBE_ACT_H
#define SBX_PROBE_ACT_H

#include <stddef.h>

int act_read(const char *path);
int act_write(const char *path);
int act_make(const char *path);
int act_mkdir(const char *path);
int act_move(const char *path);
int act_exchange(const char *path);
int act_link(const char *path);
int act_unlink(const char *path);
int act_over(const char *path);
int act_displace(const char *path);
/* @kind of act_kinds.c's, in @directory, which has what they need: see protocol.h. */
int act_kind(const char *kind, const char *directory);
int act_exec(const char *path);
int act_run(const char *path); /* does not return where it worked */

int act_tcp(unsigned port);
int act_unix(const char *path);
int act_abstract(const char *name);
int act_listen(unsigned port);
int act_port(unsigned port);
int act_bind(const char *directory);
/* CONNECT to "HOST:PORT" through the session's proxy, which says no more than that line.
 * 0: it is not refused, whether or not anybody is there; ACT_REFUSED: by a 403, whose
 * reason is in @said; else what became of the way to the proxy. */
int act_proxy(const char *target, char *said, size_t size);
#define ACT_REFUSED (-1)

/* @command of a `slurm` section, "scontrol-show-job".  0: sbx-chaperon answers to it. */
int act_slurm(const char *command);

int act_use(const char *what);
/* How many Landlock domains this process could still enter, and now has; -1: errno. */
int act_domains(void);
#define ACT_DOMAINS_MAX 16 /* LANDLOCK_MAX_NUM_LAYERS */
int act_fd(int fd);
int act_wait(unsigned ms);
int act_limit(const char *name, unsigned long long value);

#endif
