/*
 * The verb table and its lookups.
 *
 * The table is small and looked up once a statement, so a linear search does;
 * 10,000 statements compare some 700,000 short words, a few milliseconds.
 */
#include "grammar/verbs.h"

#include <string.h>

#include "base/diag.h"
#include "grammar/ast.h"

#define M(kind)    (1u << AST_MOD_##kind)
#define NO_MODS    0u
#define COMMON     (M(COMPAT) | M(WAIVE) | M(BECAUSE))
#define GRANT_MODS (COMMON | M(OPTIONAL) | M(BEST_EFFORT) | M(OVERRIDE))
#define DENY_MODS  (COMMON | M(GUARDS))
#define LIMIT_MODS (COMMON | M(BEST_EFFORT))

#define POLICY     FILE_POLICY
#define MODULE     FILE_MODULE
#define SITE       FILE_SITE
#define EVERYWHERE (POLICY | MODULE | SITE)
#define MANY       VERB_MANY

_Static_assert(AST_MOD__END <= 32, "a verb's modifiers are a 32-bit set");

const struct verb verbs[] = {
#define VERB(section, word, object, min, max, mods, kinds, flags, opens, usage, help)              \
	{ SECTION_##section,                                                                       \
	  word,                                                                                    \
	  OBJECT_##object,                                                                         \
	  min,                                                                                     \
	  max,                                                                                     \
	  mods,                                                                                    \
	  kinds,                                                                                   \
	  flags,                                                                                   \
	  SECTION_##opens,                                                                         \
	  usage,                                                                                   \
	  help },
#include "grammar/verbs.def"
#undef VERB
	{ .word = NULL },
};

#define VERB_COUNT (sizeof(verbs) / sizeof(verbs[0]) - 1)

const struct verb *verb_find(enum verb_section section, struct str word)
{
	for (const struct verb *verb = verbs; verb->word; verb++) {
		if (verb->section == section && str_is(word, verb->word))
			return verb;
	}
	return NULL;
}

const struct verb *verb_find_elsewhere(enum verb_section section, struct str word)
{
	for (const struct verb *verb = verbs; verb->word; verb++) {
		if (verb->section != section && str_is(word, verb->word))
			return verb;
	}
	return NULL;
}

const char *verb_suggest(enum verb_section section, struct str word)
{
	const char *words[VERB_COUNT];
	size_t count = 0;

	for (const struct verb *verb = verbs; verb->word; verb++) {
		if (verb->section == section)
			words[count++] = verb->word;
	}
	return suggest(word, words, count);
}

const char *section_name(enum verb_section section)
{
	static const char *const names[] = {
		[SECTION_TOP] = "the top level", [SECTION_FS] = "fs",
		[SECTION_ENV] = "env",           [SECTION_SYSCALLS] = "syscalls",
		[SECTION_NET] = "net",           [SECTION_CREDENTIAL] = "credential",
		[SECTION_PROCESS] = "process",   [SECTION_LIMITS] = "limits",
		[SECTION_SLURM] = "slurm",       [SECTION_SLURM_COMMAND] = "slurm command",
		[SECTION_REQUIRE] = "require",   [SECTION_ASSERT] = "assert",
	};
	if (section >= SECTION_NONE)
		BUG("no such section");
	return names[section];
}

const char *file_kind_name(unsigned kind)
{
	switch (kind) {
	case FILE_POLICY:
		return "policy";
	case FILE_MODULE:
		return "module";
	case FILE_SITE:
		return "site";
	}
	BUG("no such kind of file");
}

static void print_verb(FILE *out, const struct verb *verb, bool markdown)
{
	if (markdown)
		fprintf(out, "| `");
	else
		fprintf(out, "  ");
	for (const char *c = verb->usage; *c; c++) {
		if (markdown && *c == '|')
			fputc('\\', out);
		fputc(*c, out);
	}
	fprintf(out, markdown ? "` | %s |" : "\n      %s", verb->help);
	if (markdown) {
		bool first = true;
		for (unsigned kind = FILE_POLICY; kind <= FILE_SITE; kind <<= 1) {
			if (!(verb->kinds & kind))
				continue;
			fprintf(out, "%s%s", first ? " " : ", ", file_kind_name(kind));
			first = false;
		}
		fprintf(out, " |");
	}
	bool said = false;
	for (unsigned kind = 0; kind < AST_MOD__END; kind++) {
		if (!(verb->mods & 1u << kind))
			continue;
		fprintf(out, said ? ", %s" : (markdown ? " %s" : "; takes %s"), ast_mod_word(kind));
		said = true;
	}
	fprintf(out, markdown ? " |\n" : "\n");
}

void verbs_print(FILE *out, bool markdown)
{
	enum verb_section section = SECTION_NONE;

	for (const struct verb *verb = verbs; verb->word; verb++) {
		if (verb->section != section) {
			if (section != SECTION_NONE)
				fputc('\n', out);
			section = verb->section;
			if (markdown)
				fprintf(out,
					"### %s\n\n| Statement | Meaning | In | Modifiers |\n"
					"| --- | --- | --- | --- |\n",
					section_name(section));
			else
				fprintf(out, "%s\n", section_name(section));
		}
		print_verb(out, verb, markdown);
	}
}
