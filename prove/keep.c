/*
 * prove/keep.c - the proofs that sbx-exec asks for.
 *
 * They lie where sbx-exec keeps policies, which it opens to no sandbox.
 */
#include "prove/keep.h"

#include <errno.h>
#include <pwd.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "blob/proof.h"
#include "compiler/stages.h"
#include "compiler/text.h"
#include "prove/report.h"

/* ~/.local/share/sbx/proofs, made; NULL: *error says what could not be.  The home is
 * passwd's, as it is for sbx-exec. */
static const char *make_directory(struct arena *arena, const char **error)
{
	static const char *const parts[] = { ".local", "share", "sbx", SBX_PROOF_DIRECTORY };
	const struct passwd *user = getpwuid(getuid());
	const char *path = user ? user->pw_dir : NULL;

	if (!path) {
		*error = "this user has no home to keep a proof in";
		return NULL;
	}
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		path = arena_printf(arena, "%s/%s", path, parts[i]);
		if (mkdir(path, 0700) && errno != EEXIST) {
			*error = arena_printf(arena, "%s: %s", path, strerror(errno));
			return NULL;
		}
	}
	return path;
}

static const char *hash_of_values(struct arena *arena, const struct proven *proven)
{
	char *out = arena_alloc(arena, BASIS_HEX_SIZE);
	struct text all = { .arena = arena };
	const char *value;

	for (uint32_t i = 0; i < SBX_COUNT(proven->blob, PARAMS); i++)
		if ((value = basis_value(proven, i))) {
			text_add(&all, "%s=%s",
				 sbx_string(proven->blob,
					    SBX_AT(proven->blob, PARAMS, sbx_param, i)->name),
				 value);
			text_byte(&all, '\0');
		}
	basis_hash((const char *)all.bytes.items, all.bytes.count, out);
	return out;
}

/* The program's hash; of nothing where the backend has none. */
static const char *hash_of_backend(struct arena *arena, enum sbx_backend backend)
{
	const char *path = backend == SBX_LANDLOCK ? NULL : basis_program(arena, backend);
	int error;

	return basis_hash_of_file(arena, path ? path : "/dev/null", &error);
}

static const char *write_proof(struct arena *arena, const char *path, const struct proven *proven,
			       const char *const bases[BASIS_COUNT], enum sbx_backend backend)
{
	const char *name = SBX_PROOF_NAMES, *values[SBX_PROOF_LINES];
	struct text out = { .arena = arena };
	const char *text;

	values[0] = SBX_PROOF_FORMAT;
	values[1] = bases[BASIS_POLICY];
	values[2] = hash_of_values(arena, proven);
	values[3] = bases[BASIS_KERNEL];
	values[4] = arena_printf(arena, "%u %x", targets_abi_here(), basis_errata());
	values[5] = bases[BASIS_LAUNCHER];
	values[6] = hash_of_backend(arena, backend);
	for (size_t i = 0; i < SBX_PROOF_LINES; i++, name += strlen(name) + 1)
		text_add(&out, "%s %s\n", name, values[i]);
	text_add(&out, "time %lld\n", (long long)time(NULL));
	text = text_end(&out);
	return output_write(path, text, strlen(text))
		   ? NULL
		   : arena_printf(arena, "%s could not be written", path);
}

const char *keep_proofs(struct arena *arena, const struct proven *proven,
			const struct prove *proves, size_t count)
{
	bool all = proofs_hold(proves, count);
	const char *bases[BASIS_COUNT], *directory, *error = NULL;

	directory = make_directory(arena, &error);
	if (!directory)
		return error;
	basis_here(arena, proven, bases);
	for (size_t i = 0; i < count && !error; i++) {
		enum sbx_backend backend = proves[i].target.backend;
		const char *path = arena_printf(arena, "%s/%s.%s", directory, bases[BASIS_POLICY],
						sbx_backend_name(backend));

		if (all && proofs_hold(&proves[i], 1))
			error = write_proof(arena, path, proven, bases, backend);
		else if (!proves[i].refused && !proves[i].failed && !proofs_hold(&proves[i], 1) &&
			 unlink(path) && errno != ENOENT)
			error = arena_printf(arena, "%s: %s", path, strerror(errno));
	}
	return error;
}
