/*
 * compiler/diff_net.c - hosts, addresses and ports.
 *
 * Names: each that a rule spells out, one below each suffix, and one that no rule
 * speaks of; the same set of rules matches any other.  Addresses: the first of
 * each range and the first behind it.  Ports: each that a rule names, and one
 * more.  A candidate is decided by a blob that holds only those rules that can
 * match it, so that ten thousand hosts take no longer than they are long.
 */
#include <stdlib.h>
#include <string.h>

#include "blob/contest.h"
#include "compiler/diff.h"
#include "compiler/diff_names.h"
#include "compiler/render_words.h"
#include "compiler/text.h"

#define PAIRS_MAX 2000000 /* of a host and an address */

struct rules {
	VEC_OF(uint32_t)
};
struct address {
	uint8_t bytes[16];
};
struct addresses {
	VEC_OF(struct address)
};
struct ports {
	VEC_OF(unsigned)
};
struct part { /* the rules that can match one candidate */
	struct sbx_blob blob;
	const uint32_t *index;
};

struct net {
	struct diff *diff;
	struct map exact[DIFF_SIDES], suffix[DIFF_SIDES]; /* struct rules */
	struct rules any[DIFF_SIDES], address[DIFF_SIDES];
	struct map hosts; /* candidates */
	struct names candidates;
	struct addresses borders; /* of rules on both sides */
	bool same_addresses;
	size_t pairs;
};

static const struct sbx_net_rule *rule_at(const struct net *net, unsigned side, uint32_t index)
{
	return SBX_AT(net->diff->side[side].blob, NET, sbx_net_rule, index);
}

/* ---- candidates --------------------------------------------------------------------- */

static void add_host(struct net *net, const char *host)
{
	uint8_t address[16];
	void **slot;

	if (sbx_host_kind(host, address) != SBX_HOST_NAME)
		return;
	slot = map_put(net->diff->arena, &net->hosts, str_from(host));
	if (!*slot)
		*VEC_PUSH(net->diff->arena, &net->candidates) = host;
	*slot = net;
}

/* A name beneath @suffix (NULL: beneath none) that no rule speaks of itself. */
static void add_beneath(struct net *net, const char *suffix)
{
	struct arena *arena = net->diff->arena;
	const char *label = "x", *host;
	bool known;

	do {
		host = suffix ? arena_printf(arena, "%s.%s", label, suffix)
			      : arena_printf(arena, "%s.test", label);
		known = false;
		for (unsigned side = 0; side < DIFF_SIDES; side++)
			known |= map_get(&net->exact[side], str_from(host)) ||
				 map_get(&net->suffix[side], str_from(host)) ||
				 (!suffix && map_get(&net->suffix[side], STR_LIT("test")));
		label = arena_printf(arena, "%sx", label);
	} while (known && strlen(label) < 60 && (suffix || strlen(label) < 20));
	if (!suffix && known) /* `*.test` has a rule */
		host = "other.invalid";
	add_host(net, host);
}

static void add_address(struct arena *arena, struct addresses *out, const uint8_t bytes[16])
{
	for (size_t i = 0; i < out->count; i++)
		if (!memcmp(out->items[i].bytes, bytes, 16))
			return;
	memcpy(VEC_PUSH(arena, out)->bytes, bytes, 16);
}

/* The first address of a range, and the first behind it. */
static void add_borders(struct arena *arena, struct addresses *out, const struct sbx_cidr *cidr)
{
	struct address first = { 0 }, behind;

	memcpy(first.bytes, cidr->address, 16);
	for (uint32_t bit = cidr->bits; bit < 128; bit++)
		first.bytes[bit / 8] &= (uint8_t) ~(0x80u >> bit % 8);
	behind = first;
	for (uint32_t bit = cidr->bits; bit-- > 0;) {
		uint8_t mask = (uint8_t)(0x80u >> bit % 8);

		behind.bytes[bit / 8] ^= mask;
		if (behind.bytes[bit / 8] & mask)
			break;
	}
	add_address(arena, out, first.bytes);
	add_address(arena, out, behind.bytes);
}

static void keep(struct net *net, struct map *map, const char *host, uint32_t index)
{
	void **slot = map_put(net->diff->arena, map, str_from(host));

	if (!*slot)
		*slot = ARENA_NEW(net->diff->arena, struct rules);
	*VEC_PUSH(net->diff->arena, (struct rules *)*slot) = index;
}

