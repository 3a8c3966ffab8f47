/*
 * prove/basis.c - what a proof rests on.
 */
#include "prove/basis.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "compiler/targets.h"
#include "prove/agent.h"

#define ERRATA_VERSION 2 /* LANDLOCK_CREATE_RULESET_ERRATA, from 6.15 on */

const char *const basis_names[BASIS_COUNT] = {
	[BASIS_POLICY] = "policy",     [BASIS_DEFINES] = "defines",   [BASIS_KERNEL] = "kernel",
	[BASIS_LANDLOCK] = "landlock", [BASIS_LAUNCHER] = "launcher", [BASIS_BWRAP] = "bwrap",
	[BASIS_FIREJAIL] = "firejail", [BASIS_AGENT] = "agent",
};

/* ---- hashes -------------------------------------------------------------------------------- */

void basis_hex(const uint8_t digest[32], char out[BASIS_HEX_SIZE])
{
	for (int i = 0; i < 32; i++)
		snprintf(out + 2 * i, 3, "%02x", digest[i]);
}

static void end(struct sbx_sha256 *sum, char out[BASIS_HEX_SIZE])
{
	uint8_t digest[32];

	sbx_sha256_end(sum, digest);
	basis_hex(digest, out);
}

void basis_hash(const char *text, size_t size, char out[BASIS_HEX_SIZE])
{
	struct sbx_sha256 sum;

	sbx_sha256_init(&sum);
	sbx_sha256_add(&sum, text, size);
	end(&sum, out);
}

const char *basis_hash_of_file(struct arena *arena, const char *path, int *error)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	char *out = arena_alloc(arena, BASIS_HEX_SIZE), buffer[65536];
	ssize_t got = fd < 0 ? -1 : 0;
	struct sbx_sha256 sum;

	sbx_sha256_init(&sum);
	while (fd >= 0 && (got = read(fd, buffer, sizeof(buffer))) > 0)
		sbx_sha256_add(&sum, buffer, (size_t)got);
	*error = errno;
	if (fd >= 0)
		close(fd);
	end(&sum, out);
	return got < 0 ? NULL : out;
}

/* Or why there is none: that is no hash, so it stays different from one. */
static const char *hash_or_why(struct arena *arena, const char *path)
{
	int error;
	const char *hash = basis_hash_of_file(arena, path, &error);

	return hash ? hash : strerror(error);
}

/* ---- each ------------------------------------------------------------------------------------ */

const char *basis_program(struct arena *arena, enum sbx_backend backend)
{
	static const char *const places[] = { "/usr/bin", "/usr/local/bin" };

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		const char *path =
		    arena_printf(arena, "%s/%s", places[i], sbx_backend_name(backend));

		if (access(path, F_OK) == 0)
			return path;
	}
	return NULL;
}

/* "/usr/bin/bwrap SHA-256 bubblewrap 0.8.0", the first line of what it says: a version
 * says what changed, only a hash that nothing did. */
static const char *backend_here(struct arena *arena, enum sbx_backend backend)
{
	const char *path = basis_program(arena, backend);
	char line[128] = "";
	FILE *out;

	if (!path)
		return "not installed";
	out = popen(arena_printf(arena, "%s --version 2>/dev/null", path), "re");
	if (out && !fgets(line, sizeof(line), out))
		*line = '\0';
	if (out)
		pclose(out);
	line[strcspn(line, "\n")] = '\0';
	return arena_printf(arena, "%s %s %s", path, hash_or_why(arena, path), line);
}

static const char *param_name(const struct proven *proven, uint32_t index)
{
	return sbx_string(proven->blob, SBX_AT(proven->blob, PARAMS, sbx_param, index)->name);
}

const char *basis_value(const struct proven *proven, uint32_t index)
{
	for (size_t i = 0; i < proven->define_count; i++)
		if (!strcmp(proven->defines[i].name, param_name(proven, index)))
			return proven->defines[i].value;
	return NULL;
}

/* "NAME=VALUE NAME=VALUE", in the order of the policy's params. */
static const char *defines_here(struct arena *arena, const struct proven *proven)
{
	const char *text = "", *value;

	for (uint32_t i = 0; i < SBX_COUNT(proven->blob, PARAMS); i++)
		if ((value = basis_value(proven, i)))
			text = arena_printf(arena, "%s%s%s=%s", text, *text ? " " : "",
					    param_name(proven, i), value);
	return text;
}

unsigned basis_errata(void)
{
	long mended = syscall(SYS_landlock_create_ruleset, NULL, 0, ERRATA_VERSION);

	return mended < 0 ? 0 : (unsigned)mended;
}

void basis_here(struct arena *arena, const struct proven *proven, const char *bases[BASIS_COUNT])
{
	char *digest = arena_alloc(arena, BASIS_HEX_SIZE);
	struct utsname machine = { 0 };

	uname(&machine);
	basis_hex(proven->blob->header->digest, digest);
	bases[BASIS_POLICY] = digest;
	bases[BASIS_DEFINES] = defines_here(arena, proven);
	bases[BASIS_KERNEL] =
	    arena_printf(arena, "%s %s %s", machine.release, machine.version, machine.machine);
	bases[BASIS_LANDLOCK] =
	    arena_printf(arena, "ABI %u, errata %#x", targets_abi_here(), basis_errata());
	bases[BASIS_LAUNCHER] = hash_or_why(arena, proven->launcher);
	bases[BASIS_BWRAP] = backend_here(arena, SBX_BWRAP);
	bases[BASIS_FIREJAIL] = backend_here(arena, SBX_FIREJAIL);
	bases[BASIS_AGENT] = agent_here(arena, proven->blob);
}
