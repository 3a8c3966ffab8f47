/*
 * prove/report.h - verdicts for people and for machines.
 */
#ifndef SBX_PROVE_REPORT_H
#define SBX_PROVE_REPORT_H

#include "prove/prove.h"

enum format { FORMAT_TEXT, FORMAT_JSON, FORMAT_JUNIT, FORMAT_TAP, FORMAT_COUNT };
extern const char *const format_names[FORMAT_COUNT];

/* Each backend's claims, judged; @verbose: what holds too. */
void report(enum format format, const struct prove *proves, size_t count, bool verbose);

void report_json(const struct prove *proves, size_t count);
void report_junit(const struct prove *proves, size_t count);
void report_tap(const struct prove *proves, size_t count);
/* Nothing leaks, nothing is vacuous, something was measured, and no backend that was named
 * refuses the policy. */
bool proofs_hold(const struct prove *proves, size_t count);
void count_verdicts(const struct prove *prove, size_t counts[VERDICT_COUNT]);

#endif
