#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "proxy/inject.h"

#define SPAN(text) ((struct span){ text, sizeof(text) - 1 })

static struct head parsed(const char *text)
{
	struct head head;
	size_t scanned = 0;

	memset(&head, 0, sizeof(head));
	cr_assert_eq(head_scan(text, strlen(text), &scanned, &head), HEAD_DONE, "%s", text);
	cr_assert(head_parse(HEAD_REQUEST, text, &head), "%s: %s", text, head.wrong);
	return head;
}

static void expect(const char *text, struct span field, const char *want)
{
	struct head head = parsed(text);
	struct inject_request request = { .head = &head,
					  .path = SPAN("/v1/x?q"),
					  .authority = "api.test",
					  .field = field,
					  .value = SPAN("sk-real") };
	char out[4096];
	long size = inject_head(&request, out, sizeof(out));

	cr_assert_geq(size, 0);
	cr_expect(size == (long)strlen(want) && !memcmp(out, want, (size_t)size), "%.*s", (int)size,
		  out);
	for (long room = 0; room < size; room++)
		cr_assert_eq(inject_head(&request, out, (size_t)room), -1);
}

Test(inject, the_client_s_own_are_left_out)
{
	expect("POST /v1/x?q HTTP/1.1\r\nHost: other.test\r\nX-API-KEY: a\r\nx-api-key: b\r\n"
	       "x_api_key: c\r\nx.api~key: c\r\nConnection: x-api-key, accept, close\r\nAccept: text/plain\r\n"
	       "Accept-Encoding: gzip\r\nProxy-Authorization: d\r\nExpect: 100-continue\r\n"
	       "Keep-Alive: 5\r\nRange: bytes=0-9\r\nIf-Range: x\r\nContent-Length: 3\r\n"
	       "Content_Length: 9\r\nAccept-Charset: utf-16\r\nA-IM: feed\r\nRequest-Range: "
	       "bytes=0-9\r\nX-Other: e\r\n\r\n",
	       SPAN("x-api-key"),
	       "POST /v1/x?q HTTP/1.1\r\nHost: api.test\r\nX-Other: e\r\nContent-Length: 3\r\n"
	       "Accept-Encoding: identity\r\nx-api-key: sk-real\r\n\r\n");
	expect("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nTE: trailers\r\n\r\n",
	       SPAN("authorization"),
	       "POST /v1/x?q HTTP/1.1\r\nHost: api.test\r\nTransfer-Encoding: chunked\r\n"
	       "Accept-Encoding: identity\r\nauthorization: sk-real\r\n\r\n");
}

Test(inject, nothing_where_no_credential_goes)
{
	expect("GET / HTTP/1.1\r\nHost: a\r\nX-Api-Key: a\r\nAccept-Encoding: gzip\r\n"
	       "Authorization: b\r\n\r\n",
	       (struct span){ 0 },
	       "GET /v1/x?q HTTP/1.1\r\nHost: api.test\r\nX-Api-Key: a\r\nAccept-Encoding: gzip\r\n"
	       "Authorization: b\r\n\r\n");
}

/* Does the field @name go out, where the rule is @narrowed or a credential goes along? */
static bool goes_out(const char *name, bool narrowed, bool keyed)
{
	char text[256], out[512];
	struct inject_request request = { .path = SPAN("/"), .authority = "api.test", .narrowed = narrowed };
	struct head head;
	long size;

	snprintf(text, sizeof(text), "PUT / HTTP/1.1\r\nHost: a\r\n%s: MARK\r\n\r\n", name);
	head = parsed(text);
	request.head = &head;
	if (keyed) {
		request.field = SPAN("x-api-key");
		request.value = SPAN("sk-real");
	}
	size = inject_head(&request, out, sizeof(out));
	cr_assert_gt(size, 0);
	return memmem(out, (size_t)size, "MARK", 4);
}

/* A server that takes another method, path or host from a field, or acts on a second path,
 * would undo the decision. */
