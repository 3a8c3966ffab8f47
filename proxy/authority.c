/*
 * proxy/authority.c - makes the session's certificates, in memory.
 *
 * Two P-256 keys: the authority's, and one that all hosts' certificates are for.  One
 * certificate takes 0.1 ms to sign; the last 256 are kept.  One context for all
 * connections, so one key for session tickets, which OpenSSL makes at random and
 * nobody else ever has; the session's context is the host, so that no session is taken
 * up for another.
 */
#include "proxy/authority.h"

#include <arpa/inet.h>
#include <errno.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "blob/match.h"

#define LEAVES       256
#define HOST_SIZE    256
#define DAY          86400L
#define VALID        (397 * DAY) /* more than that, and Apple's verifier refuses a server */
#define SERIAL_BYTES 16
#define COMMON_NAME  64 /* ub-common-name, RFC 5280 A.1 */

struct leaf {
	char host[HOST_SIZE];
	X509 *certificate;
};

struct authority {
	EVP_PKEY *key, *leaf_key;
	X509 *certificate;
	SSL_CTX *context;
	struct leaf leaves[LEAVES];
	unsigned next; /* leaf to give up, once all are taken */
};

/* ---- certificates ----------------------------------------------------------------------- */

static bool set_serial(X509 *certificate)
{
	uint8_t bytes[SERIAL_BYTES];
	BIGNUM *number;
	bool good;

	if (RAND_bytes(bytes, sizeof(bytes)) != 1)
		return false;
	bytes[0] = (uint8_t)((bytes[0] & 0x7f) | 0x40); /* positive, of one length */
	number = BN_bin2bn(bytes, sizeof(bytes), NULL);
	good = number && BN_to_ASN1_INTEGER(number, X509_get_serialNumber(certificate));
	BN_free(number);
	return good;
}

static bool add_extension(X509 *certificate, X509 *issuer, int nid, const char *value)
{
	X509_EXTENSION *extension;
	X509V3_CTX context;
	bool good;

	X509V3_set_ctx(&context, issuer, certificate, NULL, NULL, 0);
	extension = X509V3_EXT_conf_nid(NULL, &context, nid, value);
	good = extension && X509_add_ext(certificate, extension, -1) == 1;
	X509_EXTENSION_free(extension);
	return good;
}

/* What both kinds have: who, when, whose key.  From a day back: clocks differ. */
static X509 *begin(EVP_PKEY *key, const char *name, X509 *issuer)
{
	X509 *certificate = X509_new();
	X509_NAME *subject;

	if (!certificate)
		return NULL;
	subject = X509_get_subject_name(certificate);
	if (X509_set_version(certificate, X509_VERSION_3) == 1 && set_serial(certificate) &&
	    X509_NAME_add_entry_by_NID(subject, NID_organizationName, MBSTRING_UTF8,
				       (const uint8_t *)"sbx", -1, -1, 0) == 1 &&
	    X509_NAME_add_entry_by_NID(subject, NID_commonName, MBSTRING_UTF8,
				       (const uint8_t *)name, (int)strnlen(name, COMMON_NAME), -1,
				       0) == 1 &&
	    X509_set_issuer_name(certificate, issuer ? X509_get_subject_name(issuer) : subject) ==
		1 &&
	    X509_gmtime_adj(X509_getm_notBefore(certificate), -DAY) &&
	    X509_gmtime_adj(X509_getm_notAfter(certificate), VALID - DAY) &&
	    X509_set_pubkey(certificate, key) == 1)
		return certificate;
	X509_free(certificate);
	return NULL;
}

/* A host in OpenSSL's notation.  Only what sbx_host_kind() lets pass gets here: no
 * byte of it has a meaning of its own there. */
static bool print_host(BIO *out, const char *host, bool as_range)
{
	char text[INET6_ADDRSTRLEN];
	uint8_t address[16];

	switch (sbx_host_kind(host, address)) {
	case SBX_HOST_NAME:
		return BIO_printf(out, "DNS:%.*s", (int)sbx_host_length(host), host) > 0;
	case SBX_HOST_ADDRESS:
		break;
	default:
		return false;
	}
	if (IN6_IS_ADDR_V4MAPPED((const struct in6_addr *)address)) {
		inet_ntop(AF_INET, address + 12, text, sizeof(text));
		return BIO_printf(out, "IP:%s%s", text, as_range ? "/255.255.255.255" : "") > 0;
	}
	inet_ntop(AF_INET6, address, text, sizeof(text));
	return BIO_printf(out, "IP:%s%s", text,
			  as_range ? "/ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff" : "") > 0;
}

