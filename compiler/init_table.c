/*
 * The table of what sbxc init knows, and which of it is there.
 *
 * Only names are looked at: is there such a command on PATH, such a file in the
 * project.  Nothing of the project is opened or run.
 */
#include <dirent.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/source.h"
#include "compiler/init.h"
#include "compiler/library.h"
#include "compiler/stages.h"

/* Does a name in @dir match @pattern? */
static bool has_match(struct arena *arena, struct str dir, const char *pattern)
{
	DIR *open = opendir(str_cstr(arena, dir));
	const struct dirent *entry = NULL;

	while (open && (entry = readdir(open)) && fnmatch(pattern, entry->d_name, 0))
		;
	if (open)
		closedir(open);
	return entry != NULL;
}

static bool is_there(struct arena *arena, struct str dir, const char *name, bool command)
{
	const char *path = arena_printf(arena, "%.*s/%s", STR_ARG(dir), name);
	struct stat st;

	if (!command && strchr(name, '*'))
		return has_match(arena, dir, name);
	if (!command)
		return lstat(path, &st) == 0;
	return dir.len && dir.ptr[0] == '/' && stat(path, &st) == 0 && S_ISREG(st.st_mode) &&
	       access(path, X_OK) == 0;
}

static bool on_path(struct arena *arena, const char *name)
{
	const char *path = getenv("PATH");

	for (; path && *path; path += *path == ':') {
		struct str dir = { path, strcspn(path, ":") };

		if (is_there(arena, dir, name, true))
			return true;
		path += dir.len;
	}
	return false;
}

/* The next word of @line, which it leaves; empty at its end. */
static struct str take_word(struct str *line)
{
	size_t start = 0, end;

	while (start < line->len && line->ptr[start] == ' ')
		start++;
	for (end = start; end < line->len && line->ptr[end] != ' ';)
		end++;
	struct str word = { line->ptr + start, end - start };
	*line = (struct str){ line->ptr + end, line->len - end };
	return word;
}

static bool holds(struct init *init, struct str rest)
{
	struct str kind = take_word(&rest);
	const char *name = str_cstr(init->arena, take_word(&rest));

	if (str_is(kind, "command"))
		return on_path(init->arena, name);
	if (str_is(kind, "file"))
		return is_there(init->arena, str_from(init->project), name, false);
	return str_is(kind, "always");
}

static bool read_line(struct init *init, struct str line)
{
	struct init_entry *entry =
	    init->entries.count ? &init->entries.items[init->entries.count - 1] : NULL;
	bool head = line.len && line.ptr[0] != ' ';
	struct str word = take_word(&line);

	if (!word.len || word.ptr[0] == '#')
		return true;
	if (head) {
		entry = VEC_PUSH(init->arena, &init->entries);
		*entry = (struct init_entry){
			.kind = str_cstr(init->arena, word),
			.name = str_cstr(init->arena, take_word(&line)),
		};
		return *entry->name;
	}
	if (!entry)
		return false;
	if (str_is(word, "when")) {
		entry->there = entry->there || holds(init, line);
	} else if (str_is(word, "whole")) {
		entry->whole = true;
	} else if (str_is(word, "has")) {
		while ((word = take_word(&line)).len)
			*VEC_PUSH(init->arena, &entry->has) = str_cstr(init->arena, word);
	} else if (word.ptr[word.len - 1] == ':') {
		while (line.len && line.ptr[0] == ' ')
			line = (struct str){ line.ptr + 1, line.len - 1 };
		*VEC_PUSH(init->arena, &entry->lines) =
		    (struct init_line){ { word.ptr, word.len - 1 }, line };
	} else {
		return false;
	}
	return true;
}

bool init_is(const struct init_entry *entry, const char *kind)
{
	return !strcmp(entry->kind, kind);
}

bool init_read_table(struct init *init)
{
	const char *path = library_data(init->arena, "stdlib/init.table");
	int error = 0;
	struct source *source = source_read(init->arena, path, path, &error);
	unsigned number = 1;

	if (!source) {
		fprintf(stderr, "sbxc: %s: %s\n", diag_escape(init->arena, str_from(path)),
			error > 0 ? strerror(error) : "cannot be read");
		return false;
	}
	for (size_t at = 0; at < source->text.len; number++) {
		struct str line = { source->text.ptr + at, 0 };

		while (at + line.len < source->text.len && line.ptr[line.len] != '\n')
			line.len++;
		at += line.len + 1;
		if (!read_line(init, line)) {
			fprintf(stderr, "sbxc: %s:%u: no line of such a table\n",
				diag_escape(init->arena, str_from(path)), number);
			return false;
		}
	}
	return true;
}

bool init_choose_agent(struct init *init, const char *wanted)
{
	struct init_names names = { 0 };

	for (size_t i = 0; i < init->entries.count && !init->agent; i++) {
		const struct init_entry *entry = &init->entries.items[i];

		if (!init_is(entry, "agent"))
			continue;
		*VEC_PUSH(init->arena, &names) = entry->name;
		if (wanted ? !strcmp(entry->name, wanted) : entry->there)
			init->agent = entry;
	}
	if (init->agent)
		return true;
	usage_unknown("agent", wanted ? wanted : "", names.items, names.count);
	fputs("sbxc: it knows", stderr);
	for (size_t i = 0; i < names.count; i++)
		fprintf(stderr, "%s %s", i ? "," : "",
			diag_escape(init->arena, str_from(names.items[i])));
	fputs("\n", stderr);
	return false;
}
