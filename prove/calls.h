/*
 * prove/calls.h - for claims_calls.c and claims_borders.c alone.
 */
#ifndef SBX_PROVE_CALLS_H
#define SBX_PROVE_CALLS_H

#include "prove/prove.h"

struct call_answer {
	enum sbx_sys_action action;
	unsigned error;
	bool any; /* of two errors the kernel takes either */
};

/* What both programs say, where there are two; *first and *second: the statements that decide. */
struct call_answer call_decide(const struct prove *prove, uint32_t nr, const uint64_t args[6],
			       uint32_t *first, uint32_t *second);
/* Arguments for which this statement decides; false: others do in every case. */
bool call_arguments(const struct prove *prove, const struct sbx_sys_entry *entry, uint64_t args[6],
		    struct call_answer *answer);
struct claim *call_add(struct prove *prove, enum sbx_section_id section, uint32_t rule,
		       const char *name, uint32_t nr, const uint64_t args[6],
		       struct call_answer answer);

/* The value of an argument that means nothing. */
uint64_t call_nothing(uint32_t nr, unsigned arg);
/* Does the policy let the probe make a process for each request? */
bool call_may_fork(const struct prove *prove);

/* Of each call that some `where` is about, what lies at and beside its values. */
void claims_borders(struct prove *prove);

#endif
