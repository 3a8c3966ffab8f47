/*
 * proxy/source.h - where a credential's value is read: a file, a field of a JSON
 * file, the caller's environment, what a command prints.
 *
 * No text made here holds a byte of what was read, but the last line of what a
 * command wrote to its standard error.
 */
#ifndef SBX_PROXY_SOURCE_H
#define SBX_PROXY_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "proxy/keeper.h"

#define SOURCE_MAX 65536 /* bytes of a file, or of a command's output */

struct secret {
	size_t size; /* 0: none */
	char value[KEEPER_VALUE_MAX];
};
enum source_result { SOURCE_READ, SOURCE_ABSENT, SOURCE_BAD };

/*
 * Takes @text as a value: one line, whose end is left out, of bytes that can stand in
 * a header.  All three write @why where it fails: what is wrong and what to do, a part
 * of a sentence that goes on from the source's name and a colon.
 */
bool source_take(const char *text, size_t size, struct secret *out, char *why, size_t why_size);
/* @json: ".KEY.KEY", or NULL: the file is the value.  Of the user's own, for nobody else
 * to read, no link, no device, SOURCE_MAX bytes at most. */
enum source_result source_file(const char *path, const char *json, struct secret *out, char *why,
			       size_t why_size);

/* A command, started, while it runs. */
struct command {
	pid_t pid;     /* of what minds it, and ends as it does */
	int pidfd;     /* readable when it has ended */
	int life;      /* closed: it is killed, with all that it started */
	int out, err;  /* read without blocking; -1: closed */
	long deadline; /* of the caller's clock; not looked at here */
	unsigned seconds; /* that it is given: the caller's, too */
	size_t size, said_size;
	bool too_much;
	char text[SOURCE_MAX];
	char said[4096]; /* the end of its standard error; */
	bool cut;        /* there was more before it */
};
/* argv[0] is an absolute path.  Nothing of ours reaches it but @env. */
enum source_result command_start(struct command *command, char *const *argv, char *const *env,
				 char *why, size_t why_size);
/* Takes what there is to read. */
void command_read(struct command *command);
/* It has ended; or @late, or @too_much: it is killed with all it started.  Wipes what it
 * printed. */
enum source_result command_end(struct command *command, bool late, struct secret *out, char *why,
			       size_t why_size);

/* Appends @size bytes to @out, what is not printable as \xNN; NUL at its end. */
void escape_text(char *out, size_t out_size, const char *text, size_t size);

#endif