/*
 * A kind of name that no constraint speaks of is free (RFC 5280): so each of both is
 * spoken of, by one that nothing matches where there is none.
 */
static bool constrain(X509 *certificate, const char *const *names, size_t count)
{
	BIO *text = BIO_new(BIO_s_mem());
	bool good = true, named = false, numbered = false;
	uint8_t address[16];
	char *value;

	if (!text)
		return false;
	BIO_puts(text, "critical");
	for (size_t i = 0; good && i < count; i++) {
		bool is_name = sbx_host_kind(names[i], address) == SBX_HOST_NAME;

		named |= is_name;
		numbered |= !is_name;
		BIO_puts(text, ",permitted;");
		good = print_host(text, names[i], true);
	}
	if (!named)
		BIO_puts(text, ",permitted;DNS:invalid");
	if (!numbered)
		BIO_puts(text, ",excluded;IP:0.0.0.0/0.0.0.0,excluded;IP:::/::");
	good = good && BIO_write(text, "", 1) == 1 && BIO_get_mem_data(text, &value) > 0 &&
	       add_extension(certificate, certificate, NID_name_constraints, value);
	BIO_free(text);
	return good;
}

static X509 *make_root(EVP_PKEY *key, const char *session, const char *const *names, size_t count)
{
	char name[COMMON_NAME + 1];
	X509 *root;

	snprintf(name, sizeof(name), "sbx session %s", session);
	root = begin(key, name, NULL);
	if (root &&
	    add_extension(root, root, NID_basic_constraints, "critical,CA:TRUE,pathlen:0") &&
	    add_extension(root, root, NID_key_usage, "critical,keyCertSign") &&
	    add_extension(root, root, NID_subject_key_identifier, "hash") &&
	    (!count || constrain(root, names, count)) && X509_sign(root, key, EVP_sha256()))
		return root;
	X509_free(root);
	return NULL;
}

static X509 *make_leaf(const struct authority *authority, const char *host)
{
	X509 *leaf = begin(authority->leaf_key, "sbx-proxy", authority->certificate);
	BIO *text = BIO_new(BIO_s_mem());
	bool good = leaf && text && print_host(text, host, false);
	char *value;

	good = good && BIO_write(text, "", 1) == 1 && BIO_get_mem_data(text, &value) > 0 &&
	       add_extension(leaf, NULL, NID_subject_alt_name, value) &&
	       add_extension(leaf, NULL, NID_basic_constraints, "critical,CA:FALSE") &&
	       add_extension(leaf, NULL, NID_key_usage, "critical,digitalSignature") &&
	       add_extension(leaf, NULL, NID_ext_key_usage, "serverAuth") &&
	       add_extension(leaf, authority->certificate, NID_authority_key_identifier,
			     "keyid:always") &&
	       X509_sign(leaf, authority->key, EVP_sha256());
	BIO_free(text);
	if (good)
		return leaf;
	X509_free(leaf);
	return NULL;
}

/* ---- the server's side ------------------------------------------------------------------ */

/* HTTP/2 is never offered: each request is read, and HTTP/1.1 is what is read here. */
static int choose_protocol(SSL *ssl, const uint8_t **out, uint8_t *out_size, const uint8_t *in,
			   unsigned size, void *unused)
{
	static const uint8_t http11[] = "\x08http/1.1";

	(void)ssl;
	(void)unused;
	return SSL_select_next_proto((uint8_t **)(uintptr_t)out, out_size, http11,
				     sizeof(http11) - 1, in, size) == OPENSSL_NPN_NEGOTIATED
		   ? SSL_TLSEXT_ERR_OK
		   : SSL_TLSEXT_ERR_ALERT_FATAL;
}

static SSL_CTX *make_context(void)
{
	SSL_CTX *context = SSL_CTX_new(TLS_server_method());

	if (!context)
		return NULL;
	SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
	SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_CIPHER_SERVER_PREFERENCE);
	SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE |
				      SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
	SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF); /* tickets are on */
	SSL_CTX_set_num_tickets(context, 1);
	SSL_CTX_set_alpn_select_cb(context, choose_protocol, NULL);
	return context;
}

