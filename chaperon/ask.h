/*
 * chaperon/ask.h - one command as it was asked for: line, environment and script together.
 *
 * Each source is checked by itself, so what is overridden must be allowed as well.  Of
 * two that give one option the line wins over the environment over the script, as with
 * the real clients.  Pure.
 */
#ifndef SBX_CHAPERON_ASK_H
#define SBX_CHAPERON_ASK_H

#include "chaperon/directives.h"

struct ask {
	const struct sbx_blob *blob;
	const struct sbx_vars *vars;
	struct sbx_slurm_request request; /* after ask_settle(): of all sources */
	struct directives script;
	const char *const *environment; /* NAME=VALUE, ended by NULL */
	char refusal[1024]; /* one line, escaped, with "sbx: " and without a newline */
	char notice[256];   /* the same for what is done all the same; "" */
	uint32_t rule;      /* that refused, or allowed the last option; SBX_NONE */
	char values[4096];  /* of what the policy forces and adds */
	size_t values_used;
};

/* Each: false when it is refused. */
bool ask_line(struct ask *ask, const struct sbx_blob *blob, const struct sbx_vars *vars,
	      const char **arguments, unsigned count, const char *const *environment);
bool ask_script(struct ask *ask, const char *script, size_t size);
/* Puts the sources together, then what the policy forces and adds. */
bool ask_settle(struct ask *ask);
void ask_free(struct ask *ask);

/* A refusal for another reason. */
bool ask_refuse(struct ask *ask, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The given option of that name or kind, or NULL.  Its value: "" where it has none. */
const struct sbx_slurm_given *ask_option(const struct ask *ask, const char *name);
const char *ask_value(const struct ask *ask, enum sbx_slurm_takes takes);
enum sbx_slurm_takes ask_takes(const struct ask *ask, const struct sbx_slurm_given *given);
const char *ask_name(const struct ask *ask, const struct sbx_slurm_given *given);

#endif
