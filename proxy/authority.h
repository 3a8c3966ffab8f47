/*
 * proxy/authority.h - the session's own certificate authority, and the server's
 * side of each connection where TLS is ended.
 *
 * Its keys are made at the start, are in this process's memory alone and go with
 * it.  It stands beside the system's roots in the bundle that the program trusts,
 * so it can speak for no host but those the policy ends TLS for, if they can be
 * listed (name constraints, RFC 5280 4.2.1.10).
 */
#ifndef SBX_PROXY_AUTHORITY_H
#define SBX_PROXY_AUTHORITY_H

#include <openssl/types.h>
#include <stdbool.h>
#include <stddef.h>

struct authority;

/*
 * @session names it to people who look at a certificate.  @names: "example.com"
 * (which takes in what is below it) or literal addresses; @count 0: for any host.
 * NULL: @why says what failed.
 */
struct authority *authority_make(const char *session, const char *const *names, size_t count,
				 const char **why);
void authority_free(struct authority *authority);

/* Writes @roots (PEM, as it is) and our certificate to @fd.  False: errno. */
bool authority_write_bundle(const struct authority *authority, const char *roots, size_t size,
			    int fd);

/*
 * A connection that waits for a ClientHello, with a certificate for @host (a name or
 * a literal address; made when first asked for).  TLS 1.2 or later, http/1.1 or no
 * ALPN at all, no client certificates; a session is taken up again for the same
 * host alone.  The caller has checked the name in the ClientHello (hello.h), sets the
 * BIOs, and frees it.  NULL: no memory, or @host can stand in no certificate.
 */
SSL *authority_accept(struct authority *authority, const char *host);

#endif
