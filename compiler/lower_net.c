/*
 * The net section: hosts, addresses and sockets, one rule each.
 */
#include <ctype.h>

#include "compiler/lower.h"

#define HTTPS_PORT 443

static bool read_methods(struct lower *lower, const struct ast_stmt *stmt, struct tmpls *out)
{
	const struct ast_mod *mod = ast_mod_find(stmt, AST_MOD_METHOD);
	struct tmpl_list list = { 0 };

	for (const struct ast_word *word = mod ? mod->words : NULL; word; word = word->next) {
		if (!words_texts(&lower->words, word, &list))
			return false;
	}
	for (size_t i = 0; i < list.count; i++) {
		struct str text;
		bool good = tmpl_plain(lower->arena, list.items[i], &text) && text.len;

		for (size_t j = 0; good && j < text.len; j++)
			good = isupper((unsigned char)text.ptr[j]);
		if (good)
			continue;
		diag_error(lower->diags, DIAG_C0507, mod->span,
			   "an HTTP method is in capitals, as in GET HEAD POST");
		return false;
	}
	*out = (struct tmpls){ list.items, list.count };
	return true;
}

static bool read_prefix(struct lower *lower, const struct ast_stmt *stmt, struct tmpl *out)
{
	const struct ast_mod *mod = ast_mod_find(stmt, AST_MOD_PREFIX);

	if (!mod)
		return true;
	if (mod->words->text.len && mod->words->text.ptr[0] == '/' && !mod->words->next)
		return words_text(&lower->words, mod->words, out);
	diag_error(lower->diags, DIAG_C0507, mod->span,
		   "a prefix is the start of a URL's path, as in /acme/widget");
	return false;
}

static bool read_at(struct lower *lower, const struct ast_stmt *stmt, struct net_rule *rule)
{
	const struct ast_mod *mod = ast_mod_find(stmt, AST_MOD_AT);
	struct {
		VEC_OF(struct sbx_cidr)
	} list = { 0 };

	for (const struct ast_word *word = mod ? mod->words : NULL; word; word = word->next) {
		if (!words_range(&lower->words, word, VEC_PUSH(lower->arena, &list)))
			return false;
	}
	rule->at = list.items;
	rule->at_count = list.count;
	return true;
}

/* `at`, `method` and `prefix` narrow a host, and only a host. */
static bool check_narrowing(struct lower *lower, const struct ast_stmt *stmt,
			    const struct net_rule *rule)
{
	bool named = rule->kind == SBX_NETK_HOST || rule->kind == SBX_NETK_SUFFIX ||
		     rule->kind == SBX_NETK_ANY;
	const struct ast_mod *at = ast_mod_find(stmt, AST_MOD_AT);
	const struct ast_mod *http = ast_mod_find(stmt, AST_MOD_METHOD);

	if (!http)
		http = ast_mod_find(stmt, AST_MOD_PREFIX);
	if (at && !named) {
		diag_error(lower->diags, DIAG_C0507, at->span, "`at` pins a name to addresses");
		return false;
	}
	if (http && !named && rule->kind != SBX_NETK_ADDRESS) {
		diag_error(lower->diags, DIAG_C0507, http->span,
			   "`method` and `prefix` are about HTTP, not about this socket");
		return false;
	}
	return true;
}

static bool add_paths(struct lower *lower, const struct ast_word *word, struct net_rule *rule)
{
	struct tmpl_list paths = { 0 };

	if (!words_paths(&lower->words, word, 0, &paths))
		return false;
	rule->kind = SBX_NETK_UNIX;
	rule->head.place.span = word->span;
	for (size_t i = 0; i < paths.count; i++) {
		rule->path = paths.items[i];
		*VEC_PUSH(lower->arena, &lower->policy->net) = *rule;
	}
	return true;
}

static bool add_abstract(struct lower *lower, const struct ast_word *word, struct net_rule *rule)
{
	struct str_list names = { 0 };

	if (!words_plains(&lower->words, word, &names))
		return false;
	rule->kind = SBX_NETK_ABSTRACT;
	rule->head.place.span = word->span;
	for (size_t i = 0; i < names.count; i++) {
		rule->host = names.items[i];
		*VEC_PUSH(lower->arena, &lower->policy->net) = *rule;
	}
	return true;
}

