/*
 * stub/backend.h - bubblewrap makes the namespaces and the base mounts.
 */
#ifndef SBX_STUB_BACKEND_H
#define SBX_STUB_BACKEND_H

#include <stdbool.h>
#include <sys/types.h>

#include "stub/mem.h"

struct launch;
struct backend {
	const char *path;       /* of the program; root's, nobody else's */
	VEC(const char *) args; /* for --args */
	VEC(int) fds;           /* inherited */
	pid_t pid;
	int socket;  /* from the inner stage */
	int capture; /* what the backend wrote to its standard error */
};

/* NULL: no trustworthy bubblewrap; then *why has the reason and remedy. */
const char *backend_find(const char **why);
/* Its arguments; @by_fd: sources by descriptor (--bind-fd). */
void backend_translate(struct launch *launch, bool by_fd, struct backend *out);
/* Starts it on @plan (packed, in a sealed memfd). */
void backend_start(struct backend *backend, int plan_fd);
/* Lets the inner stage go on, which waits for it once before it lays the masks
 * and once before it starts the program.  False: nobody is there any more. */
bool backend_go_on(const struct backend *backend);
/* Why it failed, from what it wrote: one reason, one remedy. */
const char *backend_explain(const char *text);

#endif
