/*
 * Do the policy's own claims hold?
 *
 * The blob just made is asked, not the model it was made from, with the
 * functions that sbx-exec asks again before it starts a command.  Variables
 * have the values of a made-up machine (model_values); there are no symbolic
 * links on it.  A claim that a policy lifts by `override` leaves the policy, so
 * that the launch does not ask it again.  What an assertion finds is shown at the assertion, with
 * the rule that decides: places come from the blob's own table of locations.
 */
#include "compiler/stages.h"

#include <stdio.h>
#include <stdlib.h>

#include "blob/verdict.h"
#include "compiler/load.h"
#include "compiler/render.h"

#define PATH_SIZE 4096

static const char *const model_values[SBX_VAR_COUNT] = {
	[SBX_VAR_HOME] = "/home/u",
	[SBX_VAR_CWD] = "/home/u/w",
	[SBX_VAR_WORKSPACE] = "/home/u/w",
	[SBX_VAR_USER] = "u",
	[SBX_VAR_UID] = "1000",
	[SBX_VAR_RUNTIME] = "/run/user/1000",
	[SBX_VAR_GITDIR] = "/home/u/w/.git",
	[SBX_VAR_GITCOMMON] = "/home/u/w/.git",
	[SBX_VAR_GITHOOKS] = "/home/u/w/.git/hooks",
	[SBX_VAR_CA_BUNDLE] = "/etc/ssl/certs/ca-certificates.crt",
	[SBX_VAR_LAUNCHER] = "/usr/local/bin/sbx-exec",
	[SBX_VAR_SIBLING] = "/home/u/sibling",
};

/* A template's text in the arena; NULL when it has no value. */
static const char *expand(struct arena *arena, const struct sbx_blob *blob, struct sbx_tmpl tmpl,
			  const struct sbx_vars *vars, bool *wild)
{
	char text[PATH_SIZE];
	uint32_t unset;
	int len = sbx_expand(blob, tmpl, vars, text, sizeof(text), wild, &unset);

	return len < 0 ? NULL : arena_copy(arena, text, (size_t)len);
}

void model_vars(struct arena *arena, const struct sbx_blob *blob, struct sbx_vars *vars)
{
	bool wild;

	*vars = (struct sbx_vars){ 0 };
	for (size_t i = 0; i < SBX_VAR_COUNT; i++)
		vars->value[i] = model_values[i];
	vars->value[SBX_VAR_POLICY] = arena_printf(arena, "/home/u/.local/share/sbx/%s.sbx",
						   sbx_string(blob, sbx_meta(blob)->name));
	for (uint32_t i = 0; i < SBX_COUNT(blob, PARAMS); i++)
		vars->value[SBX_VAR_PARAM + i] =
		    expand(arena, blob, SBX_AT(blob, PARAMS, sbx_param, i)->value, vars, &wild);
	/* A workspace of its own is where the program starts, too. */
	const char *workspace = expand(arena, blob, sbx_meta(blob)->workspace, vars, &wild);
	if (workspace && *workspace)
		vars->value[SBX_VAR_WORKSPACE] = workspace;
}

void model_fs_set(struct arena *arena, const struct sbx_blob *blob, const struct sbx_vars *vars,
		  struct sbx_fs_set *set)
{
	uint32_t count = SBX_COUNT(blob, FS);
	struct sbx_fs_point *points = arena_array(arena, count, sizeof(*points));
	struct {
		VEC_OF(const char *)
	} excepts = { 0 };

	*set = (struct sbx_fs_set){ .points = points };
	for (uint32_t i = 0; i < count; i++) {
		const struct sbx_fs_rule *rule = SBX_AT(blob, FS, sbx_fs_rule, i);
		struct sbx_fs_point point = {
			.rule = i,
			.verb = rule->verb,
			.rights = rule->rights,
			.except_first = (uint32_t)excepts.count,
		};
		bool wild = false;

		point.path = expand(arena, blob, rule->path, vars, &wild);
		point.wild = wild;
		if (!point.path)
			continue;
		for (uint32_t j = 0; j < rule->except_count; j++) {
			struct sbx_tmpl tmpl =
			    *SBX_AT(blob, TMPLS, sbx_tmpl, rule->except_first + j);
			const char *path = expand(arena, blob, tmpl, vars, &wild);

			if (path)
				*VEC_PUSH(arena, &excepts) = path;
		}
		point.except_count = (uint32_t)excepts.count - point.except_first;
		points[set->count++] = point;
	}
	set->excepts = excepts.items;
}

/* ---- places ------------------------------------------------------------------------------- */

struct span place_of(const struct compilation *c, const struct sbx_blob *blob, uint32_t index)
{
	if (index >= SBX_COUNT(blob, LOCS))
		return (struct span){ 0 };

	const struct sbx_loc *loc = SBX_AT(blob, LOCS, sbx_loc, index);
	for (size_t i = 0; i < c->policy->files.count; i++) {
		const struct source *source = c->policy->files.items[i];

		if (strcmp(source->name, sbx_string(blob, loc->file)) != 0 ||
		    loc->line > source->line_count)
			continue;
		uint32_t start = source->lines[loc->line - 1] + loc->column - 1, end = start;
		while (end < source->text.len && !strchr(" \t\r\n;{}", source->text.ptr[end]))
			end++;
		return (struct span){ source, start, end };
	}
	return (struct span){ 0 };
}

/* ---- assertions --------------------------------------------------------------------------- */

