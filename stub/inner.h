/*
 * stub/inner.h - the inner stage: process 1 of the sandbox.
 */
#ifndef SBX_STUB_INNER_H
#define SBX_STUB_INNER_H

#include "stub/out.h"
#include "stub/plan.h"

struct inner {
	struct plan plan;
	int socket; /* to the outer stage; -1: there is none, and none comes after us */
	char **argv, **environ; /* the program's */
};

/* main() of the inner stage; does not return. */
_Noreturn void inner_main(char **argv);
/* The same in this very process: no backend is around it.  @socket -1: it
 * becomes the program itself. */
_Noreturn void inner_run_here(const struct plan *plan, int socket);

/* Tells the outer stage why it cannot go on, and ends.  Formats as out_text(). */
#define inner_fail(inner, ...) inner_fail_text(inner, out_string(__VA_ARGS__))
_Noreturn void inner_fail_text(const struct inner *inner, const char *text);
void inner_send(const struct inner *inner, unsigned kind, int value, const char *text);
void inner_send_fd(const struct inner *inner, unsigned kind, int fd, const char *text);

/* No new privileges from here on, and no capability: NULL, or why not. */
const char *privileges_drop(void);

/* masks.c: our mounts, in a user and mount namespace of their own. */
void masks_apply(const struct inner *inner);
/* The same later, from a process that has entered these: what was lifted of the
 * masks whose @state is MASK_HELD, and what lies beneath, is laid on what is there now. */
enum mask_state { MASK_UNKNOWN, MASK_HELD, MASK_LIFTED, MASK_LAID, MASK_GONE /* so is the name */ };
/* False: something was replaced once more meanwhile. */
bool masks_apply_again(const struct inner *inner, uint8_t *state);
/* nodes.c: does somebody inside own a device node, so that masks_apply() has something to do? */
bool nodes_are_ours(const struct inner *inner);
/* In its namespace: each node becomes read-only; and then streams are opened anew by these. */
void nodes_close(const struct inner *inner);
void nodes_reopen(const struct inner *inner);
/* copy.c: the file or tree behind @from into the directory @to, as @name. */
void copy_tree(const struct inner *inner, int from, int to, const char *name, const char *what);
/* verify.c: tries what must not be possible. */
void verify_namespaces(const struct inner *inner);
void verify_mounts(const struct inner *inner);
void verify_masks(const struct inner *inner);
/* firejail_verify.c */
void firejail_verify_mounts(const struct inner *inner);
void firejail_verify_masks(const struct inner *inner);
/* program.c: in process 1, what the program inherits: limits and signals. */
void program_prepare(struct inner *inner);
/* Becomes the program; in the child of process 1. */
_Noreturn void program_run(const struct inner *inner);
/* The filters, on this process and its children: NULL, or why not. */
const char *program_filter(const struct plan *plan);

#endif
