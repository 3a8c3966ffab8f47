/*
 * sbxc fmt: the one layout of a policy source.
 *
 * Without an option the result goes to standard output, as with gofmt and
 * clang-format; a file is only ever changed by -w, and only when it differs.
 */
#include <errno.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "compiler/fmt.h"
#include "compiler/stages.h"

static const char help[] =
    "usage: sbxc fmt [--check] [-w | --diff] FILE ...\n"
    "\n"
    "Prints each policy source in its canonical layout (`-`: standard input).  Words,\n"
    "strings, comments and their order stay as they are; what does not parse is left\n"
    "alone.\n"
    "\n"
    "      --check      print the first line of each file that differs, and how it "
    "should be\n"
    "  -w, --write      rewrite the files in place, those that differ\n"
    "      --diff       print what changes, as diff -u does\n"
    "\n"
    "Exit status: 0 done; 1 a file differs (--check), does not parse or cannot be\n"
    "written; 2 usage.\n";

struct fmt_command {
	const char **paths;
	size_t count;
	bool check, write, diff;
};

/* ---- one file -------------------------------------------------------------------------- */

/* A file without a name that another program can open as /dev/fd/N; -1: there is none. */
static int hold(struct str text)
{
	int fd = memfd_create("policy", 0);
	size_t done = 0;

	while (fd >= 0 && done < text.len) {
		ssize_t got = write(fd, text.ptr + done, text.len - done);

		if (got < 0 && errno != EINTR) {
			close(fd);
			return -1;
		}
		done += got > 0 ? (size_t)got : 0;
	}
	return fd;
}

static bool print_diff(struct arena *arena, const char *path, struct str old, struct str new)
{
	int fds[] = { hold(old), hold(new) };
	const char *argv[] = { "diff", "-u", NULL, NULL, "--", NULL, NULL, NULL };
	const char *label = diag_escape(arena, str_from(path));
	int status = -1, error = errno;
	pid_t pid;

	if (fds[0] >= 0 && fds[1] >= 0) {
		argv[2] = arena_printf(arena, "--label=%s", label);
		argv[3] = arena_printf(arena, "--label=%s, formatted", label);
		argv[5] = arena_printf(arena, "/dev/fd/%d", fds[0]);
		argv[6] = arena_printf(arena, "/dev/fd/%d", fds[1]);
		fflush(stdout);
		error =
		    posix_spawnp(&pid, "diff", NULL, NULL, (char *const *)(uintptr_t)argv, environ);
		if (!error)
			while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
				;
	}
	for (int i = 0; i < 2; i++)
		if (fds[i] >= 0)
			close(fds[i]);
	if (error && status < 0)
		fprintf(stderr, "sbxc fmt: cannot run diff: %s\n", strerror(error));
	return WIFEXITED(status) && WEXITSTATUS(status) == 1;
}

/* Takes the first line off @text, without its line break. */
static struct str take_line(struct str *text)
{
	const char *end = memchr(text->ptr, '\n', text->len);
	struct str line = { text->ptr, end ? (size_t)(end - text->ptr) : text->len };

	text->ptr += line.len + (end != NULL);
	text->len -= line.len + (end != NULL);
	return line;
}

/* What is the matter with a line, if it can be said in words; else NULL. */
static const char *name_fault(struct str is, struct str should)
{
	struct str bare = is;

	while (bare.len && strchr(" \t\r", bare.ptr[bare.len - 1]))
		bare.len--;
	if (bare.len < is.len && str_equal(bare, should))
		return is.ptr[is.len - 1] == '\r' ? "a carriage return at the end of the line"
						  : "blanks at the end of the line";
	return bare.len ? NULL : "an empty line too many";
}

/* FILE:LINE of the first line that is not as it should be, and how it should be. */
static void print_place(struct arena *arena, const char *path, struct str old, struct str new)
{
	struct str is = { 0 }, should = { 0 };
	const char *fault = NULL;
	unsigned line = 0;

	while (old.len && new.len && str_equal(is, should)) {
		is = take_line(&old);
		should = take_line(&new);
		line++;
	}
	if (!str_equal(is, should))
		fault = name_fault(is, should);
	else if (old.len)
		line++, fault = "an empty line too many";
	else
		fault = "no line break at the end of the file";
	printf("%s:%u: %s\n", diag_escape(arena, str_from(path)), line,
	       fault ? fault : "laid out otherwise");
	if (!fault)
		printf("    -%s\n    +%s\n", diag_escape(arena, is), diag_escape(arena, should));
}

