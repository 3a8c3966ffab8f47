/*
 * compiler/render_words.h - the words that render*.c put together.
 */
#ifndef SBX_COMPILER_RENDER_WORDS_H
#define SBX_COMPILER_RENDER_WORDS_H

#include "blob/blob.h"
#include "compiler/text.h"

void words_tmpl(struct text *text, const struct sbx_blob *blob, struct sbx_tmpl tmpl);
/* A blank and then each of a list. */
void words_tmpls(struct text *text, const struct sbx_blob *blob, uint32_t first, uint32_t count);
/* A name as it is, or quoted where it could be read as something else. */
void words_name(struct text *text, const char *name);
/* "1.2.3.4", "10.0.0.0/8", "[::1]". */
void words_cidr(struct text *text, const struct sbx_cidr *cidr);
/* The modifiers every rule may have, each with a blank before it. */
void words_head(struct text *text, const struct sbx_blob *blob, const struct sbx_head *head);
/* "name" of values[value], or "?". */
#define WORD_OF(values, value)                                                                     \
	((value) < sizeof(values) / sizeof((values)[0]) && (values)[value] ? (values)[value] : "?")

/* Sections with more than a line of their own. */
void render_statement(struct text *text, const struct sbx_blob *blob, uint32_t index,
		      unsigned calls);
void render_net(struct text *text, const struct sbx_blob *blob, const struct sbx_net_rule *rule);
void render_credential(struct text *text, const struct sbx_blob *blob,
		       const struct sbx_credential *credential);
void render_slurm(struct text *text, const struct sbx_blob *blob,
		  const struct sbx_slurm_rule *rule);

#endif
