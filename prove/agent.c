/*
 * prove/agent.c - which program the policy was proven for.
 *
 * It is not asked for its version: to ask is to run, outside of the sandbox and as the
 * user, the very program that is to be confined.  Its hash says whether it is the same;
 * for people, and for agents that are many files behind a small one, the version is
 * taken from the package.json beside it or one directory above.
 */
#include "prove/agent.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/source.h"
#include "compiler/text.h"
#include "prove/basis.h"

#define VERSION_MAX 64
#define PACKAGE_MAX (256 * 1024)

/* What a JSON text has for @key at its top: the bytes between the quotes; NULL: no text. */
static const char *top_text(struct arena *arena, struct str json, const char *key)
{
	size_t depth = 0, length = strlen(key);
	bool found = false, value = false; /* the last text was @key; and a `:` came after it */

	for (const char *p = json.ptr, *end = json.ptr + json.len; p < end; p++) {
		const char *text = p + 1;

		depth += *p == '{' || *p == '[';
		depth -= depth && (*p == '}' || *p == ']');
		value = *p == ':' ? found : value && *p && strchr(" \t\r\n\"", *p);
		if (*p != '"')
			continue;
		for (p++; p < end && *p != '"'; p++)
			p += *p == '\\';
		if (p >= end)
			return NULL;
		if (value && depth == 1)
			return arena_copy(arena, text, (size_t)(p - text));
		found = (size_t)(p - text) == length && !memcmp(text, key, length);
	}
	return NULL;
}

/* "" where there is none. */
static const char *version_near(struct arena *arena, const char *program)
{
	const char *dir = program, *slash;

	for (int up = 0; up < 2 && (slash = strrchr(dir, '/')); up++) {
		const char *path, *version = NULL;
		const struct source *source;
		struct stat st;
		int error;

		dir = arena_copy(arena, dir, (size_t)(slash - dir));
		path = arena_printf(arena, "%s/package.json", dir);
		if (stat(path, &st) || !S_ISREG(st.st_mode) || st.st_size > PACKAGE_MAX)
			continue;
		source = source_read(arena, path, path, &error);
		if (source)
			version = top_text(arena, source->text, "version");
		if (version)
			return strlen(version) <= VERSION_MAX ? version : "";
	}
	return "";
}

static bool is_program(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISREG(st.st_mode) && !access(path, X_OK);
}

static const char *find(struct arena *arena, const char *name)
{
	const char *dirs = getenv("PATH");

	if (strchr(name, '/'))
		return is_program(name) ? name : NULL;
	while (dirs && *dirs) {
		size_t length = strcspn(dirs, ":");
		const char *path = arena_printf(arena, "%.*s/%s", (int)length, dirs, name);

		/* One that is not absolute depends on where one stands. */
		if (*dirs == '/' && is_program(path))
			return path;
		dirs += length + (dirs[length] == ':');
	}
	return NULL;
}

const char *agent_here(struct arena *arena, const struct sbx_blob *blob)
{
	const struct sbx_meta *meta = sbx_meta(blob);
	const struct sbx_vars none = { 0 };
	char name[PATH_MAX], real[PATH_MAX];
	const char *path, *hash;
	uint32_t unset;
	bool wild;
	int error;

	if (!meta->command_count ||
	    sbx_expand(blob, *SBX_AT(blob, TMPLS, sbx_tmpl, meta->command_first), &none, name,
		       sizeof(name), &wild, &unset) < 0)
		return "none that the policy names";
	path = find(arena, name);
	if (!path || !realpath(path, real))
		return arena_printf(arena, "%s is not found", name);
	hash = basis_hash_of_file(arena, real, &error);
	return arena_printf(arena, "%s %s %s", real, hash ? hash : strerror(error),
			    version_near(arena, real));
}
