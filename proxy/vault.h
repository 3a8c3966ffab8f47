/*
 * proxy/vault.h - the worker's side of the keeper: a credential for a request.
 */
#ifndef SBX_PROXY_VAULT_H
#define SBX_PROXY_VAULT_H

#include "proxy/conn.h"
#include "proxy/keeper.h"
#include "proxy/redact.h"

struct vault;

/* @fd: the worker's end of the keeper's socket. */
struct vault *vault_make(const struct session *session, int fd);
/* Gets each credential once.  NULL, or the text of HELPER_FAILED. */
const char *vault_fill(struct vault *vault);
void vault_watch(struct vault *vault, struct event_base *base);
void vault_free(struct vault *vault);

bool vault_is_absent(const struct vault *vault, uint32_t credential);
/*
 * Asks for conn->http->credential and calls @done, once: with the answer and what
 * writes the secret can have, or NULL: the keeper is gone.
 */
typedef void vault_done(struct conn *conn, const struct keeper_answer *answer,
			struct redact_set *secrets);
void vault_ask(struct vault *vault, struct conn *conn, vault_done *done);
/* Has @redact look for @credential, as it is and as it was for as long as that may be good.
 * False: no memory. */
bool vault_search(const struct vault *vault, uint32_t credential, struct redact *redact);
/* Another number once any value has changed. */
unsigned vault_changes(const struct vault *vault);
void vault_forget(struct vault *vault, struct conn *conn);
/* The server refused the credential: get it anew, tell the person now and then. */
void vault_refused(struct vault *vault, uint32_t credential, unsigned status, const char *host);

#endif
