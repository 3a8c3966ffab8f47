/*
 * chaperon/text.h - a list of strings that grows: argument vectors, envelopes; digests.
 */
#ifndef SBX_CHAPERON_TEXT_H
#define SBX_CHAPERON_TEXT_H

#include <stdbool.h>
#include <stddef.h>

struct strings {
	char **items; /* ended by NULL, as execve(2) wants it */
	size_t count, room;
	bool broken; /* no memory: nothing was added since */
};

void strings_add(struct strings *list, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void strings_free(struct strings *list);
/* Of a list of NAME=VALUE: the value, or NULL. */
const char *strings_variable(const struct strings *list, const char *name);

/* A digest, in hexadecimal. */
void text_hex(const unsigned char digest[32], char out[65]);

#endif
