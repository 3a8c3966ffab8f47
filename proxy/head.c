/*
 * proxy/head.c - see head.h.
 *
 * First the end of the head is found, each byte looked at once; then the whole
 * is split at its line ends, a field at its colon, and the few fields that
 * decide about framing are read.  Each check names the attack or the part of
 * RFC 9110 and 9112 that it keeps to.
 */
#include "proxy/head.h"

#include <string.h>
#include <strings.h>

#define EMPTY_SPAN(text) ((struct span){ (text), 0 })

static bool bad(struct head *head, unsigned status, const char *wrong)
{
	head->wrong = wrong;
	head->wrong_status = status;
	return false;
}

enum head_result head_scan(const char *data, size_t size, size_t *scanned, struct head *head)
{
	const char *from = data + *scanned, *end = data + (size < HEAD_MAX ? size : HEAD_MAX);
	const char *line;

	head->size = 0;
	while (from < end && (line = memchr(from, '\n', (size_t)(end - from)))) {
		if (line == data || line[-1] != '\r') {
			bad(head, 400, "a line feed without a carriage return");
			return HEAD_BAD;
		}
		if (line - data == 1 || line[-2] == '\n') {
			head->size = (size_t)(line + 1 - data);
			return HEAD_DONE;
		}
		from = line + 1;
	}
	*scanned = (size_t)(end - data);
	if (size < HEAD_MAX)
		return HEAD_MORE;
	bad(head, 431, "a head of more than 64 KB");
	return HEAD_BAD;
}

/* RFC 9110 5.6.2: what a method or a field's name is made of. */
static bool token_byte(unsigned char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       (c && strchr("!#$%&'*+-.^_`|~", c));
}

static bool is_token(struct span span)
{
	for (size_t i = 0; i < span.size; i++)
		if (!token_byte((unsigned char)span.at[i]))
			return false;
	return span.size != 0;
}

/* No control byte; a tab is a blank. */
static bool is_text(struct span span)
{
	for (size_t i = 0; i < span.size; i++) {
		unsigned char c = (unsigned char)span.at[i];

		if ((c < ' ' && c != '\t') || c == 0x7f)
			return false;
	}
	return true;
}

static struct span trim(struct span span)
{
	while (span.size && (*span.at == ' ' || *span.at == '\t')) {
		span.at++;
		span.size--;
	}
	while (span.size && (span.at[span.size - 1] == ' ' || span.at[span.size - 1] == '\t'))
		span.size--;
	return span;
}

/* What is before the first @c of @rest, which then is what is behind it. */
static bool cut(struct span *rest, char c, struct span *out)
{
	const char *at = memchr(rest->at, c, rest->size);

	if (!at)
		return false;
	*out = (struct span){ rest->at, (size_t)(at - rest->at) };
	rest->size -= out->size + 1;
	rest->at = at + 1;
	return true;
}

bool span_is(struct span span, const char *word)
{
	return span.size == strlen(word) && !strncasecmp(span.at, word, span.size);
}

static bool lists_span(struct span list, struct span word)
{
	struct span item;

	for (bool last = false; !last;) {
		last = !cut(&list, ',', &item);
		item = trim(last ? list : item);
		if (item.size == word.size && !strncasecmp(item.at, word.at, word.size))
			return true;
	}
	return false;
}

bool span_lists(struct span list, const char *word)
{
	return lists_span(list, (struct span){ word, strlen(word) });
}

static bool parse_version(struct span text, struct head *head)
{
	if (text.size != 8 || memcmp(text.at, "HTTP/1.", 7) || (text.at[7] != '0' && text.at[7] != '1'))
		return bad(head, text.size == 8 && !memcmp(text.at, "HTTP/", 5) ? 505 : 400,
			   "a version other than HTTP/1.0 and HTTP/1.1");
	head->minor = (unsigned)(text.at[7] - '0');
	return true;
}

static bool parse_request_line(struct span line, struct head *head)
{
	if (!cut(&line, ' ', &head->method) || !is_token(head->method))
		return bad(head, 400, "no method at its beginning");
	if (head->method.size > 32)
		return bad(head, 501, "a method of more than 32 bytes");
	if (!cut(&line, ' ', &head->target) || !head->target.size)
		return bad(head, 400, "no target behind the method");
	for (size_t i = 0; i < head->target.size; i++)
		if (head->target.at[i] <= ' ' || head->target.at[i] >= 0x7f)
			return bad(head, 400, "a byte that no target has");
	return parse_version(line, head);
}

/* The blank behind the status is often left out with the reason. */
static bool parse_status_line(struct span line, struct head *head)
{
	struct span version;

	if (!cut(&line, ' ', &version))
		return bad(head, 502, "no status line");
	if (!parse_version(version, head))
		return false;
	if (line.size < 3 || (line.size > 3 && line.at[3] != ' '))
		return bad(head, 502, "a status that is not of three digits");
	for (unsigned i = 0; i < 3; i++) {
		if (line.at[i] < '0' || line.at[i] > '9')
			return bad(head, 502, "a status that is not of three digits");
		head->status = head->status * 10 + (unsigned)(line.at[i] - '0');
	}
	if (head->status < 100 || head->status > 599)
		return bad(head, 502, "a status below 100 or above 599");
	head->reason = line.size > 4 ? (struct span){ line.at + 4, line.size - 4 } : EMPTY_SPAN("");
	return is_text(head->reason) || bad(head, 502, "a control byte in the reason");
}

