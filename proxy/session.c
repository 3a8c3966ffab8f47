/*
 * proxy/session.c - see session.h.
 */
#include "proxy/session.h"

#include <openssl/crypto.h>
#include <string.h>

#include "blob/proxy_wire.h"

void session_forget_sources(struct session *session)
{
	char *end = session->given.values + session->given.values_size;

	for (char *at = session->given.values; at < end;) {
		size_t size = strlen(at);

		if (given_behind(at, "env"))
			OPENSSL_cleanse(at, size);
		at += size + 1;
	}
}

const char *session_receive(struct session *session)
{
	struct given *given = &session->given;
	const char *wrong = given_receive(given, SBX_PROXY_WIRE_VERSION, "sbx-proxy");

	session->bundle_fd = given->fds[PROXY_FD_BUNDLE];
	session->log = (struct lines){ .fd = given->fds[PROXY_FD_LOG], .name = "the log of the network" };
	session->blob = given->blob;
	session->vars = given->vars;
	session->policy = given->policy;
	session->id = given->id;
	session->roots = wrong ? NULL : given_one(given, "roots");
	return wrong;
}
