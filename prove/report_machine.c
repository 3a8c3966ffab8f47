/*
 * prove/report_machine.c - verdicts for machines: JSON, JUnit, TAP.
 *
 * Names come from a policy: what is no printable ASCII is escaped first, in each
 * format's own way on top.
 */
#include <stdio.h>
#include <string.h>

#include "base/diag.h"
#include "compiler/json.h"
#include "compiler/render.h"
#include "prove/report.h"

static const char *section_name(const struct claim *claim)
{
	switch (claim->section) {
	case SBX_SEC_FS:
		return "fs";
	case SBX_SEC_ENV:
		return "env";
	case SBX_SEC_SYS_STMTS:
		return "syscalls";
	case SBX_SEC_NET:
		return "net";
	case SBX_SEC_LIMITS:
		return "limits";
	case SBX_SEC_PROCESS:
		return "process";
	default:
		return "assert";
	}
}

static void json_field(const char *name, const char *text, const char *end)
{
	printf("\"%s\": ", name);
	if (text)
		json_string(stdout, str_from(text));
	else
		fputs("null", stdout);
	fputs(end, stdout);
}

static void json_claim(const struct claim *claim)
{
	fputs("      {", stdout);
	json_field("section", section_name(claim), ", ");
	json_field("rule", claim->rule, ", ");
	json_field("place", claim->place, ", ");
	json_field("tried", claim->tried, ", ");
	json_field("expected", claim->through ? "through" : "refused", ", ");
	json_field("verdict", verdict_names[claim->verdict], ", ");
	json_field("reason", claim->verdict == HOLDS ? NULL : claim->why, ", ");
	json_field("control", !claim->control ? NULL : claim->lifted ? "granted" : "removed", ", ");
	json_field("inside", claim->plain, ", ");
	json_field("without_the_rule", claim->control, ", ");
	json_field("outside", claim->bare, "}");
}

/* The policy of jobs, which was not tried. */
static void json_jobs(struct arena *arena, const struct sbx_blob *blob)
{
	struct sbx_blob jobs;

	fputs("  \"jobs\": ", stdout);
	if (!sbx_blob_jobs(blob, &jobs)) {
		puts("null,");
		return;
	}
	putchar('{');
	json_field("policy", sbx_string(&jobs, sbx_meta(&jobs)->name), ", ");
	json_field("digest", render_digest(arena, &jobs), "},\n");
}

void report_json(const struct prove *proves, size_t count)
{
	fputs("{\n  \"version\": \"" SBX_VERSION "\",\n", stdout);
	if (count)
		json_jobs(proves[0].arena, proves[0].given);
	fputs("  \"backends\": [", stdout);
	for (size_t i = 0; i < count; i++) {
		printf("%s\n    {", i ? "," : "");
		json_field("backend", sbx_backend_name(proves[i].target.backend), ", ");
		json_field("not_measurable", proves[i].refused, ", \"claims\": [\n");
		for (size_t n = 0; n < proves[i].claims.count; n++) {
			json_claim(&proves[i].claims.items[n]);
			fputs(n + 1 < proves[i].claims.count ? ",\n" : "\n", stdout);
		}
		fputs("    ]}", stdout);
	}
	puts("\n  ]\n}");
}

/* Printable ASCII by diag_escape(), then XML's own five. */
static void xml_attribute(const struct prove *prove, const char *name, const char *text)
{
	printf(" %s=\"", name);
	for (const char *p = diag_escape(prove->arena, str_from(text ? text : "")); *p; p++) {
		const char *at = strchr("&<>\"'", *p);
		static const char *const names[] = { "&amp;", "&lt;", "&gt;", "&quot;", "&apos;" };

		if (at)
			fputs(names[at - "&<>\"'"], stdout);
		else
			putchar(*p);
	}
	putchar('"');
}

static void junit_claim(const struct prove *prove, const struct claim *claim)
{
	fputs("    <testcase", stdout);
	xml_attribute(prove, "classname", section_name(claim));
	xml_attribute(prove, "name",
		      arena_printf(prove->arena, "%s: %s", claim->rule, claim->tried));
	if (claim->verdict == HOLDS) {
		puts("/>");
		return;
	}
	printf(">\n      <%s", claim->verdict == NOT_MEASURABLE ? "skipped" : "failure");
	if (claim->verdict != NOT_MEASURABLE)
		xml_attribute(prove, "type", verdict_names[claim->verdict]);
	xml_attribute(prove, "message", claim->why);
	puts("/>\n    </testcase>");
}

void report_junit(const struct prove *proves, size_t count)
{
	puts("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>");
	for (size_t i = 0; i < count; i++) {
		size_t counts[VERDICT_COUNT];

		count_verdicts(&proves[i], counts);
		fputs("  <testsuite", stdout);
		xml_attribute(&proves[i], "name", sbx_backend_name(proves[i].target.backend));
		printf(" tests=\"%zu\" failures=\"%zu\" skipped=\"%zu\" errors=\"0\">\n",
		       proves[i].claims.count, counts[LEAKS] + counts[VACUOUS],
		       counts[NOT_MEASURABLE]);
		for (size_t n = 0; n < proves[i].claims.count; n++)
			junit_claim(&proves[i], &proves[i].claims.items[n]);
		puts("  </testsuite>");
	}
	puts("</testsuites>");
}

/* In a description `#` begins a directive, and `\` escapes. */
static void tap_text(const struct prove *prove, const char *text)
{
	for (const char *p = diag_escape(prove->arena, str_from(text ? text : "")); *p; p++) {
		if (*p == '#' || *p == '\\')
			putchar('\\');
		putchar(*p);
	}
}

void report_tap(const struct prove *proves, size_t count)
{
	size_t total = 0, number = 0;

	for (size_t i = 0; i < count; i++)
		total += proves[i].claims.count;
	printf("TAP version 13\n1..%zu\n", total);
	for (size_t i = 0; i < count; i++)
		for (size_t n = 0; n < proves[i].claims.count; n++) {
			const struct claim *claim = &proves[i].claims.items[n];

			printf("%s %zu - %s: ",
			       claim->verdict == LEAKS || claim->verdict == VACUOUS ? "not ok"
										    : "ok",
			       ++number, sbx_backend_name(proves[i].target.backend));
			tap_text(&proves[i], claim->rule);
			fputs(": ", stdout);
			tap_text(&proves[i], claim->tried);
			if (claim->verdict == NOT_MEASURABLE)
				fputs(" # SKIP ", stdout);
			else if (claim->verdict != HOLDS)
				printf(": %s: ", verdict_names[claim->verdict]);
			if (claim->verdict != HOLDS)
				tap_text(&proves[i], claim->why);
			putchar('\n');
		}
}