static void read_side(struct net *net, unsigned side)
{
	struct arena *arena = net->diff->arena;
	const struct sbx_blob *blob = net->diff->side[side].blob;

	for (uint32_t i = 0; i < SBX_COUNT(blob, NET); i++) {
		const struct sbx_net_rule *rule = rule_at(net, side, i);
		const char *host = sbx_string(blob, rule->host);

		if (rule->head.verb == SBX_NETV_LISTEN)
			continue;
		if (rule->kind == SBX_NETK_HOST) {
			keep(net, &net->exact[side], host, i);
		} else if (rule->kind == SBX_NETK_SUFFIX) {
			keep(net, &net->suffix[side], host, i);
		} else if (rule->kind == SBX_NETK_ANY) {
			*VEC_PUSH(arena, &net->any[side]) = i;
		} else if (rule->kind == SBX_NETK_ADDRESS) {
			*VEC_PUSH(arena, &net->address[side]) = i;
			add_borders(arena, &net->borders, &rule->cidr);
		}
	}
}

static void collect_hosts(struct net *net)
{
	for (unsigned side = 0; side < DIFF_SIDES; side++) {
		const struct sbx_blob *blob = net->diff->side[side].blob;

		for (uint32_t i = 0; i < SBX_COUNT(blob, NET); i++) {
			const struct sbx_net_rule *rule = rule_at(net, side, i);

			if (rule->kind == SBX_NETK_HOST || rule->kind == SBX_NETK_SUFFIX)
				add_host(net, sbx_string(blob, rule->host));
			if (rule->kind == SBX_NETK_SUFFIX)
				add_beneath(net, sbx_string(blob, rule->host));
		}
	}
	add_beneath(net, NULL);
}

/* ---- the rules that can match ------------------------------------------------------- */

static void take(struct net *net, struct rules *to, const struct rules *from)
{
	for (size_t i = 0; from && i < from->count; i++)
		*VEC_PUSH(net->diff->arena, to) = from->items[i];
}

