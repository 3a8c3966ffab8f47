/*
 * compiler/diff_print.c - what was found, as text, JSON or SARIF 2.1.0.
 *
 * Whatever comes from a policy is escaped for a terminal first, and for JSON after
 * that, so that every output says it alike.
 */
#include <stdio.h>
#include <string.h>

#include "compiler/diff.h"
#include "compiler/json.h"
#include "compiler/render.h"

static const char *const directions[] = {
	[DIFF_NARROWED] = "narrowed", [DIFF_WIDENED] = "widened", [DIFF_CHANGED] = "changed"
};
static const char *const side_names[] = { "old", "new" };

static const char *plain(const struct diff *diff, const char *text)
{
	return diag_escape(diff->arena, str_from(text));
}

static const char *places(const struct diff *diff, const struct diff_says *says)
{
	return says->loc == SBX_NONE ? ""
				     : render_places(diff->arena, says->blob, says->loc);
}

static const char *shown_side(const struct diff *diff, unsigned side)
{
	return !diff->within ? side_names[side] : side == DIFF_OLD ? "site" : "this";
}

/* ---- text --------------------------------------------------------------------------- */

static void print_also(const struct diff *diff, const struct diff_finding *finding, FILE *out)
{
	size_t width = 12;

	if (!finding->also.count)
		return;
	fputs("    also", out);
	for (size_t i = 0; i < finding->also.count; i++) {
		const char *name = plain(diff, finding->also.items[i]);

		if (width + strlen(name) > 96) {
			fputs("\n        ", out);
			width = 8;
		}
		width += strlen(name) + 1;
		fprintf(out, " %s", name);
	}
	fputc('\n', out);
}

static void print_finding(const struct diff *diff, const struct diff_finding *finding, FILE *out,
			  bool colour)
{
	static const char *const colours[] = { [DIFF_NARROWED] = "\033[32m",
					       [DIFF_WIDENED] = "\033[31m",
					       [DIFF_CHANGED] = "\033[33m" };

	fprintf(out, "%s%-8s%s  %-11s  %s", colour ? colours[finding->direction] : "",
		diff->within ? "outside" : directions[finding->direction], colour ? "\033[0m" : "",
		finding->part, plain(diff, finding->witness));
	if (finding->when)
		fprintf(out, "  (%s)", finding->when);
	fputc('\n', out);
	for (unsigned side = 0; side < DIFF_SIDES; side++) {
		const struct diff_says *says = &finding->says[side];
		const char *by = says->by ? plain(diff, says->by) : "";
		const char *place = places(diff, says);

		fprintf(out, "    %-4s  %s", shown_side(diff, side), plain(diff, says->verdict));
		if (*by && strcmp(by, plain(diff, says->verdict)))
			fprintf(out, "  by %s", by);
		if (*place)
			fprintf(out, "  %s", plain(diff, place));
		fputc('\n', out);
	}
	print_also(diff, finding, out);
}

static unsigned count_of(const struct diff *diff, enum diff_direction direction)
{
	unsigned count = 0;

	for (size_t i = 0; i < diff->findings.count; i++)
		count += diff->findings.items[i]->direction == direction;
	return count;
}

void diff_print_text(const struct diff *diff, FILE *out, bool colour)
{
	for (size_t i = 0; i < diff->findings.count; i++)
		print_finding(diff, diff->findings.items[i], out, colour);
	if (diff->within)
		fprintf(out, "%zu outside\n", diff->findings.count);
	else
		fprintf(out, "%u widened, %u narrowed, %u changed\n", count_of(diff, DIFF_WIDENED),
			count_of(diff, DIFF_NARROWED), count_of(diff, DIFF_CHANGED));
}

/* ---- JSON --------------------------------------------------------------------------- */

static void print_string(const struct diff *diff, const char *text, FILE *out)
{
	json_string(out, str_from(plain(diff, text)));
}

static void print_member(const struct diff *diff, const char *name, const char *text, FILE *out)
{
	fprintf(out, ",\"%s\":", name);
	print_string(diff, text, out);
}

static void print_json_finding(const struct diff *diff, const struct diff_finding *finding,
			       FILE *out)
{
	fprintf(out, "{\"direction\":\"%s\"", directions[finding->direction]);
	print_member(diff, "section", finding->part, out);
	print_member(diff, "witness", finding->witness, out);
	if (finding->when)
		print_member(diff, "when", finding->when, out);
	for (unsigned side = 0; side < DIFF_SIDES; side++) {
		const struct diff_says *says = &finding->says[side];

		fprintf(out, ",\"%s\":{\"verdict\":", side_names[side]);
		print_string(diff, says->verdict, out);
		if (says->by)
			print_member(diff, "rule", says->by, out);
		if (says->loc != SBX_NONE)
			print_member(diff, "places", places(diff, says), out);
		fputc('}', out);
	}
	if (finding->also.count)
		fputs(",\"also\":[", out);
	for (size_t i = 0; i < finding->also.count; i++) {
		fputs(i ? "," : "", out);
		print_string(diff, finding->also.items[i], out);
	}
	fputs(finding->also.count ? "]}" : "}", out);
}

