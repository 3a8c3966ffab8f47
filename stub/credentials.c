/*
 * stub/credentials.c - what stands inside for a secret that stays outside.
 *
 * The launcher never reads a key: sbx-proxy does, from the place that the policy
 * names.  Here it is only seen to that there is something to read, that the
 * program cannot put something else there, and that a variable of the caller's
 * goes to the proxy and nowhere else.  Inside, the credential's name holds a
 * placeholder, made anew for each session and good for nothing elsewhere.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "stub/backend.h"
#include "stub/launch.h"
#include "stub/load.h"
#include "stub/out.h"
#include "stub/prepare.h"
#include "stub/vars.h"

#define PLACEHOLDER_BYTES 16

static const struct sbx_credential *credential_at(const struct launch *launch, uint32_t index)
{
	return SBX_AT(&launch->blob, CREDENTIALS, sbx_credential, index);
}

static const char *name_of(const struct launch *launch, uint32_t index)
{
	return sbx_string(&launch->blob, credential_at(launch, index)->name);
}

/* A file, a variable's name, a program; NULL: it needs a variable without a value. */
static const char *source_of(const struct launch *launch, const struct sbx_credential *credential)
{
	struct sbx_tmpl tmpl = *SBX_AT(&launch->blob, TMPLS, sbx_tmpl, credential->source_first);
	uint32_t unset;
	bool wild;

	if (credential->source == SBX_SOURCE_ENV)
		return vars_expand(launch, tmpl, &wild, &unset);
	return vars_expand_path(launch, tmpl, &wild, &unset);
}

/* Why there is nothing to read; NULL: there is, as far as can be seen from here. */
static const char *lack_of(const struct launch *launch, const struct sbx_credential *credential,
			   const char *source)
{
	struct walk walk;

	if (!source)
		return "its source needs a variable that has no value here";
	if (credential->source == SBX_SOURCE_ENV)
		return environ_find(launch, source) ? NULL
						: out_string("the variable %s is not set", source);
	walk_path(source, &walk);
	if (walk.error || walk.missing)
		return out_string("%s: %s", source, out_error(walk.error ? walk.error : ENOENT));
	if (!S_ISREG(walk.st.st_mode))
		return out_string("%s: not a file", source);
	if (credential->source == SBX_SOURCE_EXEC && access(source, X_OK))
		return out_string("%s: %s", source, out_error(errno));
	return NULL;
}

/* What helps then. */
static const char *remedy_of(const struct sbx_credential *credential)
{
	switch (credential->source) {
	case SBX_SOURCE_ENV:
		return "export it before sbx-exec is started";
	case SBX_SOURCE_EXEC:
		return "see that it is a program of yours";
	default:
		return credential->json == SBX_NONE
			   ? "put the value into it, in one line, and chmod 600 it"
			   : "log in first";
	}
}

/* The proxy reads no link: it is said here, before whatever a link makes of an assertion. */
static bool is_link(const struct sbx_credential *credential, const char *source)
{
	struct stat st;

	return credential->source == SBX_SOURCE_FILE && source && !lstat(source, &st) &&
	       S_ISLNK(st.st_mode);
}

static const char *make_placeholder(void)
{
	uint8_t bytes[PLACEHOLDER_BYTES];
	char *text = mem_get(sizeof(SBX_PLACEHOLDER SBX_PLACEHOLDER_END) + 2 * sizeof(bytes)), *at;

	if (syscall(SYS_getrandom, bytes, sizeof(bytes), 0) != sizeof(bytes))
		refuse("no random numbers: %s", out_error(errno));
	strcpy(text, SBX_PLACEHOLDER);
	at = text + strlen(text);
	for (size_t i = 0; i < sizeof(bytes); i++, at += 2)
		out_text(at, 3, "%x%x", bytes[i] >> 4, bytes[i] & 15u);
	strcpy(at, SBX_PLACEHOLDER_END);
	return text;
}

/* ---- what is run, and what it reads ----------------------------------------------- */

/* The file that @name is to a command in @directory; ~USER is the caller, too. */
static const char *file_of(const struct launch *launch, const char *name, const char *directory)
{
	const char *home = launch->vars.value[SBX_VAR_HOME], *slash = strchr(name, '/');

	if (home && (*name == '~' || !strncmp(name, "$HOME/", 6)))
		return slash ? path_join(home, slash + 1) : home;
	return *name == '/' ? name : path_join(directory, name);
}

