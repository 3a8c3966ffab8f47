/*
 * proxy/upstream.h - the client's side of TLS, towards the real server.
 *
 * A credential goes over nothing but this: the server's certificate leads to a
 * root of the system's and names the host, TLS is 1.2 or later.  There is no way
 * to turn that off.
 */
#ifndef SBX_PROXY_UPSTREAM_H
#define SBX_PROXY_UPSTREAM_H

#include <openssl/types.h>
#include <stdbool.h>
#include <stddef.h>

/* The roots' text, read while files can still be opened; malloc.  NULL: errno, or
 * EBADMSG: there is no certificate in it. */
char *roots_read(const char *path, size_t *size);

struct upstream;

/* @roots is used until upstream_free(): 140 certificates take 10 ms to read, which is
 * left to when nothing else is to do, and else to the first connection. */
struct upstream *upstream_make(const char *roots, size_t size);
void upstream_free(struct upstream *upstream);
/* Reads so many more of them; true: there are more. */
bool upstream_read(struct upstream *upstream, unsigned count);
/* Reads all; false: there is none. */
bool upstream_warm(struct upstream *upstream);

/*
 * A connection that is about to send its ClientHello to @host (name or literal
 * address) at @port; a session with the same is taken up again.  The caller sets the
 * BIOs and frees it.  NULL: no memory, no roots.
 */
SSL *upstream_connect(struct upstream *upstream, const char *host, unsigned port);

/*
 * To be asked once the handshake is done, before the first byte of a request: was
 * all of the above kept?  NULL, or why not.
 */
const char *upstream_objection(const SSL *ssl);

/*
 * After a handshake that failed: one line without the host, such as "its certificate
 * has expired", into @out.  Takes OpenSSL's errors of this thread off the queue.
 */
void upstream_why(const SSL *ssl, char *out, size_t size);

#endif
