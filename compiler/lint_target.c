/*
 * compiler/lint_target.c - sbxc lint --target: a policy against a backend.
 *
 * What the backend does not hold, and the policy does not say it can do
 * without, would stop the launch there: each is an error at its rule, with the
 * launcher's own reason and remedy.
 */
#include <stdio.h>
#include <string.h>

#include "compiler/duties.h"
#include "compiler/lint_target.h"
#include "compiler/load.h"
#include "compiler/render.h"
#include "compiler/stages.h"
#include "compiler/words.h"

static const char *subject(struct compilation *c, const struct sbx_blob *blob,
			   const struct duty *duty)
{
	if (duty->rule == SBX_NONE)
		return sbx_duty_text(duty->what);
	return arena_printf(&c->arena, "`%s`",
			    render_rule(&c->arena, blob, duty->section, duty->rule, 0));
}

static struct span place_of(const struct compilation *c, const struct duty *duty)
{
	if (duty->rule == SBX_NONE)
		return c->policy->head.place.span;
	return c->blob.heads[duty->section][duty->rule]->place.span;
}

static bool is_seal(const struct sbx_blob *blob, const struct duty *duty)
{
	return duty->section == SBX_SEC_FS && duty->rule != SBX_NONE &&
	       SBX_AT(blob, FS, sbx_fs_rule, duty->rule)->head.verb == SBX_FS_SEAL;
}

/* What one message speaks of: statements on one line, or in one module. */
static bool same_message(const struct compilation *c, const struct sbx_blob *blob,
			 const struct duty *a, const struct duty *b)
{
	const struct rule_head *x, *y;

	if (a->what != b->what || a->optional != b->optional || a->rule == SBX_NONE ||
	    b->rule == SBX_NONE || is_seal(blob, a) != is_seal(blob, b))
		return false;
	x = c->blob.heads[a->section][a->rule];
	y = c->blob.heads[b->section][b->rule];
	return x->place.span.source == y->place.span.source &&
	       (!x->main_file || x->place.span.start == y->place.span.start);
}

/* " in base.pol", where another file than the policy's imports @module and insists on it. */
static const char *insisting(struct compilation *c, const struct source *module)
{
	for (size_t i = 0; i < c->firm.count; i++) {
		const struct noted_import *import = &c->firm.items[i];

		if (import->module->ast->source == module &&
		    import->span.source != c->main_file->source)
			return arena_printf(&c->arena, " in %s", import->span.source->name);
	}
	return "";
}

static const char *remedy(struct compilation *c, const struct sbx_blob *blob,
			  const struct target *target, const struct duty *duty)
{
	const struct rule_head *head;
	const char *name;

	if (is_seal(blob, duty))
		return "use --backend bwrap, or grant less above it: a seal is always enforced";
	if (duty->rule != SBX_NONE && c->blob.heads[duty->section][duty->rule]->place.next)
		return arena_printf(
		    &c->arena,
		    "use --backend bwrap, or make it best-effort at each of its places: %s",
		    render_places(&c->arena, blob,
				  render_head(blob, duty->section, duty->rule)->loc));
	if (duty->section != SBX_SEC_FS || duty->what == SBX_DUTY_GRANT_BENEATH)
		return sbx_lack_remedy(duty->what, target->backend);
	head = c->blob.heads[duty->section][duty->rule];
	name = head->place.span.source->name;
	if (head->main_file)
		return sbx_lack_remedy(duty->what, target->backend);
	return arena_printf(&c->arena, "use --backend bwrap, or `import %.*s best-effort`%s",
			    (int)(strlen(name) - strlen(".pol")), name,
			    insisting(c, head->place.span.source));
}

