/*
 * A ClientHello, read by us and by OpenSSL: where both read it, both see the same name.
 * And no beginning of it is judged otherwise than the whole but by asking for more.
 */
#include <openssl/ssl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proxy/hello.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define fault(...) (fprintf(stderr, __VA_ARGS__), fputc('\n', stderr), abort())

struct seen {
	bool any, named;
	char name[65536];
};

static int look(SSL *ssl, int *alert, void *context)
{
	struct seen *seen = context;
	const uint8_t *body;
	size_t size;

	(void)alert;
	seen->any = true;
	seen->named = SSL_client_hello_get0_ext(ssl, TLSEXT_TYPE_server_name, &body, &size) == 1;
	if (seen->named && size > 5) {
		memcpy(seen->name, body + 5, size - 5);
		seen->name[size - 5] = '\0';
	}
	return SSL_CLIENT_HELLO_ERROR;
}

static void compare(const uint8_t *data, size_t size, const struct hello *hello)
{
	static struct seen seen;
	static SSL_CTX *context;
	SSL *ssl;

	if (!context) {
		context = SSL_CTX_new(TLS_server_method());
		SSL_CTX_set_client_hello_cb(context, look, &seen);
	}
	memset(&seen, 0, sizeof(seen));
	ssl = SSL_new(context);
	SSL_set_accept_state(ssl);
	SSL_set_bio(ssl, BIO_new_mem_buf(data, (int)size), BIO_new(BIO_s_null()));
	SSL_do_handshake(ssl);
	if (seen.any && strcmp(seen.name, hello->name) != 0)
		fault("OpenSSL sees '%s', we see '%s'", seen.name, hello->name);
	SSL_free(ssl);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct hello hello, part;
	enum hello_state whole = hello_read(data, size, &hello), state;

	if (whole == HELLO_MORE && size > HELLO_MAX + 5 * HELLO_RECORDS)
		fault("wants more for ever");
	for (size_t cut = 0; cut < size; cut += 1 + cut / 16) {
		state = hello_read(data, cut, &part);
		if (state != HELLO_MORE && state != whole)
			fault("%zu bytes are %d, all of them %d", cut, state, whole);
	}
	if (whole == HELLO_FOUND)
		compare(data, size, &hello);
	hello_objection(whole, &hello, "example.com", 443);
	return 0;
}
