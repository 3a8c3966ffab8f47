/*
 * sbxc install: a policy's blob in its place, and a script that starts it.
 *
 * The script runs outside of any sandbox, so whoever can write it has left the
 * sandbox at its next start: it is put where no grant of its own policy reaches
 * (asked of the verdict functions), and where the workspace is the current
 * directory it refuses to start from one that holds it, the source, or sbx
 * itself.  It also refuses to start with a blob that is no longer what its
 * source compiles to: whoever has just made a policy stricter must not be run
 * under the old one.  Nothing is replaced or removed that was not made here: a
 * script has MARK in its second line, a blob its magic.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "blob/contest.h"
#include "compiler/library.h"
#include "compiler/stages.h"
#include "compiler/text.h"

#define HEAD   "#!/bin/sh\n"
#define MARK   "# Made by sbxc install: "
#define PREFIX 64 /* enough of a file to tell whose it is */

struct install {
	struct compile_options options;
	struct arena *arena;
	const char *policy, *bin; /* as they were given; bin NULL: ~/.local/bin */
	bool check, uninstall;

	const char *name, *source;
	const char *blob, *script; /* real paths, where there is such a directory */
};

static const char help[] =
    "usage: sbxc install [--bin DIR] [-I DIR] [-D NAME=VALUE] POLICY\n"
    "       sbxc install --check [-I DIR] [-D NAME=VALUE] POLICY\n"
    "       sbxc install --uninstall [--bin DIR] NAME\n"
    "\n"
    "Compiles POLICY to ~/.local/share/sbx/NAME.sbx and writes the script NAME-sbx\n"
    "that starts it, where nothing that the policy grants reaches.\n"
    "  --bin DIR    where the script goes; else ~/.local/bin\n"
    "  --check      only: is the blob there what POLICY compiles to now?  The script\n"
    "               asks this and does not start an old one\n"
    "  --uninstall  remove the script and the blob\n"
    "Exit status: 0; 1 errors, refused, or the blob is old; 2 usage.\n";

static bool refuse(const struct install *install, const char *path, const char *what)
{
	fprintf(stderr, "sbxc: %s: %s\n", diag_escape(install->arena, str_from(path)), what);
	return false;
}

/* ---- whose is it --------------------------------------------------------------------- */

enum owner { NOBODYS, OURS, ANOTHERS };

/* A link is another's, too: what it points to may lie anywhere. */
static enum owner owner_of(const char *path, const char *begin, size_t size)
{
	char have[PREFIX];
	struct stat st;
	ssize_t got;
	int fd;

	if (lstat(path, &st) != 0)
		return errno == ENOENT ? NOBODYS : ANOTHERS;
	fd = S_ISREG(st.st_mode) ? open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW) : -1;
	if (fd < 0)
		return ANOTHERS;
	got = read(fd, have, sizeof(have));
	close(fd);
	return got >= (ssize_t)size && memcmp(have, begin, size) == 0 ? OURS : ANOTHERS;
}

static enum owner owner_of_script(const struct install *install)
{
	return owner_of(install->script, HEAD MARK, strlen(HEAD MARK));
}

static enum owner owner_of_blob(const struct install *install)
{
	return owner_of(install->blob, SBX_MAGIC, strlen(SBX_MAGIC));
}

/* ---- places ---------------------------------------------------------------------------- */

/* The path @dir/@name with every link on the way to @dir followed. */
static const char *real_place(struct arena *arena, const char *dir, const char *name)
{
	char *real = realpath(dir, NULL);
	const char *path = real ? arena_printf(arena, "%s/%s", real, name) : NULL;

	free(real);
	return path;
}

static bool find_places(struct install *install)
{
	struct str name = str_from(install->name);
	const char *blob, *bin = install->bin;

	if (!library_name_valid(name) || strchr(install->name, '/') || install->name[0] == '-')
		return refuse(install, install->name,
			      "no name of a policy: it is of letters, digits, `-`, `_` and dots, "
			      "and starts with a letter or digit");
	blob = output_default(install->arena, name, NULL);
	if (!blob)
		return false;
	install->blob =
	    real_place(install->arena, arena_copy(install->arena, blob, strrchr(blob, '/') - blob),
		       strrchr(blob, '/') + 1);
	if (!install->blob)
		return refuse(install, blob, strerror(errno));
	if (install->check)
		return true;
	if (!bin)
		bin = output_home(install->arena, ".local/bin", "script", "--bin");
	if (!bin)
		return false;
	install->script =
	    real_place(install->arena, bin, arena_printf(install->arena, "%s-sbx", install->name));
	return install->script || refuse(install, bin, strerror(errno));
}

