/*
 * prove/judge.c - what the answers show.
 *
 *	inside the policy   control run   outside
 *	gets through                                 a refusal leaks
 *	refused             through                  it holds
 *	refused             refused       refused    not measurable: it is so anyway
 *	refused             refused       through    vacuous: this probe cannot fail
 *
 * A system call that the filter refuses may be refused by the kernel with the
 * same error.  There a third run decides, in which each error that the filter
 * answers is one that no kernel answers (MARK).
 *
 * Of a host the session's proxy says which rule refuses it: another one is a leak, too.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/render.h"
#include "prove/calls.h"

const char *const verdict_names[VERDICT_COUNT] = { "holds", "leaks", "vacuous", "not measurable" };

/* ---- answers ---------------------------------------------------------------------------- */

static int number_of(const char *answer, const char *word)
{
	size_t length = strlen(word);

	return answer && !strncmp(answer, word, length) ? atoi(answer + length) : 0;
}

static int error_of(const char *answer)
{
	return number_of(answer, "error ");
}

static bool is_killed(const char *answer)
{
	return number_of(answer, "signal ") == SIGSYS;
}

/* By the proxy: its reason, or NULL. */
static const char *refusal_of(const char *answer)
{
	static const char word[] = "refused ";

	return answer && !strncmp(answer, word, sizeof(word) - 1) ? answer + sizeof(word) - 1 : NULL;
}

static bool is_through(const char *answer)
{
	return answer && !error_of(answer) && !is_killed(answer) && !refusal_of(answer);
}

/* "EACCES", "killed", "it worked". */
static const char *shown(struct prove *prove, const char *answer)
{
	const char *name;

	if (!answer)
		return "no answer";
	if (is_killed(answer))
		return "killed";
	if (refusal_of(answer))
		return "refused by the proxy";
	if (!error_of(answer))
		return "it works";
	name = strerrorname_np(error_of(answer));
	return name ? name : arena_printf(prove->arena, "error %d", error_of(answer));
}

/* ---- verdicts --------------------------------------------------------------------------- */

static void set(struct claim *claim, enum verdict verdict, const char *why)
{
	claim->verdict = verdict;
	claim->why = why;
}

static bool judge_allowed(struct prove *prove, struct claim *claim)
{
	const char *expected = NULL;

	if (claim->value)
		expected = arena_printf(prove->arena, "value %s",
					claim_escaped(prove->arena, claim->value));
	if (expected && is_through(claim->plain) && strcmp(expected, claim->plain))
		set(claim, LEAKS, "it has another value than the policy gives it");
	else if (claim->given && is_through(claim->plain) && !strcmp(claim->plain, "value " BAIT_VALUE))
		set(claim, LEAKS, "it has the value that it has outside");
	else if (is_through(claim->plain))
		set(claim, HOLDS, NULL);
	else if (claim->outside && !is_through(claim->bare))
		set(claim, NOT_MEASURABLE,
		    arena_printf(prove->arena, "not outside a sandbox either: %s",
				 shown(prove, claim->bare)));
	else
		set(claim, LEAKS,
		    arena_printf(prove->arena, "refused, though the policy allows it: %s",
				 shown(prove, claim->plain)));
	return true;
}

static void judge_refused(struct prove *prove, struct claim *claim)
{
	const char *control = claim->itself ? claim->bare : claim->control;

	if (is_through(claim->plain))
		set(claim, LEAKS, "it works, though the policy refuses it");
	else if (is_through(control))
		set(claim, HOLDS, NULL);
	else if (claim->outside && claim->bare && !is_through(claim->bare))
		set(claim, NOT_MEASURABLE,
		    arena_printf(prove->arena, "refused outside a sandbox too: %s",
				 shown(prove, claim->bare)));
	else if (!control)
		set(claim, NOT_MEASURABLE,
		    claim->why ? claim->why : "the control run did not answer");
	else
		set(claim, VACUOUS,
		    arena_printf(prove->arena, "refused in the control run too: %s",
				 shown(prove, control)));
}

static void judge_call(struct prove *prove, struct claim *claim)
{
	bool marked = error_of(claim->marked) == MARK;

	if (!claim->marked && !claim->kills) {
		set(claim, NOT_MEASURABLE, "no answer from the run in which errors are marked");
	} else if (claim->kills) {
		if (!is_killed(claim->plain))
			set(claim, LEAKS, "not killed");
		else if (is_killed(claim->control))
			set(claim, VACUOUS, "killed in the control run too");
		else
			set(claim, HOLDS, NULL);
	} else if (claim->through) {
		if (marked || is_killed(claim->plain))
			set(claim, LEAKS, "refused by the filter, though the policy allows it");
		else
			set(claim, HOLDS, NULL);
	} else if (!marked) {
		set(claim, LEAKS,
		    arena_printf(prove->arena, "the filter lets it through; the kernel says: %s",
				 shown(prove, claim->plain)));
	} else if (claim->error && error_of(claim->plain) != (int)claim->error) {
		set(claim, LEAKS,
		    arena_printf(prove->arena, "refused by another error: %s",
				 shown(prove, claim->plain)));
	} else if (error_of(claim->control) == MARK || is_killed(claim->control)) {
		set(claim, VACUOUS, "refused in the control run too");
	} else {
		set(claim, HOLDS, NULL);
	}
}

