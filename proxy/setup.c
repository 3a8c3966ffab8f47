/*
 * proxy/setup.c - see setup.h.
 */
#include "proxy/setup.h"

#include "proxy/authority.h"
#include "proxy/keeper.h"
#include "proxy/upstream.h"
#include "proxy/vault.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define NAMES_MAX 256

/* The hosts that TLS is ended for; @any: they cannot be listed. */
struct names {
	char *name[NAMES_MAX];
	size_t count;
	bool any;
};

static void add_name(struct names *names, const char *name, size_t length)
{
	if (length > 2 && !strncmp(name, "*.", 2)) {
		name += 2;
		length -= 2;
	}
	if (names->count == NAMES_MAX || !length || memchr(name, '*', length) ||
	    !(names->name[names->count] = strndup(name, length)))
		names->any = true;
	else
		names->count++;
}

static void add_rules(const struct sbx_blob *blob, struct names *names)
{
	for (uint32_t i = 0; i < SBX_COUNT(blob, NET); i++) {
		const struct sbx_net_rule *rule = SBX_AT(blob, NET, sbx_net_rule, i);
		const char *host = sbx_string(blob, rule->host);

		if (rule->head.verb != SBX_NETV_ALLOW ||
		    (!rule->method_count && !sbx_present(rule->prefix)))
			continue;
		if (rule->kind == SBX_NETK_HOST || rule->kind == SBX_NETK_SUFFIX)
			add_name(names, host, strlen(host));
		else
			names->any = true;
	}
}

static void add_credentials(const struct session *session, struct names *names)
{
	const struct sbx_blob *blob = &session->blob;

	for (uint32_t i = 0; i < SBX_COUNT(blob, CREDENTIALS); i++) {
		const struct sbx_credential *credential =
			SBX_AT(blob, CREDENTIALS, sbx_credential, i);

		for (uint32_t j = 0; j < credential->host_count; j++) {
			struct sbx_tmpl tmpl =
				*SBX_AT(blob, TMPLS, sbx_tmpl, credential->host_first + j);
			char host[512], *colon;
			uint32_t unset;
			bool wild;

			if (sbx_expand(blob, tmpl, &session->vars, host, sizeof(host), &wild,
				       &unset) < 0)
				continue; /* sbx_credential_for does not match it either */
			colon = strrchr(host, ':');
			add_name(names, host, colon ? (size_t)(colon - host) : strlen(host));
		}
	}
}

static bool write_all(int fd, const char *data, size_t size)
{
	while (size) {
		ssize_t put = write(fd, data, size);

		if (put < 0 && errno == EINTR)
			continue;
		if (put <= 0)
			return false;
		data += put;
		size -= (size_t)put;
	}
	return true;
}

/* The bundle is the system's roots, and our own CA where TLS is ended at all. */
static const char *make_trust(struct worker *worker)
{
	static char text[512];
	struct session *session = worker->session;
	struct names names = { .count = 0 };
	const char *wrong = NULL;
	size_t size = 0;
	bool written;

	add_rules(&session->blob, &names);
	add_credentials(session, &names);
	worker->roots = session->roots ? roots_read(session->roots, &size) : NULL;
	if ((names.count || names.any) && !worker->roots) {
		snprintf(text, sizeof(text), "the roots of trust cannot be read: %s: %s",
			 session->roots ? session->roots : "(none)",
			 session->roots ? strerror(errno) : "install ca-certificates");
		return text;
	}
	if (names.count || names.any) {
		worker->authority = authority_make(session->id, (const char *const *)names.name,
						   names.any ? 0 : names.count, &wrong);
		worker->upstream = upstream_make(worker->roots, size);
		if (!worker->authority)
			return wrong;
		if (!worker->upstream)
			return "no memory";
	}
	while (names.count)
		free(names.name[--names.count]);
	if (session->bundle_fd < 0)
		return NULL;
	written = worker->authority ? authority_write_bundle(worker->authority, worker->roots, size,
							     session->bundle_fd)
				    : write_all(session->bundle_fd, worker->roots, size);
	close(session->bundle_fd);
	return written ? NULL : "the session's bundle of roots cannot be written";
}

static const char *start_keeper(struct worker *worker)
{
	struct session *session = worker->session;
	struct keeper_setup setup = { &session->blob, &session->vars, session->given.values,
				      session->given.values_size };
	int pair[2];
	pid_t pid;

	if (!SBX_COUNT(&session->blob, CREDENTIALS)) {
		session_forget_sources(session);
		return NULL;
	}
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return "no keeper of the credentials can be started";
	pid = fork();
	if (!pid)
		keeper_run(&setup, pair[1]);
	close(pair[1]);
	session_forget_sources(session);
	worker->vault = pid > 0 ? vault_make(session, pair[0]) : NULL;
	return worker->vault ? NULL : "no keeper of the credentials can be started";
}

const char *setup_session(struct worker *worker)
{
	const char *wrong = start_keeper(worker);

	/* While the keeper starts. */
	if (!wrong)
		wrong = make_trust(worker);
	return wrong || !worker->vault ? wrong : vault_fill(worker->vault);
}

void setup_undo(struct worker *worker)
{
	vault_free(worker->vault);
	upstream_free(worker->upstream);
	authority_free(worker->authority);
	free(worker->roots);
}