/* The user's own, with another name, which may lie where the program can write. */
static bool is_linked(const struct walk *walk)
{
	return !walk->error && !walk->missing && S_ISREG(walk->st.st_mode) && walk->st.st_uid &&
	       walk->st.st_nlink > 1;
}

/*
 * The part of @path, a canonical name, that somebody else than the user and root may write
 * or replace; NULL: none.  In a sticky directory nobody replaces what others have put there,
 * but everybody may make what is not there (@missing) yet.
 */
static const char *others_part(const char *path, bool missing, struct stat *st)
{
	bool trusted = true;

	for (;; path = path_parent(path), missing = false) {
		int fd = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);

		if (fd >= 0 && !fstat(fd, st)) {
			struct stat looked = *st;

			if (S_ISLNK(st->st_mode) || S_ISCHR(st->st_mode) ||
			    (S_ISDIR(st->st_mode) && st->st_mode & S_ISVTX && !missing))
				looked.st_mode &= ~(mode_t)(S_IWGRP | S_IWOTH);
			trusted = owner_trusted(&looked, fd, true);
		}
		close(fd);
		if (!trusted)
			return path;
		if (!path[1])
			return NULL;
	}
}

/* The same for all that leads to it.  Of a key itself the proxy has more to say. */
static const char *others_way(const struct walk *walk, bool key, struct stat *st)
{
	const char *part = NULL;

	for (size_t i = 0; i < walk->hop_count && !part; i++)
		part = others_part(walk->hops[i].path, false, st);
	if (part || walk->error)
		return part;
	return others_part(key ? path_parent(walk->path) : mem_copy(walk->path, walk->have),
			   walk->missing, st);
}

/* False: the policy lets it be written inside, which has been said. */
static bool check_written(struct launch *launch, uint32_t index, const char *path)
{
	const char *written = helper_may_be_written(launch, path);

	if (written)
		launch_obstacle(launch,
				"credential %s: the policy lets %s be written inside, and with it "
				"what is read (%s): keep it somewhere else",
				name_of(launch, index), written,
				launch_place(launch, credential_at(launch, index)->head.loc));
	return !written;
}

static void check_file(struct launch *launch, uint32_t index, const char *path)
{
	const char *name = name_of(launch, index), *part;
	const char *place = launch_place(launch, credential_at(launch, index)->head.loc);
	bool key = credential_at(launch, index)->source == SBX_SOURCE_FILE;
	struct walk walk;
	struct stat st;

	walk_path(path, &walk);
	if (launch->proxy.helper.log && !strcmp(walk.path, launch->proxy.helper.log))
		launch_obstacle(launch,
				"credential %s: --net-log would be written into %s (%s): name "
				"another file",
				name, path, place);
	else if (!check_written(launch, index, path))
		return;
	else if (is_linked(&walk))
		launch_obstacle(launch,
				"credential %s: %s has %u names (hard links); one of them may be "
				"writable inside (%s): cp it to a file of its own",
				name, path, (unsigned)walk.st.st_nlink, place);
	else if ((part = others_way(&walk, key, &st)))
		launch_obstacle(launch,
				"credential %s: %s is neither yours nor root's alone (uid %u, mode "
				"%o) (%s): chmod go-w it, or keep the source somewhere else",
				name, part, (unsigned)st.st_uid, (unsigned)(st.st_mode & 07777),
				place);
}

/* NULL: its variable has no value. */
static const char *word_of(const struct launch *launch, uint32_t index, uint32_t n)
{
	uint32_t first = credential_at(launch, index)->source_first, unset;
	bool wild;

	return vars_expand(launch, *SBX_AT(&launch->blob, TMPLS, sbx_tmpl, first + n), &wild,
			   &unset);
}

/* Where a command may look for a name: each once, and canonical. */
struct places {
	VEC(const char *) paths;
};

/* @path may be read, and where it is a directory, so may what lies there.  False: what would
 * hold it is not there, so that a longer name is no other file. */
static bool look_at(struct launch *launch, uint32_t index, const char *path, struct places *places)
{
	struct walk walk;

	check_file(launch, index, path);
	walk_path(path, &walk);
	if (walk.missing)
		return !strchr(walk.path + walk.have + 1, '/');
	if (walk.error || !S_ISDIR(walk.st.st_mode))
		return true;
	for (size_t i = 0; i < places->paths.count; i++)
		if (!strcmp(places->paths.items[i], walk.path))
			return true;
	*vec_add(&places->paths) = walk.path;
	return true;
}