static void complain(struct compilation *c, const struct sbx_blob *blob,
		     const struct target *target, const struct duty *duty, unsigned more)
{
	diag_error(c->diags, DIAG_T0101, place_of(c, duty), "not held by %s: %s%s: %s",
		   target->text, subject(c, blob, duty),
		   more ? arena_printf(&c->arena, " and %u more here", more) : "",
		   sbx_lack_why(duty->what, target->backend));
	diag_note(c->diags, NO_PLACE, "%s", remedy(c, blob, target, duty));
}

static void list_one(struct compilation *c, const struct sbx_blob *blob,
		     const struct target *target, const struct duty *duty, unsigned more)
{
	uint32_t loc =
	    duty->rule == SBX_NONE ? SBX_NONE : render_head(blob, duty->section, duty->rule)->loc;

	printf("  %s%s%s%s: %s\n", loc == SBX_NONE ? "" : render_places(&c->arena, blob, loc),
	       loc == SBX_NONE ? "" : ": ",
	       diag_escape(&c->arena, str_from(subject(c, blob, duty))),
	       more ? arena_printf(&c->arena, " and %u more here", more) : "",
	       sbx_lack_why(duty->what, target->backend));
}

static bool stands_before(const struct compilation *c, const struct duties *duties, size_t i,
			  size_t at)
{
	uint32_t a = place_of(c, &duties->items[i]).start,
		 b = place_of(c, &duties->items[at]).start;

	return a != b ? a < b : i < at;
}

/* Is @duties->items[at] the first of its message, and how many more are there? */
static bool is_first(const struct compilation *c, const struct sbx_blob *blob,
		     const struct duties *duties, size_t at, unsigned *more)
{
	*more = 0;
	for (size_t i = 0; i < duties->count; i++) {
		if (i == at || !same_message(c, blob, &duties->items[i], &duties->items[at]))
			continue;
		if (stands_before(c, duties, i, at))
			return false;
		++*more;
	}
	return true;
}

static void against(struct compilation *c, const struct sbx_blob *blob, const struct target *target,
		    const struct duties *duties, bool quiet)
{
	bool listed = false;
	unsigned more;

	for (size_t i = 0; i < duties->count; i++) {
		const struct duty *duty = &duties->items[i];

		if (target_holds(target, duty->what) || !is_first(c, blob, duties, i, &more))
			continue;
		if (!duty->optional) {
			complain(c, blob, target, duty, more);
		} else if (!quiet) {
			if (!listed)
				printf("%s does without, as the policy says:\n", target->text);
			list_one(c, blob, target, duty, more);
			listed = true;
		}
	}
}

void lint_targets(struct compilation *c, struct targets *targets, bool quiet)
{
	struct duties duties = { 0 };
	struct sbx_fs_set set;
	struct sbx_vars vars;
	struct sbx_blob blob;

	if (sbx_blob_open(c->blob.data, c->blob.size, &blob))
		BUG("our own blob is refused");
	model_vars(&c->arena, &blob, &vars);
	model_fs_set(&c->arena, &blob, &vars, &set);
	duties_collect(&c->arena, &blob, &set, &duties);
	targets_settle(&c->arena, targets, &blob);
	for (size_t i = 0; i < targets->count; i++)
		against(c, &blob, &targets->items[i], &duties, quiet);
}

void targets_required(struct arena *arena, struct targets *targets, const struct policy *policy)
{
	const char *abi = "";

	for (size_t i = 0; i < policy->require.count; i++)
		if (policy->require.items[i].what == SBX_REQUIRE_LANDLOCK)
			abi = arena_printf(arena, "@%u", policy->require.items[i].value);
	for (size_t i = 0; i < policy->require.count; i++) {
		const struct require_rule *rule = &policy->require.items[i];

		for (size_t j = 0; rule->what == SBX_REQUIRE_BACKEND && j < rule->words.count;
		     j++) {
			struct str name = rule->words.items[j].segs[0].text;

			/* `native` is none that can be asked about. */
			targets_add(arena, targets,
				    arena_printf(arena, "%.*s%s", STR_ARG(name), abi));
		}
	}
}