/* ---- what the policy may write ------------------------------------------------------------- */

/* Both by its own name and by that which it has where home is the model's. */
static bool reaches(const struct install *install, const struct sbx_vars *vars,
		    const struct sbx_fs_set *set, const char *path)
{
	const char *home = home_dir(install->arena);
	char *real = home ? realpath(home, NULL) : NULL;
	const char *model = NULL;

	if (real && strcmp(real, "/") && sbx_path_beneath(real, path) >= 0)
		model = arena_printf(install->arena, "%s%s", vars->value[SBX_VAR_HOME],
				     path + strlen(real));
	free(real);
	return sbx_fs_allows(set, path, SBX_WRITE) ||
	       (model && sbx_fs_allows(set, model, SBX_WRITE));
}

static bool outside_grants(const struct install *install, const struct sbx_vars *vars,
			   const struct sbx_fs_set *set)
{
	const char *const outside[] = {
		install->script,
		install->blob,
		library_program(install->arena, "sbx-exec"),
		library_program(install->arena, "sbxc"),
		install->source[0] == '/' ? install->source : NULL,
	};

	for (size_t i = 0; i < sizeof(outside) / sizeof(*outside); i++)
		if (outside[i] && reaches(install, vars, set, outside[i]))
			return refuse(install, outside[i],
				      i ? "the policy grants writing it: move it out of what the "
					  "policy grants"
					: "the policy grants writing it, and it runs outside: "
					  "choose another place with --bin");
	return true;
}

/* ---- the script ------------------------------------------------------------------------- */

/* @word as one word of a shell, whatever it holds. */
static void quote(struct text *text, const char *word)
{
	text_byte(text, '\'');
	for (; *word; word++) {
		if (*word == '\'')
			text_add(text, "'\\''");
		else
			text_byte(text, *word);
	}
	text_byte(text, '\'');
}

/* " -I DIR ... -D NAME=VALUE ... SOURCE" */
static void add_policy(struct text *text, const struct install *install)
{
	for (size_t i = 0; i < install->options.include_dir_count; i++) {
		char *real = realpath(install->options.include_dirs[i], NULL);

		text_add(text, " -I ");
		quote(text, real ? real : install->options.include_dirs[i]);
		free(real);
	}
	for (size_t i = 0; i < install->options.define_count; i++) {
		const struct define *define = &install->options.defines[i];

		text_add(text, " -D ");
		quote(text, arena_printf(install->arena, "%s=%s", define->name, define->value));
	}
	text_byte(text, ' ');
	quote(text, install->source);
}

/* The policy's own command, for the arguments that follow.  Where a word of it is known
 * only at the launch, nothing: what follows is a command then, or nothing. */
static void add_command(struct text *text, const struct sbx_blob *blob, struct sbx_vars vars)
{
	const struct sbx_meta *meta = sbx_meta(blob);
	struct text words = { .arena = text->arena };

	for (unsigned i = 0; i < SBX_VAR_COUNT; i++)
		vars.value[i] = NULL;
	for (uint32_t i = 0; i < meta->command_count; i++) {
		char word[PATH_MAX];
		uint32_t unset;
		bool wild;

		if (sbx_expand(blob, *SBX_AT(blob, TMPLS, sbx_tmpl, meta->command_first + i), &vars,
			       word, sizeof(word), &wild, &unset) < 0)
			return;
		text_byte(&words, ' ');
		quote(&words, word);
	}
	text_add(text, "%s", text_end(&words));
}

/* Refuses a workspace that holds what decides about it. */
static void add_guard(struct text *text, const struct install *install)
{
	text_add(text, "here=$(pwd -P)/\nfor file in \"$launcher\" \"$sbxc\" ");
	quote(text, install->script);
	if (install->source[0] == '/') {
		text_byte(text, ' ');
		quote(text, install->source);
	}
	text_add(text,
		 "; do\n"
		 "\tcase $file in \"$here\"*)\n"
		 "\t\techo \"%s-sbx: $file lies in this directory, where the program may write\" "
		 ">&2\n"
		 "\t\texit 125 ;;\n"
		 "\tesac\n"
		 "done\n",
		 install->name);
}