/* What @word may name to a command that is in the place number @at. */
static void check_word(struct launch *launch, uint32_t index, const char *word, size_t at,
		       struct places *places)
{
	const char *place = places->paths.items[at], *home = launch->vars.value[SBX_VAR_HOME];
	struct sbx_name name = { 0 };

	while (sbx_next_name(word, &name)) {
		const char *text = mem_copy(word + name.start, name.end - name.start);
		const char *path = file_of(launch, text, place);
		bool longer = (!at || path != text) && /* else it is the same everywhere */
			      look_at(launch, index, path, places);

		if (!at && home && strchr(text, '/'))
			longer |= look_at(launch, index, file_of(launch, text, home), places);
		if (!longer)
			name.end += strlen(word + name.end);
	}
}

/*
 * A program is often the interpreter of what another word names, and runs others from the
 * PATH that it has: each is looked at.  It begins in /, and goes to whichever directory a
 * word says.
 */
static void check_words(struct launch *launch, uint32_t index)
{
	const char *path = SBX_COMMAND_PATH, *word;
	struct places places = { 0 };
	unsigned problems = launch->problems;

	for (struct sbx_name name = { 0 }; sbx_next_name(path, &name);)
		check_written(launch, index, mem_copy(path + name.start, name.end - name.start));
	*vec_add(&places.paths) = "/";
	for (size_t at = 0; at < places.paths.count && problems == launch->problems; at++)
		for (uint32_t n = 1; n < credential_at(launch, index)->source_count; n++)
			if ((word = word_of(launch, index, n)))
				check_word(launch, index, word, at, &places);
}

/* Its placeholder; NULL: it is left out, and *lacks says why of all that are. */
static const char *check_one(struct launch *launch, uint32_t index, const char **lacks)
{
	const struct sbx_credential *credential = credential_at(launch, index);
	const char *name = name_of(launch, index), *source = source_of(launch, credential);
	bool link = is_link(credential, source);
	const char *lack = link ? NULL : lack_of(launch, credential, source);
	const char *place = launch_place(launch, credential->head.loc);

	if (lack)
		lack = out_string("%s: %s (%s): %s", name, lack, place, remedy_of(credential));
	if (lack && credential->head.flags & SBX_F_OPTIONAL) {
		*lacks = *lacks ? out_string("%s; %s", *lacks, lack) : lack;
		return NULL;
	}
	if (lack)
		launch_obstacle(launch, "credential %s, or mark the credential optional", lack);
	else if (credential->source != SBX_SOURCE_ENV)
		check_file(launch, index, source);
	if (link)
		launch_obstacle(launch,
				"credential %s: %s: a symbolic link (%s): name the file itself",
				name, source, place);
	if (!lack && credential->source == SBX_SOURCE_EXEC)
		check_words(launch, index);
	return make_placeholder();
}

void credentials_check(struct launch *launch)
{
	uint32_t count = SBX_COUNT(&launch->blob, CREDENTIALS), there = 0;
	const char **placeholders = mem_get((count + 1) * sizeof(*placeholders));
	const char *lacks = NULL;

	for (uint32_t i = 0; i < count; i++) {
		placeholders[i] = check_one(launch, i, &lacks);
		there += placeholders[i] != NULL;
	}
	launch->proxy.placeholder = placeholders;
	if (lacks && !there)
		launch_obstacle(launch,
				"none of the policy's credentials is there, and one has to be: %s",
				lacks);
	else if (lacks)
		launch_remark(launch, "left out, being optional: credential %s", lacks);
}

/* ---- for the proxy ---------------------------------------------------------------- */

int credentials_values(const struct launch *launch)
{
	struct backend words = { 0 }; /* for its list */

	helper_add(&words, "session ", "", strrchr(launch->proxy.bundle, '/') + sizeof(BUNDLE_PREFIX));
	helper_add(&words, "roots ", "", CA_BUNDLE);
	helper_add_variables(launch, &words);
	for (uint32_t i = 0; i < SBX_COUNT(&launch->blob, CREDENTIALS); i++) {
		const struct sbx_credential *credential = credential_at(launch, i);
		const char *source = source_of(launch, credential);

		if (!launch->proxy.placeholder[i])
			continue;
		helper_add(&words, "placeholder ", name_of(launch, i), launch->proxy.placeholder[i]);
		if (credential->source == SBX_SOURCE_ENV)
			helper_add(&words, "env ", source, environ_find(launch, source));
	}
	return backend_args_file(&words, '\0');
}
