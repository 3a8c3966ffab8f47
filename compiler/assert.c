/*
 * Do the policy's own claims hold?
 *
 * The blob just made is asked, not the model it was made from, with the
 * functions that sbx-exec asks again before it starts a command.  Variables
 * have the values of a made-up machine (model_values); there are no symbolic
 * links on it.  A claim that a policy lifts by `override` leaves the policy, so
 * that the launch does not ask it again.  What an assertion finds is shown at the assertion, with
 * the rule that decides: emit_policy() says which rule each record comes from.
 */
#include "compiler/stages.h"

#include <stdio.h>
#include <stdlib.h>

#include "blob/verdict.h"
#include "compiler/lint.h"
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
			.verb = rule->head.verb,
			.rights = rule->rights,
			.except_first = (uint32_t)excepts.count,
		};
		const struct sbx_fs_extra *extra = sbx_fs_extra(blob, rule);
		bool wild = false;

		point.path = expand(arena, blob, rule->path, vars, &wild);
		point.wild = wild;
		if (!point.path)
			continue;
		if (!wild)
			point.length = (uint32_t)strlen(point.path);
		for (uint32_t j = 0; j < extra->except_count; j++) {
			struct sbx_tmpl tmpl =
			    *SBX_AT(blob, TMPLS, sbx_tmpl, extra->except_first + j);
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

struct claims {
	struct compilation *c;
	const struct program *program;
	const struct emitted *emitted;
	struct sbx_blob blob; /* what was emitted */
	struct sbx_vars vars;
	struct sbx_fs_set set;
};

/* Where a record was written: the first word, since a rule's span goes on to its end. */
static struct span place_of(const struct claims *claims, enum sbx_section_id section,
			    uint32_t index)
{
	const struct rule_head *const *heads = claims->emitted->heads[section];

	if (!heads || index >= SBX_RULE_SELF || !heads[index]->place.span.source)
		return (struct span){ 0 };

	struct span span = heads[index]->place.span;
	const struct source *source = span.source;

	span.end = span.start;
	while (span.end < source->text.len && !strchr(" \t\r\n;{}", source->text.ptr[span.end]))
		span.end++;
	return span;
}

/* ---- assertions --------------------------------------------------------------------------- */

/* A pattern that takes binds the names that are there at launch, and no others. */
static void warn_snapshot(const struct claims *claims, uint32_t index,
			  const struct sbx_assert_result *result)
{
	static const char text[] = "this holds at launch only, for names that are there by then";
	struct diags *diags = claims->c->diags;
	struct span place = place_of(claims, SBX_SEC_ASSERTS, index);
	struct waiver *waiver =
	    lint_waiver(claims->emitted->heads[SBX_SEC_ASSERTS][index], DIAG_A0103);

	if (waiver)
		diag_waived(diags, DIAG_A0103, place, waiver->why, text);
	else
		diag_warning(diags, DIAG_A0103, place, text);
	diag_note(diags, place_of(claims, result->section, result->rule),
		  "it rests on this `snapshot`");
}

/* The claim in the model that record @index was made from. */
static struct assertion *claim_of(const struct claims *claims, uint32_t index)
{
	const struct policy *policy = claims->c->policy;

	for (size_t i = 0; i < policy->asserts.count; i++)
		if (&policy->asserts.items[i].head ==
		    claims->emitted->heads[SBX_SEC_ASSERTS][index])
			return &policy->asserts.items[i];
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
static bool lift(const struct claims *claims, uint32_t index,
		 const struct sbx_assert_result *result, const char *text)
{
	const struct sbx_blob *blob = &claims->blob;
	const struct sbx_head *claim = &SBX_AT(blob, ASSERTS, sbx_assert, index)->head;
	struct compilation *c = claims->c;
	struct assertion *assertion;

	if (claim->verb != SBX_CANNOT || !is_override(blob, result))
		return false;
	assertion = claim_of(claims, index);
	if (assertion->head.main_file)
		return false;
	*VEC_PUSH(&c->arena, &c->lifted) = (struct lifted){
		.text = text,
		.place = render_places(&c->arena, blob, claim->loc),
		.override = render_places(&c->arena, blob, result->loc),
	};
	assertion->lifted = true;
	return true;
}

/* On a path: what would have it the other way, and weighs less. */
static void note_loser(const struct claims *claims, const struct sbx_assert *claim,
		       const struct sbx_assert_result *result)
{
	static const unsigned rights[] = { SBX_READ, SBX_WRITE, SBX_EXEC };
	struct sbx_fs_verdict verdict;
	struct span loser;

	sbx_fs_decide(&claims->set, result->object, rights[claim->action], &verdict);
	if (verdict.loser == SBX_NONE)
		return;
	loser = place_of(claims, SBX_SEC_FS, claims->set.points[verdict.loser].rule);
	if (loser.source)
		diag_note(claims->c->diags, loser, "this one would %s it, and is outweighed",
			  verdict.allowed ? "refuse" : "allow");
}

/* The rule that breaks the claim: each place where it stands, and how it came in. */
static void note_decision(const struct claims *claims, const struct sbx_assert *claim,
			  const struct sbx_assert_result *result)
{
	struct diags *diags = claims->c->diags;
	const struct rule_head *mode = &claims->c->policy->net_mode_head;
	struct span rule = place_of(claims, result->section, result->rule);

	if (!rule.source) {
		if (claim->action == SBX_DO_CONNECT && !claim->is_path && mode->place.span.source)
			diag_note(diags, mode->place.span, "the mode decides");
		return;
	}
	diag_note(diags, rule, "this line decides");
	program_note_chain(diags, claims->program, rule.source);
	for (const struct place *other =
		 claims->emitted->heads[result->section][result->rule]->place.next;
	     other; other = other->next) {
		diag_note(diags, other->span, "and says so here");
		program_note_chain(diags, claims->program, other->span.source);
	}
	if (result->section == SBX_SEC_FS)
		note_loser(claims, claim, result);
}

static void check(const struct claims *claims, uint32_t index)
{
	static const char *const polarities[] = { "can", "cannot", "never" };
	static const char *const actions[] = { "read", "write", "exec",   "connect",
					       "call", "see",   "submit", "use" };
	const struct sbx_blob *blob = &claims->blob;
	const struct sbx_assert *claim = SBX_AT(blob, ASSERTS, sbx_assert, index);
	struct compilation *c = claims->c;
	static const struct sbx_assert_means means = { .submit = sbx_slurm_decide };
	struct sbx_assert_result result;

	sbx_assert_check(blob, index, &claims->vars, &claims->set, &means, &result);
	if (result.holds && result.snapshot)
		warn_snapshot(claims, index, &result);
	const char *text = arena_printf(
	    &c->arena, "%s %s %s%s", polarities[claim->head.verb], actions[claim->action],
	    claim->is_path && claim->action == SBX_DO_CONNECT ? "unix:" : "",
	    claim->is_path ? render_tmpl(&c->arena, blob, claim->object) : result.object);
	if (result.holds || lift(claims, index, &result, text))
		return;
	struct span place = place_of(claims, SBX_SEC_ASSERTS, index);
	diag_error(c->diags, DIAG_A0101, place, "`%s` does not hold: %s", text, result.reason);
	program_note_chain(c->diags, claims->program, place.source);
	note_decision(claims, claim, &result);
}

/* The proxy chooses among so many for a request; said of the first that is too many. */
static void check_room(const struct claims *claims, uint32_t index, const char *host, unsigned port,
		       const char *bound)
{
	const struct sbx_blob *blob = &claims->blob;
	const struct sbx_vars none = { 0 };
	unsigned before = 0;

	for (uint32_t i = 0; (i = sbx_credential_for(blob, &none, host, port, i)) < index; i++)
		before++;
	if (before != SBX_HOST_CREDENTIALS)
		return;
	diag_error(claims->c->diags, DIAG_C0504, place_of(claims, SBX_SEC_CREDENTIALS, index),
		   "%s has %u credentials already, and there is no room for more", bound, before);
	diag_note(claims->c->diags, (struct span){ 0 },
		  "leave out those that this policy's program does not use");
}

/* A credential goes to its hosts only, so each of them must be reachable. */
static void check_bound(const struct claims *claims, uint32_t index, const char *bound)
{
	const struct sbx_blob *blob = &claims->blob;
	struct compilation *c = claims->c;
	const char *colon = strrchr(bound, ':');
	const char *host = arena_copy(&c->arena, bound, (size_t)(colon - bound));
	unsigned port = (unsigned)atoi(colon + 1);
	struct sbx_net_verdict verdict;

	sbx_net_decide(blob, host, port, &verdict);
	if (verdict.allowed) {
		check_room(claims, index, host, port, bound);
		return;
	}
	diag_error(c->diags, DIAG_C0503, place_of(claims, SBX_SEC_CREDENTIALS, index),
		   "`%s` is bound to %s, which `net` does not allow",
		   sbx_string(blob, SBX_AT(blob, CREDENTIALS, sbx_credential, index)->name), bound);
	if (verdict.rule != SBX_NONE)
		diag_note(c->diags, place_of(claims, SBX_SEC_NET, verdict.rule),
			  "this line decides");
	else
		diag_note(c->diags, (struct span){ 0 }, "write `allow %s` in `net { }`", bound);
}

static void check_credential(const struct claims *claims, uint32_t index)
{
	const struct sbx_blob *blob = &claims->blob;
	const struct sbx_credential *credential = SBX_AT(blob, CREDENTIALS, sbx_credential, index);
	const struct sbx_vars none = { 0 };
	bool wild;

	for (uint32_t i = 0; i < credential->host_count; i++)
		check_bound(claims, index,
			    expand(&claims->c->arena, blob,
				   *SBX_AT(blob, TMPLS, sbx_tmpl, credential->host_first + i), &none,
				   &wild));
}

/* After all are asked: until then records and claims belong together. */
static void drop_lifted(struct policy *policy)
{
	size_t count = 0;

	for (size_t i = 0; i < policy->asserts.count; i++)
		if (!policy->asserts.items[i].lifted)
			policy->asserts.items[count++] = policy->asserts.items[i];
	policy->asserts.count = count;
}

void check_claims(struct compilation *c, const struct program *program,
		  const struct emitted *emitted)
{
	struct claims claims = { .c = c, .program = program, .emitted = emitted };
	struct sbx_blob *blob = &claims.blob;
	const char *reason = sbx_blob_open(emitted->data, emitted->size, blob);

	if (reason) {
		diag_error(c->diags, DIAG_E0101, (struct span){ 0 }, "our own blob is refused: %s",
			   reason);
		return;
	}
	model_vars(&c->arena, blob, &claims.vars);
	model_fs_set(&c->arena, blob, &claims.vars, &claims.set);
	for (uint32_t i = 0; i < SBX_COUNT(blob, ASSERTS); i++)
		check(&claims, i);
	drop_lifted(c->policy);
	for (uint32_t i = 0; blob->header->kind == SBX_POLICY && i < SBX_COUNT(blob, CREDENTIALS);
	     i++)
		check_credential(&claims, i);
}
