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

/* Why it is refused: one line of ask_problem_text(), all of it escaped. */
#define ASK_PROBLEMS 8
struct ask_problem {
	uint32_t rule;    /* that refuses it; SBX_NONE: none allows it, or no rule is needed */
	char what[320];   /* "sbatch (script, line 3) --time=9"; "": the reason says it all */
	char reason[320]; /* "value not allowed: --time" */
	char line[256];   /* of a policy, by which it would be allowed; "" */
};

struct ask {
	const struct sbx_blob *blob;
	const struct sbx_vars *vars;
	struct sbx_slurm_request request; /* after ask_settle(): of all sources */
	struct directives script;
	const char *const *environment; /* NAME=VALUE, ended by NULL */
	bool step;             /* of a job, which has all it needs: nothing is added */
	uint32_t rule;         /* that refused, or allowed the last option; SBX_NONE */
	size_t values_used;
	unsigned problem_count; /* 0: it is not refused */
	char notice[1024]; /* lines, with "sbx: " and newlines between, for what is done all the same */
	/* From here on never read before it is written. */
	struct ask_problem problems[ASK_PROBLEMS];
	char values[4096]; /* of what the policy forces and adds */
};

/* Both: false when it cannot be read to its end, which is refused.  Of what is refused in
 * other ways all is found before ask_settle() says no. */
bool ask_line(struct ask *ask, const struct sbx_blob *blob, const struct sbx_vars *vars,
	      const char **arguments, unsigned count, const char *const *environment);
bool ask_script(struct ask *ask, const char *script, size_t size);
/* Puts the sources together, and what the policy adds.  False: it is refused. */
bool ask_settle(struct ask *ask);
void ask_free(struct ask *ask);

/* refuse.c: a refusal for another reason, and by which rule.  All: always false. */
bool ask_refuse(struct ask *ask, const char *format, ...) __attribute__((format(printf, 2, 3)));
bool ask_refuse_by(struct ask *ask, uint32_t rule, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Another line of it; what has no room is left out. */
void ask_notice(struct ask *ask, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* What a policy would say for the last refusal. */
bool ask_would(struct ask *ask, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* For what was read: @where it stood, " (script)". */
bool ask_refuse_for(struct ask *ask, const struct sbx_slurm_verdict *verdict, const char *where);
/* "sbx: squeue --me refused: nothing allows: --me; to allow it: allow squeue --me" */
#define ASK_TEXT_SIZE 1400
void ask_problem_text(const struct ask *ask, unsigned index, char out[ASK_TEXT_SIZE]);
/* "allow sbatch --time max 4h (user.pol:7)", and why: a rule of the policy. */
void ask_rule_text(const struct ask *ask, uint32_t index, char *out, size_t size);

/* The given option of that name or kind, or NULL.  Its value: "" where it has none. */
const struct sbx_slurm_given *ask_option(const struct ask *ask, const char *name);
const char *ask_value(const struct ask *ask, enum sbx_slurm_takes takes);
enum sbx_slurm_takes ask_takes(const struct ask *ask, const struct sbx_slurm_given *given);
const char *ask_name(const struct ask *ask, const struct sbx_slurm_given *given);

#endif
