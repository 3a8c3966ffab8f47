/*
 * proxy/detect.h - where in a text does a secret end?  In a time that tells nothing of how
 * far the text goes on like it.
 *
 * For each form (forms.h) there is a bit for each of its elements: are those up to it what
 * came last?  A byte moves all bits by one and clears those that it does not fit
 * (Baeza-Yates and Gonnet, 1992), whatever they are.  While an escape goes on, the bits from
 * before it are kept.  No two go on at once: a byte by which one begins ends another, or stands
 * in it for itself.
 *
 * Of a form with more than 64 elements all bits but the first 64 are known to be clear
 * until these 64 were there.  So up to then they are left out.  Who sees by the time that they
 * are not has guessed 64 elements at once, or known them (the first of a JWT are no
 * secret), and sees no more: from there on all bits of all forms are moved, until a byte
 * comes that no form has, or more bytes than the longest.
 */
#ifndef SBX_PROXY_DETECT_H
#define SBX_PROXY_DETECT_H

#include "proxy/escape.h"
#include "proxy/forms.h"

struct detect { /* of zeros: looks for nothing */
	struct redact_set *const *sets;
	unsigned set_count;
	size_t words;   /* all of one place: the first of each set, then each set's others */
	size_t longest; /* bytes of a form */
	size_t wide;    /* for so many bytes more all words are moved, not only the first */
	struct word *bits, *next;
	struct escape escape;
	struct word *before; /* bits, before it */
	struct word *room;   /* all of them */
};

/* For these sets, which stay the caller's; from the beginning of a text.  False: no memory. */
bool detect_set(struct detect *detect, struct redact_set *const *sets, unsigned count);
void detect_clear(struct detect *detect); /* another text */
void detect_free(struct detect *detect);
/* Takes one byte; true: by it, a form is whole. */
bool detect_step(struct detect *detect, uint8_t byte);
/* Is it this one? */
bool detect_ended(const struct detect *detect, unsigned set, unsigned form);

#endif
