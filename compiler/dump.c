/*
 * compiler/dump.c - sbxc dump: everything that is in a blob.
 *
 * The rules come in policy notation with the places they were written at;
 * then what only machines read: sizes, Landlock rights, the seccomp programs.
 * The text of a blob may be hostile: every line is escaped.
 */
#include <inttypes.h>
#include <string.h>

#include "blob/check.h"
#include "blob/verdict.h"
#include "compiler/compiler.h"
#include "compiler/disasm.h"
#include "compiler/render.h"
#include "compiler/render_words.h"
#include "compiler/stages.h"
#include "compiler/text.h"
#include "emit/landlock.h"

static const char help[] =
    "usage: sbxc dump [-I DIR] [-D NAME=VALUE] BLOB|POLICY\n"
    "Prints everything a blob holds: the rules with their places, the sizes of its\n"
    "sections, the Landlock rights and the seccomp programs.\n"
    "Exit status: 0; 1 the file cannot be read as either; 2 usage.\n";

static void print_line(struct arena *arena, const char *indent, const char *line)
{
	printf("%s%s", indent, diag_escape(arena, str_from(line)));
}

static const char *quoted(struct arena *arena, const char *words)
{
	struct text text = { .arena = arena };

	text_quoted(&text, words);
	return diag_escape(arena, str_from(text_end(&text)));
}

static void print_top(struct arena *arena, const struct sbx_blob *blob)
{
	const struct sbx_meta *meta = sbx_meta(blob);

	printf("%s %s", blob->header->kind == SBX_SITE ? "site" : "policy",
	       quoted(arena, sbx_string(blob, meta->name)));
	if (meta->summary != SBX_NONE)
		printf(" summary %s", quoted(arena, sbx_string(blob, meta->summary)));
	printf("\n# digest %s\n# format %u, %u bytes, written by ", render_digest(arena, blob),
	       blob->header->version, blob->size);
	print_line(arena, "", sbx_string(blob, meta->compiler));
	putchar('\n');
	if (meta->command_count) {
		printf("command");
		for (uint32_t i = 0; i < meta->command_count; i++)
			print_line(
			    arena, " ",
			    render_tmpl(arena, blob,
					*SBX_AT(blob, TMPLS, sbx_tmpl, meta->command_first + i)));
		putchar('\n');
	}
}

static void print_unbounded(const struct sbx_blob *blob)
{
	static const char *const names[] = { "fs",         "env",     "syscalls", "net",
					     "credential", "process", "limits",   "slurm" };

	if (!sbx_meta(blob)->unbounded)
		return;
	printf("unbounded");
	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (sbx_meta(blob)->unbounded & 1u << i)
			printf(" %s", names[i]);
	putchar('\n');
}

static void print_rule(struct arena *arena, const struct sbx_blob *blob, const char *indent,
		       enum sbx_section_id section, uint32_t index)
{
	const char *line = render_rule(arena, blob, section, index, 0);
	const struct sbx_head *head = render_head(blob, section, index);
	size_t width = strlen(line);

	print_line(arena, indent, line);
	if (head->loc != SBX_NONE) {
		printf("%*s", width < 56 ? (int)(56 - width) : 1, "");
		print_line(arena, "# ", render_places(arena, blob, head->loc));
	}
	putchar('\n');
}

static const struct {
	enum sbx_section_id id;
	const char *name, *indent; /* name NULL: statements of the top level */
} rule_sections[] = {
	{ SBX_SEC_PARAMS, NULL, "" },
	{ SBX_SEC_FS, "fs", "    " },
	{ SBX_SEC_SLOTS, "fs", "    " },
	{ SBX_SEC_ENV, "env", "    " },
	{ SBX_SEC_SYS_STMTS, "syscalls", "    " },
	{ SBX_SEC_NET, "net", "    " },
	{ SBX_SEC_CREDENTIALS, NULL, "" },
	{ SBX_SEC_PROCESS, "process", "    " },
	{ SBX_SEC_LIMITS, "limits", "    " },
	{ SBX_SEC_REQUIRE, "require", "    " },
	{ SBX_SEC_SLURM, "slurm", "    " },
	{ SBX_SEC_ASSERTS, "assert", "    " },
};

static void print_mode(struct arena *arena, const struct sbx_blob *blob)
{
	static const char *const modes[] = { "none", "proxy", "host" };
	struct text text = { .arena = arena };

	text_add(&text, "mode %s", modes[sbx_meta(blob)->net_mode]);
	words_head(&text, blob, &sbx_meta(blob)->net_mode_head);
	print_line(arena, "    ", text_end(&text));
	putchar('\n');
}