Test(inject, what_overrides_is_left_out_where_a_rule_is_narrow)
{
	static const char *const overriding[] = {
		"X-HTTP-Method-Override", "X-Method-Override", "X_HTTP_Method",
		"X-Override-Method",	  "X-Original-URL",    "X-Original-Host",
		"X-Rewrite-URL",	  "X-Forwarded-Uri",   "X-Forwarded-Prefix",
		"X-Forwarded-Host",	  "x.forwarded~path",  "Forwarded",
		"Destination",		  "X-Amz-Copy-Source", "X-OSS-Copy-Source",
		"x-obs-copy-source",	  "x-cos-copy-source", "x-bos-copy-source",
		"X-Goog-Copy-Source",	  "X-Copy-From",       "X-Copy-From-Account",
		"X-Ms-Copy-Source",	  "X-Ms-Rename-Source", "X-Ms-File-Rename-Source",
		"X-Object-Manifest",	  "X-Symlink-Target",  "X-OSS-Symlink-Target",
		"X-HTTP-Host-Override",	  "X-Amz-Copy-Source-Range",
	};
	static const char *const others[] = {
		"Cookie", "X-Range-Of-Products", "X-Copy", "X-Methane", "Destinations", "X-Hosts",
	};

	for (size_t i = 0; i < sizeof(overriding) / sizeof(overriding[0]); i++) {
		cr_expect_not(goes_out(overriding[i], true, false), "%s", overriding[i]);
		cr_expect_not(goes_out(overriding[i], true, true), "%s", overriding[i]);
		cr_expect(goes_out(overriding[i], false, false), "%s", overriding[i]);
	}
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		cr_expect(goes_out(others[i], true, true), "%s", others[i]);
}

/* A range gives an echo in two halves, also one that only object stores know. */
Test(inject, what_hides_the_answer_is_left_out_with_a_credential)
{
	static const char *const hiding[] = { "Range", "X-Ms-Range", "X_Goog_Range", "A-IM" };

	for (size_t i = 0; i < sizeof(hiding) / sizeof(hiding[0]); i++) {
		cr_expect_not(goes_out(hiding[i], false, true), "%s", hiding[i]);
		cr_expect(goes_out(hiding[i], true, false), "%s", hiding[i]);
	}
}

Test(inject, shapes_of_names)
{
	static const struct {
		const char *shape, *name;
		bool is;
	} cases[] = {
		{ "a", "A", true },	    { "a", "ab", false },      { "ab", "a", false },
		{ "", "", true },	    { "", "a", false },	       { "*", "", true },
		{ "*", "a*b", true },	    { "a", "*", false },       { "a-b", "a_b", true },
		{ "x-*-range", "x-range", false },		       { "x-*-range", "x-a-range", true },
		{ "x-*-range", "x-range-range", true },		       { "x-*-range", "x-a-ranger", false },
		{ "*aab", "aaab", true },   { "*a*b*", "xxbxxa", false }, { "*a*b*", "xxaxxb", true },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		cr_expect_eq(sbx_field_is(cases[i].shape, cases[i].name, strlen(cases[i].name)),
			     cases[i].is, "%s %s", cases[i].shape, cases[i].name);
}

/* Another's key, in the field of another credential of the host. */
Test(inject, nor_those_of_the_host_s_other_credentials)
{
	static const char text[] = "GET / HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer evil\r\n"
				   "X-API-Key: a\r\nCookie: c\r\n\r\n";
	static const char want[] = "GET / HTTP/1.1\r\nHost: api.test\r\nCookie: c\r\n"
				   "Accept-Encoding: identity\r\nx-api-key: sk-real\r\n\r\n";
	static const char *const others[] = { "authorization", "x-api-key" };
	struct head head = parsed(text);
	struct inject_request request = { .head = &head,
					  .path = SPAN("/"),
					  .authority = "api.test",
					  .field = SPAN("x-api-key"),
					  .value = SPAN("sk-real"),
					  .others = others,
					  .other_count = 2 };
	char out[512];
	long size = inject_head(&request, out, sizeof(out));

	cr_expect(size == (long)sizeof(want) - 1 && !memcmp(out, want, (size_t)size), "%.*s",
		  (int)size, out);
}

Test(inject, an_upgrade_is_for_websocket)
{
	expect("GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: WebSocket\r\n"
	       "Sec-WebSocket-Key: k\r\nSec-WebSocket-Extensions: permessage-deflate\r\n\r\n",
	       SPAN("x-api-key"),
	       "GET /v1/x?q HTTP/1.1\r\nHost: api.test\r\nSec-WebSocket-Key: k\r\n"
	       "Connection: Upgrade\r\nUpgrade: websocket\r\nAccept-Encoding: identity\r\n"
	       "x-api-key: sk-real\r\n\r\n");
	expect(
	    "GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n"
	    "HTTP2-Settings: x\r\n\r\n",
	    (struct span){ 0 }, "GET /v1/x?q HTTP/1.1\r\nHost: api.test\r\n\r\n");
	expect("GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
	       "Upgrade: h2c\r\n\r\n",
	       (struct span){ 0 }, "GET /v1/x?q HTTP/1.1\r\nHost: api.test\r\n\r\n");
}

Test(inject, how_a_value_stands_in_its_field)
{
	static const struct {
		enum sbx_scheme scheme;
		const char *want;
	} cases[] = {
		{ SBX_SCHEME_RAW, "s3cret/+" },
		{ SBX_SCHEME_BEARER, "Bearer s3cret/+" },
		{ SBX_SCHEME_BASIC, "Basic dTpzM2NyZXQvKw==" },
	};
	static const char strings[] = "\0u";
	struct sbx_blob blob = { 0 };
	char out[64];

	blob.section[SBX_SEC_STRINGS].records = strings;
	blob.section[SBX_SEC_STRINGS].count = sizeof(strings);
	for (size_t i = 0; i < 3; i++) {
		struct sbx_credential credential = { .scheme = cases[i].scheme, .basic_user = 1 };
		size_t size = strlen(cases[i].want);

		cr_expect_eq(inject_value(&blob, &credential, "s3cret/+", 8, out, sizeof(out)),
			     (long)size);
		cr_expect(!memcmp(out, cases[i].want, size), "%.*s", (int)size, out);
		cr_expect_eq(inject_value(&blob, &credential, "s3cret/+", 8, out, size - 1), -1);
	}
}

Test(inject, which_of_several)
{
	static const struct inject_choice choices[] = {
		{ "x-api-key", "sbx-placeholder-0001" },
		{ "authorization", "sbx-placeholder-0002" },
	};
	static const struct {
		const char *fields;
		size_t choice;
	} cases[] = {
		{ "", 0 },
		{ "X-Api-Key: sbx-placeholder-0001\r\n", 0 },
		{ "Authorization: Bearer sbx-placeholder-0002\r\n", 1 },
		{ "authorization: basic dTpzYngtcGxhY2Vob2xkZXItMDAwMg==\r\n", 1 },
		{ "Authorization: Bearer sbx-placeholder-0001\r\n", 0 },
		{ "X-Other: sbx-placeholder-0002\r\n", 0 },
		{ "Authorization: Bearer sbx-placeholder-0002\r\nX-Api-Key: "
		  "sbx-placeholder-0001\r\n",
		  0 },
	};
	char text[512];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		snprintf(text, sizeof(text), "GET / HTTP/1.1\r\nHost: a\r\n%s\r\n",
			 cases[i].fields);
		struct head head = parsed(text);
		cr_expect_eq(inject_choose(&head, choices, 2), cases[i].choice, "case %zu", i);
	}
}

