/*
 * compiler/show_rest.c - holes, environment, network, limits, processes, claims.
 */
#include <inttypes.h>
#include <string.h>

#include "compiler/render.h"
#include "compiler/render_words.h"
#include "compiler/show.h"

/* ---- holes ---------------------------------------------------------------------------- */

static const enum sbx_section_id ruled[] = {
	SBX_SEC_FS,     SBX_SEC_SLOTS,   SBX_SEC_ENV,         SBX_SEC_SYS_STMTS, SBX_SEC_NET,
	SBX_SEC_LIMITS, SBX_SEC_PROCESS, SBX_SEC_CREDENTIALS, SBX_SEC_SLURM,
};

/* Up to where its modifiers begin: reason and kind have columns of their own. */
static const char *bare_rule(struct show *show, enum sbx_section_id section, uint32_t rule)
{
	const char *text = render_rule(show->arena, show->blob, section, rule, 4);
	static const char *const ends[] = { " override",   " compat \"", " best-effort",
					    " optional",   " create",    " guards ",
					    " because \"", " snapshot",  " placeholder ",
					    " waive " };
	size_t length = strlen(text);

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		const char *end = strstr(text, ends[i]);

		if (end && (size_t)(end - text) < length)
			length = (size_t)(end - text);
	}
	return arena_copy(show->arena, text, length);
}

static void add_reasons(struct show *show, struct show_part *part)
{
	const struct sbx_head *mode = &sbx_meta(show->blob)->net_mode_head;

	for (size_t i = 0; i < sizeof(ruled) / sizeof(ruled[0]); i++)
		for (uint32_t n = 0; n < show->blob->section[ruled[i]].count; n++) {
			const struct sbx_head *head = render_head(show->blob, ruled[i], n);
			struct show_row like = { .tone = SHOW_HOLE, .state = "compat" };

			if (!(head->flags & SBX_F_COMPAT))
				continue;
			show_head(show, &like, head);
			like.said = NULL;
			show_gather(show, part, &like, bare_rule(show, ruled[i], n));
		}
	if (mode->flags & SBX_F_COMPAT) {
		struct show_row *row = show_row(show, part, SHOW_HOLE, "compat", mode);

		row->said = NULL;
		show_name(show, row, "mode host");
	}
}

/* The verb is said once of all its objects. */
static void add_soft_rule(struct show *show, struct show_part *part, enum sbx_section_id section,
			  uint32_t rule, const struct sbx_head *head)
{
	struct show_row like = { .tone = SHOW_PLAIN, .state = "soft" };
	const char *text = bare_rule(show, section, rule), *object = strpbrk(text, "/~$\"");

	if (!object || section != SBX_SEC_FS || head->verb < SBX_FS_DENY)
		object = text;
	show_head(show, &like, head);
	like.more_places = 0;
	like.said = arena_printf(show->arena, "%.*s%sbest-effort",
				 object > text ? (int)(object - text) - 1 : 0, text,
				 object > text ? ", " : "");
	show_gather(show, part, &like, object);
}

static void add_soft(struct show *show, struct show_part *part)
{
	for (size_t i = 0; i < sizeof(ruled) / sizeof(ruled[0]); i++)
		for (uint32_t n = 0; n < show->blob->section[ruled[i]].count; n++) {
			const struct sbx_head *head = render_head(show->blob, ruled[i], n);

			if (head->flags & SBX_F_BEST_EFFORT && !(head->flags & SBX_F_COMPAT))
				add_soft_rule(show, part, ruled[i], n, head);
		}
}

void show_holes(struct show *show)
{
	struct show_part *part = show_part(show, "holes", "Holes", "Kind", "Statement");

	add_reasons(show, part);
	add_soft(show, part);
	part->lead =
	    part->rows.count
		? "What leaves the checklist, with its reason; and what is best-effort (soft): "
		  "not held where a backend cannot."
		: "None: nothing leaves the checklist, nothing is best-effort.";
}

/* ---- environment ------------------------------------------------------------------------ */

static const char *env_name(struct show *show, const struct sbx_env_rule *rule)
{
	struct text text = { .arena = show->arena };

	words_name(&text, sbx_string(show->blob, rule->name));
	if (rule->head.verb == SBX_ENV_SET) {
		text_byte(&text, '=');
		words_tmpl(&text, show->blob, rule->value);
	}
	return text_end(&text);
}

