/*
 * stub/backend.h - what makes the sandbox around the inner stage.
 *
 *	bwrap     namespaces and mounts, by bubblewrap (bwrap.c)
 *	firejail  the same by firejail, which is set-uid (firejail.c, firejail_profile.c)
 *	landlock  nothing: a child of ours enters a Landlock domain (direct.c)
 *
 * Each is a small translation of the one plan.  choose.c takes the first that
 * holds every duty of the policy (duties.c).
 */
#ifndef SBX_STUB_BACKEND_H
#define SBX_STUB_BACKEND_H

#include <stdbool.h>
#include <sys/types.h>

#include "blob/enforce.h"
#include "stub/mem.h"

struct launch;
struct plan_mask;
struct backend {
	enum sbx_backend kind;
	const char *path;       /* of its program; NULL: landlock has none */
	bool by_name;           /* bwrap: it knows no --bind-fd, so it gets names */
	VEC(const char *) args; /* what it is told */
	VEC(int) fds;           /* inherited */
	pid_t pid;
	int socket;  /* from the inner stage */
	int capture; /* what the backend wrote to its standard error */
};

/* Its program, root's and nobody else's, at a fixed place; NULL: then *why has
 * the reason and the remedy.  "" where it has none. */
const char *backend_find(enum sbx_backend kind, const char **why);
/* The plan in its words. */
void backend_translate(struct launch *launch, struct backend *out);
/* Starts it; the inner stage reads the plan from @plan_fd (sealed). */
void backend_start(struct launch *launch, struct backend *backend, int plan_fd);
/* Lets the inner stage go on, which waits for it once before it lays the masks
 * and once before it starts the program.  False: nobody is there any more. */
bool backend_go_on(const struct backend *backend);
/* Why it failed, from what it wrote: one reason, one remedy.  *unable: it said in
 * known words that it cannot work here. */
const char *backend_explain(const struct backend *backend, const char *text, bool *unable);

/* choose.c: the first of those asked for that holds all; refuses where there is
 * none, and says for each why not. */
void backend_choose(struct launch *launch, struct backend *out);
/* Why @kind is out of the question whatever it holds, with the remedy: it is not
 * there, or the policy wants another.  NULL: it is not. */
const char *backend_objection(const struct launch *launch, enum sbx_backend kind);
/* proof.c: the same of `require { proof }`; @path is its program. */
const char *proof_objection(const struct launch *launch, enum sbx_backend kind, const char *path);
/* @failed cannot work here and has started nothing: begins anew without it.
 * Refuses where no other could do; returns where no other was asked for. */
void backend_instead(const struct launch *launch, enum sbx_backend failed, const char *why);
/* It has started nothing, and @why ends in "start again", since something changed
 * meanwhile, as where another session ends in this workspace: does so, some times. */
void backend_again(const struct launch *launch, const char *why);

/* What the inner stage inherits, in numbers. */
struct handover {
	int self, plan, socket, error;
};
/* backend.c: a program of root's alone among @places (a list of @count fixed paths
 * of @size bytes each); @package: to say how to get it. */
const char *backend_find_program(const char *places, size_t count, size_t size,
				 const char *package, const char **why);
/* Becomes @argv with an empty environment, its standard error captured; only
 * what @backend and @inherit name is inherited. */
_Noreturn void backend_exec(const struct backend *backend, const struct handover *inherit,
			    const char *const argv[], size_t count);
/* A memory file that nobody can change any more, at its beginning. */
int backend_sealed_file(const char *name, const void *data, size_t size);
/* The same, to be inherited, with the strings of @args, each ended by @end. */
int backend_args_file(const struct backend *backend, char end);

struct plan;
/* Without a user namespace of its own RLIMIT_NPROC would count every process of the user's. */
void backend_drop_process_limit(struct plan *plan);
/* What @text means: @known has pairs of words and reason, each ended by NUL.  NULL:
 * none of the words is in it, up to the first path. */
const char *backend_known(const char *known, const char *text);
/* bwrap_explain.c: a number in /proc/sys; -1: there is no such setting. */
long backend_setting(const char *path);

const char *bwrap_find(const char **why);
void bwrap_translate(struct launch *launch, struct backend *out);
_Noreturn void bwrap_become(const struct backend *backend, const struct handover *inherit);
/* From what it wrote, why it cannot work here, and the remedy; NULL: not known. */
const char *bwrap_explain(const char *text);
/* The same where only that is known: user namespaces cannot be made. */
const char *bwrap_explain_namespaces(void);

const char *firejail_find(const char **why);
void firejail_translate(struct launch *launch, struct backend *out);
_Noreturn void firejail_become(const struct backend *backend, const struct handover *inherit);
const char *firejail_explain(const char *text);
/* firejail_profile.c: would firejail read @path as that very path? */
bool firejail_can_name(const char *path);
/* Is there a mount of firejail's for this mask, and what may be done with it? */
bool firejail_lays(const struct plan_mask *mask, unsigned *rights);

/* direct.c: the backend "landlock". */
const char *direct_find(const char **why);
void direct_translate(struct launch *launch, struct backend *out);
/* In the child: the inner stage right here. */
_Noreturn void direct_become(const struct launch *launch, const struct handover *inherit);
/* May the launcher itself become the program: is nothing left to do at the end,
 * to answer or to watch meanwhile? */
bool direct_alone(const struct launch *launch);
_Noreturn void direct_exec(const struct launch *launch);

#endif
