/*
 * The policy that sbxc init writes: what was found, then the lines of the
 * table's entries, each section once, in the order in which people read them.
 */
#include "compiler/fmt.h"
#include "compiler/init.h"
#include "compiler/stages.h"

static bool has(const struct init_entry *agent, const char *language)
{
	for (size_t i = 0; i < agent->has.count; i++)
		if (!strcmp(agent->has.items[i], language))
			return true;
	return false;
}

static bool belongs(const struct init *init, const struct init_entry *entry)
{
	if (init_is(entry, "agent"))
		return entry == init->agent;
	if (init_is(entry, "base"))
		return !init->agent->whole;
	return entry->there && !(init_is(entry, "language") && has(init->agent, entry->name));
}

static void add_section(const struct init *init, struct text *text, const char *section, bool block)
{
	bool any = false;

	for (size_t i = 0; i < init->entries.count; i++) {
		const struct init_entry *entry = &init->entries.items[i];

		for (size_t j = 0; belongs(init, entry) && j < entry->lines.count; j++) {
			if (!str_is(entry->lines.items[j].section, section))
				continue;
			if (!any && block)
				text_add(text, "%s {\n", section);
			text_add(text, "%s%.*s\n", block ? "    " : "",
				 STR_ARG(entry->lines.items[j].text));
			any = true;
		}
	}
	if (any)
		text_add(text, "%s", block ? "}\n" : "\n");
}

/* "# WHAT: a b c" of all entries of a kind that are there. */
static void add_found(const struct init *init, struct text *text, const char *kind,
		      const char *what, const char *none)
{
	unsigned count = 0;

	text_add(text, "# %s:", what);
	for (size_t i = 0; i < init->entries.count; i++) {
		const struct init_entry *entry = &init->entries.items[i];

		if (!init_is(entry, kind) || !entry->there)
			continue;
		text_add(text, " %s", entry->name);
		count++;
	}
	text_add(text, "%s\n", count ? "" : none);
}

struct text init_policy(struct init *init)
{
	static const struct {
		const char *name;
		bool block;
	} sections[] = { { "import", false },     { "param", false },  { "run", false },
			 { "fs", true },	  { "env", true },     { "syscalls", true },
			 { "net", true },	  { "credential", false }, { "process", true },
			 { "limits", true },	  { "assert", true } };
	struct text text = { .arena = init->arena };

	text_add(&text,
		 "# A first policy for %s,\n# made by `sbxc init`; it is yours to change.\n#\n",
		 diag_escape(init->arena, str_from(init->project)));
	for (size_t i = 0; i < init->findings.count; i++)
		text_add(&text, "# %s\n",
			 diag_escape(init->arena, str_from(init->findings.items[i])));
	add_found(init, &text, "agent", "Agents on PATH, and a shell", " none");
	text_add(&text, "#   this is for %s; for another: sbxc init --agent NAME\n",
		 init->agent->name);
	add_found(init, &text, "language", "Found in the project", " nothing that is known");
	add_found(init, &text, "secret", "Files in it that may hold keys", " none by name");
	add_found(init, &text, "cluster", "Clusters", " none");
	text_add(&text,
		 "language 1                              # the version of the language\n"
		 "policy \"%s\" summary \"%s in this project: one writable tree, keys sealed\"\n\n",
		 init->name, init->agent->name);
	for (size_t i = 0; i < sizeof(sections) / sizeof(*sections); i++)
		add_section(init, &text, sections[i].name, sections[i].block);
	return text;
}

struct str init_lay_out(struct init *init, struct text policy)
{
	struct str text = { policy.bytes.items, policy.bytes.count };
	struct diags *diags = diags_new(init->arena);
	struct source *source = source_from_text(init->arena, init->name, init->name, text);
	const struct ast_file *file = parse_file(init->arena, diags, source);

	return diag_errors(diags) ? text : fmt_layout(init->arena, file);
}
