/*
 * proxy/inject.c - writes the head of a request, and puts the credential into it.
 *
 * An upgrade is passed on to WebSocket alone: behind `Upgrade: h2c` the program would
 * speak HTTP/2 with the server, and none of its requests would be decided any more.
 */
#include "proxy/inject.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "proxy/keeper.h"

#define PLACEHOLDER      "sbx-placeholder-"
#define PLACEHOLDER_SIZE (sizeof(PLACEHOLDER) - 1)
#define USER_MAX         256

/* ---- which, and its value --------------------------------------------------------------- */

static bool contains(const char *text, size_t size, const char *word)
{
	return memmem(text, size, word, strlen(word)) != NULL;
}

/* Basic has what is looked for in base64. */
static bool carries(struct span value, const char *placeholder)
{
	unsigned char text[1024];
	int size;

	if (contains(value.at, value.size, placeholder))
		return true;
	if (value.size < 6 || value.size > sizeof(text) || strncasecmp(value.at, "Basic ", 6) != 0)
		return false;
	size = EVP_DecodeBlock(text, (const unsigned char *)value.at + 6, (int)value.size - 6);
	return size > 0 && contains((const char *)text, (size_t)size, placeholder);
}

size_t inject_choose(const struct head *head, const struct inject_choice *choices, size_t count)
{
	for (size_t i = 0; i < count; i++)
		for (unsigned n = 0; n < head->field_count; n++)
			if (span_is(head->field[n].name, choices[i].header) &&
			    carries(head->field[n].value, choices[i].placeholder))
				return i;
	return 0;
}

long inject_value(const struct sbx_blob *blob, const struct sbx_credential *credential,
		  const char *value, size_t size, char *out, size_t room)
{
	const char *user =
	    credential->scheme == SBX_SCHEME_BASIC ? sbx_string(blob, credential->basic_user) : "";
	const char *word = credential->scheme == SBX_SCHEME_BEARER  ? "Bearer "
			   : credential->scheme == SBX_SCHEME_BASIC ? "Basic "
								    : "";
	unsigned char pair[USER_MAX + 1 + KEEPER_VALUE_MAX];
	size_t length = strlen(word), name = strlen(user);

	if (name > USER_MAX || size > KEEPER_VALUE_MAX)
		return -1;
	if (credential->scheme != SBX_SCHEME_BASIC) {
		if (length + size > room)
			return -1;
		memcpy(out, word, length);
		memcpy(out + length, value, size);
		return (long)(length + size);
	}
	if (length + 4 * ((name + 1 + size + 2) / 3) + 1 > room) /* OpenSSL ends it by a NUL */
		return -1;
	memcpy(out, word, length);
	memcpy(pair, user, name);
	pair[name] = ':';
	memcpy(pair + name + 1, value, size);
	length +=
	    (size_t)EVP_EncodeBlock((unsigned char *)out + length, pair, (int)(name + 1 + size));
	OPENSSL_cleanse(pair, sizeof(pair));
	return (long)length;
}

/* ---- the head ---------------------------------------------------------------------------- */

struct writer {
	char *at, *end;
	bool full;
};

static void put(struct writer *writer, const char *text, size_t size)
{
	if ((size_t)(writer->end - writer->at) < size) {
		writer->full = true;
		return;
	}
	memcpy(writer->at, text, size);
	writer->at += size;
}

static void put_field(struct writer *writer, struct span name, struct span value)
{
	put(writer, name.at, name.size);
	put(writer, ": ", 2);
	put(writer, value.at, value.size);
	put(writer, "\r\n", 2);
}

static void put_text(struct writer *writer, const char *name, const char *value)
{
	put_field(writer, (struct span){ name, strlen(name) },
		  (struct span){ value, strlen(value) });
}

static bool is_one_of(struct span name, const char *const *names)
{
	for (; *names; names++)
		if (sbx_field_is(*names, name.at, name.size))
			return true;
	return false;
}

static bool hides_answer(struct span name)
{
	static const char *const hiding[] = {
#define HIDING_FIELD(name) name,
#include "blob/fields.def"
		NULL
	};

	return is_one_of(name, hiding);
}

