/*
 * proxy/tally.h - what was refused or could not be served, for the session's end.
 *
 * Few programs show what a proxy answers.  So the person hears of each host once, when
 * the program can no longer be disturbed by it.
 */
#ifndef SBX_PROXY_TALLY_H
#define SBX_PROXY_TALLY_H

#include "proxy/log.h"

#define TALLY_HOSTS 256 /* what goes to others is only counted */

struct tally {
	struct tally_host {
		char host[256];
		unsigned port;
		bool refused; /* by the policy; else there was a fault */
		unsigned times;
		char reason[400]; /* of the first time */
	} host[TALLY_HOSTS];
	unsigned count, others;
};

/* Before @record is written. */
void tally_count(struct tally *tally, const struct record *record);
/* A PROXY_SUMMARY for each; waits for whoever reads them, stops where nobody does. */
void tally_tell(const struct tally *tally);

#endif
