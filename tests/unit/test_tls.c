#include <criterion/criterion.h>
#include <errno.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "proxy/authority.h"
#include "proxy/upstream.h"

/* The session's authority, and a client that trusts what its bundle has. */
struct world {
	struct authority *authority;
	struct upstream *upstream;
	char *bundle;
	size_t size;
};

static struct world make(const char *const *names, size_t count)
{
	struct world world;
	int fd = memfd_create("bundle", 0);
	const char *why;
	char path[64];

	world.authority = authority_make("s-1", names, count, &why);
	cr_assert(world.authority, "%s", why);
	cr_assert(authority_write_bundle(world.authority, "# none\n", 7, fd));
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	world.bundle = roots_read(path, &world.size);
	cr_assert(world.bundle);
	close(fd);
	world.upstream = upstream_make(world.bundle, world.size);
	cr_assert(world.upstream && upstream_warm(world.upstream));
	return world;
}

static void drop(struct world *world)
{
	upstream_free(world->upstream);
	authority_free(world->authority);
	free(world->bundle);
}

/* Both ends of a connection in memory.  True: both are content. */
static bool shake(SSL *client, SSL *server)
{
	BIO *up = BIO_new(BIO_s_mem()), *down = BIO_new(BIO_s_mem());
	int one = 0, other = 0;

	cr_assert(client && server);
	BIO_up_ref(up);
	BIO_up_ref(down);
	SSL_set_bio(client, down, up);
	SSL_set_bio(server, up, down);
	for (int i = 0; i < 10 && (one != 1 || other != 1); i++) {
		one = SSL_do_handshake(client);
		other = SSL_do_handshake(server);
	}
	if (one == 1 && other == 1) { /* a ticket comes with the first byte */
		char byte;

		SSL_write(server, "x", 1);
		cr_expect_eq(SSL_read(client, &byte, 1), 1);
	}
	return one == 1 && other == 1;
}

static void expect_why(SSL *client, const char *want)
{
	char why[256];

	upstream_why(client, why, sizeof(why));
	cr_expect_str_eq(why, want);
	cr_expect(upstream_objection(client));
}