/* Those of this connection, too, in another spelling. */
static bool is_own(struct span name)
{
	static const char *const own[] = {
#define HOP_FIELD(name) name,
#define OWN_FIELD(name) name,
#include "blob/fields.def"
		NULL
	};

	return is_one_of(name, own);
}

/* Would the server do another thing than was decided about, or do it elsewhere as well? */
static bool overrides(struct span name)
{
	static const char *const overriding[] = {
#define OVERRIDING_FIELD(name) name,
#include "blob/fields.def"
		NULL
	};

	return is_one_of(name, overriding);
}

static bool is_credential(const struct inject_request *request, struct span name)
{
	for (size_t i = 0; i < request->other_count; i++)
		if (sbx_field_is(request->others[i], name.at, name.size))
			return true;
	return sbx_field_is(request->field.at, name.at, name.size);
}

static bool passes(const struct inject_request *request, const struct head_field *field)
{
	if (head_hop_by_hop(request->head, field) || is_own(field->name))
		return false;
	if (request->narrowed && overrides(field->name))
		return false;
	return !request->field.size ||
	       (!is_credential(request, field->name) && !hides_answer(field->name));
}

static bool wants_websocket(const struct head *head)
{
	unsigned wanted = 0, others = 0;

	for (unsigned i = 0; head->upgrade && i < head->field_count; i++) {
		if (!span_is(head->field[i].name, "upgrade"))
			continue;
		if (span_is(head->field[i].value, "websocket"))
			wanted++;
		else
			others++;
	}
	return wanted == 1 && !others;
}

static void put_framing(struct writer *writer, const struct inject_request *request)
{
	char number[24];

	if (request->head->body == HEAD_BODY_CHUNKED) {
		put_text(writer, "Transfer-Encoding", "chunked");
	} else if (request->head->body == HEAD_BODY_LENGTH) {
		snprintf(number, sizeof(number), "%llu", (unsigned long long)request->head->length);
		put_text(writer, "Content-Length", number);
	}
	if (wants_websocket(request->head)) {
		put_text(writer, "Connection", "Upgrade");
		put_text(writer, "Upgrade", "websocket");
	} else if (request->close) {
		put_text(writer, "Connection", "close");
	}
}

long inject_head(const struct inject_request *request, char *out, size_t room)
{
	struct writer writer = { out, out + room, false };
	const struct head *head = request->head;

	put(&writer, head->method.at, head->method.size);
	put(&writer, " ", 1);
	put(&writer, request->path.at, request->path.size);
	put(&writer, " HTTP/1.1\r\n", 11);
	put_text(&writer, "Host", request->authority);
	for (unsigned i = 0; i < head->field_count; i++)
		if (passes(request, &head->field[i]))
			put_field(&writer, head->field[i].name, head->field[i].value);
	put_framing(&writer, request);
	if (request->field.size) {
		put_text(&writer, "Accept-Encoding", "identity");
		put_field(&writer, request->field, request->value);
	}
	put(&writer, "\r\n", 2);
	return writer.full ? -1 : (long)(writer.at - out);
}

/* ---- placeholders ------------------------------------------------------------------------ */

void placeholder_scan(struct placeholder_scan *scan, const void *data, size_t size)
{
	const char *at = data, *end = at + size;

	while (at < end && !scan->found) {
		if (!scan->matched && !(at = memchr(at, PLACEHOLDER[0], (size_t)(end - at))))
			return;
		/* Its first byte is nowhere else in it: no shorter beginning can be left. */
		if (*at == PLACEHOLDER[scan->matched])
			scan->matched++;
		else
			scan->matched = *at == PLACEHOLDER[0];
		scan->found = scan->matched == PLACEHOLDER_SIZE;
		at++;
	}
}

bool placeholder_in_head(const struct head *head, struct span field)
{
	if (contains(head->target.at, head->target.size, PLACEHOLDER))
		return true;
	for (unsigned i = 0; i < head->field_count; i++)
		if (!(field.size &&
		      sbx_field_is(field.at, head->field[i].name.at, head->field[i].name.size)) &&
		    carries(head->field[i].value, PLACEHOLDER))
			return true;
	return false;
}
