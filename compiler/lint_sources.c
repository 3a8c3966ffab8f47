/*
 * compiler/lint_sources.c - what a credential is read from, and what the program may write.
 *
 * The same question that sbx-exec asks at each launch (stub/credentials.c), of a made-up
 * machine: there are no links, and each name may be that of a directory.
 */
#include <string.h>

#include "compiler/lint.h"

/* The absolute @path without `.`, `..` and empty names. */
static const char *plain(struct lint *lint, const char *path)
{
	char *out = arena_printf(lint->arena, "%s", path), *end = out;

	while (*path) {
		size_t size = strcspn(path, "/");

		if (size == 2 && !memcmp(path, "..", 2)) {
			while (end > out && *--end != '/')
				;
		} else if (size && !(size == 1 && *path == '.')) {
			*end++ = '/';
			memcpy(end, path, size);
			end += size;
		}
		path += size + (path[size] != '\0');
	}
	if (end == out)
		*end++ = '/';
	*end = '\0';
	return out;
}

static const char *file_of(struct lint *lint, const char *name, const char *directory)
{
	const char *home = lint->vars.value[SBX_VAR_HOME], *slash = strchr(name, '/');

	if (*name == '~')
		return plain(lint, arena_printf(lint->arena, "%s%s", home, slash ? slash : ""));
	return plain(lint,
		     *name == '/' ? name : arena_printf(lint->arena, "%s/%s", directory, name));
}

static bool is_granted(struct lint *lint, const char *path)
{
	struct sbx_fs_verdict verdict;

	return lint_may(lint, path, SBX_WRITE, &verdict) &&
	       lint_fs_rule(lint, &verdict)->verb == SBX_FS_GRANT; /* not a private one */
}

static bool lies_within(const char *path, const char *dir)
{
	size_t size = strlen(dir);

	return size == 1 || (!strncmp(path, dir, size) && (!path[size] || path[size] == '/'));
}

/* What the rule @point grants at or beneath @dir, of a pattern where it begins; or NULL. */
static const char *granted_within(struct lint *lint, const struct sbx_fs_point *point,
				  const char *dir)
{
	const char *path = point->path;
	size_t size = point->wild ? strcspn(path, "*?[") : strlen(path);

	if (point->verb != SBX_FS_GRANT || !(point->rights & SBX_WRITE))
		return NULL;
	while (point->wild && size > 1 && path[size - 1] != '/')
		size--;
	path = arena_copy(lint->arena, path, size);
	if (point->wild)
		path = plain(lint, path);
	return lies_within(path, dir) && (point->wild || is_granted(lint, path)) ? path : NULL;
}

/* What of @path, with all that lies beneath it, can be written or replaced; NULL: nothing. */
static const char *find_written(struct lint *lint, const char *path)
{
	const char *slash = strrchr(path, '/'), *found = NULL;

	if (is_granted(lint, path) ||
	    (slash > path &&
	     is_granted(lint, arena_copy(lint->arena, path, (size_t)(slash - path)))))
		return path;
	for (size_t i = 0; i < lint->set.count && !found; i++)
		found = granted_within(lint, &lint->set.points[i], path);
	return found;
}

struct origin {
	struct lint *lint;
	const struct sbx_credential *credential;
};

static const char *word_of(const struct origin *origin, uint32_t n)
{
	return lint_text(origin->lint, *SBX_AT(&origin->lint->blob, TMPLS, sbx_tmpl,
					       origin->credential->source_first + n));
}

/* The same for @name as it leads from each directory that a word names: upwards, since what
 * lies beneath these is found with them. */
static const char *find_from_places(const struct origin *origin, const char *name)
{
	const char *found = NULL, *word;

	for (uint32_t n = 1; n < origin->credential->source_count; n++) {
		struct sbx_name at = { 0 };

		for (word = word_of(origin, n); word && !found && sbx_next_name(word, &at);) {
			const char *place =
			    arena_copy(origin->lint->arena, word + at.start, at.end - at.start);

			if (strchr("/~", *place))
				found = find_written(
				    origin->lint,
				    file_of(origin->lint, name, file_of(origin->lint, place, "/")));
		}
	}
	return found;
}

static const char *find_in_word(const struct origin *origin, const char *word)
{
	struct lint *lint = origin->lint;
	struct sbx_name at = { 0 };
	const char *found = NULL;

	while (word && !found && sbx_next_name(word, &at)) {
		const char *name = arena_copy(lint->arena, word + at.start, at.end - at.start);

		found = find_written(lint, file_of(lint, name, "/"));
		if (!found && strchr(name, '/'))
			found =
			    find_written(lint, file_of(lint, name, lint->vars.value[SBX_VAR_HOME]));
		if (!found && strstr(name, "..") && *name != '/')
			found = find_from_places(origin, name);
	}
	return found;
}

static const char *find_in_path(struct lint *lint)
{
	const char *found = NULL;
	size_t size;

	for (const char *at = SBX_COMMAND_PATH; *at && !found; at += size + (at[size] != '\0')) {
		size = strcspn(at, ":");
		found = find_written(lint, arena_copy(lint->arena, at, size));
	}
	return found;
}

static const char *find_in_source(const struct origin *origin)
{
	const char *first = word_of(origin, 0), *found;

	found = first ? find_written(origin->lint, file_of(origin->lint, first, "/")) : NULL;
	if (origin->credential->source != SBX_SOURCE_EXEC)
		return found;
	for (uint32_t n = 1; n < origin->credential->source_count && !found; n++)
		found = find_in_word(origin, word_of(origin, n));
	return found ? found : find_in_path(origin->lint);
}

void lint_sources(struct lint *lint)
{
	for (uint32_t i = 0; i < SBX_COUNT(&lint->blob, CREDENTIALS); i++) {
		const struct origin origin = { lint, SBX_AT(&lint->blob, CREDENTIALS,
							    sbx_credential, i) };
		const char *found =
		    origin.credential->source == SBX_SOURCE_ENV ? NULL : find_in_source(&origin);

		if (found)
			lint_find(lint, lint_head(lint, SBX_SEC_CREDENTIALS, i), DIAG_L0314,
				  "the program can write %s, and with it what is read, or run: "
				  "keep it somewhere else",
				  found);
	}
}