static void judge_host(struct prove *prove, struct claim *claim)
{
	const char *refusal = refusal_of(claim->plain);
	const char *named = claim->says ? claim_escaped(prove->arena, claim->says) : "";

	if (claim->through)
		judge_allowed(prove, claim);
	else if (is_through(claim->plain))
		set(claim, LEAKS, "the proxy lets it through, though the policy refuses it");
	else if (!refusal)
		set(claim, NOT_MEASURABLE,
		    arena_printf(prove->arena, "there is no way to the proxy: %s",
				 shown(prove, claim->plain)));
	else if (!strstr(refusal, named))
		set(claim, LEAKS,
		    arena_printf(prove->arena, "the proxy refuses it, and not by that: %s is not said",
				 claim->says));
	else
		judge_refused(prove, claim);
}

static bool is_call(const struct claim *claim)
{
	return claim->request && !strncmp(claim->request, "call ", 5);
}

static void judge(struct prove *prove, struct claim *claim)
{
	if (prove->refused)
		set(claim, NOT_MEASURABLE, prove->refused);
	else if (claim->why && !claim->plain)
		set(claim, NOT_MEASURABLE, claim->why);
	else if (claim == prove->ended)
		set(claim, LEAKS, "the session ended when it was tried, and the policy does not say so");
	else if (!claim->plain)
		set(claim, NOT_MEASURABLE, "the probe ended before");
	else if (is_call(claim))
		judge_call(prove, claim);
	else if (claim->apart == APART_PROXY)
		judge_host(prove, claim);
	else if (claim->through)
		judge_allowed(prove, claim);
	else
		judge_refused(prove, claim);
}

/* ---- runs ------------------------------------------------------------------------------- */

struct asked {
	VEC_OF(struct claim *)
};

/* Puts what was answered where @field (an offset) of each claim says. */
static bool ask(struct prove *prove, const struct sbx_blob *blob, const struct asked *asked,
		size_t field, const char **why)
{
	const char **requests = arena_array(prove->arena, asked->count + 1, sizeof(*requests));
	const char **answers;

	for (size_t i = 0; i < asked->count; i++)
		requests[i] = field == offsetof(struct claim, control) && asked->items[i]->instead
				      ? asked->items[i]->instead
				      : asked->items[i]->request;
	answers = run_probe(prove, blob, requests, asked->count, why);
	for (size_t i = 0; answers && i < asked->count; i++)
		*(const char **)(void *)((char *)asked->items[i] + field) = answers[i];
	return answers;
}

/* What starts elsewhere and not here may have met another session's end. */
static bool ask_twice(struct prove *prove, const struct sbx_blob *blob, const struct asked *asked,
		      size_t field, const char **why)
{
	return ask(prove, blob, asked, field, why) || ask(prove, blob, asked, field, why);
}

#define FIELD(name) offsetof(struct claim, name)

static struct asked choose(struct prove *prove, bool (*wanted)(const struct claim *),
			   enum apart apart)
{
	struct asked asked = { 0 };

	for (size_t i = 0; i < prove->claims.count; i++) {
		struct claim *claim = &prove->claims.items[i];

		if (claim->request && !claim->why && claim->apart == apart && wanted(claim))
			*VEC_PUSH(prove->arena, &asked) = claim;
	}
	return asked;
}

static bool any(const struct claim *claim)
{
	(void)claim;
	return true;
}
static bool asked_outside(const struct claim *claim)
{
	return claim->outside;
}
static bool controlled(const struct claim *claim)
{
	return !claim->through && !claim->itself && !(claim->lifted && claim->right);
}
static bool granted(const struct claim *claim)
{
	return !claim->through && claim->lifted && claim->right;
}

/* A grant that stops the launch is found by halves. */
static void ask_granted(struct prove *prove, struct claim **claims, size_t count)
{
	struct asked asked = { .items = claims, .count = count };
	const char *why = NULL;
	struct sbx_blob blob;

	if (!count || prove_stopped)
		return;
	why = control_lifted(prove, claims, count, &blob);
	if (!why && ask(prove, &blob, &asked, FIELD(control), &why))
		return;
	if (count > 1) {
		ask_granted(prove, claims, count / 2);
		ask_granted(prove, claims + count / 2, count - count / 2);
	} else {
		claims[0]->why =
		    arena_printf(prove->arena, "granted instead, the launch is refused: %s", why);
	}
}

