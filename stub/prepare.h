/*
 * stub/prepare.h - the parts of the plan that are not files.
 */
#ifndef SBX_STUB_PREPARE_H
#define SBX_STUB_PREPARE_H

#include <stdbool.h>

#include "blob/blob.h"

#if defined(__x86_64__)
#define OUR_ARCH SBX_X86_64
#else
#define OUR_ARCH SBX_AARCH64
#endif

struct launch;

/* Does the policy's section `process` have this? */
bool process_says(const struct launch *launch, enum sbx_process what);
/* Does the policy let this call through?  @shared: where there are no namespaces, so
 * that both its filters answer. */
bool process_may_call(const struct launch *launch, bool shared, uint32_t nr,
		      const uint64_t args[6]);
/* The namespaces outside, to see that a backend has made others. */
void prepare_namespaces(struct launch *launch);
/* The second filter, for a backend without namespaces. */
void prepare_shared_filter(struct launch *launch);
/* Namespaces, limits, descriptors, filter, Landlock, directory, command. */
void prepare_process(struct launch *launch);
/* env.c: the environment, from nothing. */
void prepare_environ(struct launch *launch);
/* Of the caller's; NULL: it has none, or an empty one. */
const char *environ_find(const struct launch *launch, const char *name);
/* The program's, as it is so far; NULL: it has none. */
const char *environ_get(struct launch *launch, const char *name);
void environ_set(struct launch *launch, const char *name, const char *value);

/* stdio.c: before anything is opened: 0, 1 and 2 are open, all others will
 * close at the next exec. */
void stdio_guard(void);
/* Refuses standard streams, and descriptors of `pass fd`, that would open more
 * than themselves. */
void stdio_check(struct launch *launch);
/* The same for files, when the plan is made: none that it closes is handed on. */
void stdio_check_files(struct launch *launch);

#endif