void diff_print_json(const struct diff *diff, FILE *out)
{
	fprintf(out, "{\"version\":1,\"widened\":%u,\"narrowed\":%u,\"changed\":%u",
		count_of(diff, DIFF_WIDENED), count_of(diff, DIFF_NARROWED),
		count_of(diff, DIFF_CHANGED));
	if (diff->cut)
		print_member(diff, "not-compared-further", diff->cut, out);
	fputs(",\"findings\":[", out);
	for (size_t i = 0; i < diff->findings.count; i++) {
		fputs(i ? ",\n" : "\n", out);
		print_json_finding(diff, diff->findings.items[i], out);
	}
	fputs("\n]}\n", out);
}

/* ---- SARIF -------------------------------------------------------------------------- */

/* The name of a file as a URI reference (RFC 3986). */
static void print_uri(const char *name, FILE *out)
{
	for (const char *p = name; *p; p++) {
		if ((*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') ||
		    (*p >= '0' && *p <= '9') || strchr("-._~/", *p))
			fputc(*p, out);
		else
			fprintf(out, "%%%02X", (unsigned char)*p);
	}
}

/* Where the rule stands that made the difference: the new side's, if it has one. */
static void print_location(const struct diff_finding *finding, FILE *out)
{
	for (unsigned i = 0; i < DIFF_SIDES; i++) {
		unsigned side = i ? DIFF_OLD : DIFF_NEW;
		const struct sbx_blob *blob = finding->says[side].blob;
		const struct sbx_loc *loc;

		if (finding->says[side].loc == SBX_NONE)
			continue;
		loc = SBX_AT(blob, LOCS, sbx_loc, finding->says[side].loc);
		fputs(",\"locations\":[{\"physicalLocation\":{\"artifactLocation\":{\"uri\":\"",
		      out);
		print_uri(sbx_string(blob, SBX_AT(blob, FILES, sbx_file, loc->file)->name), out);
		fprintf(out, "\"},\"region\":{\"startLine\":%u}}}]", loc->line ? loc->line : 1u);
		return;
	}
}

static void print_result(const struct diff *diff, const struct diff_finding *finding, FILE *out)
{
	const char *text = arena_printf(
	    diff->arena, "%s: %s%s%s%s; %s: %s%s%s; %s: %s%s%s",
	    diff->within ? "outside" : directions[finding->direction], finding->witness,
	    finding->when ? " (" : "", finding->when ? finding->when : "", finding->when ? ")" : "",
	    shown_side(diff, 0), finding->says[0].verdict, finding->says[0].by ? " by " : "",
	    finding->says[0].by ? finding->says[0].by : "", shown_side(diff, 1),
	    finding->says[1].verdict, finding->says[1].by ? " by " : "",
	    finding->says[1].by ? finding->says[1].by : "");

	fprintf(out, "{\"ruleId\":\"%s\",\"level\":\"%s\",\"message\":{\"text\":",
		diff->within ? "outside" : directions[finding->direction],
		diff->within                        ? "error"
		: finding->direction & DIFF_WIDENED ? "warning"
						    : "note");
	print_string(diff, text, out);
	fputc('}', out);
	print_location(finding, out);
	fputs(",\"properties\":{\"section\":", out);
	print_string(diff, finding->part, out);
	print_member(diff, "witness", finding->witness, out);
	fputs("}}", out);
}

void diff_print_sarif(const struct diff *diff, FILE *out)
{
	static const struct {
		const char *id, *text;
	} rules[] = {
		{ "widened", "the new policy allows what the old one does not" },
		{ "narrowed", "the new policy does not allow what the old one does" },
		{ "changed", "each policy allows what the other does not" },
		{ "outside", "the policy allows what the site policy does not" },
	};

	fputs(
	    "{\"$schema\":\"https://json.schemastore.org/sarif-2.1.0.json\",\"version\":\"2.1.0\","
	    "\"runs\":[{\"tool\":{\"driver\":{\"name\":\"sbxc\",\"version\":\"" SBX_VERSION
	    "\",\"rules\":[",
	    out);
	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
		fprintf(out, "%s{\"id\":\"%s\",\"shortDescription\":{\"text\":\"%s\"}}",
			i ? "," : "", rules[i].id, rules[i].text);
	fputs("]}},\"results\":[", out);
	for (size_t i = 0; i < diff->findings.count; i++) {
		fputs(i ? ",\n" : "\n", out);
		print_result(diff, diff->findings.items[i], out);
	}
	fputs("\n]}]}\n", out);
}
