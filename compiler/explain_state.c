/*
 * compiler/explain_state.c - what a policy sets, rather than allows or refuses:
 * limit, require, credential, slot, share, device.
 */
#include <string.h>

#include "compiler/duties.h"
#include "compiler/explain.h"
#include "compiler/render.h"
#include "compiler/text.h"

static const char *after_verb(const char *text)
{
	const char *blank = strchr(text, ' ');

	return blank ? blank + 1 : "";
}

/* The first rule of @section whose text begins with @word, or SBX_NONE. */
static uint32_t rule_called(const struct question *question, enum sbx_section_id section,
			    const char *word)
{
	size_t length = strlen(word);

	for (uint32_t i = 0; i < question->blob->section[section].count; i++) {
		const char *text = render_rule(question->arena, question->blob, section, i, 0);

		if (!strncmp(text, word, length) && (text[length] == ' ' || !text[length]))
			return i;
	}
	return SBX_NONE;
}

static const char *choose(const struct question *question, const char *what,
			  const char *const *words, size_t count, size_t *which)
{
	struct text text = { .arena = question->arena };

	for (*which = 0; *which < count; ++*which)
		if (!strcmp(words[*which], question->object))
			return NULL;
	text_add(&text, "%s is called", what);
	for (size_t i = 0; i < count; i++)
		text_add(&text, "%s %s", i ? "," : "", words[i]);
	return text_end(&text);
}

/* What the rule sets, without its name and its modifiers. */
static const char *value_of(const struct question *question, enum sbx_section_id section,
			    uint32_t rule)
{
	static const char *const ends[] = { " best-effort", " compat \"", " because \"" };
	const char *text =
	    after_verb(render_rule(question->arena, question->blob, section, rule, 0));
	size_t length = strlen(text);

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		const char *end = strstr(text, ends[i]);

		if (end && (size_t)(end - text) < length)
			length = (size_t)(end - text);
	}
	return arena_copy(question->arena, text, length);
}

const char *explain_limit(const struct question *question, struct answer *answer)
{
	static const char *const names[] = { "memory",     "processes", "cpus",      "cpu-time",
					     "open-files", "file-size", "core-size", "wall-time" };
	const char *error;
	size_t which;

	error = choose(question, "a limit", names, sizeof(names) / sizeof(names[0]), &which);
	if (error)
		return error;
	answer->section = SBX_SEC_LIMITS;
	answer->rule = rule_called(question, SBX_SEC_LIMITS, question->object);
	answer->allowed = answer->rule != SBX_NONE;
	answer->says = "what the caller has";
	answer->nobody = "no rule limits it";
	if (!answer->allowed) {
		answer_held(question, answer, "the caller's own limits");
		return NULL;
	}
	answer->says = value_of(question, SBX_SEC_LIMITS, answer->rule);
	if (which == SBX_LIMIT_WALL_TIME) {
		answer_held(question, answer,
			    "supervisor, which then ends the session: status 124");
		return NULL;
	}
	answer_duty(question, answer,
		    which == SBX_LIMIT_PROCESSES ? SBX_DUTY_PROCESS_COUNT : SBX_DUTY_LIMITS, NULL);
	if (!answer->allowed)
		answer->says = "what the caller has"; /* the only backend does not hold it */
	else if (which != SBX_LIMIT_PROCESSES)
		answer_note(
		    question, answer,
		    "for each process, not for all together; the caller's own where that is lower");
	return NULL;
}

const char *explain_require(const struct question *question, struct answer *answer)
{
	static const char *const names[] = { "landlock", "kernel", "backend",
					     "limits",   "proof",  "signed" };
	const char *error;
	size_t which;

	error = choose(question, "a requirement", names, sizeof(names) / sizeof(names[0]), &which);
	if (error)
		return error;
	answer->section = SBX_SEC_REQUIRE;
	answer->rule = rule_called(question, SBX_SEC_REQUIRE, question->object);
	answer->allowed = answer->rule != SBX_NONE;
	answer->nobody = "no rule asks for it";
	answer->says = "not required";
	answer_held(question, answer, "sbx-exec, which does not start where it is not met");
	if (!answer->allowed)
		return NULL;
	answer->says = value_of(question, SBX_SEC_REQUIRE, answer->rule);
	if (!*answer->says)
		answer->says = "required";
	if (which == SBX_REQUIRE_PROOF)
		answer_note(question, answer, "sbxc prove --record keeps it, for each backend");
	else if (which >= SBX_REQUIRE_LIMITS)
		answer_note(question, answer, "in this version no machine meets it");
	return NULL;
}

