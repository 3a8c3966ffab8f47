/*
 * helper/given.h - what sbx-exec gives a helper at its start: the policy and the values.
 */
#ifndef SBX_HELPER_GIVEN_H
#define SBX_HELPER_GIVEN_H

#include <stddef.h>

#include "blob/helper_wire.h"
#include "blob/verdict.h"

struct given {
	struct sbx_blob blob;
	const void *blob_data;
	size_t blob_size;
	struct sbx_vars vars;
	char policy[2 * 32 + 1]; /* the blob's digest, in hexadecimal */
	const char *id;          /* of the session, as it stands in the log */
	char *values;            /* strings, each ended by NUL: "KIND VALUE", "KIND NAME=VALUE" */
	size_t values_size;
	int fds[HELPER_FDS];     /* of HELPER_SESSION; the first two, blob and values, are used up */
};

/*
 * Waits for HELPER_SESSION, of this @version of the wire, and reads it; @us names the
 * program to the person.  The values are a copy of this process's own.  NULL, or why it
 * cannot be served.
 */
const char *given_receive(struct given *given, int version, const char *us);

/* The value behind "@kind " in @text, one of the strings, else NULL. */
const char *given_behind(const char *text, const char *kind);
/* The one value of a kind without names, or NULL. */
const char *given_one(const struct given *given, const char *kind);
/* The value of @kind ("env", "placeholder") @name, or NULL. */
const char *given_named(const struct given *given, const char *kind, const char *name);

#endif