static void add_variables(struct show *show, struct show_part *part, enum sbx_env_verb verb)
{
	static const struct {
		enum show_tone tone;
		const char *state;
	} looks[] = {
		[SBX_ENV_PASS] = { SHOW_READ, "passed" },
		[SBX_ENV_SET] = { SHOW_EXEC, "set" },
		[SBX_ENV_DENY] = { SHOW_SHUT, "kept out" },
		[SBX_ENV_SEAL] = { SHOW_SEALED, "sealed" },
	};

	for (uint32_t i = 0; i < SBX_COUNT(show->blob, ENV); i++) {
		const struct sbx_env_rule *rule = SBX_AT(show->blob, ENV, sbx_env_rule, i);
		const char *name = sbx_string(show->blob, rule->name);
		struct show_row like = { .tone = looks[verb].tone, .state = looks[verb].state };
		struct sbx_env_verdict verdict;

		if (rule->head.verb != verb)
			continue;
		sbx_env_decide(show->blob, name, &verdict);
		if (!strchr(name, '*') && verdict.rule != i)
			continue; /* another rule decides of that very name */
		show_head(show, &like, &rule->head);
		like.more_places = 0;
		show_gather(show, part, &like, env_name(show, rule));
	}
}

void show_environment(struct show *show)
{
	struct show_part *part =
	    show_part(show, "environment", "Environment", "Inside", "Variable");

	if (show_unbounded(show, part, SBX_UNBOUNDED_ENV))
		return;
	part->lead = "It starts empty: what is not here is not there.";
	add_variables(show, part, SBX_ENV_SET);
	add_variables(show, part, SBX_ENV_PASS);
	for (uint32_t i = 0; i < SBX_COUNT(show->blob, CREDENTIALS); i++) {
		const struct sbx_credential *credential =
		    SBX_AT(show->blob, CREDENTIALS, sbx_credential, i);
		struct show_row *row =
		    show_row(show, part, SHOW_PRIVATE, "stand-in", &credential->head);

		show_name(show, row, sbx_string(show->blob, credential->name));
		row->said =
		    arena_printf(show->arena, "never the value itself: %s",
				 render_rule(show->arena, show->blob, SBX_SEC_CREDENTIALS, i, 0));
	}
	add_variables(show, part, SBX_ENV_DENY);
	add_variables(show, part, SBX_ENV_SEAL);
}

/* ---- network ------------------------------------------------------------------------------ */

static const char *after_verb(const char *text)
{
	const char *blank = strchr(text, ' ');

	return blank ? blank + 1 : text;
}

void show_network(struct show *show)
{
	static const struct {
		enum show_tone tone;
		const char *state;
	} looks[] = {
		[SBX_NETV_ALLOW] = { SHOW_WRITE, "open" },
		[SBX_NETV_DENY] = { SHOW_SHUT, "shut" },
		[SBX_NETV_SEAL] = { SHOW_SEALED, "sealed" },
		[SBX_NETV_LISTEN] = { SHOW_READ, "listen" },
	};
	static const char *const modes[] = { "none", "proxy", "host" };
	static const char *const words[] = {
		"no network: an empty namespace, or no sockets",
		"the logged proxy alone decides by name and address",
		"the host's network, whole: nothing here narrows it",
	};
	struct show_part *part = show_part(show, "network", "Network", "Verdict", "What");
	uint32_t mode = sbx_meta(show->blob)->net_mode;
	struct show_row *row;
	unsigned silent = 0;

	if (show_unbounded(show, part, SBX_UNBOUNDED_NET))
		return;
	row = show_row(show, part,
		       mode == SBX_NET_HOST    ? SHOW_HOLE
		       : mode == SBX_NET_PROXY ? SHOW_WRITE
					       : SHOW_SHUT,
		       "mode", &sbx_meta(show->blob)->net_mode_head);

	show_name(show, row, modes[mode]);
	row->said = words[mode];
	for (uint32_t i = 0; i < SBX_COUNT(show->blob, NET); i++) {
		const struct sbx_net_rule *rule = SBX_AT(show->blob, NET, sbx_net_rule, i);
		struct show_row like = { .tone = looks[rule->head.verb].tone,
					 .state = looks[rule->head.verb].state };

		if (rule->kind <= SBX_NETK_ADDRESS && mode != SBX_NET_PROXY) {
			silent++;
			continue;
		}
		show_head(show, &like, &rule->head);
		like.said = NULL;
		like.more_places = 0;
		show_gather(show, part, &like, after_verb(bare_rule(show, SBX_SEC_NET, i)));
	}
	if (silent)
		part->lead = arena_printf(show->arena,
					  "%u rules about hosts and addresses hold in mode proxy "
					  "alone and are left out.",
					  silent);
}