static void end(SSL *client, SSL *server)
{
	SSL_set_shutdown(client, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
	SSL_set_shutdown(server, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
	SSL_free(client);
	SSL_free(server);
	ERR_clear_error();
}

Test(tls, both_sides_agree)
{
	static const char *const hosts[] = { "api.test",  "API.test.",   "a_b.c.test",
					     "192.0.2.1", "2001:db8::1", "[2001:db8::2]" };
	struct world world = make(NULL, 0);

	for (size_t i = 0; i < sizeof(hosts) / sizeof(hosts[0]); i++) {
		SSL *client = upstream_connect(world.upstream, hosts[i], 443);
		SSL *server = authority_accept(world.authority, hosts[i]);
		const uint8_t *protocol;
		unsigned size;

		cr_assert(shake(client, server), "%s", hosts[i]);
		cr_expect_null(upstream_objection(client));
		SSL_get0_alpn_selected(client, &protocol, &size);
		cr_expect(size == 8 && !memcmp(protocol, "http/1.1", 8));
		end(client, server);
	}
	cr_expect_null(authority_accept(world.authority, "no host"));
	cr_expect_null(authority_accept(world.authority, "a.test,DNS:b.test"));
	cr_expect_null(upstream_connect(world.upstream, "127.1", 443));
	drop(&world);
}

Test(tls, another_host_is_refused)
{
	static const struct {
		const char *wanted, *shown;
	} cases[] = {
		{ "api.test", "evil.test" },
		{ "api.test", "x.api.test" },
		{ "api.test", "192.0.2.1" },
		{ "www.api.test", "api.test" },
	};
	struct world world = make(NULL, 0);

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		SSL *client = upstream_connect(world.upstream, cases[i].wanted, 443);
		SSL *server = authority_accept(world.authority, cases[i].shown);

		cr_expect_not(shake(client, server));
		expect_why(client, "its certificate is refused: hostname mismatch");
		end(client, server);
	}
	SSL *client = upstream_connect(world.upstream, "192.0.2.1", 443);
	SSL *server = authority_accept(world.authority, "192.0.2.2");
	cr_expect_not(shake(client, server));
	expect_why(client, "its certificate is refused: IP address mismatch");
	end(client, server);
	drop(&world);
}

Test(tls, another_authority_is_refused)
{
	struct world one = make(NULL, 0), other = make(NULL, 0);
	SSL *client = upstream_connect(one.upstream, "api.test", 443);
	SSL *server = authority_accept(other.authority, "api.test");

	cr_expect_not(shake(client, server));
	expect_why(client, "its certificate is refused: unable to get local issuer certificate: "
			   "the system's roots alone are trusted (update-ca-certificates)");
	end(client, server);
	drop(&one);
	drop(&other);
}

/* What the authority was not made for, it cannot speak for. */
Test(tls, the_authority_is_held_to_its_hosts)
{
	static const char *const names[] = { "api.test", "192.0.2.1", "2001:db8::1" };
	static const char *const only_names[] = { "api.test" };
	static const char *const only_numbers[] = { "192.0.2.1" };
	static const struct {
		const char *const *names;
		size_t count;
		const char *host;
		bool good;
	} cases[] = {
		{ names, 3, "api.test", true },          { names, 3, "x.api.test", true },
		{ names, 3, "192.0.2.1", true },         { names, 3, "2001:db8::1", true },
		{ names, 3, "evil.test", false },        { names, 3, "notapi.test", false },
		{ names, 3, "192.0.2.2", false },        { names, 3, "2001:db8::2", false },
		{ only_names, 1, "api.test", true },     { only_names, 1, "192.0.2.1", false },
		{ only_names, 1, "2001:db8::1", false }, { only_numbers, 1, "192.0.2.1", true },
		{ only_numbers, 1, "api.test", false },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct world world = make(cases[i].names, cases[i].count);
		SSL *client = upstream_connect(world.upstream, cases[i].host, 443);
		SSL *server = authority_accept(world.authority, cases[i].host);

		cr_expect_eq(shake(client, server), cases[i].good, "case %zu", i);
		end(client, server);
		drop(&world);
	}
}

Test(tls, a_session_is_taken_up_for_its_host_alone)
{
	static const struct {
		const char *host;
		unsigned port;
		bool again;
	} steps[] = {
		{ "a.test", 443, false }, { "a.test", 443, true },   { "A.test", 443, true },
		{ "b.test", 443, false }, { "a.test", 8443, false }, { "b.test", 443, true },
	};
	struct world world = make(NULL, 0);

	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		SSL *client = upstream_connect(world.upstream, steps[i].host, steps[i].port);
		SSL *server = authority_accept(world.authority, steps[i].host);

		cr_assert(shake(client, server));
		cr_expect_eq(SSL_session_reused(client), steps[i].again, "step %zu", i);
		cr_expect_null(upstream_objection(client));
		end(client, server);
	}
	/* one host's ticket, shown to another */
	SSL *first = upstream_connect(world.upstream, "a.test", 443);
	SSL *client = upstream_connect(world.upstream, "c.test", 443);
	SSL *server = authority_accept(world.authority, "c.test");
	SSL_set_session(client, SSL_get_session(first));
	cr_expect(!shake(client, server) || !SSL_session_reused(client));
	end(client, server);
	SSL_free(first);
	drop(&world);
}

Test(tls, a_client_of_another_protocol)
{
	static const struct {
		const char *protocols;
		int version;
		bool good;
	} cases[] = {
		{ "\2h2\10http/1.1", 0, true },
		{ "\2h2", 0, false },
		{ NULL, TLS1_2_VERSION, true },
		{ NULL, TLS1_1_VERSION, false },
	};
	struct world world = make(NULL, 0);

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		SSL_CTX *context = SSL_CTX_new(TLS_client_method());
		SSL *client = SSL_new(context),
		    *server = authority_accept(world.authority, "a.test");

		SSL_set_connect_state(client);
		SSL_set_security_level(client, 0);
		SSL_set_min_proto_version(client, TLS1_VERSION);
		SSL_set_max_proto_version(client, cases[i].version);
		if (cases[i].protocols)
			SSL_set_alpn_protos(client, (const uint8_t *)cases[i].protocols,
					    (unsigned)strlen(cases[i].protocols));
		cr_expect_eq(shake(client, server), cases[i].good, "case %zu", i);
		end(client, server);
		SSL_CTX_free(context);
	}
	drop(&world);
}

