/*
 * compiler/report.h - findings in the forms that other programs read.
 *
 *	text    FILE:LINE:COL: ..., for a person (diag_flush)
 *	json    one object; docs/lint.md describes it
 *	sarif   SARIF 2.1.0, for code scanning
 *	github  workflow commands, which GitHub shows beside the line
 *
 * One report covers the files of one command line.  Waived findings are in
 * json and sarif with the reason, and in no other.
 */
#ifndef SBX_COMPILER_REPORT_H
#define SBX_COMPILER_REPORT_H

#include <stdbool.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/diag.h"

enum report_form { REPORT_TEXT, REPORT_JSON, REPORT_SARIF, REPORT_GITHUB };

struct report {
	enum report_form form;
	FILE *out;
	unsigned count;             /* results written */
	bool used[DIAG_CODE_COUNT]; /* codes of them */
};

/* The form of that name, or false. */
bool report_form_named(const char *name, enum report_form *form);
void report_begin(struct report *report);
/* All that is queued in @diags; text goes to standard error, in colour where that is on. */
void report_add(struct report *report, struct diags *diags);
void report_end(struct report *report);

#endif
