/*
 * compiler/show_backends.c - what each backend makes of a policy.
 *
 * Said for every kernel at once, by the Landlock ABI from which something
 * holds, so that the picture does not change with the machine it is drawn on.
 */
#include <string.h>

#include "compiler/duties.h"
#include "compiler/render.h"
#include "compiler/show.h"

#define NEWEST_ABI 9 /* of blob/enforce.def: the last that changes an answer */
#define NEVER      (NEWEST_ABI + 1)

static unsigned holds_from(const struct show *show, enum sbx_duty duty, enum sbx_backend backend,
			   const char **by)
{
	const struct sbx_enforcer *enforcer;
	unsigned has = SBX_HAS_NOTIFY;

	if (sbx_meta(show->blob)->net_mode != SBX_NET_HOST)
		has |= SBX_HAS_OWN_NET;
	for (unsigned abi = 0; abi <= NEWEST_ABI; abi++) {
		struct sbx_machine machine = {
			.landlock = abi, .has = has | sbx_filter_has(show->blob, SBX_X86_64, abi)
		};

		enforcer = sbx_enforcer(duty, backend, &machine);
		if (!enforcer)
			continue;
		*by = sbx_enforcer_by(enforcer);
		return abi;
	}
	return NEVER;
}

/* A lack is said once, with how many rules it is about. */
static void add_lacks(struct show *show, struct show_part *part, const struct duties *duties,
		      enum sbx_backend backend, bool optional)
{
	for (unsigned what = 0; what < SBX_DUTY_COUNT; what++) {
		unsigned rules = 0, asked = 0;
		struct show_row *row;
		const char *by;

		for (size_t i = 0; i < duties->count; i++) {
			const struct duty *duty = &duties->items[i];

			if (duty->what != what || duty->optional != optional)
				continue;
			asked++;
			rules += duty->rule != SBX_NONE;
		}
		if (!asked || holds_from(show, what, backend, &by) != NEVER)
			continue;
		row = show_row(show, part, optional ? SHOW_PLAIN : SHOW_SHUT,
			       optional ? "without" : "not held", NULL);
		row->depth = 1;
		show_name(show, row, sbx_duty_text(what));
		row->said =
		    rules ? arena_printf(show->arena, "%u %s; %s", rules,
					 rules == 1 ? "rule" : "rules", sbx_lack_why(what, backend))
			  : sbx_lack_why(what, backend);
	}
}

/* By the names that docs/backends.md explains. */
static void add_held(struct show *show, struct show_part *part, const struct duties *duties,
		     enum sbx_backend backend)
{
	size_t first = part->rows.count;

	for (unsigned what = 0; what < SBX_DUTY_COUNT; what++) {
		const char *by = NULL;
		bool asked = false;
		size_t n = first;

		for (size_t i = 0; i < duties->count; i++)
			asked |= duties->items[i].what == what;
		if (!asked || holds_from(show, what, backend, &by) == NEVER)
			continue;
		while (n < part->rows.count && strcmp(part->rows.items[n].said, by))
			n++;
		if (n == part->rows.count) {
			struct show_row *row = show_row(show, part, SHOW_READ, "held", NULL);

			row->depth = 1;
			row->said = by;
		}
		show_name(show, &part->rows.items[n], sbx_duty_name(what));
	}
	for (size_t n = first; n < part->rows.count; n++)
		part->rows.items[n].said =
		    arena_printf(show->arena, "by %s", part->rows.items[n].said);
}

void show_backends(struct show *show)
{
	struct show_part *part =
	    show_part(show, "backends", "Backends", "Holds", "Backend, and what it does not hold");
	struct duties duties = { 0 };

	duties_collect(show->arena, show->blob, &show->set, &duties);
	for (unsigned i = 0; i < SBX_BACKEND_COUNT; i++) {
		unsigned from = 0, soft = 0;
		struct show_row *row;
		const char *by;

		for (size_t n = 0; n < duties.count; n++) {
			unsigned abi = holds_from(show, duties.items[n].what, i, &by);

			if (duties.items[n].optional)
				soft += abi == NEVER;
			else if (abi > from)
				from = abi;
		}
		row = show_row(show, part,
			       from == NEVER ? SHOW_SHUT
			       : soft        ? SHOW_PLAIN
					     : SHOW_EXEC,
			       from == NEVER ? "refused"
			       : soft        ? "in part"
					     : "all",
			       NULL);
		show_name(show, row, sbx_backend_name(i));
		row->said = from == NEVER ? "a launch stops: what follows is not best-effort"
			    : from        ? arena_printf(show->arena,
							 "on a kernel with Landlock ABI %u or newer", from)
					  : "on any kernel";
		add_held(show, part, &duties, i);
		add_lacks(show, part, &duties, i, false);
		add_lacks(show, part, &duties, i, true);
	}
}