/* A server of any kind: a certificate that signs itself, with what @change does to it. */
static SSL_CTX *server_of(X509 **root, const char *alt, long from, long until)
{
	SSL_CTX *context = SSL_CTX_new(TLS_server_method());
	EVP_PKEY *key = EVP_EC_gen("P-256");
	X509 *it = X509_new();
	X509_NAME *name = X509_get_subject_name(it);
	X509V3_CTX v3;

	X509_set_version(it, X509_VERSION_3);
	ASN1_INTEGER_set(X509_get_serialNumber(it), 7);
	X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, (const uint8_t *)"api.test", -1, -1,
				   0);
	X509_set_issuer_name(it, name);
	X509_gmtime_adj(X509_getm_notBefore(it), from);
	X509_gmtime_adj(X509_getm_notAfter(it), until);
	X509_set_pubkey(it, key);
	X509V3_set_ctx(&v3, it, it, NULL, NULL, 0);
	if (alt) {
		X509_EXTENSION *extension =
		    X509V3_EXT_conf_nid(NULL, &v3, NID_subject_alt_name, alt);

		X509_add_ext(it, extension, -1);
		X509_EXTENSION_free(extension);
	}
	X509_sign(it, key, EVP_sha256());
	SSL_CTX_use_certificate(context, it);
	SSL_CTX_use_PrivateKey(context, key);
	EVP_PKEY_free(key);
	*root = it;
	return context;
}

Test(tls, servers_that_are_not_good_enough)
{
	static const struct {
		const char *alt;
		long from, until;
		int version;
		const char *why; /* NULL: it is good */
	} cases[] = {
		{ "DNS:api.test", -60, 60, 0, NULL },
		{ "DNS:*.api.test,DNS:api.test", -60, 60, 0, NULL },
		{ "DNS:*.test", -60, 60, 0, "its certificate is refused: hostname mismatch" },
		{ "DNS:a*.test", -60, 60, 0, "its certificate is refused: hostname mismatch" },
		{ NULL, -60, 60, 0, "its certificate is refused: hostname mismatch" },
		{ "DNS:api.test", -120, -60, 0,
		  "its certificate is refused: certificate has expired" },
		{ "DNS:api.test", 60, 120, 0,
		  "its certificate is refused: certificate is not yet valid" },
		{ "DNS:api.test", -60, 60, TLS1_1_VERSION,
		  "it closed the connection during the TLS handshake" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		X509 *root;
		SSL_CTX *context = server_of(&root, cases[i].alt, cases[i].from, cases[i].until);
		BIO *pem = BIO_new(BIO_s_mem());
		struct upstream *upstream;
		SSL *client, *server;
		char *text;
		long size;

		PEM_write_bio_X509(pem, root);
		size = BIO_get_mem_data(pem, &text);
		upstream = upstream_make(text, (size_t)size);
		client = upstream_connect(upstream, "api.test", 443);
		SSL_CTX_set_security_level(context, 0);
		SSL_CTX_set_max_proto_version(context, cases[i].version);
		server = SSL_new(context);
		SSL_set_accept_state(server);
		cr_expect_eq(shake(client, server), !cases[i].why, "case %zu", i);
		if (!cases[i].why)
			cr_expect_null(upstream_objection(client));
		else if (!cases[i].version)
			expect_why(client, cases[i].why);
		end(client, server);
		upstream_free(upstream);
		BIO_free(pem);
		X509_free(root);
		SSL_CTX_free(context);
	}
}

Test(tls, certificates_are_kept_but_not_for_ever)
{
	struct world world = make(NULL, 0);
	char host[32];
	X509 *first, *again;

	for (int i = 0; i < 300; i++) {
		SSL *ssl;

		snprintf(host, sizeof(host), "h%d.test", i);
		ssl = authority_accept(world.authority, host);
		cr_assert(ssl);
		SSL_free(ssl);
	}
	for (int i = 0; i < 2; i++) {
		SSL *one = authority_accept(world.authority, "h299.test");
		SSL *two = authority_accept(world.authority, "H299.TEST.");

		first = SSL_get_certificate(one);
		again = SSL_get_certificate(two);
		cr_expect_eq(first, again);
		SSL_free(one);
		SSL_free(two);
	}
	drop(&world);
}

Test(tls, roots_that_are_none)
{
	size_t size;

	cr_expect_null(roots_read("/nonexistent", &size));
	cr_expect_eq(errno, ENOENT);
	cr_expect_null(roots_read("/dev/null", &size));
	cr_expect_eq(errno, EBADMSG);
	cr_expect_null(roots_read("/proc/self", &size));
	struct upstream *none = upstream_make("-----BEGIN CERTIFICATE-----\nxx\n", 31);
	cr_assert(none);
	cr_expect_not(upstream_warm(none));
	cr_expect_null(upstream_connect(none, "a.test", 443));
	upstream_free(none);
}
