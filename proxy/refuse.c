/*
 * proxy/refuse.c - see refuse.h.
 */
#include "proxy/refuse.h"

#include "proxy/http.h"
#include "proxy/socks.h"

#include <arpa/inet.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define PHRASE_MAX 300
#define PATH_SHOWN 200

static const char *verb_name(const struct sbx_net_rule *rule)
{
	switch (rule->head.verb) {
	case SBX_NETV_ALLOW:
		return "allow";
	case SBX_NETV_DENY:
		return "deny";
	case SBX_NETV_SEAL:
		return "seal";
	default:
		return "listen";
	}
}

static void cidr_text(const struct sbx_cidr *cidr, char *out, size_t size)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };
	char address[INET6_ADDRSTRLEN] = "";
	bool four = cidr->bits >= 96 && !memcmp(cidr->address, mapped, sizeof(mapped));

	inet_ntop(four ? AF_INET : AF_INET6, cidr->address + (four ? 12 : 0), address,
		  sizeof(address));
	snprintf(out, size, cidr->bits == 128 ? "%s" : "%s/%u", address,
		 cidr->bits - (four ? 96 : 0));
}

/* Appended, a blank before it. */
static void add(char *out, size_t size, const char *word, const char *text)
{
	size_t length = strlen(out);

	snprintf(out + length, size - length, " %s%s", word, text);
}

static void add_template(const struct sbx_blob *blob, struct sbx_tmpl tmpl, const char *word,
			 char *out, size_t size)
{
	static const struct sbx_vars none;
	char text[300];
	uint32_t unset;
	bool wild;

	if (sbx_expand(blob, tmpl, &none, text, sizeof(text), &wild, &unset) >= 0)
		add(out, size, word, text);
}

/* The rule as the policy has it: "deny 10.0.0.0/8", "allow git.test method GET HEAD". */
static void rule_text(const struct sbx_blob *blob, const struct sbx_net_rule *rule, char *out,
		      size_t size)
{
	bool usual = rule->head.verb == SBX_NETV_ALLOW && rule->port == 443;
	char object[300];
	char port[16] = "";

	if (rule->kind == SBX_NETK_ADDRESS)
		cidr_text(&rule->cidr, object, sizeof(object));
	else
		snprintf(object, sizeof(object), "%s%s",
			 rule->kind == SBX_NETK_SUFFIX ? "*."
			 : rule->kind == SBX_NETK_ANY  ? "*"
						       : "",
			 rule->kind == SBX_NETK_ANY ? "" : sbx_string(blob, rule->host));
	if (rule->port && !usual)
		snprintf(port, sizeof(port), ":%u", rule->port);
	snprintf(out, size, "%s %s%s", verb_name(rule), object, port);
	for (uint32_t i = 0; i < rule->at_count; i++) {
		cidr_text(SBX_AT(blob, CIDRS, sbx_cidr, rule->at_first + i), object, sizeof(object));
		add(out, size, i ? "" : "at ", object);
	}
	for (uint32_t i = 0; i < rule->method_count; i++)
		add_template(blob, *SBX_AT(blob, TMPLS, sbx_tmpl, rule->method_first + i),
			     i ? "" : "method ", out, size);
	if (sbx_present(rule->prefix))
		add_template(blob, rule->prefix, "prefix ", out, size);
}

static const char *because(const struct sbx_blob *blob, const struct sbx_net_rule *rule)
{
	if (rule->head.note == SBX_NONE16)
		return "";
	return sbx_string(blob, SBX_AT(blob, NOTES, sbx_note, rule->head.note)->because);
}

void refuse_reason(struct conn *conn, uint32_t index, const char *more)
{
	const struct sbx_blob *blob = &conn->worker->session->blob;
	const struct sbx_net_rule *rule;
	char text[600], place[200];
	const char *why;

	conn->record.verdict = "refused";
	conn->record.rule = index;
	if (index == SBX_NONE) {
		snprintf(conn->record.reason, sizeof(conn->record.reason), "no rule allows it");
		return;
	}
	rule = SBX_AT(blob, NET, sbx_net_rule, index);
	rule_text(blob, rule, text, sizeof(text));
	sbx_place(blob, rule->head.loc, place, sizeof(place));
	why = because(blob, rule);
	snprintf(conn->record.reason, sizeof(conn->record.reason), "%s%s%s (%s)%s%s", more,
		 *more ? ": " : "", text, place, *why ? ": because " : "", why);
}

