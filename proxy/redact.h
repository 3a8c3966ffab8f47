/*
 * proxy/redact.h - the echo of a secret in what a server answers.
 *
 * A server that shows what it was sent would hand the credential to the program.
 * So in all that comes from a host with a credential its value is overwritten by as
 * many `*`, however it is written: as it is, in base64 (so also within Basic) at any
 * offset and in either alphabet, and any byte of either in an escape (escape.h).  Not
 * found: what is encrypted, hashed, reversed, in another case, in hexadecimal, in base64 or
 * quoted-printable broken into lines, in other escapes (\u{2b}, \053, =2B): of those, what
 * writes a header into an answer has no reason to use any for what can be printed.
 *
 * Nothing that comes out of it depends on a part of a secret: neither bytes, nor in which
 * pieces.  How long it takes tells of its first two or three characters, by which all
 * else is skipped (redact_beginnings.h), and of a longer one whether a text has the first 64 at
 * once (detect.h); also of how long it is.  Of no other part, whether or not the whole
 * one is there, too.
 */
#ifndef SBX_PROXY_REDACT_H
#define SBX_PROXY_REDACT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All ways to write one secret; shared by the streams that look for it. */
struct redact_set;
/* NULL: no memory, or no value: KEEPER_VALUE_MIN to KEEPER_VALUE_MAX bytes that can be
 * printed, blanks among them. */
struct redact_set *redact_set_make(const void *secret, size_t size);
/* Counted, since a secret may be replaced while answers to it still come; the last one
 * gone, it is wiped. */
struct redact_set *redact_set_hold(struct redact_set *set);
void redact_set_drop(struct redact_set *set);
/* The same, and whoever looks for it gives it up when another secret is added. */
void redact_set_retire(struct redact_set *set);

/* One stream of bytes. */
struct redact;
struct redact *redact_make(struct redact_set *set); /* holds @set */
void redact_free(struct redact *redact);
/* Looks for another secret too, in what comes from here on.  False: no memory. */
bool redact_also(struct redact *redact, struct redact_set *set);

/*
 * Takes @size bytes, which it overwrites where need be, and hands on what is clean by
 * @put, in order, in two calls at most.  What is behind the last control byte, or byte
 * that is not ASCII, waits, since a secret may have begun there; but no more than the
 * longest way to write one, after which the first of it goes on.  False: no memory; the
 * stream is to be closed.
 */
typedef void redact_put(void *context, const uint8_t *data, size_t size);
bool redact_feed(struct redact *redact, uint8_t *data, size_t size, redact_put *put, void *context);
/* How much that will hand on; how much waits; and hands on what does: at the end, and where
 * nothing more comes for a while.  A secret of which more comes after that is overwritten
 * from there on. */
size_t redact_ready(const struct redact *redact, const uint8_t *data, size_t size);
size_t redact_waits(const struct redact *redact);
void redact_release(struct redact *redact, redact_put *put, void *context);

/* The same for a text that is there as a whole and no part of the stream, such as a head.
 * False: no memory; it is not to be handed on. */
bool redact_whole(struct redact *redact, uint8_t *data, size_t size);
/* Echoes so far; those of a whole text count as one. */
unsigned redact_count(const struct redact *redact);

/* ---- packed answers ----------------------------------------------------------------- */

/*
 * gzip and deflate (zlib's form or bare, as servers send both), unpacked by as much as
 * there is room for: so no answer is too big, however it was packed.
 */
struct unpack;
struct unpack *unpack_make(void);
void unpack_free(struct unpack *unpack);
/*
 * Takes from @in (and moves it on), writes up to @size bytes to @out and returns how
 * many; fewer than @size: it has taken all of @in.  -1: it is broken, and so is its end
 * if @last is true (no more comes) and it is cut off.
 */
long unpack_feed(struct unpack *unpack, const uint8_t **in, size_t *in_size, bool last,
		 uint8_t *out, size_t size);

#endif
