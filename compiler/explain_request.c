/*
 * compiler/explain_request.c - request METHOD https://HOST[:PORT]/PATH.
 *
 * The proxy's own decision (blob/verdict.h), and which credential goes with it.
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "compiler/explain.h"
#include "compiler/render.h"

#define HTTPS_PORT 443 /* as for an `allow` that names none */
#define HTTP_PORT  80

const char *explain_port(const struct question *question, const char *text, const char **host,
			 unsigned *port)
{
	const char *colon = strrchr(text, ':');
	char *end;

	*host = text;
	*port = HTTPS_PORT;
	if (!colon || (*text != '[' && strchr(text, ':') != colon) ||
	    (*text == '[' && colon[-1] != ']'))
		return NULL;
	*port = (unsigned)strtoul(colon + 1, &end, 10);
	if (!colon[1] || *end || !*port || *port > UINT16_MAX)
		return "a port is a number from 1 to 65535";
	*host = arena_copy(question->arena, text, (size_t)(colon - text));
	return NULL;
}

struct url {
	bool secure;
	const char *host, *path; /* the path with its query; "/" where there is none */
	unsigned port;
};

static const char *read_url(const struct question *question, const char *text, struct url *url)
{
	const char *authority, *error;
	size_t size;

	url->secure = !strncasecmp(text, "https://", 8);
	if (!url->secure && strncasecmp(text, "http://", 7) != 0)
		return "a URL is wanted, as in https://HOST[:PORT]/PATH";
	text += url->secure ? 8 : 7;
	size = strcspn(text, "/?#");
	authority = arena_copy(question->arena, text, size);
	url->path =
	    text[size] == '/' ? text + size : arena_printf(question->arena, "/%s", text + size);
	error = explain_port(question, authority, &url->host, &url->port);
	if (!error && url->host == authority && !url->secure)
		url->port = HTTP_PORT;
	return error;
}

const char *explain_request_host(const struct question *question)
{
	struct url url;

	if (read_url(question, question->args[0], &url))
		return "HOST";
	return arena_printf(question->arena, "%s:%u", url.host, url.port);
}

static const char *why_refused(enum sbx_request_why why)
{
	switch (why) {
	case SBX_REQUEST_METHOD:
		return "the host is open, and no rule has this method";
	case SBX_REQUEST_PATH:
		return "the method is allowed on other paths: a prefix is whole components, byte "
		       "by "
		       "byte";
	case SBX_REQUEST_UNCLEAR:
		return "where a rule has a prefix, no path that a server may take for another: "
		       "with a "
		       "dot segment, an empty one, a backslash, a control byte, or %2e %2f %5c %25";
	default:
		return NULL;
	}
}

static void note_credentials(const struct question *question, const struct url *url,
			     struct answer *answer)
{
	const struct sbx_blob *blob = question->blob;

	for (uint32_t i = 0; (i = sbx_credential_for(blob, &question->view->vars, url->host,
						     url->port, i)) != SBX_NONE;
	     i++) {
		const struct sbx_credential *credential =
		    SBX_AT(blob, CREDENTIALS, sbx_credential, i);

		if (url->secure)
			answer_note(question, answer, "the proxy puts %s into `%s`",
				    sbx_string(blob, credential->name),
				    sbx_string(blob, credential->header));
		else
			answer_note(question, answer, "without TLS %s does not go there",
				    sbx_string(blob, credential->name));
	}
}

const char *explain_request(const struct question *question, struct answer *answer)
{
	const char *method = question->object, *error, *why;
	struct sbx_request_verdict verdict;
	struct url url;

	if (question->arg_count != 1)
		return "a method and a URL are wanted, as in GET https://HOST/PATH";
	error = read_url(question, question->args[0], &url);
	if (error)
		return error;
	sbx_net_decide_request(question->blob, url.host, url.port, NULL, method, url.path,
			       &verdict);
	answer->section = SBX_SEC_NET;
	answer->object = arena_printf(question->arena, "%s %s", method, question->args[0]);
	answer->allowed = verdict.allowed;
	answer->rule = verdict.rule;
	answer->nobody = explain_mode(question);
	switch (sbx_meta(question->blob)->net_mode) {
	case SBX_NET_HOST:
		answer_held(question, answer, "nothing: the policy opens the host's network");
		return NULL;
	case SBX_NET_NONE:
		answer_duty(question, answer, SBX_DUTY_NO_NETWORK, NULL);
		return NULL;
	}
	answer_held(question, answer, "the proxy outside, which decides each request");
	why = why_refused(verdict.why);
	if (why) {
		answer->how = "this request";
		answer_note(question, answer, "%s", why);
	}
	if (!verdict.allowed)
		return NULL;
	if (url.secure &&
	    !sbx_net_ends_tls(question->blob, &question->view->vars, url.host, url.port))
		answer_note(
		    question, answer,
		    "the proxy does not look into TLS there: what is said to that host is the "
		    "program's");
	note_credentials(question, &url, answer);
	answer_note(question, answer, "each address the name resolves to is decided too");
	return NULL;
}
