/*
 * proxy/forms.h - the ways to write a secret, as redact.c reads them.
 */
#ifndef SBX_PROXY_FORMS_H
#define SBX_PROXY_FORMS_H

#include "proxy/redact.h"

#define FORMS 4

struct element { /* (map[byte] & mask) == value */
	uint8_t mask, value;
};

struct form {
	const uint8_t *map; /* bytes as they are, or as base64's values */
	struct element *elements;
	size_t count;
	unsigned recent; /* redact.c's: the thread in this form that was added last */
};

struct redact_set {
	unsigned holders;
	bool retired;
	uint8_t plain[256], base64[256];
	struct form forms[FORMS];
	struct element *elements; /* of all forms */
	size_t element_count;
	size_t longest;            /* bytes of a form, each in the longest escape, and more */
	uint64_t fits[256][FORMS]; /* a bit for each of the first 64 elements that a byte may be */
	uint64_t last[FORMS];      /* the last of these */
	bool first[256];           /* a byte that the first element of a form may be, */
	bool early[256];           /* or one of the first three */
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

#endif
