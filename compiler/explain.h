/*
 * compiler/explain.h - one question about a policy, and its answer.
 *
 * explain_*.c each answer the actions of one kind by asking the verdict
 * function that the launcher asks; explain.c reads the question and prints.
 */
#ifndef SBX_COMPILER_EXPLAIN_H
#define SBX_COMPILER_EXPLAIN_H

#include "compiler/targets.h"
#include "compiler/view.h"

struct question {
	struct arena *arena;
	const struct sbx_blob *blob;
	const struct view *view;
	const struct targets *targets; /* backends to say it for */
	const struct target *only;     /* the one that was named: what is so there; or NULL */
	const char *action, *object;
	char *const *args; /* what follows the object: NAME=VALUE */
	size_t arg_count;
};

struct answer {
	bool allowed;
	const char *object; /* as it was understood */
	const char *says;   /* in the place of allowed and refused, or NULL */
	const char *how;    /* "EPERM", ...; NULL: plainly so */
	enum sbx_section_id section;
	uint32_t rule, loser; /* SBX_NONE: nobody; SBX_RULE_SELF (FS only) */
	const char *by;       /* the rule as text; NULL: as render_rule() has it */
	const char *nobody;   /* what decided where no rule did */
	struct {
		VEC_OF(const char *)
	} held; /* what enforces it, a line each */
	struct {
		VEC_OF(const char *)
	} notes;
	struct {
		VEC_OF(const char *)
	} conditions; /* allowed, if all of these are so: nobody knows it beforehand */
	struct {
		VEC_OF(const char *)
	} lines; /* slurm: a statement for each thing that is refused; "": none helps */
};

/* NULL, or why there is no answer (the question is badly put). */
const char *explain_ask(const struct question *question, struct answer *answer);
/* By its action. */
const char *explain_path(const struct question *question, struct answer *answer);
const char *explain_connect(const struct question *question, struct answer *answer);
const char *explain_request(const struct question *question, struct answer *answer);
const char *explain_call(const struct question *question, struct answer *answer);
const char *explain_see(const struct question *question, struct answer *answer);
const char *explain_submit(const struct question *question, struct answer *answer);
const char *explain_use(const struct question *question, struct answer *answer);
const char *explain_listen(const struct question *question, struct answer *answer);
const char *explain_limit(const struct question *question, struct answer *answer);
const char *explain_require(const struct question *question, struct answer *answer);
const char *explain_credential(const struct question *question, struct answer *answer);
const char *explain_slot(const struct question *question, struct answer *answer);
const char *explain_share(const struct question *question, struct answer *answer);
const char *explain_device(const struct question *question, struct answer *answer);

/* Shared by those that ask about a host: HOST[:PORT] taken apart; NULL, or what is wrong. */
const char *explain_port(const struct question *question, const char *text, const char **host,
			 unsigned *port);
/* "HOST:PORT" of a request that was answered. */
const char *explain_request_host(const struct question *question);
/* What decides where no rule does: the mode, as written. */
const char *explain_mode(const struct question *question);

/* What would have to be said for a refused action to be allowed: --why-not. */
struct remedy {
	const char *section; /* that the statements stand in */
	struct {
		VEC_OF(const char *)
	} add; /* statements for a policy that extends this one */
	struct {
		VEC_OF(const char *)
	} seals; /* each seal that has to be broken for it, and where it stands */
	struct {
		VEC_OF(const char *)
	} notes; /* what else that opens; what else it takes; why nothing helps */
};
void remedy_find(const struct question *question, const struct answer *answer,
		 struct remedy *remedy);
void remedy_path(const struct question *question, const struct answer *answer,
		 struct remedy *remedy);
void remedy_add(const struct question *question, struct remedy *remedy, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
void remedy_note(const struct question *question, struct remedy *remedy, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* The answer for programs; @remedy: NULL where none was asked for. */
void explain_print_json(const struct question *question, const struct answer *answer,
			const struct remedy *remedy);
/* The assertion at @index would no longer hold. */
void remedy_claim(const struct question *question, struct remedy *remedy, uint32_t index);
/* The seal at @rule of @section is in the way; @instead: what it would have to be, or NULL. */
void remedy_seal(const struct question *question, struct remedy *remedy,
		 enum sbx_section_id section, uint32_t rule, const char *instead);

/* explain_path.c: the verdict for a name that appears later: without the snapshots, seals too. */
void decide_later(const struct question *question, const char *path, unsigned right,
		  struct sbx_fs_verdict *verdict);
/* explain_here.c: notes on a path as it is on this machine. */
void note_links(const struct question *question, const char *written, const char *real,
		struct answer *answer);
void note_rule_link(const struct question *question, const struct sbx_fs_verdict *verdict,
		    struct answer *answer);
void note_absent(const struct question *question, const struct sbx_fs_verdict *verdict,
		 const char *path, unsigned right, struct answer *answer);

/* The same for every backend. */
void answer_held(const struct question *question, struct answer *answer, const char *text);
/* By what each backend asked about holds @duty; @mount: what a mount answers, or NULL.
 * The verdict must be there: on the only backend it may turn into another. */
void answer_duty(const struct question *question, struct answer *answer, enum sbx_duty duty,
		 const char *mount);
bool question_asks(const struct question *question, enum sbx_backend backend);
bool question_says(const struct question *question, enum sbx_process what);
void answer_condition(const struct question *question, struct answer *answer, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
void answer_note(const struct question *question, struct answer *answer, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

#endif