static void print_rules(struct arena *arena, const struct sbx_blob *blob)
{
	const char *open = NULL;

	for (size_t i = 0; i < sizeof(rule_sections) / sizeof(rule_sections[0]); i++) {
		enum sbx_section_id id = rule_sections[i].id;
		const char *name = rule_sections[i].name;
		uint32_t count = blob->section[id].count;

		if (!count && id != SBX_SEC_NET)
			continue;
		if (open && (!name || strcmp(open, name))) {
			printf("}\n");
			open = NULL;
		}
		if (!open)
			printf("\n");
		if (name && !open)
			printf("%s {\n", name);
		open = name;
		if (id == SBX_SEC_NET)
			print_mode(arena, blob);
		for (uint32_t n = 0; n < count; n++)
			print_rule(arena, blob, rule_sections[i].indent, id, n);
	}
	if (open)
		printf("}\n");
}

static void print_rights(const char *name, uint64_t rights)
{
	static const char *const names[] = {
		"execute",   "write_file", "read_file", "read_dir",  "remove_dir",   "remove_file",
		"make_char", "make_dir",   "make_reg",  "make_sock", "make_fifo",    "make_block",
		"make_sym",  "refer",      "truncate",  "ioctl_dev", "resolve_unix",
	};

	printf("    %-8s", name);
	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (rights & 1ull << i)
			printf(" %s", names[i]);
	printf("\n");
}

static void print_landlock(const struct sbx_blob *blob)
{
	const struct sbx_landlock *landlock = SBX_AT(blob, LANDLOCK, sbx_landlock, 0);

	printf("\n# Landlock\n");
	print_rights("handled", landlock->handled_fs);
	print_rights("read", landlock->read);
	print_rights("write", landlock->write);
	print_rights("exec", landlock->exec);
	print_rights("device", landlock->device);
	printf("    net     %s%s\n", landlock->handled_net & SBX_LL_BIND_TCP ? " bind_tcp" : "",
	       landlock->handled_net & SBX_LL_CONNECT_TCP ? " connect_tcp" : "");
	printf("    scoped  %s%s\n",
	       landlock->scoped & SBX_LL_SCOPE_ABSTRACT_UNIX ? " abstract_unix_socket" : "",
	       landlock->scoped & SBX_LL_SCOPE_SIGNAL ? " signal" : "");
}

static void print_sizes(const struct sbx_blob *blob)
{
	printf("\n# section              records  bytes\n");
	for (uint32_t id = 0; id < SBX_SEC_COUNT; id++) {
		const struct sbx_section_spec *spec = sbx_section_spec(id);

		if (spec && blob->section[id].count)
			printf("#   %-18s %8u %6u\n", spec->name, blob->section[id].count,
			       blob->section[id].count * spec->record_size);
	}
}

static void print_programs(struct arena *arena, const struct sbx_blob *blob)
{
	static const char *const names[] = { "x86_64", "aarch64", "x86_64, without namespaces",
					     "aarch64, without namespaces" };

	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!blob->section[SBX_SEC_BPF_X86_64 + i].count)
			continue;
		printf("\n# seccomp %s\n", names[i]);
		disasm_print(stdout, arena, blob, SBX_SEC_BPF_X86_64 + i);
	}
}

static void dump(struct arena *arena, const struct sbx_blob *blob)
{
	struct sbx_blob jobs;

	print_top(arena, blob);
	print_unbounded(blob);
	print_rules(arena, blob);
	print_sizes(blob);
	print_landlock(blob);
	print_programs(arena, blob);
	if (!sbx_blob_jobs(blob, &jobs))
		return;
	printf("\n# the policy that jobs run under\n\n");
	dump(arena, &jobs);
}

int cmd_dump(int argc, char **argv)
{
	static const char *const known[] = { "--colour", "--help" };
	struct compile_options options = { 0 };
	struct compilation compilation;
	struct arena arena = { 0 };
	const char *path = NULL;
	struct sbx_blob blob;
	bool opened;

	for (int i = 1; i < argc; i++) {
		if (common_option(argc, argv, &i, &options, &arena))
			continue;
		if (is_help(argv[i]))
			return usage_print(stdout, help);
		if (argv[i][0] == '-' && argv[i][1])
			return usage_unknown("option", argv[i], known,
					     sizeof(known) / sizeof(*known));
		if (path)
			return usage_print(stderr, help);
		path = argv[i];
	}
	if (!path)
		return usage_print(stderr, help);
	compilation_init(&compilation, &options);
	opened = open_blob_or_compile(&compilation, path, &blob);
	if (opened)
		dump(&compilation.arena, &blob);
	compilation_free(&compilation);
	arena_free(&arena);
	return finish_output(opened ? SBXC_OK : SBXC_ERRORS);
}
