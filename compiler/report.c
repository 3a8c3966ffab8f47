/*
 * compiler/report.c - findings in the forms that other programs read.
 *
 * All text is escaped as for a terminal first (diag_escape), and then for its
 * form: whoever shows a report need not trust the policy it is about.
 * Columns are in characters here, since editors and code scanning count those;
 * on a terminal they are in bytes.
 */
#include "compiler/report.h"

#include <string.h>

#include "base/utf8.h"
#include "compiler/compiler.h"
#include "compiler/json.h"

static const char *const form_names[] = {
	[REPORT_TEXT] = "text",
	[REPORT_JSON] = "json",
	[REPORT_SARIF] = "sarif",
	[REPORT_GITHUB] = "github",
};

bool report_form_named(const char *name, enum report_form *form)
{
	for (size_t i = 0; i < sizeof(form_names) / sizeof(*form_names); i++) {
		if (strcmp(name, form_names[i]) == 0) {
			*form = (enum report_form)i;
			return true;
		}
	}
	return false;
}

/* ---- places ------------------------------------------------------------------------- */

/* From 1, in characters; a byte that is no UTF-8 counts as one. */
static struct line_column locate(const struct source *source, uint32_t offset)
{
	struct line_column at = source_locate(source, offset);
	uint32_t column = 1, byte = source->lines[at.line - 1];

	while (byte < offset) {
		uint32_t point;
		size_t len = utf8_decode(source->text.ptr + byte, source->text.len - byte, &point);

		byte += len ? (uint32_t)len : 1;
		column++;
	}
	at.column = column;
	return at;
}

static const char *level_of(const struct diag_message *message)
{
	return message->error ? "error" : "warning";
}

static void write_text(FILE *out, struct arena *arena, const char *text)
{
	json_string(out, str_from(diag_escape(arena, str_from(text))));
}

/* ---- JSON --------------------------------------------------------------------------- */

static void json_place(FILE *out, struct arena *arena, struct span span)
{
	struct line_column start, end;

	if (!span.source)
		return;
	start = locate(span.source, span.start);
	end = locate(span.source, span.end);
	fputs(", \"file\": ", out);
	write_text(out, arena, span.source->path);
	fprintf(out, ", \"line\": %u, \"column\": %u, \"endLine\": %u, \"endColumn\": %u",
		start.line, start.column, end.line, end.column);
}

static void json_message(FILE *out, struct arena *arena, const struct diag_message *message)
{
	fprintf(out, "{ \"code\": \"%s\", \"level\": \"%s\"", diag_code_name(message->code),
		level_of(message));
	json_place(out, arena, message->span);
	fputs(", \"message\": ", out);
	write_text(out, arena, message->text);
	fputs(", \"notes\": [", out);
	for (const struct diag_note *note = message->notes; note; note = note->next) {
		fputs(note == message->notes ? "{ \"message\": " : ", { \"message\": ", out);
		write_text(out, arena, note->text);
		json_place(out, arena, note->span);
		fputs(" }", out);
	}
	fputc(']', out);
	if (message->waived) {
		fputs(", \"waived\": ", out);
		write_text(out, arena, message->waived);
	}
	if (message->fix) {
		fprintf(out, ", \"fix\": { \"offset\": %u, \"length\": %u, \"text\": ",
			message->fix_span.start, message->fix_span.end - message->fix_span.start);
		json_string(out, str_from(message->fix));
		fputs(" }", out);
	}
	fputs(" }", out);
}

/* ---- SARIF -------------------------------------------------------------------------- */

/* The path as a relative or file: URI, each byte that has a meaning there as %XX. */
static void sarif_artifact(FILE *out, const struct source *source)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789/._~-";

	fputs("\"artifactLocation\": { \"uri\": \"", out);
	if (source->path[0] == '/')
		fputs("file://", out);
	for (const char *byte = source->path; *byte; byte++) {
		if (strchr(plain, *byte))
			fputc(*byte, out);
		else
			fprintf(out, "%%%02X", (unsigned char)*byte);
	}
	fputs("\" }", out);
}

static void sarif_region(FILE *out, struct span span)
{
	struct line_column start = locate(span.source, span.start);
	struct line_column end = locate(span.source, span.end);

	fprintf(out,
		"{ \"startLine\": %u, \"startColumn\": %u, \"endLine\": %u, \"endColumn\": %u }",
		start.line, start.column, end.line, end.column);
}

static void sarif_place(FILE *out, struct span span)
{
	fputs("\"physicalLocation\": { ", out);
	sarif_artifact(out, span.source);
	fputs(", \"region\": ", out);
	sarif_region(out, span);
	fputs(" }", out);
}

static void sarif_notes(FILE *out, struct arena *arena, const struct diag_message *message)
{
	unsigned id = 0;

	for (const struct diag_note *note = message->notes; note; note = note->next) {
		fprintf(out, "%s{ \"id\": %u, \"message\": { \"text\": ", id ? ", " : "", id);
		write_text(out, arena, note->text);
		fputs(" }", out);
		if (note->span.source) {
			fputs(", ", out);
			sarif_place(out, note->span);
		}
		fputs(" }", out);
		id++;
	}
}

static void sarif_fix(FILE *out, const struct diag_message *message)
{
	fputs(",\n\t  \"fixes\": [{ \"description\": { \"text\": \"what sbxc lint --fix does\" }, "
	      "\"artifactChanges\": [{ ",
	      out);
	sarif_artifact(out, message->fix_span.source);
	fputs(", \"replacements\": [{ \"deletedRegion\": ", out);
	sarif_region(out, message->fix_span);
	fputs(", \"insertedContent\": { \"text\": ", out);
	json_string(out, str_from(message->fix));
	fputs(" } }] }] }]", out);
}

