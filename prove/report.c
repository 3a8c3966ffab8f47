/*
 * prove/report.c - verdicts as text.
 *
 *	bwrap
 *	  leaks           write $workspace/.envrc: it works, though the policy refuses it
 *	                  deny write $workspace/.envrc    std/host-exec.pol:9
 *	  124 claims: 120 hold, 1 leak, 0 vacuous, 3 not measurable
 */
#include "prove/report.h"

#include <stdio.h>
#include <string.h>

#include "compiler/stages.h"

const char *const format_names[FORMAT_COUNT] = { "text", "json", "junit", "tap" };

static const char *escaped(const struct prove *prove, const char *text)
{
	return diag_escape(prove->arena, str_from(text ? text : ""));
}

static const char *colour_of(enum verdict verdict)
{
	static const char *const colours[VERDICT_COUNT] = { "\33[32m", "\33[1;31m", "\33[1;33m",
							    "\33[2m" };

	return colour_on(stdout) ? colours[verdict] : "";
}

static void print_claim(const struct prove *prove, const struct claim *claim)
{
	printf("  %s%-15s%s %s", colour_of(claim->verdict), verdict_names[claim->verdict],
	       colour_on(stdout) ? "\33[0m" : "", escaped(prove, claim->tried));
	if (claim->why && claim->verdict != HOLDS)
		printf(": %s", escaped(prove, claim->why));
	putchar('\n');
	printf("                  %-48s %s\n", escaped(prove, claim->rule),
	       escaped(prove, claim->place));
}

void count_verdicts(const struct prove *prove, size_t counts[VERDICT_COUNT])
{
	memset(counts, 0, VERDICT_COUNT * sizeof(*counts));
	for (size_t i = 0; i < prove->claims.count; i++)
		counts[prove->claims.items[i].verdict]++;
}

bool proofs_hold(const struct prove *proves, size_t count)
{
	size_t counts[VERDICT_COUNT], held = 0;

	for (size_t i = 0; i < count; i++) {
		count_verdicts(&proves[i], counts);
		if (counts[LEAKS] || counts[VACUOUS] || proves[i].failed ||
		    (proves[i].named && proves[i].refused))
			return false;
		held += counts[HOLDS];
	}
	return held;
}

static void print_backend(const struct prove *prove, bool verbose)
{
	static const enum verdict order[] = { HOLDS, NOT_MEASURABLE, VACUOUS, LEAKS };
	size_t counts[VERDICT_COUNT];

	printf("%s\n", sbx_backend_name(prove->target.backend));
	if (prove->refused)
		printf("  not measurable: %s\n", escaped(prove, prove->refused));
	/* What is worst stands last, where it is seen. */
	for (size_t n = 0; !prove->refused && n < VERDICT_COUNT; n++)
		for (size_t i = 0; i < prove->claims.count; i++)
			if (prove->claims.items[i].verdict == order[n] &&
			    (verbose || order[n] != HOLDS))
				print_claim(prove, &prove->claims.items[i]);
	count_verdicts(prove, counts);
	printf("  %zu claims: %zu hold, %zu leak, %zu vacuous, %zu not measurable\n",
	       prove->claims.count, counts[HOLDS], counts[LEAKS], counts[VACUOUS],
	       counts[NOT_MEASURABLE]);
}

void report(enum format format, const struct prove *proves, size_t count, bool verbose)
{
	if (format == FORMAT_JSON)
		report_json(proves, count);
	else if (format == FORMAT_JUNIT)
		report_junit(proves, count);
	else if (format == FORMAT_TAP)
		report_tap(proves, count);
	for (size_t i = 0; format == FORMAT_TEXT && i < count; i++)
		print_backend(&proves[i], verbose);
}