static struct text script_of(const struct install *install, const struct sbx_blob *blob,
			     const struct sbx_vars *vars, const struct sbx_fs_set *set)
{
	struct text text = { .arena = install->arena };

	text_add(&text,
		 HEAD MARK "it starts the policy %s.  sbxc install --uninstall %s\n"
			   "# removes it.\nlauncher=",
		 install->name, install->name);
	quote(&text, library_program(install->arena, "sbx-exec"));
	text_add(&text, " sbxc=");
	quote(&text, library_program(install->arena, "sbxc"));
	text_byte(&text, '\n');
	if (sbx_fs_allows(set, arena_printf(install->arena, "%s/x", vars->value[SBX_VAR_CWD]),
			  SBX_WRITE))
		add_guard(&text, install);
	text_add(&text, "if [ -x \"$sbxc\" ]; then\n\tHOME=");
	quote(&text, home_dir(install->arena)); /* under which the blob was put */
	text_add(&text, " \"$sbxc\" install --check");
	add_policy(&text, install);
	text_add(&text,
		 " || exit 125\nelse\n"
		 "\techo \"%s-sbx: no $sbxc: an edited policy is not noticed\" >&2\nfi\n"
		 "exec \"$launcher\" ",
		 install->name);
	quote(&text, install->blob);
	text_add(&text, " --");
	add_command(&text, blob, *vars);
	text_add(&text, " \"$@\"\n");
	return text;
}

/* Waits until no other sbxc install writes there, so that blob and script are of one policy;
 * -1: there are no locks in that file system. */
