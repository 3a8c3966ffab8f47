/*
 * compiler/diff_requests.c - which requests an open host takes, and what has no
 * address: abstract sockets, and the ports where connections are accepted.
 */
#include <string.h>

#include "blob/contest.h"
#include "compiler/diff.h"

static const struct sbx_net_rule *rule_at(const struct diff *diff, unsigned side, uint32_t index)
{
	return SBX_AT(diff->side[side].blob, NET, sbx_net_rule, index);
}

/* ---- method and prefix -------------------------------------------------------------- */

struct request {
	const char *host, *method, *path;
	unsigned port;
};

static bool takes(const struct diff *diff, unsigned side, const struct sbx_net_rule *rule,
		  const struct request *request)
{
	bool wild, method = !rule->method_count;
	const char *prefix = diff_expand(diff, side, rule->prefix, &wild);

	for (uint32_t i = 0; i < rule->method_count; i++)
		method |=
		    !strcmp(diff_words(diff, side, rule->method_first + i, 1), request->method);
	return method && (!prefix || sbx_path_beneath(prefix, request->path) >= 0);
}

/* The allow that takes the request, among those of the rank that opens the name. */
static uint32_t taker(const struct diff *diff, unsigned side, const struct request *request,
		      bool *open)
{
	const struct sbx_blob *blob = diff->side[side].blob;
	uint32_t found = SBX_NONE;
	struct sbx_net_verdict verdict;
	int rank;

	sbx_net_decide(blob, request->host, request->port, &verdict);
	*open = verdict.allowed;
	if (!verdict.allowed || verdict.rule == SBX_NONE)
		return SBX_NONE;
	rank = sbx_host_matches((enum sbx_net_kind)rule_at(diff, side, verdict.rule)->kind,
				sbx_string(blob, rule_at(diff, side, verdict.rule)->host),
				request->host);
	for (uint32_t i = 0; i < SBX_COUNT(blob, NET); i++) {
		const struct sbx_net_rule *rule = rule_at(diff, side, i);

		if (found == SBX_NONE && rule->head.verb == SBX_NETV_ALLOW &&
		    (!rule->port || rule->port == request->port) &&
		    sbx_host_matches((enum sbx_net_kind)rule->kind, sbx_string(blob, rule->host),
				     request->host) == rank &&
		    takes(diff, side, rule, request))
			found = i;
	}
	*open = found != SBX_NONE;
	return found;
}

static void compare_request(struct diff *diff, const struct request *request)
{
	struct diff_says says[DIFF_SIDES];
	bool open[DIFF_SIDES];

	for (unsigned side = 0; side < DIFF_SIDES; side++) {
		struct sbx_net_verdict verdict;
		uint32_t rule;

		sbx_net_decide(diff->side[side].blob, request->host, request->port, &verdict);
		if (!verdict.allowed)
			return; /* the name says it */
		rule = taker(diff, side, request, &open[side]);
		if (rule == SBX_NONE)
			rule = verdict.rule;
		says[side] = diff_says(diff, side, open[side] ? "allowed" : "refused", SBX_SEC_NET,
				       rule, rule == SBX_NONE ? "mode host" : NULL);
	}
	if (open[0] != open[1])
		diff_add(diff, "network", diff_order(open[0], open[1]), "request",
			 arena_printf(diff->arena, "%s https://%s:%u%s", request->method,
				      request->host, request->port, request->path),
			 says);
}

struct words {
	VEC_OF(const char *)
};

static void add_word(struct diff *diff, struct words *words, const char *word)
{
	for (size_t i = 0; i < words->count; i++)
		if (!strcmp(words->items[i], word))
			return;
	*VEC_PUSH(diff->arena, words) = word;
}

/* Methods, paths and hosts of all rules that narrow a request. */
static void collect(struct diff *diff, struct words *methods, struct words *paths,
		    struct words *hosts)
{
	for (unsigned side = 0; side < DIFF_SIDES; side++) {
		const struct sbx_blob *blob = diff->side[side].blob;

		for (uint32_t i = 0; i < SBX_COUNT(blob, NET); i++) {
			const struct sbx_net_rule *rule = rule_at(diff, side, i);
			bool wild;
			const char *prefix = diff_expand(diff, side, rule->prefix, &wild);
			const char *host = sbx_string(blob, rule->host);

			if (!prefix && !rule->method_count)
				continue;
			for (uint32_t n = 0; n < rule->method_count; n++)
				add_word(diff, methods,
					 diff_words(diff, side, rule->method_first + n, 1));
			if (prefix)
				add_word(diff, paths, prefix);
			add_word(diff, hosts,
				 rule->kind == SBX_NETK_HOST ? host
				 : rule->kind == SBX_NETK_ANY
				     ? "x.test"
				     : arena_printf(diff->arena, "x.%s", host));
		}
	}
}

void diff_requests(struct diff *diff)
{
	struct words methods = { 0 }, paths = { 0 }, hosts = { 0 };

	add_word(diff, &methods, "GET");
	add_word(diff, &methods, "OTHER");
	add_word(diff, &paths, "/x");
	collect(diff, &methods, &paths, &hosts);
	for (size_t h = 0; h < hosts.count; h++)
		for (size_t m = 0; m < methods.count; m++)
			for (size_t p = 0; p < paths.count; p++) {
				struct request request = { hosts.items[h], methods.items[m],
							   paths.items[p], 443 };

				compare_request(diff, &request);
			}
}

/* ---- sockets without a path --------------------------------------------------------- */

static void compare_abstract(struct diff *diff, const char *name)
{
	struct diff_rank ranks[DIFF_SIDES];

	for (unsigned side = 0; side < DIFF_SIDES; side++) {
		struct sbx_net_verdict verdict;

		sbx_net_decide_abstract(diff->side[side].blob, name, &verdict);
		ranks[side] =
		    (struct diff_rank){ verdict.allowed, verdict.allowed ? "allowed" : "refused",
					verdict.rule };
	}
	diff_ranks(diff, "network", arena_printf(diff->arena, "connect abstract:%s", name),
		   SBX_SEC_NET, "no rule allows that socket", ranks);
}

static void compare_port(struct diff *diff, unsigned port)
{
	struct diff_rank ranks[DIFF_SIDES];

	for (unsigned side = 0; side < DIFF_SIDES; side++) {
		ranks[side] = (struct diff_rank){ 0, "refused", SBX_NONE };
		for (uint32_t i = 0; i < SBX_COUNT(diff->side[side].blob, NET); i++)
			if (rule_at(diff, side, i)->kind == SBX_NETK_PORT &&
			    rule_at(diff, side, i)->port == port)
				ranks[side] = (struct diff_rank){ 1, "allowed", i };
	}
	diff_ranks(diff, "network", arena_printf(diff->arena, "listen %u", port), SBX_SEC_NET,
		   "no rule allows it", ranks);
}

void diff_listen(struct diff *diff)
{
	for (unsigned side = 0; side < DIFF_SIDES; side++) {
		const struct sbx_blob *blob = diff->side[side].blob;

		for (uint32_t i = 0; i < SBX_COUNT(blob, NET); i++) {
			const struct sbx_net_rule *rule = rule_at(diff, side, i);

			if (rule->kind == SBX_NETK_ABSTRACT)
				compare_abstract(diff, sbx_string(blob, rule->host));
			if (rule->kind == SBX_NETK_PORT)
				compare_port(diff, rule->port);
		}
	}
}
