/*
 * Network rules of all files put together, and the mode over them.
 *
 * Rules meet on the same host, range or socket; which of two different ones
 * decides is for blob/verdict.h.
 */
#include <stdio.h>

#include "compiler/lower.h"

struct entry {
	struct net_rule *rule;
	bool dead;
	struct entry *next; /* same host, range or socket */
};
struct seals {
	VEC_OF(const struct net_rule *)
};

static const char *const verb_words[] = { "allow", "deny", "seal", "listen" };

static bool is_host(const struct net_rule *rule)
{
	return rule->verb != SBX_NETV_LISTEN &&
	       (rule->kind == SBX_NETK_HOST || rule->kind == SBX_NETK_SUFFIX ||
		rule->kind == SBX_NETK_ANY || rule->kind == SBX_NETK_ADDRESS);
}

static const char *describe(struct lower *lower, const struct net_rule *rule)
{
	struct span span = rule->head.place.span;

	return arena_printf(lower->arena, "`%s %.*s`", verb_words[rule->verb],
			    (int)(span.end - span.start), span.source->text.ptr + span.start);
}

static struct str make_key(struct arena *arena, const struct net_rule *rule)
{
	const char *listens = rule->verb == SBX_NETV_LISTEN ? "listen" : "";
	struct str text = rule->host;

	if (rule->kind == SBX_NETK_ADDRESS)
		text = (struct str){ (const char *)&rule->cidr, sizeof(rule->cidr) };
	else if (rule->kind == SBX_NETK_UNIX)
		text = tmpl_key(arena, rule->path);
	else if (rule->kind == SBX_NETK_PORT)
		text = str_from(arena_printf(arena, "%u", rule->port));

	char *key = arena_alloc(arena, text.len + 16);
	int start = snprintf(key, 16, "%s %d ", listens, (int)rule->kind);
	if (text.len)
		memcpy(key + start, text.ptr, text.len);
	return (struct str){ key, text.len + (size_t)start };
}

static bool same_list(struct arena *arena, struct tmpls a, struct tmpls b)
{
	if (a.count != b.count)
		return false;
	for (size_t i = 0; i < a.count; i++) {
		if (!str_equal(tmpl_key(arena, a.items[i]), tmpl_key(arena, b.items[i])))
			return false;
	}
	return true;
}

/* Narrowed alike: `at`, `method`, `prefix`. */
static bool same_narrowing(struct arena *arena, const struct net_rule *a, const struct net_rule *b)
{
	return a->at_count == b->at_count &&
	       (!a->at_count || memcmp(a->at, b->at, a->at_count * sizeof(*a->at)) == 0) &&
	       same_list(arena, a->methods, b->methods) &&
	       str_equal(tmpl_key(arena, a->prefix), tmpl_key(arena, b->prefix));
}

static bool ports_meet(const struct net_rule *a, const struct net_rule *b)
{
	return !a->port || !b->port || a->port == b->port;
}

static void compare(struct lower *lower, struct entry *first, struct entry *second)
{
	struct net_rule *a = first->rule, *b = second->rule;

	if (first->dead || second->dead)
		return;
	if (lower_same_place(&a->head, &b->head) && a->verb == b->verb && a->port == b->port) {
		second->dead = true;
	} else if (a->verb == b->verb && a->port == b->port) {
		if (same_narrowing(lower->arena, a, b))
			second->dead = lower_merge_same(lower, &a->head, &b->head,
							describe(lower, b)) == MERGE_DROP;
	} else if ((a->verb == SBX_NETV_ALLOW) != (b->verb == SBX_NETV_ALLOW) && ports_meet(a, b) &&
		   lower_same_file(&a->head, &b->head)) {
		diag_error(lower->diags, DIAG_C0302, b->head.place.span,
			   "`%s` and `%s` of the same in one file: %s", verb_words[a->verb],
			   verb_words[b->verb], describe(lower, b));
		diag_note(lower->diags, a->head.place.span, "the other one");
	}
}

/* ---- override and effect ---------------------------------------------------------------- */

static void lift(struct lower *lower, const struct entry *entry, struct entry *chain)
{
	bool lifted = false;

	for (struct entry *other = chain; other; other = other->next) {
		if (other->rule->verb != SBX_NETV_DENY ||
		    lower_level(lower, &other->rule->head) <=
			lower_level(lower, &entry->rule->head))
			continue;
		other->dead = lifted = true;
	}
	if (lifted)
		return;
	diag_error(lower->diags, DIAG_C0305, entry->rule->head.place.span,
		   "this overrides nothing: no other file denies the very same");
	if (entry->rule->kind != SBX_NETK_UNIX)
		diag_note(lower->diags, NO_PLACE,
			  "a more exact `allow` wins without it; an address is opened for one host "
			  "with `allow HOST at CIDR`");
}

static bool suffix_covers(struct str suffix, struct str host)
{
	return host.len > suffix.len + 1 && host.ptr[host.len - suffix.len - 1] == '.' &&
	       memcmp(host.ptr + host.len - suffix.len, suffix.ptr, suffix.len) == 0;
}

static bool prefix_covers(const struct sbx_cidr *range, const struct sbx_cidr *inner)
{
	if (inner->bits < range->bits)
		return false;
	for (uint32_t bit = 0; bit < range->bits; bit++) {
		if ((range->address[bit / 8] ^ inner->address[bit / 8]) & 0x80 >> bit % 8)
			return false;
	}
	return true;
}