const char *explain_credential(const struct question *question, struct answer *answer)
{
	answer->section = SBX_SEC_CREDENTIALS;
	answer->nobody = "the policy has no credential of that name";
	answer->says = "none";
	for (uint32_t i = 0; i < SBX_COUNT(question->blob, CREDENTIALS); i++) {
		const struct sbx_credential *credential =
		    SBX_AT(question->blob, CREDENTIALS, sbx_credential, i);

		if (strcmp(sbx_string(question->blob, credential->name), question->object))
			continue;
		answer->rule = i;
		answer->allowed = true;
		answer->says = "stays outside";
		answer_note(question, answer,
			    "inside the variable holds a placeholder; the proxy puts the value in, "
			    "for these hosts alone, and over TLS alone");
		if (credential->head.flags & SBX_F_OPTIONAL)
			answer_note(question, answer, "left out where its source is absent");
	}
	answer_held(question, answer, "the proxy outside");
	return NULL;
}

const char *explain_slot(const struct question *question, struct answer *answer)
{
	answer->section = SBX_SEC_SLOTS;
	answer->nobody = "the policy has no slot of that name";
	answer->says = "none";
	for (uint32_t i = 0; i < SBX_COUNT(question->blob, SLOTS); i++) {
		const struct sbx_slot *slot = SBX_AT(question->blob, SLOTS, sbx_slot, i);

		if (strcmp(sbx_string(question->blob, slot->name), question->object))
			continue;
		answer->rule = i;
		answer->says = "empty";
		answer_note(question, answer,
			    "until a person outside grants something, never past a seal; in this "
			    "version it stays shut");
	}
	answer_held(question, answer, "what is not granted is not there");
	return NULL;
}

const char *explain_share(const struct question *question, struct answer *answer)
{
	static const char *const names[] = { "processes", "signals", "terminals", "attributes" };
	static const enum sbx_duty duties[] = { SBX_DUTY_PROCESSES, SBX_DUTY_SIGNALS,
						SBX_DUTY_TERMINALS, SBX_DUTY_ATTRIBUTES };
	const char *error;
	size_t which;

	error = choose(question, "what can be shared", names, 4, &which);
	if (error)
		return error;
	answer->section = SBX_SEC_PROCESS;
	answer->rule = rule_called(question, SBX_SEC_PROCESS,
				   arena_printf(question->arena, "share %s", question->object));
	answer->says = answer->rule == SBX_NONE
			   ? "never: a launch stops where a backend cannot keep them apart"
			   : "where a backend cannot keep them apart";
	answer->nobody = "no rule shares them";
	for (size_t i = 0; i < question->targets->count; i++) {
		const struct target *target = &question->targets->items[i];
		const struct sbx_enforcer *by = target_holds(target, duties[which]);

		answer->allowed |= answer->rule != SBX_NONE && !by;
		answer_held(question, answer,
			    arena_printf(question->arena, "%s: %s%s",
					 sbx_backend_name(target->backend),
					 by ? "kept apart by " : "",
					 by ? sbx_enforcer_by(by)
					    : sbx_lack_why(duties[which], target->backend)));
	}
	return NULL;
}

const char *explain_device(const struct question *question, struct answer *answer)
{
	const struct view *view = question->view;
	const char *path = view_path(view, question->object);
	struct sbx_fs_verdict verdict;
	bool granted;

	if (!path)
		return "that variable has no value here";
	path = view_real(question->arena, path);
	sbx_fs_decide(&view->set, path, SBX_READ, &verdict);
	answer->object = path;
	answer->section = SBX_SEC_FS;
	answer->rule =
	    verdict.point == SBX_NONE ? SBX_NONE : view->points.items[verdict.point].rule;
	answer->nobody = "no rule grants it";
	for (size_t i = 0; verdict.allowed && !answer->allowed && i < view->points.count; i++) {
		const struct sbx_fs_point *point = &view->points.items[i];

		if (point->verb != SBX_FS_DEVICE || sbx_fs_covers(point, path) < 0)
			continue;
		answer->allowed = true;
		answer->rule = point->rule;
	}
	if (verdict.allowed && !answer->allowed)
		answer_note(question, answer,
			    "it can be opened; its ioctl calls come with `device %s`", path);
	granted = answer->allowed;
	answer_duty(question, answer, verdict.allowed ? SBX_DUTY_DEVICE_CALLS : SBX_DUTY_GRANTS,
		    NULL);
	/* Where nothing sees ioctl(2), a node that can be opened takes it. */
	if (!verdict.allowed || !question->only)
		return NULL;
	answer->allowed = granted || !target_holds(question->only, SBX_DUTY_DEVICE_CALLS);
	if (answer->allowed == granted)
		answer->how = NULL;
	else
		answer->how = arena_printf(question->arena, "on %s",
					   sbx_backend_name(question->only->backend));
	return NULL;
}
