/*
 * proxy/upstream.c - verified TLS to the real server.
 *
 * The roots are parsed when first needed, from text that was read at the start: by then
 * no file can be opened any more.  A certificate among them that cannot be read is left
 * out, which makes nothing trusted that was not.
 */
#include "proxy/upstream.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "blob/match.h"

#define ROOTS_MAX (16u << 20)
#define SESSIONS  64
#define HOST_SIZE 256

struct origin { /* of a connection, and of a session that it may take up */
	char host[HOST_SIZE];
	unsigned port;
};

struct session {
	struct origin origin;
	SSL_SESSION *session;
};

struct upstream {
	BIO *text; /* of the roots that are not read yet */
	bool warm; /* there is one */
	SSL_CTX *context;
	struct session sessions[SESSIONS];
	unsigned next; /* to give up, once all are taken */
};

/* ---- roots ---------------------------------------------------------------------------- */

char *roots_read(const char *path, size_t *size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;
	char *text = NULL;

	if (fd < 0)
		return NULL;
	errno = EBADMSG;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size > 0 && st.st_size <= ROOTS_MAX)
		text = malloc((size_t)st.st_size + 1);
	*size = 0;
	while (text && *size < (size_t)st.st_size) {
		ssize_t got = read(fd, text + *size, (size_t)st.st_size - *size);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		*size += (size_t)got;
	}
	close(fd);
	if (!text)
		return NULL;
	text[*size] = '\0';
	if (strstr(text, "-----BEGIN CERTIFICATE-----") ||
	    strstr(text, "-----BEGIN TRUSTED CERTIFICATE-----"))
		return text;
	free(text);
	errno = EBADMSG;
	return NULL;
}

bool upstream_read(struct upstream *upstream, unsigned count)
{
	X509_STORE *store = SSL_CTX_get_cert_store(upstream->context);

	for (; count && upstream->text && !BIO_eof(upstream->text); count--) {
		X509 *root = PEM_read_bio_X509_AUX(upstream->text, NULL, NULL, NULL);

		if (root && X509_STORE_add_cert(store, root) == 1)
			upstream->warm = true;
		X509_free(root);
	}
	ERR_clear_error();
	if (upstream->text && !BIO_eof(upstream->text))
		return true;
	BIO_free(upstream->text);
	upstream->text = NULL;
	return false;
}

bool upstream_warm(struct upstream *upstream)
{
	while (upstream_read(upstream, UINT_MAX))
		;
	return upstream->warm;
}

/* ---- sessions -------------------------------------------------------------------------- */

static void free_origin(void *parent, void *origin, CRYPTO_EX_DATA *data, int index, long number,
			void *pointer)
{
	(void)parent, (void)data, (void)index, (void)number, (void)pointer;
	free(origin);
}

static int origin_index(void)
{
	static int index = -1; /* of OpenSSL's slots for a program's own */

	if (index < 0)
		index = SSL_get_ex_new_index(0, NULL, NULL, NULL, free_origin);
	return index;
}

static struct session *find_session(struct upstream *upstream, const struct origin *origin)
{
	for (struct session *it = upstream->sessions; it < upstream->sessions + SESSIONS; it++)
		if (it->session && it->origin.port == origin->port &&
		    !strcasecmp(it->origin.host, origin->host))
			return it;
	return NULL;
}

/* The newest one for each origin is kept. */
static int keep_session(SSL *ssl, SSL_SESSION *session)
{
	struct upstream *upstream = SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl));
	const struct origin *origin = SSL_get_ex_data(ssl, origin_index());
	struct session *slot = find_session(upstream, origin);

	if (SSL_get_verify_result(ssl) != X509_V_OK)
		return 0;
	if (!slot) {
		slot = &upstream->sessions[upstream->next];
		upstream->next = (upstream->next + 1) % SESSIONS;
	}
	SSL_SESSION_free(slot->session);
	slot->origin = *origin;
	slot->session = session;
	return 1; /* the reference is ours */
}

/* ---- connections ----------------------------------------------------------------------- */

struct upstream *upstream_make(const char *roots, size_t size)
{
	static const uint8_t http11[] = "\x08http/1.1";
	struct upstream *upstream = calloc(1, sizeof(*upstream));

