/*
 * stub/report.h - --dry-run and --check.
 */
#ifndef SBX_STUB_REPORT_H
#define SBX_STUB_REPORT_H

struct launch;
struct backend;

/* Prints the plan; nothing has been or will be changed. */
void report_plan(const struct launch *launch, const struct backend *backend);
/* report_check.c: what holds the policy on each backend here, and what stands in
 * the way of it; returns the exit status. */
int report_check(struct launch *launch);

#endif
