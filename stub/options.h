/*
 * stub/options.h - the command line.
 */
#ifndef SBX_STUB_OPTIONS_H
#define SBX_STUB_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "blob/blob.h"

struct define { /* -D name=value */
	const char *name, *value;
};
struct options {
	unsigned backends;     /* 1 << enum sbx_backend: those that may be taken */
	unsigned choices;      /* how often they were said: once more with each new beginning */
	const char *workspace; /* NULL: as the policy says */
	const char *net_log;   /* NULL: the proxy writes none */
	const char *slurm_log; /* NULL: sbx-chaperon writes none */
	const char *job, *digest; /* NULL: none; a directory, and what its envelope has */
	const char *blob;      /* a path or a name */
	char **command;        /* NULL: the policy's */
	struct define defines[SBX_PARAM_MAX];
	unsigned define_count;
	bool dry_run, check, verbose, quiet;
	char *const *argv; /* all of it */
	size_t end;        /* in it, behind the options: where another could stand */
};

/* Prints the help or the version and exits where asked to; refuses what is
 * not understood. */
void options_parse(char **argv, struct options *out);
/* `-D @text`. */
void options_define(struct options *out, const char *text);

#endif