/* Many programs show no body of a proxy's answer, and some the status line: it says
 * the same, in bytes that can stand there. */
static void phrase(const char *text, char *out, size_t size)
{
	size_t length = strnlen(text, size - 1);

	for (size_t i = 0; i < length; i++)
		out[i] = (char)(text[i] >= 0x20 && text[i] < 0x7f ? text[i] : '?');
	out[length] = '\0';
	if (text[length])
		memcpy(out + length - 3, "...", 3);
}

static void answer(struct conn *conn, unsigned status, const char *text)
{
	char head[PHRASE_MAX + 1], all[2500 + PHRASE_MAX];
	int length;

	phrase(text, head, sizeof(head));
	length = snprintf(all, sizeof(all),
			  "HTTP/1.1 %u %s\r\nContent-Type: text/plain; charset=utf-8\r\n"
			  "Content-Length: %zu\r\nX-Proxy: sbx\r\nConnection: close\r\n\r\n%s\n",
			  status, head, strlen(text) + 1, text);
	conn->record.status = status;
	stream_write(&conn->client, all, (size_t)length);
}

/* "host.test:443"; @request: "GET https://host.test/path", since that was refused of it. */
static void name_subject(const struct conn *conn, bool request, char *out, size_t size)
{
	const struct record *record = &conn->record;
	bool brackets = strchr(conn->target.host, ':'), tls = conn->http && conn->http->tls;
	char host[TARGET_HOST + 2], port[8] = "";

	snprintf(host, sizeof(host), "%s%s%s", brackets ? "[" : "", conn->target.host,
		 brackets ? "]" : "");
	if (!request || conn->target.port != (tls ? 443 : 80))
		snprintf(port, sizeof(port), ":%u", conn->target.port);
	if (request)
		snprintf(out, size, "%s http%s://%s%s%.*s%s", record->method, tls ? "s" : "", host,
			 port, PATH_SHOWN, record->path,
			 strlen(record->path) > PATH_SHOWN ? "..." : "");
	else
		snprintf(out, size, "%s%s", host, port);
}

static void answer_and_end(struct conn *conn, unsigned status, bool request)
{
	char line[2000], subject[600] = "request";
	const char *verb = !strcmp(conn->record.verdict, "refused") ? "refused" : "failed";

	if (conn->socks && !conn->http) {
		socks_answer(conn, status == 403 ? SOCKS_NOT_ALLOWED
				   : status == 504 ? SOCKS_TIMED_OUT
						   : SOCKS_UNREACHABLE);
	} else {
		if (*conn->target.host)
			name_subject(conn, request, subject, sizeof(subject));
		snprintf(line, sizeof(line), "sbx: %s %s: %s", subject,
			 *conn->target.host ? verb : "refused", conn->record.reason);
		answer(conn, status, line);
	}
	conn_linger(conn);
}

bool refuse_unless_allowed(struct conn *conn)
{
	struct sbx_net_verdict verdict;

	sbx_net_decide(&conn->worker->session->blob, conn->target.host, conn->target.port, &verdict);
	conn->record.rule = verdict.rule;
	if (verdict.allowed)
		return true;
	refuse_rule(conn, verdict.rule, "");
	return false;
}

void refuse_rule(struct conn *conn, uint32_t rule, const char *more)
{
	refuse_reason(conn, rule, more);
	answer_and_end(conn, 403, false);
}

void refuse_request(struct conn *conn, uint32_t rule, const char *more)
{
	refuse_reason(conn, rule, more);
	answer_and_end(conn, 403, true);
}

void refuse_text(struct conn *conn, unsigned status, const char *format, ...)
{
	va_list arguments;

	if (!conn->record.begun.tv_sec)
		record_begin(&conn->record, conn->http && conn->http->tls ? "tls" : "http",
			     conn->target.host, conn->target.port);
	conn->record.verdict = status >= 500 && status != 501 && status != 505 ? "failed" : "refused";
	va_start(arguments, format);
	vsnprintf(conn->record.reason, sizeof(conn->record.reason), format, arguments);
	va_end(arguments);
	answer_and_end(conn, status, false);
}
