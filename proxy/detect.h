/*
 * proxy/detect.h - does a text have a secret in it?  In a time that does not tell how much.
 *
 * For each form (forms.h) a word has a bit for each of its first 64 elements: are those up
 * to it what came last?  A byte moves all bits by one and clears those that it does not fit
 * (Baeza-Yates and Gonnet, 1992), whatever they are.  An escape that has begun keeps the
 * words from before it.  So what is done depends on the text alone, until all of a form, or
 * 64 elements, are there: more than can be guessed at once.
 */
#ifndef SBX_PROXY_DETECT_H
#define SBX_PROXY_DETECT_H

#include "proxy/escape.h"
#include "proxy/forms.h"

#define READINGS 8 /* escapes that may have begun at once; a text has three or so */

struct reading {
	struct escape escape;
	uint64_t *words; /* before it */
};

struct detect { /* of zeros: looks for nothing */
	struct redact_set *const *sets;
	unsigned set_count, reading_count;
	uint64_t *words, *next;
	struct reading readings[READINGS];
	uint64_t *room; /* all of them */
};

/* For these sets, which stay the caller's; from the beginning of a text.  False: no memory. */
bool detect_set(struct detect *detect, struct redact_set *const *sets, unsigned count);
void detect_clear(struct detect *detect); /* another text */
void detect_free(struct detect *detect);
/* Takes one byte; true: by it, a form may be whole. */
bool detect_step(struct detect *detect, uint8_t byte);

#endif