Test(inject, placeholders_elsewhere)
{
	static const struct {
		const char *text;
		bool found;
	} cases[] = {
		{ "GET /a HTTP/1.1\r\nHost: a\r\nx-api-key: sbx-placeholder-0001\r\n\r\n", false },
		{ "GET /a HTTP/1.1\r\nHost: a\r\nX-Api_Key: sbx-placeholder-0001\r\n\r\n", false },
		{ "GET /a HTTP/1.1\r\nHost: a\r\nreferer: x/sbx-placeholder-0001\r\n\r\n", true },
		{ "GET /a?k=sbx-placeholder-0001 HTTP/1.1\r\nHost: a\r\n\r\n", true },
		{ "GET /a HTTP/1.1\r\nHost: a\r\nauthorization: Basic "
		  "dTpzYngtcGxhY2Vob2xkZXItMDAwMg==\r\n\r\n",
		  true },
		{ "GET /a HTTP/1.1\r\nHost: a\r\n\r\n", false },
	};
	static const char body[] = "{\"k\": \"ssbx-placeholdersbx-sbx-placeholder-00\"}";

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct head head = parsed(cases[i].text);

		cr_expect_eq(placeholder_in_head(&head, SPAN("x-api-key")), cases[i].found,
			     "case %zu", i);
	}
	for (size_t piece = 1; piece < sizeof(body); piece++) {
		struct placeholder_scan scan = { 0 };

		for (size_t at = 0; at < sizeof(body); at += piece)
			placeholder_scan(&scan, body + at,
					 at + piece < sizeof(body) ? piece : sizeof(body) - at);
		cr_expect(scan.found, "%zu", piece);
	}
	struct placeholder_scan scan = { 0 };
	placeholder_scan(&scan, "sbx-placeholdersbx-placeholder", 30);
	cr_expect_not(scan.found);
	placeholder_scan(&scan, "-", 1);
	cr_expect(scan.found);
}
