/*
 * proxy/session.c - see session.h.
 *
 * The blob was checked by sbx-exec and sits in a sealed memory file; it is
 * checked again here, since what reads it below relies on that.
 */
#include "proxy/session.h"

#include "proxy/control.h"

#include <fcntl.h>
#include <openssl/crypto.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* A whole file, or a copy of it to write in; NULL: it is empty, or somebody could change
 * it or cut it off under us, or it cannot be had. */
static void *map(int fd, int access, size_t *size)
{
	const int sealed = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;
	struct stat status;
	int seals = fd < 0 ? -1 : fcntl(fd, F_GET_SEALS);
	void *at;

	if (seals < 0 || (seals & sealed) != sealed || fstat(fd, &status) || status.st_size <= 0)
		return NULL;
	*size = (size_t)status.st_size;
	at = mmap(NULL, *size, access, MAP_PRIVATE, fd, 0);
	close(fd);
	return at == MAP_FAILED ? NULL : at;
}

/* The value behind "@kind " in one of the strings, else NULL. */
static const char *behind(const char *text, const char *kind)
{
	size_t length = strlen(kind);

	return !strncmp(text, kind, length) && text[length] == ' ' ? text + length + 1 : NULL;
}

const char *session_value(const struct session *session, const char *kind, const char *name)
{
	const char *end = session->values + session->values_size;
	size_t length = strlen(name);

	for (const char *at = session->values; at < end; at += strlen(at) + 1) {
		const char *rest = behind(at, kind);

		if (rest && !strncmp(rest, name, length) && rest[length] == '=')
			return rest + length + 1;
	}
	return NULL;
}

/* The one value of a kind without names. */
static const char *single(const struct session *session, const char *kind)
{
	const char *end = session->values + session->values_size;

	for (const char *at = session->values; at < end; at += strlen(at) + 1)
		if (behind(at, kind))
			return behind(at, kind);
	return NULL;
}

static void read_vars(struct session *session)
{
	const struct sbx_blob *blob = &session->blob;

	for (uint32_t i = 0; i < SBX_VAR_COUNT; i++)
		session->vars.value[i] = session_value(session, "var", sbx_var_name(blob, i));
	for (uint32_t i = 0; i < SBX_COUNT(blob, PARAMS); i++)
		session->vars.value[SBX_VAR_PARAM + i] = session_value(
			session, "param", sbx_string(blob, SBX_AT(blob, PARAMS, sbx_param, i)->name));
}

void session_forget_sources(struct session *session)
{
	char *end = session->values + session->values_size;

	for (char *at = session->values; at < end;) {
		size_t size = strlen(at);

		if (behind(at, "env"))
			OPENSSL_cleanse(at, size);
		at += size + 1;
	}
}

const char *session_receive(struct session *session)
{
	struct proxy_message message;
	int fds[CONTROL_FDS];
	size_t size;
	const void *data;
	const char *wrong;

	if (control_receive(true, &message, fds) != CONTROL_GOT || message.kind != PROXY_SESSION)
		return "sbx-exec did not say which session this is";
	if (message.value != SBX_PROXY_WIRE_VERSION)
		return "sbx-exec and sbx-proxy are of two versions: install both anew";
	session->bundle_fd = fds[PROXY_FD_BUNDLE];
	session->log_fd = fds[PROXY_FD_LOG];
	data = map(fds[PROXY_FD_BLOB], PROT_READ, &size);
	if (!data)
		return "the blob cannot be read";
	wrong = sbx_blob_open(data, size, &session->blob);
	if (wrong)
		return wrong;
	session->values =
		map(fds[PROXY_FD_VALUES], PROT_READ | PROT_WRITE, &session->values_size);
	if (!session->values || session->values[session->values_size - 1])
		return "the session's values cannot be read";
	session->id = single(session, "session");
	session->roots = single(session, "roots");
	if (!session->id)
		return "the session has no name";
	for (size_t i = 0; i < 32; i++)
		snprintf(session->policy + 2 * i, 3, "%02x", session->blob.header->digest[i]);
	read_vars(session);
	return NULL;
}
