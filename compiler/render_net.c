/*
 * compiler/render_net.c - network rules, credentials, Slurm rules.
 */
#include "compiler/render_words.h"

static void add_object(struct text *text, const struct sbx_blob *blob,
		       const struct sbx_net_rule *rule)
{
	const char *host = sbx_string(blob, rule->host);

	switch ((enum sbx_net_kind)rule->kind) {
	case SBX_NETK_HOST:
		words_name(text, host);
		break;
	case SBX_NETK_SUFFIX:
		text_add(text, "*.%s", host);
		break;
	case SBX_NETK_ANY:
		text_byte(text, '*');
		break;
	case SBX_NETK_ADDRESS:
		words_cidr(text, &rule->cidr);
		break;
	case SBX_NETK_UNIX:
		text_add(text, "unix ");
		words_tmpl(text, blob, rule->path);
		return;
	case SBX_NETK_ABSTRACT:
		text_add(text, "abstract ");
		words_name(text, host);
		return;
	case SBX_NETK_PORT:
		text_add(text, "%u", rule->port);
		return;
	}
	if (rule->port)
		text_add(text, ":%u", rule->port);
}

void render_net(struct text *text, const struct sbx_blob *blob, const struct sbx_net_rule *rule)
{
	static const char *const verbs[] = { "allow", "deny", "seal", "listen" };

	text_add(text, "%s ", WORD_OF(verbs, rule->head.verb));
	add_object(text, blob, rule);
	for (uint32_t i = 0; i < rule->at_count; i++) {
		text_add(text, i ? " " : " at ");
		words_cidr(text, SBX_AT(blob, CIDRS, sbx_cidr, rule->at_first + i));
	}
	if (rule->method_count) {
		text_add(text, " method");
		words_tmpls(text, blob, rule->method_first, rule->method_count);
	}
	if (sbx_present(rule->prefix)) {
		text_add(text, " prefix ");
		words_tmpl(text, blob, rule->prefix);
	}
	words_head(text, blob, &rule->head);
}

void render_credential(struct text *text, const struct sbx_blob *blob,
		       const struct sbx_credential *credential)
{
	static const char *const sources[] = { "file", "env", "exec" };
	static const char *const schemes[] = { NULL, "bearer", "basic" };
	struct sbx_head head = credential->head;

	text_add(text, "credential ");
	words_name(text, sbx_string(blob, credential->name));
	if (head.flags & SBX_F_OPTIONAL)
		text_add(text, " optional");
	head.flags = 0;
	text_add(text, " { source %s", WORD_OF(sources, credential->source));
	words_tmpls(text, blob, credential->source_first, credential->source_count);
	if (credential->json != SBX_NONE)
		text_add(text, " json %s", sbx_string(blob, credential->json));
	words_head(text, blob, &head);
	text_add(text, "; host");
	words_tmpls(text, blob, credential->host_first, credential->host_count);
	if (credential->header != SBX_NONE)
		text_add(text, "; header %s", sbx_string(blob, credential->header));
	if (credential->scheme != SBX_SCHEME_RAW)
		text_add(text, " %s", WORD_OF(schemes, credential->scheme));
	if (credential->basic_user != SBX_NONE)
		text_add(text, " %s", sbx_string(blob, credential->basic_user));
	if (credential->refresh_s) {
		text_add(text, "; refresh ");
		text_time(text, credential->refresh_s);
	}
	if (credential->lifetime_s) {
		text_add(text, "; lifetime ");
		text_time(text, credential->lifetime_s);
	}
	text_add(text, " }");
}

void render_slurm(struct text *text, const struct sbx_blob *blob, const struct sbx_slurm_rule *rule)
{
	static const char *const verbs[] = { "option", "scope", "allow",  "deny", "seal",
					     "force",  "add",   "budget", "show", "jobs" };
	static const char *const kinds[] = { SBX_SLURM_KIND_WORDS };
	static const char *const ops[] = { NULL, "in", "max" };

	text_add(text, "%s", WORD_OF(verbs, rule->head.verb));
	if (rule->command != SBX_NONE)
		text_add(text, " %s", sbx_string(blob, rule->command));
	if (rule->option != SBX_NONE)
		text_add(text, " %s", sbx_string(blob, rule->option));
	if (rule->head.verb == SBX_SLURM_OPTION) {
		if (rule->short_name != SBX_NONE)
			text_add(text, " %s", sbx_string(blob, rule->short_name));
		text_add(text, " %s", WORD_OF(kinds, rule->value_kind));
		if (rule->flags & SBX_SLURM_NO_SCRIPT)
			text_add(text, " no-script");
		if (rule->env != SBX_NONE)
			text_add(text, " env %s", sbx_string(blob, rule->env));
	} else if (rule->op) {
		text_add(text, " %s", WORD_OF(ops, rule->op));
	} else if (rule->value_count &&
		   (rule->head.verb == SBX_SLURM_FORCE || rule->head.verb == SBX_SLURM_ADD)) {
		text_add(text, " =");
	}
	words_tmpls(text, blob, rule->value_first, rule->value_count);
	if (rule->period_s) {
		text_add(text, " for ");
		text_time(text, rule->period_s);
	}
	words_head(text, blob, &rule->head);
}
