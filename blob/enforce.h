/*
 * blob/enforce.h - what each backend can hold, and by what.
 *
 * One table (enforce.def), read by the launcher when it chooses a backend, by
 * --check, by `sbxc explain` and `sbxc lint --target`, and printed for the
 * documentation by `sbxc backends`.  A duty is one kind of thing that a policy
 * asks for; where nothing holds it on a backend, the launch stops, unless the
 * rule it comes from is best-effort or the policy shares what it protects.
 */
#ifndef SBX_BLOB_ENFORCE_H
#define SBX_BLOB_ENFORCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "blob/blob.h"

enum sbx_backend { SBX_BWRAP, SBX_FIREJAIL, SBX_LANDLOCK, SBX_BACKEND_COUNT };

enum sbx_duty {
#define DUTY(id, name, text) SBX_DUTY_##id,
#define HOLDS(duty, backend, abi, needs, by)
#define LACKS(duty, backend, why, remedy)
#include "blob/enforce.def"
#undef DUTY
#undef HOLDS
#undef LACKS
	SBX_DUTY_COUNT
};

/* What a machine has beside its Landlock ABI (0: no Landlock). */
#define SBX_HAS_NOTIFY 1u   /* a listener for connect(2) that can read its callers: the broker */
#define SBX_HAS_OWN_NET 2u  /* this policy gets a network namespace of its own */
/* What the policy's filters refuse where there are no namespaces: */
#define SBX_HAS_NET_FILTER 4u  /* Internet sockets, as far as Landlock does not */
#define SBX_HAS_USER_FILTER 8u /* what reaches the user's other processes and their data */
#define SBX_HAS_MODE_FILTER 16u /* to change modes and owners of files */
#define SBX_HAS_CUT_FILTER 32u /* to cut a file short that is not open for writing */
#define SBX_HAS_TIME_FILTER 64u /* to change times of files and take attributes from them */
/* What the policy's own filter refuses everywhere: */
#define SBX_HAS_KEY_FILTER 128u /* the user's keys: no namespace keeps them apart */
struct sbx_machine {
	unsigned landlock;
	unsigned has;
};

/* SBX_HAS_*_FILTER of this policy on @arch, with that Landlock ABI (filter_has.c). */
unsigned sbx_filter_has(const struct sbx_blob *blob, enum sbx_arch arch, unsigned landlock);

/* One way in which a backend holds a duty. */
struct sbx_enforcer {
	uint8_t duty, backend;
	uint8_t landlock; /* the ABI from which it holds */
	uint8_t needs;    /* SBX_HAS_* */
	uint16_t by;      /* see sbx_enforcer_by() */
};

/* The duty of `tmp PATH`: /tmp and /dev/shm are easier than others. */
enum sbx_duty sbx_duty_of_tmp(const char *path);
/* By what @backend holds @duty on @machine; NULL: by nothing. */
const struct sbx_enforcer *sbx_enforcer(enum sbx_duty duty, enum sbx_backend backend,
					const struct sbx_machine *machine);
/* The i-th way of the table, for printing; NULL at the end. */
const struct sbx_enforcer *sbx_enforcer_at(size_t index);
/* "mount", "Landlock", "seccomp", ... */
const char *sbx_enforcer_by(const struct sbx_enforcer *enforcer);
/* Why nothing holds it, and the one remedy; "" where the table has none. */
const char *sbx_lack_why(enum sbx_duty duty, enum sbx_backend backend);
const char *sbx_lack_remedy(enum sbx_duty duty, enum sbx_backend backend);

const char *sbx_backend_name(enum sbx_backend backend); /* "bwrap" */
const char *sbx_duty_name(enum sbx_duty duty);		/* "deny-beneath" */
const char *sbx_duty_text(enum sbx_duty duty);		/* for people */

#endif
