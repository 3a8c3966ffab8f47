/*
 * prove/keys.c - something in the place of each credential's source, without which
 * no session starts.  The real ones are not for a proof: its home is its own.
 */
#include <string.h>

#include "compiler/text.h"
#include "prove/prove.h"

/* {"a": {"b": "KEY"}} for ".a.b" */
static const char *json_of(struct arena *arena, const char *path)
{
	struct text out = { .arena = arena };
	size_t depth = 0;

	for (const char *at = path; *at; depth++) {
		size_t length = strcspn(++at, ".");

		text_add(&out, "{\"%.*s\": ", (int)length, at);
		at += length;
	}
	text_add(&out, "\"%s\"", BAIT_VALUE);
	while (depth--)
		text_byte(&out, '}');
	return text_end(&out);
}

const char *keys_make(struct prove *prove)
{
	const char *error = NULL;

	for (uint32_t i = 0; !error && i < SBX_COUNT(&prove->blob, CREDENTIALS); i++) {
		const struct sbx_credential *credential =
		    SBX_AT(&prove->blob, CREDENTIALS, sbx_credential, i);
		const char *path;
		bool wild;

		if (credential->source != SBX_SOURCE_FILE)
			continue;
		path = claim_expand(
		    prove, *SBX_AT(&prove->blob, TMPLS, sbx_tmpl, credential->source_first), &wild);
		if (path && scratch_has(prove, path))
			error =
			    scratch_path(prove, path, false,
					 credential->json == SBX_NONE
					     ? BAIT_VALUE
					     : json_of(prove->arena,
						       sbx_string(&prove->blob, credential->json)));
	}
	return error;
}

const char *keys_variable(const struct prove *prove, uint32_t index)
{
	const struct sbx_credential *credential =
	    SBX_AT(&prove->blob, CREDENTIALS, sbx_credential, index);
	bool wild;

	return credential->source != SBX_SOURCE_ENV
		   ? NULL
		   : claim_expand(prove,
				  *SBX_AT(&prove->blob, TMPLS, sbx_tmpl, credential->source_first),
				  &wild);
}