static const X509 *find_leaf(struct authority *authority, const char *host)
{
	size_t length = sbx_host_length(host);
	struct leaf *leaf;
	X509 *made;

	if (length >= HOST_SIZE)
		return NULL;
	for (leaf = authority->leaves; leaf < authority->leaves + LEAVES && leaf->certificate;
	     leaf++)
		if (strlen(leaf->host) == length && !strncasecmp(leaf->host, host, length))
			return leaf->certificate;
	made = make_leaf(authority, host);
	if (!made)
		return NULL;
	leaf = &authority->leaves[authority->next];
	authority->next = (authority->next + 1) % LEAVES;
	X509_free(leaf->certificate);
	leaf->certificate = made;
	memcpy(leaf->host, host, length);
	leaf->host[length] = '\0';
	return made;
}

SSL *authority_accept(struct authority *authority, const char *host)
{
	const X509 *leaf = find_leaf(authority, host);
	uint8_t digest[SSL_MAX_SID_CTX_LENGTH];
	char lower[HOST_SIZE];
	struct sbx_sha256 sum;
	SSL *ssl;

	if (!leaf)
		return NULL;
	sbx_sha256_init(&sum);
	for (size_t i = 0; i < sbx_host_length(host); i++)
		lower[i] = (char)(host[i] >= 'A' && host[i] <= 'Z' ? host[i] | 0x20 : host[i]);
	sbx_sha256_add(&sum, lower, sbx_host_length(host));
	sbx_sha256_end(&sum, digest);
	ssl = SSL_new(authority->context);
	if (ssl && SSL_use_certificate(ssl, (X509 *)(uintptr_t)leaf) == 1 &&
	    SSL_use_PrivateKey(ssl, authority->leaf_key) == 1 &&
	    SSL_set_session_id_context(ssl, digest, sizeof(digest)) == 1) {
		SSL_set_accept_state(ssl);
		return ssl;
	}
	SSL_free(ssl);
	return NULL;
}

/* ---- beginning and end -------------------------------------------------------------------- */

struct authority *authority_make(const char *session, const char *const *names, size_t count,
				 const char **why)
{
	struct authority *authority = calloc(1, sizeof(*authority));

	/* The first of OpenSSL's here: no openssl.cnf, which may name code to be loaded, and
	 * which takes 0.6 ms. */
	OPENSSL_init_ssl(OPENSSL_INIT_NO_LOAD_CONFIG, NULL);
	*why = "no memory";
	if (!authority)
		return NULL;
	authority->key = EVP_EC_gen("P-256");
	authority->leaf_key = EVP_EC_gen("P-256");
	if (authority->key && authority->leaf_key)
		authority->certificate = make_root(authority->key, session, names, count);
	authority->context = make_context();
	if (authority->certificate && authority->context)
		return authority;
	*why = ERR_reason_error_string(ERR_peek_last_error());
	if (!*why)
		*why = "OpenSSL does not say why";
	ERR_clear_error();
	authority_free(authority);
	return NULL;
}

void authority_free(struct authority *authority)
{
	if (!authority)
		return;
	for (struct leaf *leaf = authority->leaves; leaf < authority->leaves + LEAVES; leaf++)
		X509_free(leaf->certificate);
	SSL_CTX_free(authority->context);
	X509_free(authority->certificate);
	EVP_PKEY_free(authority->leaf_key);
	EVP_PKEY_free(authority->key);
	free(authority);
}

static bool write_all(int fd, const char *data, size_t size)
{
	while (size) {
		ssize_t done = write(fd, data, size);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return false;
		data += done;
		size -= (size_t)done;
	}
	return true;
}

bool authority_write_bundle(const struct authority *authority, const char *roots, size_t size,
			    int fd)
{
	BIO *text = BIO_new(BIO_s_mem());
	bool good = false;
	long length;
	char *pem;

	errno = ENOMEM;
	if (text && BIO_puts(text, "\n# sbx: the proxy's, for as long as it runs\n") > 0 &&
	    PEM_write_bio_X509(text, authority->certificate) == 1) {
		length = BIO_get_mem_data(text, &pem);
		good = write_all(fd, roots, size) && write_all(fd, pem, (size_t)length);
	}
	BIO_free(text);
	return good;
}
