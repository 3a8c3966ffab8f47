/*
 * compiler/diff_values.c - limits, process and require: more or less of one thing.
 */
#include <inttypes.h>
#include <string.h>

#include "compiler/diff.h"
#include "compiler/text.h"

/* ---- limits ------------------------------------------------------------------------- */

static const char *const limit_names[SBX_LIMIT_COUNT] = {
	"memory",     "processes", "cpus",      "cpu-time",
	"open-files", "file-size", "core-size", "wall-time",
};

static const char *limit_text(struct arena *arena, unsigned limit, uint64_t value)
{
	struct text text = { .arena = arena };

	if (limit == SBX_LIMIT_MEMORY || limit == SBX_LIMIT_FILE_SIZE ||
	    limit == SBX_LIMIT_CORE_SIZE)
		text_size(&text, value);
	else if (limit == SBX_LIMIT_CPU_TIME || limit == SBX_LIMIT_WALL_TIME)
		text_time(&text, value);
	else
		text_add(&text, "%" PRIu64, value);
	return text_end(&text);
}

static struct diff_rank limit_of(const struct diff *diff, unsigned side, unsigned limit, bool firm)
{
	const struct sbx_blob *blob = diff->side[side].blob;

	for (uint32_t i = 0; i < SBX_COUNT(blob, LIMITS); i++) {
		const struct sbx_limit_rule *rule = SBX_AT(blob, LIMITS, sbx_limit_rule, i);

		if (rule->limit == limit && !(firm && rule->head.flags & SBX_F_BEST_EFFORT))
			return (struct diff_rank){ rule->value,
						   limit_text(diff->arena, limit, rule->value), i };
	}
	return (struct diff_rank){ UINT64_MAX, "unlimited", SBX_NONE };
}

void diff_limits(struct diff *diff)
{
	for (unsigned firm = 0; firm < 2; firm++)
		for (unsigned limit = 0; limit < SBX_LIMIT_COUNT; limit++) {
			struct diff_rank ranks[DIFF_SIDES], as_written[DIFF_SIDES];

			for (unsigned side = 0; side < DIFF_SIDES; side++) {
				ranks[side] = limit_of(diff, side, limit, firm);
				as_written[side] = limit_of(diff, side, limit, false);
			}
			/* Once is enough. */
			if (firm && as_written[0].rank != as_written[1].rank)
				continue;
			diff->when = firm ? "where what is best-effort is not held" : NULL;
			diff_ranks(diff, "limits", limit_names[limit], SBX_SEC_LIMITS, "no limit",
				   ranks);
		}
	diff->when = NULL;
}

/* ---- process ------------------------------------------------------------------------ */

static uint32_t process_rule(const struct diff *diff, unsigned side, unsigned what, uint32_t value)
{
	const struct sbx_blob *blob = diff->side[side].blob;

	for (uint32_t i = 0; i < SBX_COUNT(blob, PROCESS); i++) {
		const struct sbx_process_rule *rule = SBX_AT(blob, PROCESS, sbx_process_rule, i);

		if (rule->what == what && (what != SBX_PROCESS_PASS_FD || rule->value == value))
			return i;
	}
	return SBX_NONE;
}

static void compare_process(struct diff *diff, unsigned process, uint32_t value, const char *what)
{
	struct diff_rank ranks[DIFF_SIDES];

	for (unsigned side = 0; side < DIFF_SIDES; side++) {
		uint32_t rule = process_rule(diff, side, process, value);

		ranks[side] = (struct diff_rank){ rule != SBX_NONE,
						  rule == SBX_NONE ? "refused" : "allowed", rule };
	}
	diff_ranks(diff, "process", what, SBX_SEC_PROCESS, "no rule allows it", ranks);
}

/* None, the one handed over and new ones where they can be had, new ones at any rate. */
static void compare_terminal(struct diff *diff)
{
	struct diff_rank ranks[DIFF_SIDES];

	for (unsigned side = 0; side < DIFF_SIDES; side++) {
		uint32_t none = process_rule(diff, side, SBX_PROCESS_TERMINAL_NONE, 0);
		uint32_t new = process_rule(diff, side, SBX_PROCESS_TERMINAL, 0);

		if (none != SBX_NONE)
			ranks[side] = (struct diff_rank){ 0, "none", none };
		else if (new != SBX_NONE && !diff->within)
			ranks[side] = (struct diff_rank){ 2, "and new ones", new };
		else
			ranks[side] = (struct diff_rank){ 1, "that is handed over", new };
	}
	diff_ranks(diff, "process", "use terminal", SBX_SEC_PROCESS, "nothing forbids it", ranks);
}