/* Does @seal take all that @rule gives? */
static bool seals(struct lower *lower, const struct net_rule *seal, const struct net_rule *rule)
{
	if (seal->verb != SBX_NETV_SEAL || (seal->port && seal->port != rule->port))
		return false;
	if (seal->kind == SBX_NETK_ANY)
		return rule->kind <= SBX_NETK_ANY;
	if (seal->kind == SBX_NETK_SUFFIX && rule->kind == SBX_NETK_HOST)
		return suffix_covers(seal->host, rule->host);
	if (seal->kind == SBX_NETK_SUFFIX && rule->kind == SBX_NETK_SUFFIX)
		return str_equal(seal->host, rule->host) || suffix_covers(seal->host, rule->host);
	if (seal->kind != rule->kind)
		return false;
	if (seal->kind == SBX_NETK_ADDRESS)
		return prefix_covers(&seal->cidr, &rule->cidr);
	if (seal->kind != SBX_NETK_UNIX)
		return str_equal(seal->host, rule->host);
	struct str top = tmpl_key(lower->arena, seal->path),
		   path = tmpl_key(lower->arena, rule->path);
	return path.len >= top.len && memcmp(path.ptr, top.ptr, top.len) == 0 &&
	       (path.len == top.len || path.ptr[top.len] == '/');
}

static const struct net_rule *find_winner(struct lower *lower, const struct seals *all,
					  const struct entry *entry, const struct entry *chain)
{
	for (size_t i = 0; i < all->count; i++) {
		if (seals(lower, all->items[i], entry->rule))
			return all->items[i];
	}
	for (; chain; chain = chain->next) {
		if (!chain->dead && chain->rule->verb == SBX_NETV_DENY &&
		    (!chain->rule->port || chain->rule->port == entry->rule->port) &&
		    !lower_same_file(&chain->rule->head, &entry->rule->head))
			return chain->rule;
	}
	return NULL;
}

static void check_effect(struct lower *lower, const struct seals *all, const struct entry *entry,
			 const struct entry *chain)
{
	const struct net_rule *winner = find_winner(lower, all, entry, chain);
	struct span span = entry->rule->head.place.span;

	if (!winner || lower_level(lower, &winner->head) < lower_level(lower, &entry->rule->head))
		return;
	diag_error(lower->diags, DIAG_C0303, span, "%s has no effect: %s wins",
		   describe(lower, entry->rule), describe(lower, winner));
	diag_note(lower->diags, winner->head.place.span, "here");
	if (winner->verb == SBX_NETV_DENY)
		diag_note(lower->diags, NO_PLACE, "to lift it: `override compat \"why\"`");
	else
		diag_note(lower->diags, NO_PLACE, "nothing overrides a seal");
}

/* ---- the mode ------------------------------------------------------------------------------ */

static void check_mode(struct lower *lower, struct entry *entry)
{
	struct policy *policy = lower->policy;
	const struct net_rule *rule = entry->rule;
	bool allow = rule->verb == SBX_NETV_ALLOW;

	if (entry->dead || !is_host(rule) || policy->net_mode == SBX_NET_PROXY)
		return;
	if (policy->net_mode == SBX_NET_HOST) {
		if (!rule->head.main_file) { /* nothing of the kind is enforced: not in the blob */
			entry->dead = true;
			return;
		}
		diag_error(lower->diags, DIAG_C0502, rule->head.place.span,
			   "`mode host` opens every host: this line narrows nothing");
		diag_note(lower->diags, policy->net_mode_head.place.span,
			  "to decide by host: `mode proxy`");
	} else if (allow && !lower->mode_missed) {
		lower->mode_missed = !policy->net_mode_said;
		diag_error(lower->diags, DIAG_C0501, rule->head.place.span,
			   policy->net_mode_said ? "no host can be reached in `mode none`"
						 : "without a `mode` there is no network");
		diag_note(lower->diags,
			  policy->net_mode_said ? policy->net_mode_head.place.span : NO_PLACE,
			  "write `mode proxy` in the policy");
		lower_note_chain(lower, &rule->head);
	}
}

static void compact(struct policy *policy, const struct entry *entries)
{
	size_t kept = 0;

	for (size_t i = 0; i < policy->net.count; i++) {
		if (!entries[i].dead)
			policy->net.items[kept++] = *entries[i].rule;
	}
	policy->net.count = kept;
}

void merge_net(struct lower *lower)
{
	struct policy *policy = lower->policy;
	size_t count = policy->net.count;
	struct entry *entries = arena_array(lower->arena, count, sizeof(*entries));
	struct entry **chains = arena_array(lower->arena, count, sizeof(*chains));
	struct map keys = { 0 };
	struct seals all = { 0 };

	for (size_t i = 0; i < count; i++) {
		struct entry *last = NULL;

		entries[i].rule = &policy->net.items[i];
		if (entries[i].rule->verb == SBX_NETV_SEAL)
			*VEC_PUSH(lower->arena, &all) = entries[i].rule;
		void **slot = map_put(lower->arena, &keys, make_key(lower->arena, entries[i].rule));
		for (struct entry *other = *slot; other; last = other, other = other->next)
			compare(lower, other, &entries[i]);
		if (last)
			last->next = &entries[i];
		else
			*slot = &entries[i];
		chains[i] = *slot;
	}
	for (size_t i = 0; i < count; i++) {
		if (entries[i].rule->head.flags & SBX_F_OVERRIDE && !entries[i].dead)
			lift(lower, &entries[i], chains[i]);
	}
	for (size_t i = 0; i < count; i++) {
		if (!entries[i].dead && entries[i].rule->verb == SBX_NETV_ALLOW &&
		    entries[i].rule->head.main_file)
			check_effect(lower, &all, &entries[i], chains[i]);
	}
	for (size_t i = 0; i < count; i++)
		check_mode(lower, &entries[i]);
	compact(policy, entries);
}