static void ask_controls(struct prove *prove)
{
	struct asked plain = choose(prove, controlled, TOGETHER);
	struct asked lifted = choose(prove, granted, TOGETHER);
	const char *why = NULL;
	struct sbx_blob blob;

	why = control_lifted(prove, NULL, 0, &blob);
	if (!why && !ask_twice(prove, &blob, &plain, FIELD(control), &why))
		for (size_t i = 0; i < plain.count; i++)
			plain.items[i]->why =
			    arena_printf(prove->arena, "the control run is refused: %s", why);
	ask_granted(prove, lifted.items, lifted.count);
}

static void hide(struct prove *prove, const struct asked *asked, enum apart apart)
{
	for (size_t i = 0; apart == APART_ABSENT && i < asked->count; i++)
		scratch_hide(prove, asked->items[i]->object);
}

/* The session did not get so far as to answer.  Where @words say that the policy is why,
 * that is the answer. */
static void take_refusal(struct prove *prove, const struct asked *asked, const char *words,
			 const char *why)
{
	for (size_t i = 0; i < asked->count; i++)
		if (words && strstr(why, words))
			asked->items[i]->plain = arena_printf(prove->arena, "error %d", ECANCELED);
		else
			asked->items[i]->why =
			    arena_printf(prove->arena, "the launch is refused then: %s", why);
}

/* What has sessions of its own: one, and one as its control. */
static void ask_apart(struct prove *prove, enum apart apart, const struct sbx_blob *blob,
		      const char *words)
{
	struct asked asked = choose(prove, any, apart);
	const char *why = NULL;
	struct sbx_blob lifted;

	if (!asked.count)
		return;
	prove->terminal = apart == APART_TERMINAL;
	hide(prove, &asked, apart);
	if (!ask(prove, blob, &asked, FIELD(plain), &why) &&
	    ((words && strstr(why, words)) || !ask(prove, blob, &asked, FIELD(plain), &why)))
		take_refusal(prove, &asked, words, why);
	hide(prove, &asked, apart); /* a directory with `create` stays */
	why = apart == APART_PROXY ? control_proxied(prove, &lifted)
				   : control_lifted(prove, NULL, 0, &lifted);
	if (why || !ask_twice(prove, &lifted, &asked, FIELD(control), &why))
		for (size_t i = 0; i < asked.count; i++)
			if (!asked.items[i]->why)
				asked.items[i]->why =
				    arena_printf(prove->arena, "the control run is refused: %s", why);
	for (size_t i = 0; apart == APART_ABSENT && i < asked.count; i++)
		scratch_show(prove, asked.items[i]->object);
	prove->terminal = false;
}

/* Each request is done by a process of its own, where the policy and the limits let the probe
 * make them: then none of them ends it. */
static const struct claim *find_end(const struct prove *prove, const struct asked *asked)
{
	for (uint32_t i = 0; i < SBX_COUNT(&prove->blob, LIMITS); i++)
		if (SBX_AT(&prove->blob, LIMITS, sbx_limit_rule, i)->limit == SBX_LIMIT_PROCESSES)
			return NULL;
	for (size_t i = 0; call_may_fork(prove) && i < asked->count; i++)
		if (!asked->items[i]->plain)
			return asked->items[i];
	return NULL;
}

void prove_all(struct prove *prove)
{
	struct asked all = choose(prove, any, TOGETHER), calls = choose(prove, is_call, TOGETHER);
	struct asked outside = choose(prove, asked_outside, TOGETHER);
	const char *why = NULL;
	struct sbx_blob marked, timed;

	control_find(prove);
	if (!ask_twice(prove, &prove->blob, &all, FIELD(plain), &why)) {
		prove->refused = arena_printf(prove->arena, "no session starts here: %s", why);
	} else {
		if (find_end(prove, &all)) /* once may be the machine's fault */
			ask(prove, &prove->blob, &all, FIELD(plain), &why);
		prove->ended = find_end(prove, &all);
		if (!control_marked(prove, &marked))
			ask_twice(prove, &marked, &calls, FIELD(marked), &why);
		ask_controls(prove);
		ask(prove, NULL, &outside, FIELD(bare), &why);
		ask_apart(prove, APART_ABSENT, &prove->blob, NULL);
		ask_apart(prove, APART_TERMINAL, &prove->blob, "terminal");
		ask_apart(prove, APART_PROXY, &prove->blob, NULL);
		if (!control_timed(prove, &timed))
			ask_apart(prove, APART_TIME, &timed, "wall-time");
	}
	for (size_t i = 0; i < prove->claims.count; i++)
		judge(prove, &prove->claims.items[i]);
}