void diff_process(struct diff *diff)
{
	static const struct {
		enum sbx_process what;
		const char *text;
	} flags[] = {
		{ SBX_PROCESS_SHARE_PROCESSES, "share processes" },
		{ SBX_PROCESS_SHARE_SIGNALS, "share signals" },
		{ SBX_PROCESS_SHARE_TERMINALS, "share terminals" },
		{ SBX_PROCESS_SHARE_ATTRIBUTES, "share attributes" },
	};

	compare_process(diff, SBX_PROCESS_USERNS, 0, "use user-namespaces");
	compare_terminal(diff);
	/* No site can say that something is shared. */
	for (size_t i = 0; !diff->within && i < sizeof(flags) / sizeof(flags[0]); i++)
		compare_process(diff, flags[i].what, 0, flags[i].text);
	for (unsigned side = 0; side < DIFF_SIDES; side++) {
		const struct sbx_blob *blob = diff->side[side].blob;

		for (uint32_t i = 0; i < SBX_COUNT(blob, PROCESS); i++) {
			const struct sbx_process_rule *rule =
			    SBX_AT(blob, PROCESS, sbx_process_rule, i);

			if (rule->what == SBX_PROCESS_PASS_FD)
				compare_process(
				    diff, rule->what, rule->value,
				    arena_printf(diff->arena, "pass fd %u", rule->value));
		}
	}
}

/* ---- require ------------------------------------------------------------------------ */

/* The strictest rule about @what, and what it asks for. */
static uint32_t strictest(const struct diff *diff, unsigned side, unsigned what, uint32_t *value)
{
	const struct sbx_blob *blob = diff->side[side].blob;
	uint32_t found = SBX_NONE;

	*value = 0;
	for (uint32_t i = 0; i < SBX_COUNT(blob, REQUIRE); i++) {
		const struct sbx_require_rule *rule = SBX_AT(blob, REQUIRE, sbx_require_rule, i);
		bool stricter =
		    what == SBX_REQUIRE_PROOF ? rule->value < *value : rule->value > *value;

		if (rule->what != what || (found != SBX_NONE && !stricter))
			continue;
		found = i;
		*value = rule->value;
	}
	return found;
}

/* @what runs where there is no more than the text says. */
static void compare_least(struct diff *diff, unsigned require, const char *what)
{
	struct diff_rank ranks[DIFF_SIDES];

	for (unsigned side = 0; side < DIFF_SIDES; side++) {
		uint32_t value, rule = strictest(diff, side, require, &value);
		struct text text = { .arena = diff->arena };

		ranks[side].rule = rule;
		ranks[side].rank = UINT32_MAX - value;
		if (rule == SBX_NONE)
			text_add(&text, "%s", require == SBX_REQUIRE_PROOF ? "never" : "any");
		else if (require == SBX_REQUIRE_KERNEL)
			text_add(&text, "%u.%u", value >> 16, value & 0xffff);
		else if (require == SBX_REQUIRE_PROOF)
			text_time(&text, value);
		else
			text_add(&text, "%u", value);
		if (require == SBX_REQUIRE_PROOF)
			ranks[side].rank = rule == SBX_NONE ? UINT64_MAX : value;
		ranks[side].text = text_end(&text);
	}
	diff_ranks(diff, "require", what, SBX_SEC_REQUIRE, "nothing asks for it", ranks);
}

static void compare_demand(struct diff *diff, unsigned require, const char *what)
{
	struct diff_rank ranks[DIFF_SIDES];

	for (unsigned side = 0; side < DIFF_SIDES; side++) {
		uint32_t value, rule = strictest(diff, side, require, &value);

		ranks[side] = (struct diff_rank){ rule == SBX_NONE,
						  rule == SBX_NONE ? "allowed" : "refused", rule };
	}
	diff_ranks(diff, "require", what, SBX_SEC_REQUIRE, "nothing forbids it", ranks);
}

static void compare_backend(struct diff *diff, const char *backend)
{
	struct diff_rank ranks[DIFF_SIDES];

	for (unsigned side = 0; side < DIFF_SIDES; side++) {
		const struct sbx_blob *blob = diff->side[side].blob;

		ranks[side] = (struct diff_rank){ true, "allowed", SBX_NONE };
		for (uint32_t i = 0; i < SBX_COUNT(blob, REQUIRE); i++) {
			const struct sbx_require_rule *rule =
			    SBX_AT(blob, REQUIRE, sbx_require_rule, i);
			bool named = false;

			if (rule->what != SBX_REQUIRE_BACKEND)
				continue;
			for (uint32_t n = 0; n < rule->count; n++)
				named |=
				    !strcmp(diff_words(diff, side, rule->first + n, 1), backend);
			if (!named)
				ranks[side] = (struct diff_rank){ false, "refused", i };
			else if (ranks[side].rank)
				ranks[side].rule = i;
		}
	}
	diff_ranks(diff, "require", arena_printf(diff->arena, "run on %s", backend),
		   SBX_SEC_REQUIRE, "nothing forbids it", ranks);
}

void diff_require(struct diff *diff)
{
	static const char *const backends[] = { "native", "bwrap", "firejail", "landlock" };

	compare_least(diff, SBX_REQUIRE_LANDLOCK, "run with Landlock ABI");
	compare_least(diff, SBX_REQUIRE_KERNEL, "run on kernel");
	compare_least(diff, SBX_REQUIRE_PROOF, "run when last proven");
	compare_demand(diff, SBX_REQUIRE_LIMITS, "run with limits for each process");
	compare_demand(diff, SBX_REQUIRE_SIGNED, "run without a signature");
	for (size_t i = 0; i < sizeof(backends) / sizeof(backends[0]); i++)
		compare_backend(diff, backends[i]);
}
