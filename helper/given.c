/*
 * helper/given.c - see given.h.
 *
 * The blob was checked by sbx-exec and sits in a sealed memory file; it is
 * checked again here, since what reads it below relies on that.
 */
#include "helper/given.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "helper/control.h"

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

const char *given_behind(const char *text, const char *kind)
{
	size_t length = strlen(kind);

	return !strncmp(text, kind, length) && text[length] == ' ' ? text + length + 1 : NULL;
}

const char *given_named(const struct given *given, const char *kind, const char *name)
{
	const char *end = given->values + given->values_size;
	size_t length = strlen(name);

	for (const char *at = given->values; at < end; at += strlen(at) + 1) {
		const char *rest = given_behind(at, kind);

		if (rest && !strncmp(rest, name, length) && rest[length] == '=')
			return rest + length + 1;
	}
	return NULL;
}

const char *given_one(const struct given *given, const char *kind)
{
	const char *end = given->values + given->values_size;

	for (const char *at = given->values; at < end; at += strlen(at) + 1)
		if (given_behind(at, kind))
			return given_behind(at, kind);
	return NULL;
}

static void read_vars(struct given *given)
{
	const struct sbx_blob *blob = &given->blob;

	for (uint32_t i = 0; i < SBX_VAR_COUNT; i++)
		given->vars.value[i] = given_named(given, "var", sbx_var_name(blob, i));
	for (uint32_t i = 0; i < SBX_COUNT(blob, PARAMS); i++)
		given->vars.value[SBX_VAR_PARAM + i] = given_named(
		    given, "param", sbx_string(blob, SBX_AT(blob, PARAMS, sbx_param, i)->name));
}

const char *given_receive(struct given *given, int version, const char *us)
{
	static char text[128];
	struct helper_message message;
	const char *wrong;

	if (control_receive(true, &message, given->fds) != CONTROL_GOT ||
	    message.kind != HELPER_SESSION)
		return "sbx-exec did not say which session this is";
	snprintf(text, sizeof(text), "sbx-exec and %s are of two versions: install both anew", us);
	if (message.value != version)
		return text;
	given->blob_data = map(given->fds[0], PROT_READ, &given->blob_size);
	if (!given->blob_data)
		return "the blob cannot be read";
	wrong = sbx_blob_open(given->blob_data, given->blob_size, &given->blob);
	if (wrong)
		return wrong;
	given->values = map(given->fds[1], PROT_READ | PROT_WRITE, &given->values_size);
	if (!given->values || given->values[given->values_size - 1])
		return "the session's values cannot be read";
	given->id = given_one(given, "session");
	if (!given->id)
		return "the session has no name";
	for (size_t i = 0; i < 32; i++)
		snprintf(given->policy + 2 * i, 3, "%02x", given->blob.header->digest[i]);
	read_vars(given);
	return NULL;
}
