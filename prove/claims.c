/*
 * prove/claims.c - what the claims of every section share.
 */
#include <limits.h>

#include "compiler/render.h"
#include "compiler/text.h"
#include "prove/prove.h"

#define TEXT_SIZE (2 * PATH_MAX)

struct claim *claim_add(struct prove *prove, enum sbx_section_id section, uint32_t rule)
{
	struct claim *claim = VEC_PUSH(prove->arena, &prove->claims);
	const struct sbx_head *head;

	*claim = (struct claim){ .section = section };
	if (rule == SBX_NONE)
		return claim;
	/* As it stands in the policy given, where $home has its own name. */
	head = render_head(prove->given, section, rule);
	claim->rule = render_rule(prove->arena, prove->given, section, rule, 4);
	if (head && head->loc != SBX_NONE)
		claim->place = render_places(prove->arena, prove->given, head->loc);
	return claim;
}

const char *claim_escaped(struct arena *arena, const char *text)
{
	struct text out = { .arena = arena };

	for (; *text; text++)
		if (*text > ' ' && *text < 0x7f && *text != '%')
			text_byte(&out, *text);
		else
			text_add(&out, "%%%02x", (unsigned char)*text);
	return text_end(&out);
}

const char *claim_expand(const struct prove *prove, struct sbx_tmpl tmpl, bool *wild)
{
	char text[TEXT_SIZE];
	uint32_t unset;
	int length =
	    sbx_expand(&prove->blob, tmpl, &prove->view.vars, text, sizeof(text), wild, &unset);

	return length < 0 ? NULL : arena_copy(prove->arena, text, (size_t)length);
}
