/*
 * prove/claims_hosts.c - hosts and addresses in mode proxy, as the session's proxy decides.
 *
 * A refused name is asked for by CONNECT: the proxy answers 403 and names the rule, before
 * it looks the name up.  Nothing of this goes to the network, so a name that is allowed is
 * asked for only where nobody is (.invalid: RFC 2606) or where it is this host's own
 * loopback.  For the same reason a refused name is not let through in the control run: there
 * the listener of prove's own is asked for in its place, and must not be refused; that it
 * was this rule, and none besides, the proxy has said.
 */
#include <arpa/inet.h>
#include <string.h>

#include "blob/match.h"
#include "prove/prove.h"

#define NOBODY	 "sbx-prove.invalid"
#define TLS_PORT 443 /* that of a rule without one */

static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };

static bool is_loopback(const uint8_t address[16])
{
	return !memcmp(address, mapped, sizeof(mapped)) && address[12] == 127;
}

bool host_is_harmless(const char *host)
{
	static const char nobody[] = ".invalid";
	uint8_t address[16];
	size_t length = strlen(host);

	if (sbx_host_kind(host, address) == SBX_HOST_ADDRESS)
		return is_loopback(address);
	return length >= sizeof(nobody) && !strcmp(host + length - (sizeof(nobody) - 1), nobody);
}

static const char *address_text(struct arena *arena, const uint8_t address[16])
{
	bool four = !memcmp(address, mapped, sizeof(mapped));
	char text[INET6_ADDRSTRLEN] = "";

	inet_ntop(four ? AF_INET : AF_INET6, address + (four ? sizeof(mapped) : 0), text,
		  sizeof(text));
	return arena_printf(arena, "%s", text);
}

/* A host that the rule matches. */
static const char *witness(const struct prove *prove, const struct sbx_net_rule *rule)
{
	const char *name = rule->host == SBX_NONE ? "" : sbx_string(&prove->blob, rule->host);

	switch ((enum sbx_net_kind)rule->kind) {
	case SBX_NETK_HOST:
		return name;
	case SBX_NETK_SUFFIX:
		return arena_printf(prove->arena, "sbx-prove.%s", name);
	case SBX_NETK_ADDRESS:
		return address_text(prove->arena, rule->cidr.address);
	default:
		return NOBODY;
	}
}

/* What the proxy's refusal has to say. */
static const char *reason_of(const struct prove *prove, uint32_t rule)
{
	char place[256];

	if (rule == SBX_NONE)
		return "no rule allows it";
	sbx_place(&prove->blob, SBX_AT(&prove->blob, NET, sbx_net_rule, rule)->head.loc, place,
		  sizeof(place));
	return arena_printf(prove->arena, "(%s)", place);
}

static const char *authority(struct arena *arena, const char *host, unsigned port)
{
	return strchr(host, ':') ? arena_printf(arena, "[%s]:%u", host, port)
				 : arena_printf(arena, "%s:%u", host, port);
}

void claim_host(struct prove *prove, enum sbx_section_id section, uint32_t rule, const char *host,
		unsigned port)
{
	struct claim *claim = claim_add(prove, section, rule);
	struct sbx_net_verdict verdict;

	claim->object = host;
	claim->port = port ? port : TLS_PORT;
	claim->apart = APART_PROXY;
	claim->tried = authority(prove->arena, host, claim->port);
	claim->request = arena_printf(prove->arena, "proxy %s",
				      claim_escaped(prove->arena, claim->tried));
	claim->tried = arena_printf(prove->arena, "connect %s by the proxy", claim->tried);
	if (!claim->rule)
		claim->rule = "no host that is not named";
	sbx_net_decide(&prove->blob, host, claim->port, &verdict);
	claim->through = verdict.allowed;
	if (!verdict.allowed)
		claim->says = reason_of(prove, verdict.rule);
	if (host_is_harmless(host))
		return;
	claim->instead = arena_printf(prove->arena, "proxy 127.0.0.1:%u", prove->scratch.port);
	if (verdict.allowed)
		claim->why = "it is allowed, and whether it is reached would be tried on the network";
	else if (prove->scratch.tcp < 0)
		claim->why = "no listener could be made on this host";
}

void claims_hosts(struct prove *prove)
{
	struct sbx_net_verdict verdict;

	sbx_net_decide(&prove->blob, NOBODY, TLS_PORT, &verdict);
	if (verdict.rule == SBX_NONE)
		claim_host(prove, SBX_SEC_NET, SBX_NONE, NOBODY, 0);
	for (uint32_t i = 0; i < SBX_COUNT(&prove->blob, NET); i++) {
		const struct sbx_net_rule *rule = SBX_AT(&prove->blob, NET, sbx_net_rule, i);

		if (rule->head.verb != SBX_NETV_LISTEN && rule->kind < SBX_NETK_UNIX)
			claim_host(prove, SBX_SEC_NET, i, witness(prove, rule), rule->port);
	}
}