static int by_index(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

/* In the order of the whole, so that the same one of equals is named.  For @host (NULL: a literal
 * address), with the rules about addresses. */
static void make_part(struct net *net, unsigned side, const char *host, struct part *out,
		      struct rules *named)
{
	struct arena *arena = net->diff->arena;
	struct sbx_net_rule *records;
	struct rules all = { 0 };

	if (host) {
		take(net, named, map_get(&net->exact[side], str_from(host)));
		for (const char *dot = strchr(host, '.'); dot; dot = strchr(dot + 1, '.'))
			take(net, named, map_get(&net->suffix[side], str_from(dot + 1)));
		take(net, named, &net->any[side]);
	}
	out->blob = *net->diff->side[side].blob;
	take(net, &all, named);
	take(net, &all, &net->address[side]);
	if (all.count)
		qsort(all.items, all.count, sizeof(*all.items), by_index);
	records = arena_array(arena, all.count, sizeof(*records));
	for (size_t i = 0; i < all.count; i++)
		records[i] = *rule_at(net, side, all.items[i]);
	out->blob.section[SBX_SEC_NET].records = records;
	out->blob.section[SBX_SEC_NET].count = (uint32_t)all.count;
	out->index = all.items;
}

static bool same_at(const struct net *net, const struct sbx_net_rule *a,
		    const struct sbx_net_rule *b)
{
	if (a->at_count != b->at_count)
		return false;
	for (uint32_t i = 0; i < a->at_count; i++)
		if (memcmp(SBX_AT(net->diff->side[0].blob, CIDRS, sbx_cidr, a->at_first + i),
			   SBX_AT(net->diff->side[1].blob, CIDRS, sbx_cidr, b->at_first + i),
			   sizeof(struct sbx_cidr)))
			return false;
	return true;
}

static bool same_rules(const struct net *net, const struct rules *a, const struct rules *b)
{
	if (a->count != b->count)
		return false;
	for (size_t i = 0; i < a->count; i++) {
		const struct sbx_net_rule *x = rule_at(net, 0, a->items[i]);
		const struct sbx_net_rule *y = rule_at(net, 1, b->items[i]);

		if (x->head.verb != y->head.verb || x->kind != y->kind || x->port != y->port ||
		    memcmp(&x->cidr, &y->cidr, sizeof(x->cidr)) || !same_at(net, x, y))
			return false;
	}
	return true;
}

static void add_port(const struct net *net, struct ports *ports, unsigned port)
{
	for (size_t i = 0; i < ports->count; i++)
		if (ports->items[i] == port)
			return;
	*VEC_PUSH(net->diff->arena, ports) = port;
}

static void collect_ports(const struct net *net, const struct part parts[DIFF_SIDES],
			  struct ports *ports)
{
	unsigned other = 8080;

	add_port(net, ports, 443);
	for (unsigned side = 0; side < DIFF_SIDES; side++)
		for (uint32_t i = 0; i < SBX_COUNT(&parts[side].blob, NET); i++) {
			unsigned port = SBX_AT(&parts[side].blob, NET, sbx_net_rule, i)->port;

			if (port)
				add_port(net, ports, port);
		}
	for (size_t i = 0; i < ports->count; i++)
		if (ports->items[i] == other) {
			other++;
			i = (size_t)-1;
		}
	add_port(net, ports, other);
}

/* ---- verdicts ----------------------------------------------------------------------- */

static const char *mode_name(const struct sbx_blob *blob)
{
	static const char *const names[] = { "mode none", "mode proxy", "mode host" };

	return names[sbx_meta(blob)->net_mode];
}

static struct diff_says says(const struct net *net, unsigned side, const struct part *part,
			     const struct sbx_net_verdict *verdict)
{
	const struct sbx_blob *blob = net->diff->side[side].blob;
	bool by_mode = sbx_meta(blob)->net_mode != SBX_NET_PROXY;
	struct diff_says out =
	    diff_says(net->diff, side, verdict->allowed ? "allowed" : "refused", SBX_SEC_NET,
		      verdict->rule == SBX_NONE ? SBX_NONE : part->index[verdict->rule],
		      verdict->rule != SBX_NONE ? NULL
		      : by_mode                 ? mode_name(blob)
						: "no rule allows it");

	if (verdict->rule == SBX_NONE && by_mode)
		out.loc = sbx_meta(blob)->net_mode_head.loc;
	return out;
}

static void report(struct net *net, const char *witness, const struct part parts[DIFF_SIDES],
		   const struct sbx_net_verdict verdict[DIFF_SIDES])
{
	struct diff_says both[DIFF_SIDES];

	for (unsigned side = 0; side < DIFF_SIDES; side++)
		both[side] = says(net, side, &parts[side], &verdict[side]);
	diff_add(net->diff, "network", diff_order(verdict[0].allowed, verdict[1].allowed), "",
		 witness, both);
}

static const char *address_text(const struct net *net, const uint8_t bytes[16])
{
	struct sbx_cidr one = { .bits = 128 };
	struct text text = { .arena = net->diff->arena };

	memcpy(one.address, bytes, 16);
	words_cidr(&text, &one);
	return text_end(&text);
}

static size_t rules_of(const struct part parts[DIFF_SIDES])
{
	return SBX_COUNT(&parts[0].blob, NET) + SBX_COUNT(&parts[1].blob, NET);
}

/* The name gate is open on both sides: what of the addresses it may resolve to? */
static void compare_resolved(struct net *net, const char *host, unsigned port,
			     const struct part parts[DIFF_SIDES], const struct addresses *addresses)
{
	const size_t rules = rules_of(parts);

	for (size_t i = 0; i < addresses->count; i++) {
		const uint8_t *bytes = addresses->items[i].bytes;
		struct sbx_net_verdict verdict[DIFF_SIDES];

		if (++net->pairs > PAIRS_MAX || !effort_left(&net->diff->effort, rules)) {
			net->diff->effort.spent = true;
			return;
		}
		for (unsigned side = 0; side < DIFF_SIDES; side++)
			sbx_net_decide_address(&parts[side].blob, host, bytes, port,
					       &verdict[side]);
		if (verdict[0].allowed != verdict[1].allowed)
			report(net,
			       arena_printf(net->diff->arena, "connect %s:%u at %s", host, port,
					    address_text(net, bytes)),
			       parts, verdict);
	}
}

/* Borders of what this host is pinned to, and where it matters of all ranges. */
static void collect_addresses(struct net *net, const struct rules named[DIFF_SIDES], bool all,
			      struct addresses *out)
{
	struct arena *arena = net->diff->arena;

	for (unsigned side = 0; side < DIFF_SIDES; side++)
		for (size_t i = 0; i < named[side].count; i++) {
			const struct sbx_net_rule *rule = rule_at(net, side, named[side].items[i]);

			for (uint32_t n = 0; n < rule->at_count; n++)
				add_borders(arena, out,
					    SBX_AT(net->diff->side[side].blob, CIDRS, sbx_cidr,
						   rule->at_first + n));
		}
	for (size_t i = 0; all && i < net->borders.count; i++)
		add_address(arena, out, net->borders.items[i].bytes);
}

/* Do both sides answer by rules? */
static bool proxied(const struct net *net)
{
	return sbx_meta(net->diff->side[0].blob)->net_mode == SBX_NET_PROXY &&
	       sbx_meta(net->diff->side[1].blob)->net_mode == SBX_NET_PROXY;
}

static void compare_host(struct net *net, const char *host)
{
	struct rules named[DIFF_SIDES] = { 0 };
	struct addresses addresses = { 0 };
	struct part parts[DIFF_SIDES];
	struct ports ports = { 0 };
	bool same;

	for (unsigned side = 0; side < DIFF_SIDES; side++)
		make_part(net, side, host, &parts[side], &named[side]);
	same = proxied(net) && same_rules(net, &named[0], &named[1]);
	if (same && net->same_addresses)
		return;
	collect_ports(net, parts, &ports);
	collect_addresses(net, named, true, &addresses);
	for (size_t i = 0; i < ports.count; i++) {
		struct sbx_net_verdict verdict[DIFF_SIDES];

		for (unsigned side = 0; side < DIFF_SIDES; side++)
			sbx_net_decide(&parts[side].blob, host, ports.items[i], &verdict[side]);
		if (verdict[0].allowed != verdict[1].allowed)
			report(
			    net,
			    arena_printf(net->diff->arena, "connect %s:%u", host, ports.items[i]),
			    parts, verdict);
		else if (verdict[0].allowed)
			compare_resolved(net, host, ports.items[i], parts, &addresses);
	}
}

static void compare_literals(struct net *net)
{
	struct rules named[DIFF_SIDES] = { 0 };
	struct part parts[DIFF_SIDES];
	struct ports ports = { 0 };

	if (proxied(net) && net->same_addresses)
		return;
	for (unsigned side = 0; side < DIFF_SIDES; side++)
		make_part(net, side, NULL, &parts[side], &named[side]);
	collect_ports(net, parts, &ports);
	for (size_t i = 0; i < net->borders.count &&
			   effort_left(&net->diff->effort, ports.count * rules_of(parts));
	     i++) {
		const char *host = address_text(net, net->borders.items[i].bytes);

		for (size_t p = 0; p < ports.count; p++) {
			struct sbx_net_verdict verdict[DIFF_SIDES];

			for (unsigned side = 0; side < DIFF_SIDES; side++)
				sbx_net_decide(&parts[side].blob, host, ports.items[p],
					       &verdict[side]);
			if (verdict[0].allowed != verdict[1].allowed)
				report(net,
				       arena_printf(net->diff->arena,
						    strchr(host, ':') ? "connect [%s]:%u"
								      : "connect %s:%u",
						    host, ports.items[p]),
				       parts, verdict);
		}
	}
}

static void compare_mode(struct net *net)
{
	struct diff_says both[DIFF_SIDES];
	uint32_t mode[DIFF_SIDES];

	for (unsigned side = 0; side < DIFF_SIDES; side++) {
		const struct sbx_blob *blob = net->diff->side[side].blob;

		mode[side] = sbx_meta(blob)->net_mode;
		both[side] =
		    diff_says(net->diff, side, mode_name(blob), SBX_SEC_META, SBX_NONE, NULL);
		both[side].loc = sbx_meta(blob)->net_mode_head.loc;
	}
	if (mode[0] != mode[1])
		diff_add(net->diff, "network", diff_order(mode[0], mode[1]), "mode",
			 both[mode[0] > mode[1] ? 0 : 1].verdict, both);
}

void diff_net(struct diff *diff)
{
	static const uint8_t somewhere[16] = { [10] = 0xff, 0xff, 93, 184, 215, 14 };
	struct net net = { .diff = diff };
	const size_t rules =
	    SBX_COUNT(diff->side[0].blob, NET) + SBX_COUNT(diff->side[1].blob, NET);

	for (unsigned side = 0; side < DIFF_SIDES; side++)
		read_side(&net, side);
	add_address(diff->arena, &net.borders, somewhere);
	net.same_addresses = same_rules(&net, &net.address[0], &net.address[1]);
	compare_mode(&net);
	collect_hosts(&net);
	for (size_t i = 0; i < net.candidates.count && effort_left(&diff->effort, rules); i++)
		compare_host(&net, net.candidates.items[i]);
	compare_literals(&net);
	diff_requests(diff);
	diff_listen(diff);
}
