/*
 * A look at the bytes before any of them is a token: what no editor shows, or
 * shows as something else, has no place in a policy.  Bytes that are not
 * UTF-8 may be part of a path and pass.  Of several faults in one line the
 * first is reported.
 */
#include "base/utf8.h"
#include "grammar/parse.h"

#define BOM "\xef\xbb\xbf"

/* The bytes at @at are not allowed: their number, and why. */
static size_t bad_bytes(struct str text, size_t at, enum diag_code *code, const char **why)
{
	unsigned char byte = (unsigned char)text.ptr[at];
	uint32_t point;
	size_t len;

	if (byte == '\t' || byte == '\n')
		return 0;
	if (byte == '\r') {
		*code = DIAG_P0102;
		*why = "a carriage return that ends no line";
		return text.ptr[at + 1] != '\n';
	}
	if (byte < 0x20 || byte == 0x7f) {
		*code = DIAG_P0102;
		*why = "a control byte: in a string write it as \\xNN";
		return 1;
	}
	if (byte < 0x80)
		return 0;
	len = utf8_decode(text.ptr + at, text.len - at, &point);
	if (len == 0 || !utf8_is_control(point))
		return 0;
	*code = DIAG_P0117;
	*why = "a character that does not show as what it is: in a string write its bytes as \\xNN";
	return len;
}

static void check_lines(struct parse *p)
{
	struct str text = p->source->text;
	uint32_t reported = 0; /* line */

	for (size_t at = p->offset, len; at < text.len; at += len ? len : 1) {
		enum diag_code code;
		const char *why;
		struct span span;
		uint32_t line;

		len = bad_bytes(text, at, &code, &why);
		if (!len)
			continue;
		line = source_locate(p->source, (uint32_t)at).line;
		if (line == reported)
			continue;
		reported = line;
		span = span_at(p, (uint32_t)at, (uint32_t)(at + len));
		diag_error(p->diags, code, span, "%s", why);
	}
}

bool parse_check_bytes(struct parse *p)
{
	struct str text = p->source->text;
	const char *nul = memchr(text.ptr, '\0', text.len);

	if (str_starts(text, "\xff\xfe") || str_starts(text, "\xfe\xff")) {
		diag_error(p->diags, DIAG_P0105, span_at(p, 0, 2),
			   "the file is UTF-16: save it as UTF-8");
		return false;
	}
	if (nul) {
		uint32_t at = (uint32_t)(nul - text.ptr);

		diag_error(p->diags, DIAG_P0103, span_at(p, at, at + 1),
			   "a NUL byte: this is not a text file, or it is not saved as UTF-8");
		return false;
	}
	if (str_starts(text, BOM)) {
		p->start = p->offset = sizeof(BOM) - 1;
		diag_error(p->diags, DIAG_P0104, span_at(p, 0, p->offset),
			   "a byte order mark: save the file as UTF-8 without one");
	}
	check_lines(p);
	return true;
}