static bool add_hosts(struct lower *lower, const struct ast_word *word, struct net_rule *rule)
{
	struct host_list hosts = { 0 };

	if (!words_hosts(&lower->words, word, &hosts))
		return false;
	rule->head.place.span = word->span;
	for (size_t i = 0; i < hosts.count; i++) {
		const struct host *host = &hosts.items[i];

		rule->kind = host->kind;
		rule->host = host->kind == SBX_NETK_ADDRESS ? (struct str){ 0 } : host->name;
		rule->cidr = host->cidr;
		rule->port = host->port;
		if (!host->port_said && rule->verb == SBX_NETV_ALLOW)
			rule->port = HTTPS_PORT;
		*VEC_PUSH(lower->arena, &lower->policy->net) = *rule;
	}
	return true;
}

static bool add_port(struct lower *lower, const struct ast_word *word, struct net_rule *rule)
{
	rule->kind = SBX_NETK_PORT;
	rule->head.place.span = word->span;
	if (!words_port(&lower->words, word, &rule->port))
		return false;
	*VEC_PUSH(lower->arena, &lower->policy->net) = *rule;
	return true;
}

static bool is_word(const struct ast_word *word, const char *text)
{
	return word->kind == AST_NAME && str_is(word->text, text);
}

static void lower_rule(struct lower *lower, const struct ast_stmt *stmt, enum sbx_net_verb verb)
{
	bool (*add)(struct lower *, const struct ast_word *, struct net_rule *) =
	    verb == SBX_NETV_LISTEN ? add_port : add_hosts;
	const struct ast_word *words = stmt->items;
	struct net_rule rule = { .verb = verb, .kind = SBX_NETK_HOST };

	if (is_word(words, "unix"))
		add = add_paths;
	else if (is_word(words, "abstract") && verb != SBX_NETV_LISTEN)
		add = add_abstract;
	if (add == add_paths || add == add_abstract) {
		rule.kind = add == add_paths ? SBX_NETK_UNIX : SBX_NETK_ABSTRACT;
		words = words->next;
	}
	if (!words) {
		diag_error(lower->diags, DIAG_C0103, stmt->span, "which socket?");
		return;
	}
	if (!lower_head(lower, stmt, stmt->span, &rule.head) || !read_at(lower, stmt, &rule) ||
	    !read_methods(lower, stmt, &rule.methods) || !read_prefix(lower, stmt, &rule.prefix) ||
	    !check_narrowing(lower, stmt, &rule))
		return;
	for (const struct ast_word *word = words; word; word = word->next) {
		if (!add(lower, word, &rule))
			return;
	}
}

static void lower_mode(struct lower *lower, const struct ast_stmt *stmt)
{
	static const char *const modes[] = { "none", "proxy", "host", NULL };
	struct policy *policy = lower->policy;
	int mode = words_choice(&lower->words, stmt->items, "the mode", modes);
	struct rule_head head;

	if (mode < 0 || !lower_head(lower, stmt, stmt->span, &head) || policy->net_mode_said)
		return; /* the extending file's stands */
	policy->net_mode = (enum sbx_net_mode)mode;
	policy->net_mode_head = head;
	policy->net_mode_said = true;
}

void lower_net(struct lower *lower, const struct ast_stmt *block)
{
	for (const struct ast_stmt *stmt = block; stmt; stmt = stmt->next) {
		if (str_is(stmt->verb->text, "mode"))
			lower_mode(lower, stmt);
		else if (str_is(stmt->verb->text, "allow"))
			lower_rule(lower, stmt, SBX_NETV_ALLOW);
		else if (str_is(stmt->verb->text, "deny"))
			lower_rule(lower, stmt, SBX_NETV_DENY);
		else if (str_is(stmt->verb->text, "seal"))
			lower_rule(lower, stmt, SBX_NETV_SEAL);
		else
			lower_rule(lower, stmt, SBX_NETV_LISTEN);
	}
}
