/*
 * prove/keys.c - something in the place of each credential's source, without which
 * no session starts.  The real ones are not for a proof: its home is its own, and a
 * command that mints keys is not run.
 */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "compiler/text.h"
#include "prove/edit.h"
#include "prove/prove.h"

#define MINT "#!/bin/sh\necho " BAIT_VALUE "\n"

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

const char *keys_replace(struct prove *prove, struct edit *edit)
{
	const char *path = arena_printf(prove->arena, "%s/mint", prove->scratch.blobs);
	struct sbx_tmpl word = { edit_string(edit, path) };

	for (uint32_t i = 0; i < EDIT_COUNT(edit, CREDENTIALS, sbx_credential); i++) {
		struct sbx_credential *credential =
		    EDIT_AT(edit, CREDENTIALS, sbx_credential, i);

		if (credential->source != SBX_SOURCE_EXEC)
			continue;
		edit_add(edit, SBX_SEC_TMPLS, &word);
		credential->source_first = EDIT_COUNT(edit, TMPLS, sbx_tmpl) - 1;
		credential->source_count = 1;
	}
	if (scratch_path(prove, path, false, MINT) || chmod(path, 0700))
		return arena_printf(prove->arena, "%s: %s", path, strerror(errno));
	return NULL;
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