static void sarif_message(FILE *out, struct arena *arena, const struct diag_message *message)
{
	fprintf(out,
		"{ \"ruleId\": \"%s\", \"level\": \"%s\",\n"
		"\t  \"message\": { \"text\": ",
		diag_code_name(message->code), level_of(message));
	write_text(out, arena, message->text);
	fputs(" }", out);
	if (message->span.source) {
		fputs(",\n\t  \"locations\": [{ ", out);
		sarif_place(out, message->span);
		fputs(" }]", out);
	}
	if (message->notes) {
		fputs(",\n\t  \"relatedLocations\": [", out);
		sarif_notes(out, arena, message);
		fputc(']', out);
	}
	if (message->waived) {
		fputs(",\n\t  \"suppressions\": [{ \"kind\": \"inSource\", \"justification\": ",
		      out);
		write_text(out, arena, message->waived);
		fputs(" }]", out);
	}
	if (message->fix)
		sarif_fix(out, message);
	fputs(" }", out);
}

/* What each code means, at the end, when it is known which there are. */
static void sarif_rules(const struct report *report)
{
	bool first = true;

	for (unsigned code = 0; code < DIAG_CODE_COUNT; code++) {
		if (!report->used[code])
			continue;
		fprintf(report->out, "%s\n\t{ \"id\": \"%s\", \"shortDescription\": { \"text\": ",
			first ? "" : ",", diag_code_name(code));
		json_string(report->out, str_from(diag_code_title(code)));
		fprintf(report->out, " }, \"help\": { \"text\": \"docs/lint.md, %s\" } }",
			diag_code_name(code));
		first = false;
	}
}

/* ---- GitHub ------------------------------------------------------------------------- */

/* A value of a workflow command: a property ends at `,` and `:` too. */
static void github_text(FILE *out, struct arena *arena, const char *text, bool property)
{
	for (const char *byte = diag_escape(arena, str_from(text)); *byte; byte++) {
		if (*byte == '%' || (property && strchr(":,", *byte)))
			fprintf(out, "%%%02X", (unsigned char)*byte);
		else
			fputc(*byte, out);
	}
}

static void github_message(FILE *out, struct arena *arena, const struct diag_message *message)
{
	fprintf(out, "::%s ", level_of(message));
	if (message->span.source) {
		struct line_column start = locate(message->span.source, message->span.start);
		struct line_column end = locate(message->span.source, message->span.end);

		fputs("file=", out);
		github_text(out, arena, message->span.source->path, true);
		fprintf(out, ",line=%u,endLine=%u", start.line, end.line);
		/* GitHub refuses columns of a span of several lines. */
		if (start.line == end.line)
			fprintf(out, ",col=%u,endColumn=%u", start.column, end.column);
		fputc(',', out);
	}
	fprintf(out, "title=%s::", diag_code_name(message->code));
	github_text(out, arena, message->text, false);
	for (const struct diag_note *note = message->notes; note; note = note->next) {
		fputs("%0A", out);
		if (note->span.source) {
			github_text(out, arena, note->span.source->path, false);
			fprintf(out,
				":%u: ", source_locate(note->span.source, note->span.start).line);
		}
		github_text(out, arena, note->text, false);
	}
	fputc('\n', out);
}

/* ---- the report --------------------------------------------------------------------- */

void report_begin(struct report *report)
{
	if (report->form == REPORT_JSON)
		fputs("{ \"tool\": \"sbxc\", \"version\": \"" SBX_VERSION "\", \"findings\": [",
		      report->out);
	if (report->form == REPORT_SARIF)
		fputs("{ \"$schema\": \"https://json.schemastore.org/sarif-2.1.0.json\", "
		      "\"version\": \"2.1.0\",\n"
		      "  \"runs\": [{\n"
		      "    \"columnKind\": \"unicodeCodePoints\",\n"
		      "    \"results\": [",
		      report->out);
}

void report_add(struct report *report, struct diags *diags)
{
	static void (*const write[])(FILE *, struct arena *, const struct diag_message *) = {
		[REPORT_JSON] = json_message,
		[REPORT_SARIF] = sarif_message,
		[REPORT_GITHUB] = github_message,
	};
	const struct diag_message *message;
	struct arena arena = { 0 };

	if (report->form == REPORT_TEXT) {
		diag_flush(diags, stderr, colour_on(stderr));
		return;
	}
	for (size_t i = 0; (message = diag_message_at(diags, i)) != NULL; i++) {
		if (report->form == REPORT_GITHUB) {
			if (message->waived)
				continue;
		} else {
			fputs(report->count ? ",\n\t" : "\n\t", report->out);
		}
		write[report->form](report->out, &arena, message);
		report->used[message->code] = true;
		report->count++;
	}
	arena_free(&arena);
}

void report_end(struct report *report)
{
	if (report->form == REPORT_JSON)
		fputs("] }\n", report->out);
	if (report->form == REPORT_SARIF) {
		fputs("],\n    \"tool\": { \"driver\": { \"name\": \"sbxc\", \"version\": "
		      "\"" SBX_VERSION "\", \"rules\": [",
		      report->out);
		sarif_rules(report);
		fputs("] } } }] }\n", report->out);
	}
}
