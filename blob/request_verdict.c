/*
 * blob/request_verdict.c - what may be asked of a host, and what goes with it.
 *
 * One matcher for what is allowed, where TLS ends and where a credential goes, so
 * that no request gets a credential which another reading of the policy would refuse.
 */
#include "blob/match.h"

#include <stdlib.h>
#include <string.h>

#define HOST_SIZE 300 /* a name, a colon and a port */
#define WORD_SIZE 4096

/* ---- paths ----------------------------------------------------------------------------- */

static int hex(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/*
 * Bytes that some servers take for a separator or a dot, or cut the path at: NUL and
 * other control bytes, `.` `/` `\`, `%` (who decodes twice), `;` (parameters, to who reads
 * what another has decoded), and the bytes by which an overlong UTF-8 dot or slash begins.
 */
static bool unclear_escape(int byte)
{
	return byte < 0x20 || byte == 0x7f || byte == '.' || byte == '/' || byte == '\\' ||
	       byte == '%' || byte == ';' || byte == 0xc0 || byte == 0xc1;
}

/* Of the two digits at @at; -1: they are none. */
static int escaped(const char *at, const char *end)
{
	return end - at < 3 || *at != '%' || hex(at[1]) < 0 || hex(at[2]) < 0
		   ? -1
		   : hex(at[1]) << 4 | hex(at[2]);
}

/* An escape that stands for no byte, or for an unclear one; of longer UTF-8 the second byte
 * says whether it is overlong. */
static bool bad_escape(const char *at, const char *end)
{
	int byte = escaped(at, end), next = byte < 0 ? -1 : escaped(at + 3, end);

	return byte < 0 || unclear_escape(byte) || (byte == 0xe0 && next >= 0x80 && next < 0xa0) ||
	       (byte == 0xf0 && next >= 0x80 && next < 0x90);
}

/* `.` and `..`, also before parameters or an escape: `..;x` and `..%3fx` are `..` to some. */
static bool dot_segment(const char *at, const char *end)
{
	size_t dots = 0;

	while (at < end && *at == '.' && dots < 3)
		at++, dots++;
	return (dots == 1 || dots == 2) && (at == end || *at == '/' || *at == ';' || *at == '%');
}

/* @path without its query. */
static bool unclear(const char *path, size_t length)
{
	const char *end = path + length;

	for (const char *at = path; at < end; at++) {
		unsigned char c = (unsigned char)*at;

		if (c <= 0x20 || c >= 0x7f || c == '\\' || c == '#')
			return true;
		if (c == '/' && ((at + 1 < end && at[1] == '/') || dot_segment(at + 1, end)))
			return true;
		if (c == '%' && bad_escape(at, end))
			return true;
	}
	return false;
}

/* ---- rules ------------------------------------------------------------------------------ */

/* The text of a template without variables; "" where it cannot be had. */
static void expand(const struct sbx_blob *blob, const struct sbx_vars *vars, struct sbx_tmpl tmpl,
		   char *out, size_t size)
{
	uint32_t unset;
	bool wild;

	if (sbx_expand(blob, tmpl, vars, out, size, &wild, &unset) < 0)
		out[0] = '\0';
}

static bool has_method(const struct sbx_blob *blob, const struct sbx_net_rule *rule,
		       const char *method)
{
	static const struct sbx_vars none;
	char word[WORD_SIZE];

	for (uint32_t i = 0; i < rule->method_count; i++) {
		expand(blob, &none, *SBX_AT(blob, TMPLS, sbx_tmpl, rule->method_first + i), word,
		       sizeof(word));
		if (!strcmp(word, method))
			return true;
	}
	return !rule->method_count;
}

/* Whole components: /repos is no prefix of /repository. */
static bool has_prefix(const struct sbx_blob *blob, const struct sbx_net_rule *rule,
		       const char *path, size_t length)
{
	static const struct sbx_vars none;
	char prefix[WORD_SIZE];
	size_t size;

	if (!sbx_present(rule->prefix))
		return true;
	expand(blob, &none, rule->prefix, prefix, sizeof(prefix));
	size = strlen(prefix);
	return size <= length && !memcmp(path, prefix, size) &&
	       (size == length || path[size] == '/' || (size && prefix[size - 1] == '/'));
}

void sbx_net_decide_request(const struct sbx_blob *blob, const char *host, unsigned port,
			    const uint8_t *address, const char *method, const char *path,
			    struct sbx_request_verdict *out)
{
	size_t length = strcspn(path, "?");
	uint32_t allowing = SBX_NONE, nearest = SBX_NONE;
	struct sbx_net_verdict gate;
	bool near_fits = false;

	sbx_net_decide(blob, host, port, &gate);
	*out = (struct sbx_request_verdict){ gate.allowed, SBX_REQUEST_ALLOWED, gate.rule };
	if (!gate.allowed)
		out->why = SBX_REQUEST_NAME;
	if (!gate.allowed || gate.rule == SBX_NONE)
		return;
	for (uint32_t i = 0; (i = sbx_net_opener(blob, host, address, port, i)) != SBX_NONE; i++) {
		const struct sbx_net_rule *rule = SBX_AT(blob, NET, sbx_net_rule, i);
		bool fits = has_method(blob, rule, method);

		if (sbx_present(rule->prefix) && (nearest == SBX_NONE || (fits && !near_fits))) {
			nearest = i;
			near_fits = fits;
		}
		if (allowing == SBX_NONE && fits && has_prefix(blob, rule, path, length))
			allowing = i;
	}
	if (nearest != SBX_NONE && unclear(path, length))
		*out = (struct sbx_request_verdict){ false, SBX_REQUEST_UNCLEAR, nearest };
	else if (allowing != SBX_NONE)
		*out = (struct sbx_request_verdict){ true, SBX_REQUEST_ALLOWED, allowing };
	else if (near_fits)
		*out = (struct sbx_request_verdict){ false, SBX_REQUEST_PATH, nearest };
	else
		*out = (struct sbx_request_verdict){ false, SBX_REQUEST_METHOD, gate.rule };
}

bool sbx_net_ends_tls(const struct sbx_blob *blob, const struct sbx_vars *vars, const char *host,
		      unsigned port)
{
	if (sbx_meta(blob)->net_mode != SBX_NET_PROXY)
		return false;
	for (uint32_t i = 0; (i = sbx_net_opener(blob, host, NULL, port, i)) != SBX_NONE; i++) {
		const struct sbx_net_rule *rule = SBX_AT(blob, NET, sbx_net_rule, i);

		if (rule->method_count || sbx_present(rule->prefix))
			return true;
	}
	return sbx_credential_for(blob, vars, host, port, 0) != SBX_NONE;
}

static bool goes_to(const char *bound, const char *host, unsigned port)
{
	const char *colon = strrchr(bound, ':');
	char name[HOST_SIZE];

	if (!colon || (size_t)(colon - bound) >= sizeof(name) ||
	    strtoul(colon + 1, NULL, 10) != port)
		return false;
	memcpy(name, bound, (size_t)(colon - bound));
	name[colon - bound] = '\0';
	return sbx_host_matches(SBX_NETK_HOST, name, host) >= 0;
}

uint32_t sbx_credential_for(const struct sbx_blob *blob, const struct sbx_vars *vars,
			    const char *host, unsigned port, uint32_t from)
{
	char bound[HOST_SIZE];

	for (uint32_t i = from; i < SBX_COUNT(blob, CREDENTIALS); i++) {
		const struct sbx_credential *credential =
		    SBX_AT(blob, CREDENTIALS, sbx_credential, i);

		for (uint32_t j = 0; j < credential->host_count; j++) {
			expand(blob, vars,
			       *SBX_AT(blob, TMPLS, sbx_tmpl, credential->host_first + j), bound,
			       sizeof(bound));
			if (goes_to(bound, host, port))
				return i;
		}
	}
	return SBX_NONE;
}
