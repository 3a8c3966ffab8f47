/*
 * blob/net_verdict.c - who decides for a connection.
 *
 * Two gates, both must open.  The name gate: a seal that matches refuses; else
 * the most exact rule decides (exact name, longest suffix, `*`), deny before
 * allow among equals; the port filters and does not rank.  The address gate,
 * for every address a name resolves to: the longest prefix decides, deny
 * before allow; no rule, no objection.  An `at` on the allow that opened the
 * name gate replaces the address gate for that host: exactly those addresses.
 * A literal address needs an allow of its own, so there the gates are one.
 *
 * What a request may be is decided in request_verdict.c, among the same rules.
 */
#include "blob/contest.h"

#include <limits.h>
#include <string.h>

#define PATH_SIZE 4096 /* PATH_MAX of linux/limits.h */

static bool port_matches(const struct sbx_net_rule *rule, unsigned port)
{
	return !rule->port || rule->port == port;
}

static int name_rank(const struct sbx_blob *blob, const struct sbx_net_rule *rule, const char *host,
		     unsigned port)
{
	if (rule->head.verb == SBX_NETV_LISTEN || !port_matches(rule, port))
		return -1;
	return sbx_host_matches((enum sbx_net_kind)rule->kind, sbx_string(blob, rule->host), host);
}

static int address_rank(const struct sbx_net_rule *rule, const uint8_t address[16], unsigned port)
{
	if (rule->kind != SBX_NETK_ADDRESS || !port_matches(rule, port) ||
	    !sbx_cidr_has(&rule->cidr, address))
		return -1;
	return (int)rule->cidr.bits;
}

/*
 * The rule that decides among those @rank_of gives a rank: a seal, else the
 * highest, a deny before an allow.
 */
struct winner {
	const struct sbx_net_rule *rule;
	uint32_t index;
	int rank;
};
static void enter(struct winner *winner, const struct sbx_net_rule *rule, uint32_t index, int rank)
{
	if (rank < 0)
		return;
	if (rule->head.verb == SBX_NETV_SEAL)
		rank = INT_MAX;
	if (rank < winner->rank ||
	    (rank == winner->rank &&
	     !(rule->head.verb == SBX_NETV_DENY && winner->rule->head.verb == SBX_NETV_ALLOW)))
		return;
	winner->rule = rule;
	winner->index = index;
	winner->rank = rank;
}

static struct winner name_gate(const struct sbx_blob *blob, const char *host, unsigned port)
{
	struct winner winner = { NULL, SBX_NONE, -1 };

	for (uint32_t i = 0; i < SBX_COUNT(blob, NET); i++) {
		const struct sbx_net_rule *rule = SBX_AT(blob, NET, sbx_net_rule, i);

		enter(&winner, rule, i, name_rank(blob, rule, host, port));
	}
	return winner;
}

static struct winner address_gate(const struct sbx_blob *blob, const uint8_t address[16],
				  unsigned port)
{
	struct winner winner = { NULL, SBX_NONE, -1 };

	for (uint32_t i = 0; i < SBX_COUNT(blob, NET); i++) {
		const struct sbx_net_rule *rule = SBX_AT(blob, NET, sbx_net_rule, i);

		enter(&winner, rule, i, address_rank(rule, address, port));
	}
	return winner;
}

static bool opens(const struct winner *winner)
{
	return winner->rule && winner->rule->head.verb == SBX_NETV_ALLOW;
}

/* Modes none and host leave nothing to decide; true when that is so. */
static bool mode_decides(const struct sbx_blob *blob, unsigned port, struct sbx_net_verdict *out)
{
	uint32_t mode = sbx_meta(blob)->net_mode;

	out->rule = SBX_NONE;
	out->allowed = mode == SBX_NET_HOST;
	return mode != SBX_NET_PROXY || !port || port > UINT16_MAX;
}

void sbx_net_decide(const struct sbx_blob *blob, const char *host, unsigned port,
		    struct sbx_net_verdict *out)
{
	struct winner winner;
	uint8_t address[16];

	if (mode_decides(blob, port, out))
		return;
	switch (sbx_host_kind(host, address)) {
	case SBX_HOST_BAD:
		return;
	case SBX_HOST_NAME:
		winner = name_gate(blob, host, port);
		break;
	case SBX_HOST_ADDRESS:
		winner = address_gate(blob, address, port);
		break;
	}
	out->allowed = opens(&winner);
	out->rule = winner.index;
}

/* Is @address one of those that @rule pins its host to? */
static bool pinned(const struct sbx_blob *blob, const struct sbx_net_rule *rule,
		   const uint8_t address[16])
{
	for (uint32_t i = 0; i < rule->at_count; i++)
		if (sbx_cidr_has(SBX_AT(blob, CIDRS, sbx_cidr, rule->at_first + i), address))
			return true;
	return false;
}

