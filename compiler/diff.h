/*
 * compiler/diff.h - two policies, and what one allows that the other does not.
 *
 * diff_*.c each take one part of a policy.  They make candidates (paths, names,
 * calls ...) out of the rules of both sides, so that whatever the two decide
 * differently is decided differently for a candidate, and ask the verdict
 * functions that explain asks.  Candidates for which the same two rules differ
 * are one finding; its witness is the first of them.
 *
 * Both sides are asked about the same machines: the one that assertions are
 * checked on, one where every variable has another value, and one where there
 * is no repository.  A rule written with a variable and one written with that
 * variable's usual value differ on the second.
 */
#ifndef SBX_COMPILER_DIFF_H
#define SBX_COMPILER_DIFF_H

#include "blob/verdict.h"
#include "compiler/compiler.h"
#include "compiler/diff_effort.h"
#include "compiler/map.h"

enum diff_direction {
	DIFF_NARROWED = 1, /* bits: what is changed went both ways */
	DIFF_WIDENED = 2,
	DIFF_CHANGED = 3,
};

enum { DIFF_OLD, DIFF_NEW, DIFF_SIDES };

struct diff_says { /* what one side says about the witness */
	const char *verdict; /* "allowed", "EPERM", "8G" */
	enum sbx_section_id section;
	uint32_t rule;  /* SBX_NONE: no rule, see @by */
	const char *by; /* the rule as text, or what decided where none did */
	uint32_t loc;   /* SBX_NONE: nowhere */
	const struct sbx_blob *blob; /* where these are indices */
};

struct diff_finding {
	const char *part; /* "files", "environment", ...; of what jobs may do "jobs: files" */
	enum diff_direction direction;
	const char *witness; /* "write /home/u/w/x" */
	const char *when;    /* NULL, or on which machine, or where what is not held */
	struct diff_says says[DIFF_SIDES];
	struct {
		VEC_OF(const char *)
	} also; /* other calls that the same two rules decide */
};

struct diff_side {
	const struct sbx_blob *blob;
	struct sbx_vars vars;
	bool fixed; /* nobody gives its params another value than their default */
};

struct diff {
	struct arena *arena;
	struct diff_side side[DIFF_SIDES];
	bool within; /* the old side is a site policy: what it leaves to others is not asked */
	struct diff *session; /* whose policies of jobs these are; NULL: they are nobody's */
	const char *when;
	struct {
		VEC_OF(struct diff_finding *)
	} findings;
	struct map seen;
	struct effort effort; /* of the part in hand */
	const char *cut;      /* "files, network": not compared further; NULL: none */
};

/* Every finding, in @diff->findings.  Sets the sides' variables itself. */
void diff_run(struct diff *diff);
/* What jobs of @session may do and it may not, as what was widened: its policy of jobs
 * beside itself. */
void diff_jobs_beyond(struct diff *diff, const struct sbx_blob *session);
unsigned diff_directions(const struct diff *diff);

/* ---- for diff_*.c ------------------------------------------------------------------ */

#define DIFF_MACHINES 3
/* @diff's sides as they are on machine @index; returns what to say of it. */
const char *diff_machine(struct diff *diff, unsigned index);

/* One side, as far as a rule decided; @verdict is kept. */
struct diff_says diff_says(const struct diff *diff, unsigned side, const char *verdict,
			   enum sbx_section_id section, uint32_t rule, const char *nobody);
/*
 * Adds what the two sides say of @witness, unless the same rules have been found to differ
 * about the same @what.  Returns the finding, or NULL: not within what is asked.
 */
struct diff_finding *diff_add(struct diff *diff, const char *part, enum diff_direction direction,
			      const char *what, const char *witness,
			      const struct diff_says says[DIFF_SIDES]);
/* By two ranks, the higher the more is allowed. */
static inline enum diff_direction diff_order(uint64_t was, uint64_t is)
{
	return is > was ? DIFF_WIDENED : DIFF_NARROWED;
}
/* A template's text on this side, or NULL. */
const char *diff_expand(const struct diff *diff, unsigned side, struct sbx_tmpl tmpl, bool *wild);
/* The words of a list on this side, joined by blanks. */
const char *diff_words(const struct diff *diff, unsigned side, uint32_t first, uint32_t count);

/*
 * Where what is allowed is a matter of more or less: the higher rank allows more.
 * @what is the name of it and begins the witness, which ends in the text of the side that
 * allows more.
 */
struct diff_rank {
	uint64_t rank;
	const char *text;
	uint32_t rule; /* SBX_NONE: @nobody */
};
void diff_ranks(struct diff *diff, const char *part, const char *what,
		enum sbx_section_id section, const char *nobody,
		const struct diff_rank ranks[DIFF_SIDES]);

/*
 * diff_any.c: gives each unbounded param of the new side a value that stands for all; false:
 * there is none.  Then leaves, of points with these values, what gives with any of them, and
 * what takes that again at any rate; false: none has one.
 */
bool diff_any_value(struct diff *diff);
bool diff_any_points(const struct diff *diff, struct sbx_fs_set *set);
/* Sides as they are with the @index-th value that an `in` of the new side lists, and what to
 * say of it; NULL: there is none. */
const char *diff_choice(struct diff *diff, unsigned index);
#define DIFF_ANY "with another value for a param"

void diff_files(struct diff *diff);
void diff_sockets(struct diff *diff);
void diff_env(struct diff *diff);
void diff_calls(struct diff *diff);
void diff_net(struct diff *diff);
void diff_requests(struct diff *diff);
void diff_listen(struct diff *diff);
void diff_credentials(struct diff *diff);
void diff_limits(struct diff *diff);
void diff_process(struct diff *diff);
void diff_require(struct diff *diff);
void diff_slots(struct diff *diff);
void diff_slurm(struct diff *diff);
void diff_command(struct diff *diff);
void diff_params(struct diff *diff);
/* The policies of jobs, with all of this. */
void diff_jobs(struct diff *diff);

/* Output. */
void diff_print_text(const struct diff *diff, FILE *out, bool colour);
void diff_print_json(const struct diff *diff, FILE *out);
void diff_print_sarif(const struct diff *diff, FILE *out);

#endif
