/*
 * proxy/keeper.h - the process that gets credentials from where they are kept.
 *
 * It reads files, runs the commands of `source exec` and answers the worker, which
 * does the networking and may do none of this.  One SOCK_SEQPACKET socket pair; the
 * worker asks for a credential by its number, as often as it needs it, and is
 * answered when there is something to answer, in no certain order.  When the worker's
 * end closes, the keeper ends and so does whatever it runs.
 *
 * A value is read at the first question, again when `refresh` is over, before
 * `lifetime` is, and after KEEPER_REFUSED (the server answered 401), but then every
 * 10 seconds at most: a file at once, at this question or the next ones, when it has
 * been changed.  A command, which may mint another value each time, is run so every
 * minute at most, and never more than KEEPER_PACE times while a value is good: the program
 * inside has a hand in 401s, and each value has to be looked for in answers.  Where reading
 * again fails, the old value goes on for as long as its `lifetime` says that it is good;
 * without one it is an error.
 */
#ifndef SBX_PROXY_KEEPER_H
#define SBX_PROXY_KEEPER_H

#include "blob/verdict.h"

#define KEEPER_VERSION   1
#define KEEPER_VALUE_MIN 8 /* fewer bytes could not be told from other text in an answer */
#define KEEPER_VALUE_MAX 8192
#define KEEPER_TEXT_MAX  1024
#define KEEPER_PACE      64 /* values that a command mints while one of them is good */

/*
 * Seconds for which a value may be good: its lifetime, from when it was got; where that is
 * not said, from when there was another.  So long it is looked for in answers.
 */
static inline uint32_t keeper_good_for(const struct sbx_credential *credential)
{
	uint32_t least = 600, said = credential->lifetime_s;

	if (!said)
		said = credential->refresh_s;
	return said < least ? least : said;
}

struct keeper_setup {
	const struct sbx_blob *blob;
	const struct sbx_vars *vars;
	const char *values; /* the strings of blob/proxy_wire.h, for `env NAME=VALUE` */
	size_t values_size;
};

/*
 * All that the keeper's process does.  It closes each descriptor but @fd and the
 * standard ones, leaves no core, gains no rights, and ends with its parent.
 */
_Noreturn void keeper_run(const struct keeper_setup *setup, int fd);

/* ---- the worker's side --------------------------------------------------------------- */

enum keeper_ask {
	KEEPER_GET = 1,
	KEEPER_REFUSED, /* the value was refused: read again; answered like KEEPER_GET */
};
enum keeper_status {
	KEEPER_VALUE = 1,
	KEEPER_ABSENT, /* an `optional` credential has no source here; @text says which */
	KEEPER_FAILED, /* @text: credential, source, what is wrong, what to do */
};
struct keeper_answer {
	uint32_t version;
	uint32_t status;     /* enum keeper_status */
	uint32_t credential; /* in SBX_SEC_CREDENTIALS */
	uint32_t value_size;
	uint32_t generation;        /* another value, another number; never 0 */
	char text[KEEPER_TEXT_MAX]; /* one line, escaped, NUL at its end.  With KEEPER_VALUE: "", or
				     * why an old value had to do */
	char value[KEEPER_VALUE_MAX]; /* printable bytes only; no NUL at its end */
};

/* False: errno; EAGAIN: the socket is full, ask later. */
bool keeper_ask(int fd, uint32_t credential, enum keeper_ask ask);
/*
 * Takes one answer.  1: there is one; 0: none yet; -1: the keeper has ended, or sent
 * what it should not.  Wipe it by keeper_wipe() when it was used.
 */
int keeper_take(int fd, struct keeper_answer *answer);
void keeper_wipe(struct keeper_answer *answer);

#endif