	if (!upstream)
		return NULL;
	upstream->context = SSL_CTX_new(TLS_client_method());
	upstream->text = size > ROOTS_MAX ? NULL : BIO_new_mem_buf(roots, (int)size);
	if (!upstream->context || !upstream->text ||
	    SSL_CTX_set_alpn_protos(upstream->context, http11, sizeof(http11) - 1) != 0) {
		upstream_free(upstream);
		return NULL;
	}
	SSL_CTX_set_min_proto_version(upstream->context, TLS1_2_VERSION);
	SSL_CTX_set_verify(upstream->context, SSL_VERIFY_PEER, NULL);
	SSL_CTX_set_options(upstream->context, SSL_OP_NO_RENEGOTIATION);
	SSL_CTX_set_mode(upstream->context, SSL_MODE_RELEASE_BUFFERS |
						SSL_MODE_ENABLE_PARTIAL_WRITE |
						SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
	SSL_CTX_set_app_data(upstream->context, upstream);
	SSL_CTX_set_session_cache_mode(upstream->context,
				       SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
	SSL_CTX_sess_set_new_cb(upstream->context, keep_session);
	return upstream;
}

void upstream_free(struct upstream *upstream)
{
	if (!upstream)
		return;
	for (struct session *it = upstream->sessions; it < upstream->sessions + SESSIONS; it++)
		SSL_SESSION_free(it->session);
	BIO_free(upstream->text);
	SSL_CTX_free(upstream->context);
	free(upstream);
}

/* Whom the certificate has to name: by its alternative names, a `*` for one whole
 * label, never by its subject. */
static bool expect_host(SSL *ssl, const char *host)
{
	X509_VERIFY_PARAM *param = SSL_get0_param(ssl);
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };
	uint8_t address[16];

	X509_VERIFY_PARAM_set_hostflags(param, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS |
						   X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
	switch (sbx_host_kind(host, address)) {
	case SBX_HOST_NAME:
		return SSL_set_tlsext_host_name(ssl, (uintptr_t)host) == 1 &&
		       SSL_set1_host(ssl, host) == 1;
	case SBX_HOST_ADDRESS:
		if (!memcmp(address, mapped, sizeof(mapped)))
			return X509_VERIFY_PARAM_set1_ip(param, address + 12, 4) == 1;
		return X509_VERIFY_PARAM_set1_ip(param, address, sizeof(address)) == 1;
	default:
		return false;
	}
}

static struct origin *make_origin(const char *host, unsigned port)
{
	size_t length = sbx_host_length(host);
	struct origin *origin = length < HOST_SIZE ? calloc(1, sizeof(*origin)) : NULL;

	if (!origin)
		return NULL;
	memcpy(origin->host, host, length);
	origin->port = port;
	return origin;
}

SSL *upstream_connect(struct upstream *upstream, const char *host, unsigned port)
{
	struct origin *origin = upstream_warm(upstream) ? make_origin(host, port) : NULL;
	SSL *ssl = origin ? SSL_new(upstream->context) : NULL;
	const struct session *known;

	if (!ssl || SSL_set_ex_data(ssl, origin_index(), origin) != 1) {
		free(origin);
		SSL_free(ssl);
		return NULL;
	}
	if (!expect_host(ssl, origin->host)) {
		SSL_free(ssl);
		return NULL;
	}
	known = find_session(upstream, origin);
	if (known)
		SSL_set_session(ssl, known->session);
	SSL_set_connect_state(ssl);
	return ssl;
}

const char *upstream_objection(const SSL *ssl)
{
	const uint8_t *protocol;
	unsigned size;

	if (!SSL_is_init_finished(ssl))
		return "its TLS handshake is not done";
	if (SSL_get_verify_result(ssl) != X509_V_OK || !SSL_get0_peer_certificate(ssl))
		return "its certificate was not verified";
	if (SSL_version(ssl) < TLS1_2_VERSION)
		return "it speaks an old TLS";
	SSL_get0_alpn_selected(ssl, &protocol, &size);
	if (size && (size != 8 || memcmp(protocol, "http/1.1", 8) != 0))
		return "it speaks another protocol than http/1.1";
	return NULL;
}

/* Does @result say that the chain leads to nobody whom the system trusts?  Only then is there
 * something to be done on this machine. */
static bool unknown_issuer(long result)
{
	return result == X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT ||
	       result == X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY ||
	       result == X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE ||
	       result == X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN ||
	       result == X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT;
}

void upstream_why(const SSL *ssl, char *out, size_t size)
{
	long result = SSL_get_verify_result(ssl);
	unsigned long error = ERR_peek_error();
	const char *reason = error ? ERR_reason_error_string(error) : NULL;

	if (result != X509_V_OK)
		snprintf(out, size, "its certificate is refused: %s%s",
			 X509_verify_cert_error_string(result),
			 unknown_issuer(result)
				 ? ": the system's roots alone are trusted (update-ca-certificates)"
				 : "");
	else if (reason)
		snprintf(out, size, "TLS: %s", reason);
	else
		snprintf(out, size, "it closed the connection during the TLS handshake");
	ERR_clear_error();
}
