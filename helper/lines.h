/*
 * helper/lines.h - a log of JSON lines.
 *
 * The log is a file of the caller's that sbx-exec opened for appending, so each
 * line is one write.  It may be a pipe that nobody reads: a line that would
 * block is lost, since a log that stops the session would be worse.
 */
#ifndef SBX_HELPER_LINES_H
#define SBX_HELPER_LINES_H

#include <jansson.h>
#include <stdbool.h>
#include <time.h>

struct lines {
	int fd;            /* -1: none is wanted */
	const char *name;  /* "the log of ...", to the person */
	bool broken, gone; /* and the person knows */
	bool cut;          /* the last line is not whole */
};

/* Writes @line, and gives it up. */
void lines_write(struct lines *lines, json_t *line);

/* For a line: a time, how long that is ago in milliseconds, and a text whose bytes somebody
 * else chose: at most @room of them, less than LINES_TEXT; what is not ASCII is shown as ?. */
#define LINES_TEXT 1024
json_t *lines_time(const struct timespec *when);
json_t *lines_ms_since(const struct timespec *when);
json_t *lines_text(const char *value, size_t room);

#endif
