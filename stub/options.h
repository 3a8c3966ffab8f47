/*
 * stub/options.h - the command line.
 */
#ifndef SBX_STUB_OPTIONS_H
#define SBX_STUB_OPTIONS_H

#include <stdbool.h>

#include "blob/blob.h"

struct define { /* -D name=value */
	const char *name, *value;
};
struct options {
	const char *backend;   /* "auto", or one of sbx_backend_name() */
	const char *workspace; /* NULL: as the policy says */
	const char *blob;      /* a path or a name */
	char *const *command;  /* NULL: the policy's */
	struct define defines[SBX_PARAM_MAX];
	unsigned define_count;
	bool dry_run, check, verbose, quiet;
};

/* Prints the help or the version and exits where asked to; refuses what is
 * not understood. */
void options_parse(char **argv, struct options *out);

#endif
