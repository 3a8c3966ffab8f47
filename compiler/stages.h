/*
 * compiler/stages.h - what the driver calls beside load.h and lower.h, and
 * what explain shares with it.
 */
#ifndef SBX_COMPILER_STAGES_H
#define SBX_COMPILER_STAGES_H

#include "blob/verdict.h"
#include "compiler/compiler.h"

struct program;

/* Checks assertions and the hosts of credentials on a blob with locations; takes
 * the claims that an override lifts out of the policy. */
void check_claims(struct compilation *c, const struct program *program,
		  const struct emitted *emitted);

/* Compiles the policy that Slurm jobs run under, where another one is named. */
void compile_jobs_policy(struct compilation *c, const struct program *program);

/* The machine that claims are checked on: $home is /home/u, and so on.
 * Strings are in the arena. */
void model_vars(struct arena *arena, const struct sbx_blob *blob, struct sbx_vars *vars);
/* Each file rule with these values, one point a rule; nothing is resolved. */
void model_fs_set(struct arena *arena, const struct sbx_blob *blob, const struct sbx_vars *vars,
		  struct sbx_fs_set *set);

/* Is @output a file that @c read?  Then that is said. */
bool output_is_input(const struct compilation *c, const char *output);
/*
 * Writes a blob to @path by a temporary file beside it and a rename, so that
 * nobody ever sees half of one; @path "-" is standard output.  Prints what is
 * wrong and returns false.
 */
bool output_write(const char *path, const void *data, size_t size);
/* The same where nothing is at @path: of many that do this at once, one does.  *there: it is
 * another one, which is not said. */
bool output_create(const char *path, const void *data, size_t size, bool *there);
/* The same for a source that is there: its mode and owner stay, and so does a link to it. */
bool output_replace(const char *path, const void *data, size_t size);
/* Where the user's own files are: HOME, and where that is not set the passwd entry's, which
 * sbx-exec takes for $home; NULL: neither is there. */
const char *home_dir(struct arena *arena);
/* ~/BELOW, with the directories on the way made for the user alone; NULL, after a message
 * that names the @option to say with where else to put @what, if there is one. */
const char *output_home(struct arena *arena, const char *below, const char *what,
			const char *option);
/* ~/.local/share/sbx/NAME.sbx, its directories made; NULL after a message. */
const char *output_default(struct arena *arena, struct str name, const char *option);

/* --help or -h */
bool is_help(const char *word);
/* Prints @help, on standard output where that was asked for; the status to exit with, as
 * do the others. */
int usage_print(FILE *out, const char *help);
/* "sbxc COMMAND: what is wrong" */
int usage_wrong(const char *command, const char *wrong);
/* For a command line that ends there: help was asked for, or something is wrong with it;
 * @wrong NULL: what that is the usage says. */
int usage_end(const char *command, const char *wrong, bool asked, const char *help);
/* Of a command that takes nothing but --markdown; -1, or the status to exit with. */
int read_markdown(int argc, char **argv, bool *markdown);
/* "sbxc: unknown option `--colr`", did-you-mean among the @known ones. */
int usage_unknown(const char *what, const char *word, const char *const *known, size_t count);
/* Closes standard output and says so when what was written did not arrive. */
int finish_output(int status);

int cmd_init(int argc, char **argv);
int cmd_install(int argc, char **argv);
int cmd_show(int argc, char **argv);
int cmd_verbs(int argc, char **argv);
int cmd_backends(int argc, char **argv);
int cmd_fmt(int argc, char **argv);
int cmd_diff(int argc, char **argv);
int cmd_check(int argc, char **argv);

#endif
