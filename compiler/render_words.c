/*
 * compiler/render_words.c - the words that a rule is put together from.
 *
 * A template comes back as one word: bare where that says the same, with
 * backslashes where it is a pattern, else quoted.
 */
#include "compiler/render_words.h"

#include <arpa/inet.h>
#include <string.h>

#include "blob/verdict.h"

#define SPECIAL " \t\n*?[]{},\\\"#;$="

static bool name_byte(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_' || c == '-';
}

/* @after is the byte that follows in the word. */
static void add_variable(struct text *text, const struct sbx_blob *blob, uint32_t var, char after)
{
	const char *name = sbx_var_name(blob, var);

	if (var == SBX_VAR_HOME && !text->bytes.count && (after == '/' || !after))
		text_byte(text, '~');
	else
		text_add(text, name_byte(after) ? "${%s}" : "$%s", name);
}

/* Does @text, a template's, say the same bare?  A pattern always does. */
static bool needs_quotes(const char *at)
{
	bool special = !*at;
	unsigned mark, value;

	while ((at = sbx_piece(at, &mark, &value))) {
		if (mark == SBX_MARK_WILD)
			return false;
		special |= mark != SBX_MARK_VAR && strchr(SPECIAL, (int)value);
	}
	return special;
}

static void add_escaped(struct text *text, char byte, const char *special)
{
	if (strchr(special, byte))
		text_byte(text, '\\');
	text_byte(text, byte == '\n' ? 'n' : byte);
}

void words_tmpl(struct text *text, const struct sbx_blob *blob, struct sbx_tmpl tmpl)
{
	const char *at = sbx_string(blob, tmpl.text);
	bool quotes = needs_quotes(at);
	struct text word = { .arena = text->arena };
	unsigned mark, value;

	while ((at = sbx_piece(at, &mark, &value))) {
		if (mark == SBX_MARK_VAR)
			add_variable(&word, blob, value, *at == SBX_MARK_VAR ? '$' : *at);
		else if (mark == SBX_MARK_WILD)
			text_byte(&word, (char)value);
		else
			add_escaped(&word, (char)value, quotes ? "\\\"$\n" : SPECIAL);
	}
	text_add(text, quotes ? "\"%s\"" : "%s", text_end(&word));
}

void words_tmpls(struct text *text, const struct sbx_blob *blob, uint32_t first, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		text_byte(text, ' ');
		words_tmpl(text, blob, *SBX_AT(blob, TMPLS, sbx_tmpl, first + i));
	}
}

void words_name(struct text *text, const char *name)
{
	if (!*name || strpbrk(name, " \t\n\\\"#;${}=,"))
		text_quoted(text, name);
	else
		text_add(text, "%s", name);
}

void words_cidr(struct text *text, const struct sbx_cidr *cidr)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };
	bool ipv4 = cidr->bits >= 96 && !memcmp(cidr->address, mapped, sizeof(mapped));
	uint32_t bits = ipv4 ? cidr->bits - 96 : cidr->bits;
	char address[INET6_ADDRSTRLEN];

	inet_ntop(ipv4 ? AF_INET : AF_INET6, cidr->address + (ipv4 ? 12 : 0), address,
		  sizeof(address));
	text_add(text, "%s", address);
	if (bits != (ipv4 ? 32 : 128))
		text_add(text, "/%u", bits);
}

void words_head(struct text *text, const struct sbx_blob *blob, const struct sbx_head *head)
{
	static const char *const flags[] = { "optional", "best-effort", "snapshot",          NULL,
					     "create",   "override",    "without namespaces" };
	const struct sbx_note *note;

	for (unsigned i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
		if (flags[i] && head->flags & 1u << i)
			text_add(text, " %s", flags[i]);
	if (head->note == SBX_NONE16)
		return;
	note = SBX_AT(blob, NOTES, sbx_note, head->note);
	if (note->guards != SBX_NONE)
		text_add(text, " guards %s", sbx_string(blob, note->guards));
	if (note->compat != SBX_NONE) {
		text_add(text, " compat ");
		text_quoted(text, sbx_string(blob, note->compat));
	}
	if (note->because != SBX_NONE) {
		text_add(text, " because ");
		text_quoted(text, sbx_string(blob, note->because));
	}
	if (note->waive_code != SBX_NONE) {
		text_add(text, " waive %s ", sbx_string(blob, note->waive_code));
		text_quoted(text, sbx_string(blob, note->waive_why));
	}
}