void sbx_net_decide_address(const struct sbx_blob *blob, const char *host,
			    const uint8_t address[16], unsigned port, struct sbx_net_verdict *out)
{
	struct winner name, number;
	bool open_gate = false;
	uint8_t literal[16];

	sbx_net_decide(blob, host, port, out);
	if (!out->allowed || out->rule == SBX_NONE)
		return;
	if (sbx_host_kind(host, literal) == SBX_HOST_ADDRESS) {
		out->allowed = !memcmp(literal, address, sizeof(literal));
		return;
	}
	number = address_gate(blob, address, port);
	if (number.rule && number.rule->head.verb == SBX_NETV_SEAL) {
		*out = (struct sbx_net_verdict){ false, number.index };
		return;
	}
	name = name_gate(blob, host, port);
	for (uint32_t i = 0; i < SBX_COUNT(blob, NET); i++) {
		const struct sbx_net_rule *rule = SBX_AT(blob, NET, sbx_net_rule, i);

		if (rule->head.verb != SBX_NETV_ALLOW ||
		    name_rank(blob, rule, host, port) != name.rank)
			continue;
		if (pinned(blob, rule, address)) {
			*out = (struct sbx_net_verdict){ true, i };
			return;
		}
		open_gate |= !rule->at_count;
	}
	if (number.rule && !opens(&number))
		*out = (struct sbx_net_verdict){ false, number.index };
	else
		out->allowed = open_gate;
}

/* Does @rule, which opens a name, do so for @address?  @number: what decides for that. */
static bool opens_address(const struct sbx_blob *blob, const struct sbx_net_rule *rule,
			  const uint8_t address[16], const struct winner *number)
{
	if (number->rule && number->rule->head.verb == SBX_NETV_SEAL)
		return false;
	return rule->at_count ? pinned(blob, rule, address) : !number->rule || opens(number);
}

uint32_t sbx_net_opener(const struct sbx_blob *blob, const char *host, const uint8_t *address,
			unsigned port, uint32_t from)
{
	struct winner winner, number = { NULL, SBX_NONE, -1 };
	uint8_t own[16];
	enum sbx_host kind = sbx_host_kind(host, own);

	if (kind == SBX_HOST_BAD)
		return SBX_NONE;
	winner = kind == SBX_HOST_NAME ? name_gate(blob, host, port)
				       : address_gate(blob, own, port);
	if (!opens(&winner))
		return SBX_NONE;
	if (address)
		number = address_gate(blob, address, port);
	for (uint32_t i = from; i < SBX_COUNT(blob, NET); i++) {
		const struct sbx_net_rule *rule = SBX_AT(blob, NET, sbx_net_rule, i);
		int rank = kind == SBX_HOST_NAME ? name_rank(blob, rule, host, port)
						 : address_rank(rule, own, port);

		if (rule->head.verb == SBX_NETV_ALLOW && rank == winner.rank &&
		    (!address || kind == SBX_HOST_ADDRESS ||
		     opens_address(blob, rule, address, &number)))
			return i;
	}
	return SBX_NONE;
}

void sbx_net_decide_abstract(const struct sbx_blob *blob, const char *name,
			     struct sbx_net_verdict *out)
{
	struct winner winner = { NULL, SBX_NONE, -1 };

	for (uint32_t i = 0; i < SBX_COUNT(blob, NET); i++) {
		const struct sbx_net_rule *rule = SBX_AT(blob, NET, sbx_net_rule, i);

		if (rule->kind == SBX_NETK_ABSTRACT && !strcmp(sbx_string(blob, rule->host), name))
			enter(&winner, rule, i, 0);
	}
	out->allowed = opens(&winner);
	out->rule = winner.index;
}

void sbx_net_decide_unix(const struct sbx_blob *blob, const struct sbx_vars *vars, const char *path,
			 struct sbx_net_verdict *out)
{
	struct sbx_fs_verdict verdict;
	struct sbx_contest contest;
	char text[PATH_SIZE];

	sbx_contest_init(&contest);
	for (uint32_t i = 0; i < SBX_COUNT(blob, NET); i++) {
		const struct sbx_net_rule *rule = SBX_AT(blob, NET, sbx_net_rule, i);
		enum sbx_side side = rule->head.verb == SBX_NETV_ALLOW  ? SBX_SIDE_GRANT
				     : rule->head.verb == SBX_NETV_DENY ? SBX_SIDE_DENY
									: SBX_SIDE_SEAL;
		uint32_t unset;
		bool wild;

		if (rule->kind != SBX_NETK_UNIX || rule->head.verb == SBX_NETV_LISTEN)
			continue;
		/* What is allowed is one socket, not what lies beneath. */
		if (sbx_expand(blob, rule->path, vars, text, sizeof(text), &wild, &unset) > 0 &&
		    (side != SBX_SIDE_GRANT || wild || !strcmp(text, path)))
			sbx_contest_enter(&contest, side, i, text, wild, path);
	}
	sbx_contest_decide(&contest, &verdict);
	out->allowed = verdict.allowed;
	out->rule = verdict.point;
}