static int lock_place(const struct install *install)
{
	const char *dir = arena_copy(install->arena, install->blob,
				     (size_t)(strrchr(install->blob, '/') - install->blob));
	int lock = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (lock >= 0 && flock(lock, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
		fputs("sbxc: another sbxc install is at work: waiting for its end\n", stderr);
		while (flock(lock, LOCK_EX) != 0 && errno == EINTR)
			;
	}
	return lock;
}

/* By whatever name. */
static bool is_on_path(const struct install *install, const char *dir)
{
	const char *path = getenv("PATH");
	bool found = false;

	for (size_t length; path && *path && !found; path += length + (path[length] == ':')) {
		length = strcspn(path, ":");
		char *real = realpath(arena_copy(install->arena, path, length), NULL);

		found = real && !strcmp(real, dir);
		free(real);
	}
	return found;
}

static void say_path(const struct install *install)
{
	const char *dir = arena_copy(install->arena, install->script,
				     (size_t)(strrchr(install->script, '/') - install->script));
	struct text line = { .arena = install->arena };

	if (is_on_path(install, dir))
		return;
	quote(&line, dir);
	fprintf(stderr,
		"sbxc: %s is not on PATH: for %s-sbx to be found by its name, add this line to "
		"what your shell reads at its start\n    export PATH=%s:\"$PATH\"\n",
		diag_escape(install->arena, str_from(dir)), install->name,
		diag_escape(install->arena, str_from(text_end(&line))));
}

static bool write_both(struct install *install, const struct sbx_blob *blob,
		       const struct sbx_vars *vars, const struct sbx_fs_set *set)
{
	struct text script;

	if (owner_of_script(install) == ANOTHERS)
		return refuse(install, install->script,
			      "not made by sbxc install: it is left as it is");
	if (owner_of_blob(install) == ANOTHERS)
		return refuse(install, install->blob, "no compiled policy: it is left as it is");
	script = script_of(install, blob, vars, set);
	/* The blob first: a script never starts what is not there yet. */
	if (!output_write(install->blob, blob->base, blob->size) ||
	    !output_write(install->script, script.bytes.items, script.bytes.count))
		return false;
	if (chmod(install->script, 0755) != 0)
		return refuse(install, install->script, strerror(errno));
	printf("%s\n%s\n", diag_escape(install->arena, str_from(install->blob)),
	       diag_escape(install->arena, str_from(install->script)));
	fflush(stdout);
	say_path(install);
	return true;
}

static bool put(struct install *install, const struct sbx_blob *blob)
{
	bool fresh = owner_of_script(install) == NOBODYS;
	struct sbx_vars vars;
	struct sbx_fs_set set;
	bool done;
	int lock;

	model_vars(install->arena, blob, &vars);
	model_fs_set(install->arena, blob, &vars, &set);
	if (!outside_grants(install, &vars, &set))
		return false;
	lock = lock_place(install);
	/* What it made before it replaces; what came meanwhile may be another policy's. */
	if (fresh && owner_of_script(install) == OURS)
		done = refuse(install, install->script,
			      "another sbxc install was first: again, and this one replaces it");
	else
		done = write_both(install, blob, &vars, &set);
	if (lock >= 0)
		close(lock);
	return done;
}

/* ---- is the blob an old one ---------------------------------------------------------------- */

static bool same_bytes(const char *path, const struct emitted *blob)
{
	FILE *file = fopen(path, "re");
	bool same = file != NULL;

	for (size_t i = 0; same && i < blob->size; i++)
		same = getc(file) == ((const unsigned char *)blob->data)[i];
	same = same && getc(file) == EOF;
	if (file)
		fclose(file);
	return same;
}

static bool check_fresh(const struct install *install, const struct compilation *c)
{
	struct text again = { .arena = install->arena };

	if (same_bytes(install->blob, &c->blob))
		return true;
	add_policy(&again, install);
	return refuse(install, install->blob,
		      arena_printf(install->arena,
				   "not what the policy compiles to now: sbxc install%s",
				   diag_escape(install->arena, str_from(text_end(&again)))));
}

/* ---- the command ----------------------------------------------------------------------------- */

static int uninstall(struct install *install)
{
	install->name = install->policy;
	if (!find_places(install))
		return SBXC_ERRORS;
	if (owner_of_script(install) == ANOTHERS || owner_of_blob(install) == ANOTHERS) {
		refuse(install,
		       owner_of_script(install) == ANOTHERS ? install->script : install->blob,
		       "not made by sbxc install: it is left as it is");
		return SBXC_ERRORS;
	}
	if (owner_of_script(install) == NOBODYS && owner_of_blob(install) == NOBODYS) {
		refuse(install, install->name, "not installed");
		return SBXC_ERRORS;
	}
	if ((unlink(install->script) != 0 && errno != ENOENT) ||
	    (unlink(install->blob) != 0 && errno != ENOENT)) {
		refuse(install, install->name, strerror(errno));
		return SBXC_ERRORS;
	}
	return SBXC_OK;
}

/* An installed policy stays a name; a file becomes its real path. */
static bool find_source(struct install *install)
{
	struct library_file file;
	char *real;

	if (!strcmp(install->policy, "-"))
		return refuse(install, "-",
			      "install wants a file or the name of a policy, "
			      "which it can look at again");
	install->source = install->policy;
	if (!library_find_main(install->arena, &install->options, install->policy, &file) ||
	    strcmp(file.path, install->policy))
		return true;
	real = realpath(install->policy, NULL);
	if (real)
		install->source = arena_copy(install->arena, real, strlen(real));
	free(real);
	return true; /* opening it says what is wrong */
}

static bool compile_and(struct install *install)
{
	struct compilation c;
	struct sbx_blob blob;
	bool done;

	if (!find_source(install))
		return false;
	compilation_init(&c, &install->options);
	done = compile_path(&c, install->source);
	if (!done || !install->check)
		diag_flush(c.diags, stderr, colour_on(stderr));
	if (done) {
		const char *reason = sbx_blob_open(c.blob.data, c.blob.size, &blob);

		install->name = str_cstr(install->arena, c.policy->name);
		if (reason)
			done = refuse(install, install->policy, reason);
		else if (blob.header->kind != SBX_POLICY)
			done = refuse(install, install->policy, "a site policy starts nothing");
		else
			done = find_places(install) &&
			       (install->check ? check_fresh(install, &c)
					       : put(install, &blob));
	}
	compilation_free(&c);
	return done;
}

int cmd_install(int argc, char **argv)
{
	static const char *const known[] = { "--bin", "--check", "--uninstall", "--colour",
					     "--help" };
	struct arena arena = { 0 };
	struct install install = { .arena = &arena };
	int status;

	for (int i = 1; i < argc; i++) {
		if (common_option(argc, argv, &i, &install.options, &arena))
			continue;
		if (is_help(argv[i]))
			return usage_print(stdout, help);
		if (!strcmp(argv[i], "--check"))
			install.check = true;
		else if (!strcmp(argv[i], "--uninstall"))
			install.uninstall = true;
		else if (!strcmp(argv[i], "--bin") && i + 1 < argc)
			install.bin = argv[++i];
		else if (!strncmp(argv[i], "--bin=", 6) && argv[i][6])
			install.bin = argv[i] + 6;
		else if (argv[i][0] == '-' && argv[i][1])
			return usage_unknown("option", argv[i], known,
					     sizeof(known) / sizeof(*known));
		else if (install.policy)
			return usage_print(stderr, help);
		else
			install.policy = argv[i];
	}
	if (!install.policy || (install.check && install.uninstall))
		return usage_print(stderr, help);
	if (install.uninstall)
		status = uninstall(&install);
	else
		status = compile_and(&install) ? SBXC_OK : SBXC_ERRORS;
	arena_free(&arena);
	return finish_output(status);
}