static bool parse_field(struct span line, struct head *head)
{
	struct head_field *field = &head->field[head->field_count];

	if (head->field_count == HEAD_FIELDS)
		return bad(head, 431, "more than 200 fields");
	if (*line.at == ' ' || *line.at == '\t')
		return bad(head, 400, "a folded line");
	if (!cut(&line, ':', &field->name))
		return bad(head, 400, "a line without a colon");
	if (!is_token(field->name))
		return bad(head, 400, "a byte that no field's name has");
	field->value = trim(line);
	if (!is_text(field->value))
		return bad(head, 400, "a control byte in a field");
	head->field_count++;
	return true;
}

/* Digits alone: no sign, no list; short enough not to wrap. */
static bool parse_length(struct span text, struct head *head)
{
	if (!text.size || text.size > 18)
		return false;
	head->length = 0;
	for (size_t i = 0; i < text.size; i++) {
		if (text.at[i] < '0' || text.at[i] > '9')
			return false;
		head->length = head->length * 10 + (uint64_t)(text.at[i] - '0');
	}
	return true;
}

/* The fields that more than one reader acts upon. */
static bool read_framing(enum head_kind kind, struct head *head)
{
	unsigned hosts = 0, lengths = 0, codings = 0;
	bool close = false, keep = false, upgrade = false, named = false;

	for (unsigned i = 0; i < head->field_count; i++) {
		struct span name = head->field[i].name, value = head->field[i].value;

		if (span_is(name, "host") && kind == HEAD_REQUEST) {
			head->host = value;
			hosts++;
		} else if (span_is(name, "content-length")) {
			if (!parse_length(value, head))
				return bad(head, 400, "a length that is no number");
			lengths++;
		} else if (span_is(name, "transfer-encoding")) {
			if (!span_is(value, "chunked"))
				return bad(head, 501, "a transfer coding other than chunked");
			codings++;
		} else if (span_is(name, "connection") || span_is(name, "proxy-connection")) {
			close |= span_lists(value, "close");
			keep |= span_lists(value, "keep-alive");
			upgrade |= span_lists(value, "upgrade");
		} else if (span_is(name, "upgrade")) {
			named = true;
		} else if (span_is(name, "expect") && kind == HEAD_REQUEST) {
			if (!span_is(value, "100-continue"))
				return bad(head, 417, "an expectation other than 100-continue");
			head->expects = head->minor == 1;
		}
	}
	if (hosts > 1 || (!hosts && kind == HEAD_REQUEST && head->minor == 1))
		return bad(head, 400, hosts ? "two Host fields" : "no Host field");
	if (lengths > 1 || codings > 1)
		return bad(head, 400, "two lengths");
	if (lengths && codings)
		return bad(head, 400, "both a length and a transfer coding");
	if (codings && !head->minor)
		return bad(head, 400, "a transfer coding in HTTP/1.0");
	head->body = lengths   ? HEAD_BODY_LENGTH
		     : codings ? HEAD_BODY_CHUNKED
		     : kind == HEAD_REQUEST ? HEAD_BODY_NONE
					    : HEAD_BODY_CLOSE;
	head->keep_alive = !close && (head->minor == 1 || keep);
	head->upgrade = upgrade && named && head->minor == 1;
	return true;
}

/* RFC 9112 6.3: answers that end with their head, whatever it says. */
static void read_status(struct head *head)
{
	head->upgrade = head->upgrade && head->status == 101;
	if (head->status >= 200 && head->status != 204 && head->status != 304)
		return;
	head->body = HEAD_BODY_NONE;
	head->length = 0;
}

bool head_parse(enum head_kind kind, const char *data, struct head *head)
{
	struct span rest = { data, head->size }, line;
	bool first = true;

	*head = (struct head){ .size = rest.size, .host = EMPTY_SPAN("") };
	while (cut(&rest, '\n', &line)) {
		line.size--; /* CR, as head_scan has seen */
		if (!line.size)
			break;
		if (memchr(line.at, '\r', line.size))
			return bad(head, 400, "a carriage return within a line");
		if (!first ? !parse_field(line, head)
			   : !(kind == HEAD_REQUEST ? parse_request_line(line, head)
						    : parse_status_line(line, head)))
			return false;
		first = false;
	}
	if (first)
		return bad(head, 400, "an empty line where a message begins");
	if (!read_framing(kind, head))
		return false;
	if (kind == HEAD_RESPONSE)
		read_status(head);
	return true;
}

bool head_hop_by_hop(const struct head *head, const struct head_field *field)
{
	static const char *const always[] = {
#define HOP_FIELD(name) name,
#include "blob/fields.def"
	};

	for (size_t i = 0; i < sizeof(always) / sizeof(always[0]); i++)
		if (span_is(field->name, always[i]))
			return true;
	for (unsigned i = 0; i < head->field_count; i++)
		if (span_is(head->field[i].name, "connection") &&
		    lists_span(head->field[i].value, field->name))
			return true;
	return false;
}
