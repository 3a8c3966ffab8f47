/*
 * proxy/forms.h - the ways to write a secret, and which bytes each element of them may be.
 */
#ifndef SBX_PROXY_FORMS_H
#define SBX_PROXY_FORMS_H

#include "proxy/redact.h"

#define FORMS     4
#define FORM_WORD 64 /* elements: a bit of a word for each */

struct word { /* one of each form */
	uint64_t of[FORMS];
};

struct element { /* (map[byte] & mask) == value */
	uint8_t mask, value;
};

struct form {
	const uint8_t *map; /* bytes as they are, or as base64's values */
	struct element *elements;
	size_t count;
};

struct redact_set {
	unsigned holders;
	bool retired;
	uint8_t plain[256], base64[256];
	struct form forms[FORMS];
	struct element *elements; /* of all forms */
	size_t element_count;
	size_t longest;    /* bytes of a form, each in the longest escape, and more */
	size_t words;      /* of the longest form, */
	struct word *fits; /* and so many for each byte: a bit where it may be the element */
	struct word turns; /* the last bit of the first word: the form ends, or goes on in others */
	bool early[256];   /* a byte that one of a form's first three elements may be */
	unsigned pair_count;
	uint8_t pairs[FORMS * 4][2]; /* the two bytes by which a form begins: all there are */
};

static inline bool form_fits(const struct form *form, size_t at, uint8_t byte)
{
	return (form->map[byte] & form->elements[at].mask) == form->elements[at].value;
}

/* Bytes of which no form has one, nor an escape. */
static inline bool forms_delimit(uint8_t byte)
{
	return byte < ' ' || byte > '~';
}

#define FORM_BYTES ('~' - ' ' + 2) /* those that do not delimit, and all that do as one */

static inline const struct word *forms_fits(const struct redact_set *set, uint8_t byte)
{
	return set->fits +
	       (forms_delimit(byte) ? FORM_BYTES - 1u : byte - (unsigned)' ') * set->words;
}

#endif