static bool finish_file(const struct fmt_command *command, struct arena *arena, const char *path,
			struct str old, struct str new)
{
	bool differs = !str_equal(old, new), done = true;

	if (!command->check && !command->write && !command->diff)
		return fwrite(new.ptr, 1, new.len, stdout) == new.len;
	if (!differs)
		return true;
	if (command->diff)
		done = print_diff(arena, path, old, new);
	else if (command->check)
		print_place(arena, path, old, new);
	if (command->write)
		done &= output_replace(path, new.ptr, new.len);
	return done && !command->check;
}

static bool fmt_parsed(const struct fmt_command *command, struct arena *arena, const char *path,
		       const struct ast_file *file)
{
	struct diags *diags = diags_new(arena);
	struct str text = fmt_layout(arena, file);
	struct source *source;

	if (text.len > SOURCE_SIZE_MAX) {
		fprintf(stderr, "sbxc fmt: %s: laid out it is larger than %u MB\n",
			diag_escape(arena, str_from(path)), SOURCE_SIZE_MAX >> 20);
		return false;
	}
	/* Whatever a fault of ours does to the layout, what is said never changes. */
	source = source_from_text(arena, path, path, text);
	if (!fmt_same(file, parse_file(arena, diags, source)) || diag_errors(diags))
		BUG("the layout changes what a policy says");
	return finish_file(command, arena, path, file->source->text, text);
}

static bool fmt_file(const struct fmt_command *command, const char *path)
{
	struct arena arena = { 0 };
	struct diags *diags = diags_new(&arena);
	int error;
	struct source *source = source_read(&arena, path, path, &error);
	const struct ast_file *file = source ? parse_file(&arena, diags, source) : NULL;
	bool done = file && diag_errors(diags) == 0;

	if (!source)
		fprintf(stderr, "sbxc fmt: cannot read %s: %s\n",
			diag_escape(&arena, str_from(path)), strerror(error));
	diag_flush(diags, stderr, colour_on(stderr));
	if (done)
		done = fmt_parsed(command, &arena, path, file);
	arena_free(&arena);
	return done;
}

/* ---- the command line ------------------------------------------------------------------ */

static bool read_option(struct fmt_command *command, const char *word)
{
	static const char *const known[] = { "--check", "--write", "--diff", "--help" };

	if (strcmp(word, "--check") == 0)
		command->check = true;
	else if (strcmp(word, "--write") == 0 || strcmp(word, "-w") == 0)
		command->write = true;
	else if (strcmp(word, "--diff") == 0)
		command->diff = true;
	else
		return usage_unknown("option", word, known, sizeof(known) / sizeof(known[0])),
		       false;
	return true;
}

/* -1, or the status to exit with. */
static int read_arguments(struct fmt_command *command, struct arena *arena, int argc, char **argv)
{
	bool words_only = false, standard_input = false;

	command->paths = arena_array(arena, (size_t)argc, sizeof(*command->paths));
	for (int i = 1; i < argc; i++) {
		if (words_only || argv[i][0] != '-' || !argv[i][1]) {
			standard_input |= strcmp(argv[i], "-") == 0;
			command->paths[command->count++] = argv[i];
		} else if (strcmp(argv[i], "--") == 0) {
			words_only = true;
		} else if (is_help(argv[i])) {
			return usage_print(stdout, help);
		} else if (!read_option(command, argv[i])) {
			return SBXC_USAGE;
		}
	}
	if (!command->count || (command->write && command->diff))
		return usage_print(stderr, help);
	if (command->write && standard_input) {
		fputs("sbxc fmt: -w has no file to write to: `-` is standard input\n", stderr);
		return SBXC_USAGE;
	}
	return -1;
}

int cmd_fmt(int argc, char **argv)
{
	struct fmt_command command = { 0 };
	struct arena arena = { 0 };
	int status = read_arguments(&command, &arena, argc, argv);

	if (status < 0) {
		bool done = true;

		for (size_t i = 0; i < command.count; i++)
			done &= fmt_file(&command, command.paths[i]);
		status = finish_output(done ? SBXC_OK : SBXC_ERRORS);
	}
	arena_free(&arena);
	return status;
}