/* ---- process, limits, require --------------------------------------------------------------- */

static void add_rules(struct show *show, struct show_part *part, enum sbx_section_id section,
		      enum show_tone tone, const char *state)
{
	for (uint32_t i = 0; i < show->blob->section[section].count; i++) {
		const struct sbx_head *head = render_head(show->blob, section, i);
		bool hole = head->flags & SBX_F_COMPAT;
		struct show_row *row = show_row(show, part, hole ? SHOW_HOLE : tone, state, head);

		show_name(show, row,
			  section == SBX_SEC_PARAMS ? after_verb(bare_rule(show, section, i))
						    : bare_rule(show, section, i));
	}
}

void show_process(struct show *show)
{
	struct show_part *part =
	    show_part(show, "process", "Processes and limits", "Kind", "Statement");

	add_rules(show, part, SBX_SEC_PROCESS, SHOW_PLAIN, "process");
	add_rules(show, part, SBX_SEC_LIMITS, SHOW_READ, "limit");
	add_rules(show, part, SBX_SEC_REQUIRE, SHOW_PLAIN, "require");
	add_rules(show, part, SBX_SEC_PARAMS, SHOW_PLAIN, "param");
	if (show_unbounded(show, part, SBX_UNBOUNDED_PROCESS) &&
	    show_unbounded(show, part, SBX_UNBOUNDED_LIMITS))
		return;
	part->lead = NULL;
	if (!part->rows.count && show->blob->header->kind == SBX_POLICY)
		part->lead = "Nothing is said: no limits, the terminal that is handed over.";
}

void show_jobs(struct show *show)
{
	struct show_part *part;
	struct sbx_blob jobs;

	if (!SBX_COUNT(show->blob, SLURM))
		return;
	part = show_part(show, "jobs", "Slurm", "Kind", "Statement");
	part->lead = "What is not allowed here is refused, by name.";
	if (sbx_blob_jobs(show->blob, &jobs))
		part->lead = arena_printf(show->arena,
					  "%s  Jobs run under another policy, %s, which is drawn "
					  "below.",
					  part->lead, sbx_string(&jobs, sbx_meta(&jobs)->name));
	for (uint32_t i = 0; i < SBX_COUNT(show->blob, SLURM); i++) {
		const struct sbx_slurm_rule *rule = SBX_AT(show->blob, SLURM, sbx_slurm_rule, i);
		struct show_row like = { .tone = rule->head.verb == SBX_SLURM_DENY   ? SHOW_SHUT
						 : rule->head.verb == SBX_SLURM_SEAL ? SHOW_SEALED
										     : SHOW_READ,
					 .state = "slurm" };

		if (rule->head.verb == SBX_SLURM_OPTION)
			continue; /* a declaration: it opens nothing */
		show_head(show, &like, &rule->head);
		like.more_places = 0;
		show_gather(show, part, &like, bare_rule(show, SBX_SEC_SLURM, i));
	}
}

/* ---- claims ---------------------------------------------------------------------------------- */

void show_claims(struct show *show)
{
	static const char *const states[] = { "can", "cannot", "never" };
	static const enum show_tone tones[] = { SHOW_EXEC, SHOW_SHUT, SHOW_SEALED };
	unsigned counts[3] = { 0 };
	struct show_part *part = show_part(show, "claims", "Claims", "Claim", "Object");

	for (uint32_t i = 0; i < SBX_COUNT(show->blob, ASSERTS); i++) {
		const struct sbx_assert *claim = SBX_AT(show->blob, ASSERTS, sbx_assert, i);
		const char *text = render_rule(show->arena, show->blob, SBX_SEC_ASSERTS, i, 0);
		const char *action = after_verb(text), *object = after_verb(action);
		struct show_row like = { .tone = tones[claim->head.verb],
					 .state = states[claim->head.verb] };

		counts[claim->head.verb]++;
		show_head(show, &like, &claim->head);
		like.more_places = 0;
		like.said = arena_copy(show->arena, action, (size_t)(object - action) - 1);
		show_gather(show, part, &like, object);
	}
	part->lead =
	    arena_printf(show->arena,
			 "%u assertions: %u can, %u cannot, %u never; checked when it is "
			 "compiled and before each launch.",
			 counts[0] + counts[1] + counts[2], counts[0], counts[1], counts[2]);
	part->detail = true;
}