/* A pattern that takes binds the names that are there at launch, and no others. */
static void warn_snapshot(struct compilation *c, const struct sbx_blob *blob,
			  const struct sbx_assert *claim, const struct sbx_assert_result *result)
{
	diag_warning(c->diags, DIAG_A0103, place_of(c, blob, claim->head.loc),
		     "this holds at launch only, for names that are there by then");
	diag_note(c->diags, place_of(c, blob, result->loc), "it rests on this `snapshot`");
}

/* The claim in the model that @claim was made from. */
static struct assertion *claim_of(const struct compilation *c, const struct sbx_blob *blob,
				  const struct sbx_assert *claim)
{
	struct span place = place_of(c, blob, claim->head.loc);

	for (size_t i = 0; i < c->policy->asserts.count; i++) {
		struct assertion *assertion = &c->policy->asserts.items[i];

		if (assertion->head.place.span.source == place.source &&
		    assertion->head.place.span.start == place.start &&
		    str_is(assertion->text, sbx_string(blob, claim->text)))
			return assertion;
	}
	BUG("a claim of the blob that the model does not have");
}

static bool is_override(const struct sbx_blob *blob, const struct sbx_assert_result *result)
{
	const struct sbx_head *head = NULL;

	if (result->rule < blob->section[result->section].count)
		head = render_head(blob, result->section, result->rule);
	return head && head->flags & SBX_F_OVERRIDE;
}

/* A module's `cannot` that fails on an override of the policy, and on nothing else. */
static bool lift(struct compilation *c, const struct sbx_blob *blob, const struct sbx_assert *claim,
		 const struct sbx_assert_result *result, const char *text)
{
	struct assertion *assertion;

	if (claim->polarity != SBX_CANNOT || !is_override(blob, result))
		return false;
	assertion = claim_of(c, blob, claim);
	if (assertion->head.main_file)
		return false;
	*VEC_PUSH(&c->arena, &c->lifted) = (struct lifted){
		.text = text,
		.place = render_places(&c->arena, blob, claim->head.loc),
		.override = render_places(&c->arena, blob, result->loc),
	};
	*assertion = c->policy->asserts.items[--c->policy->asserts.count];
	return true;
}

static void check(struct compilation *c, const struct program *program, const struct sbx_blob *blob,
		  const struct sbx_vars *vars, const struct sbx_fs_set *set, uint32_t index)
{
	static const char *const polarities[] = { "can", "cannot", "never" };
	static const char *const actions[] = { "read", "write", "exec",   "connect",
					       "call", "see",   "submit", "use" };
	const struct sbx_assert *claim = SBX_AT(blob, ASSERTS, sbx_assert, index);
	struct sbx_assert_result result;

	sbx_assert_check(blob, index, vars, set, NULL, NULL, &result);
	if (result.holds && result.snapshot)
		warn_snapshot(c, blob, claim, &result);
	const char *text =
	    arena_printf(&c->arena, "%s %s %s", polarities[claim->polarity], actions[claim->action],
			 claim->path.count ? sbx_string(blob, claim->text) : result.object);
	if (result.holds || lift(c, blob, claim, &result, text))
		return;
	diag_error(c->diags, DIAG_A0101, place_of(c, blob, claim->head.loc),
		   "`%s` does not hold: %s", text, result.reason);
	struct span rule = place_of(c, blob, result.loc);
	if (rule.source)
		diag_note(c->diags, rule, "this line decides");
	program_note_chain(c->diags, program, place_of(c, blob, claim->head.loc).source);
}

/* A credential goes to its hosts only, so each of them must be reachable. */
static void check_credential(struct compilation *c, const struct sbx_blob *blob,
			     const struct sbx_credential *credential)
{
	for (uint32_t i = 0; i < credential->host_count; i++) {
		struct sbx_tmpl tmpl = *SBX_AT(blob, TMPLS, sbx_tmpl, credential->host_first + i);
		const struct sbx_vars none = { 0 };
		struct sbx_net_verdict verdict;
		bool wild;
		const char *host = expand(&c->arena, blob, tmpl, &none, &wild);
		const char *colon = strrchr(host, ':');

		sbx_net_decide(blob, arena_copy(&c->arena, host, (size_t)(colon - host)),
			       (unsigned)atoi(colon + 1), &verdict);
		if (verdict.allowed)
			continue;
		struct span place = place_of(c, blob, credential->head.loc);
		diag_error(c->diags, DIAG_C0503, place,
			   "`%s` is bound to %s, which `net` does not allow",
			   sbx_string(blob, credential->name), host);
		if (verdict.rule != SBX_NONE)
			diag_note(c->diags,
				  place_of(c, blob,
					   SBX_AT(blob, NET, sbx_net_rule, verdict.rule)->head.loc),
				  "this line decides");
		else
			diag_note(c->diags, (struct span){ 0 }, "write `allow %s` in `net { }`",
				  host);
	}
}

void check_claims(struct compilation *c, const struct program *program,
		  const struct emitted *emitted)
{
	struct sbx_blob blob;
	struct sbx_vars vars;
	struct sbx_fs_set set;
	const char *reason = sbx_blob_open(emitted->data, emitted->size, &blob);

	if (reason) {
		diag_error(c->diags, DIAG_E0101, (struct span){ 0 }, "our own blob is refused: %s",
			   reason);
		return;
	}
	model_vars(&c->arena, &blob, &vars);
	model_fs_set(&c->arena, &blob, &vars, &set);
	for (uint32_t i = 0; i < SBX_COUNT(&blob, ASSERTS); i++)
		check(c, program, &blob, &vars, &set, i);
	for (uint32_t i = 0; blob.header->kind == SBX_POLICY && i < SBX_COUNT(&blob, CREDENTIALS);
	     i++)
		check_credential(c, &blob, SBX_AT(&blob, CREDENTIALS, sbx_credential, i));
}
