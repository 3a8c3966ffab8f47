/*
 * Where policy files are.
 *
 * The library lies where this program was installed: beside DIR/bin/sbxc it is
 * DIR/share/sbx, with stdlib/ and policies/ in it.  A program in the build/ of
 * a source checkout uses that checkout, so that it can be tried before it is
 * installed.  No variable of the environment can point it elsewhere.
 */
#include "compiler/library.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define FALLBACK   "/usr/local/share/sbx" /* where /proc does not say */
#define SUFFIX     ".pol"
#define SCAN_DEPTH 4

static bool is_file(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && !S_ISDIR(st.st_mode);
}

static const char *library_dir(struct arena *arena)
{
	char self[PATH_MAX];
	ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *name, *folder;

	if (len <= 0)
		return FALLBACK;
	self[len] = '\0';
	name = strrchr(self, '/');
	*name = '\0';
	folder = strrchr(self, '/');
	if (!folder)
		return FALLBACK;
	*folder++ = '\0';
	if (strcmp(folder, "build") == 0 &&
	    is_file(arena_printf(arena, "%s/stdlib/base" SUFFIX, self)))
		return arena_printf(arena, "%s", self);
	return arena_printf(arena, "%s/share/sbx", self);
}

const char *library_program(struct arena *arena, const char *name)
{
	char self[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (length <= 0)
		return arena_printf(arena, "/usr/local/bin/%s", name);
	self[length] = '\0';
	return arena_printf(arena, "%.*s/%s", (int)(strrchr(self, '/') - self), self, name);
}

const char *library_data(struct arena *arena, const char *name)
{
	return arena_printf(arena, "%s/%s", library_dir(arena), name);
}

static bool ends_with(struct str text, const char *suffix)
{
	size_t len = strlen(suffix);

	return text.len >= len && memcmp(text.ptr + text.len - len, suffix, len) == 0;
}

bool library_name_valid(struct str name)
{
	size_t part = 0, dots = 0;

	for (size_t i = 0; i <= name.len; i++) {
		char c = i < name.len ? name.ptr[i] : '/';
		bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
			     (c >= '0' && c <= '9') || (c && strchr("-_.", c));

		if (c == '/') {
			if (part == dots)
				return false;
			part = dots = 0;
		} else if (!plain) {
			return false;
		} else {
			part++;
			dots += c == '.';
		}
	}
	return true;
}

static bool try_file(struct arena *arena, const char *dir, struct str file, struct str name,
		     struct library_file *out)
{
	out->path = arena_printf(arena, "%s/%.*s" SUFFIX, dir, STR_ARG(file));
	out->name = arena_printf(arena, "%.*s" SUFFIX, STR_ARG(name));
	return is_file(out->path);
}

bool library_find(struct arena *arena, const struct compile_options *options, struct str name,
		  struct library_file *out)
{
	const char *dir = library_dir(arena);

	if (!library_name_valid(name))
		return false;
	if (str_starts(name, "std/")) {
		struct str file = { name.ptr + 4, name.len - 4 };
		return try_file(arena, arena_printf(arena, "%s/stdlib", dir), file, name, out);
	}
	if (try_file(arena, arena_printf(arena, "%s/policies", dir), name, name, out))
		return true;
	for (size_t i = 0; i < options->include_dir_count; i++) {
		if (try_file(arena, options->include_dirs[i], name, name, out))
			return true;
	}
	return false;
}

/* ---- did you mean -------------------------------------------------------------- */

struct names {
	VEC_OF(const char *)
};

static void scan(struct arena *arena, const char *dir, const char *prefix, int depth,
		 struct names *names)
{
	DIR *stream = depth ? opendir(dir) : NULL;

	if (!stream)
		return;
	for (struct dirent *entry; (entry = readdir(stream)) != NULL;) {
		struct str name = str_from(entry->d_name);

		if (name.ptr[0] == '.')
			continue;
		if (ends_with(name, SUFFIX))
			*VEC_PUSH(arena, names) = arena_printf(
			    arena, "%s%.*s", prefix, (int)(name.len - strlen(SUFFIX)), name.ptr);
		else
			scan(arena, arena_printf(arena, "%s/%s", dir, name.ptr),
			     arena_printf(arena, "%s%s/", prefix, name.ptr), depth - 1, names);
	}
	closedir(stream);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static struct str base_of(struct str name)
{
	size_t start = name.len;

	while (start && name.ptr[start - 1] != '/')
		start--;
	return (struct str){ name.ptr + start, name.len - start };
}

const char *library_suggest(struct arena *arena, const struct compile_options *options,
			    struct str name)
{
	const char *dir = library_dir(arena);
	struct names names = { 0 };

	scan(arena, arena_printf(arena, "%s/stdlib", dir), "std/", SCAN_DEPTH, &names);
	scan(arena, arena_printf(arena, "%s/policies", dir), "", SCAN_DEPTH, &names);
	for (size_t i = 0; i < options->include_dir_count; i++)
		scan(arena, options->include_dirs[i], "", SCAN_DEPTH, &names);
	if (!names.count)
		return NULL;
	qsort(names.items, names.count, sizeof(*names.items), by_name); /* readdir has no order */
	for (size_t i = 0; i < names.count; i++) {
		if (str_equal(base_of(str_from(names.items[i])), base_of(name)))
			return names.items[i]; /* `git` or `lib/git` for `std/git` */
	}
	return suggest(name, names.items, names.count);
}

/* ---- the command line ------------------------------------------------------------ */

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

bool library_find_main(struct arena *arena, const struct compile_options *options, const char *path,
		       struct library_file *out)
{
	struct str name = str_from(path);
	bool suffix = ends_with(name, SUFFIX);

	out->path = path;
	out->name = strcmp(path, "-") == 0 ? "stdin" : base_name(path);
	if (strcmp(path, "-") == 0 || path[0] == '/' || path[0] == '.')
		return true;
	if (ends_with(name, ".sbx") && access(path, F_OK) == 0)
		return true; /* reading it says that this is no source */
	if (suffix) {
		if (access(path, F_OK) == 0)
			return true;
		name.len -= strlen(SUFFIX);
	}

	struct library_file found;
	if (!library_find(arena, options, name, &found))
		return suffix; /* opening it says what is wrong */
	if (suffix)
		fprintf(stderr, "sbxc: note: no file %s here: this is the installed one, %s\n",
			diag_escape(arena, str_from(path)),
			diag_escape(arena, str_from(found.path)));
	*out = found;
	return true;
}
