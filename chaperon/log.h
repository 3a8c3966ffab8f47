/*
 * chaperon/log.h - one JSON line for each request.
 */
#ifndef SBX_CHAPERON_LOG_H
#define SBX_CHAPERON_LOG_H

#include "chaperon/session.h"

#include <time.h>

struct log_line {
	struct timespec begun;
	const struct strings *arguments;
	const char *verdict; /* "allowed", "refused", "failed" */
	const char *reason;  /* or NULL */
	uint32_t rule, job;  /* SBX_NONE; 0: none */
	int status;          /* what the client ends with */
};

void log_write(struct session *session, const struct log_line *line);

#endif
