/*
 * stub/choose.c - which backend.
 *
 * `auto` takes the first that is there and holds every duty; else the first
 * whose lacks are all best-effort.  One that is asked for by name is taken, or
 * the launch is refused with what it lacks.
 */
#include "stub/backend.h"

#include <string.h>

#include "stub/duties.h"
#include "stub/launch.h"
#include "stub/out.h"

/* What @kind lacks: the first that stops the launch. */
static const char *first_complaint(const struct launch *launch, enum sbx_backend kind,
				   const struct sbx_machine *machine)
{
	for (size_t i = 0; i < launch->duties.count; i++) {
		const struct duty *duty = &launch->duties.items[i];

		if (!duty_held(duty->what, kind, machine) && !duty_is_optional(duty))
			return duty_complaint(launch, duty, kind);
	}
	return NULL;
}

static void take(struct launch *launch, enum sbx_backend kind, const struct sbx_machine *machine,
		 struct backend *out)
{
	for (size_t i = 0; i < launch->duties.count; i++) {
		const struct duty *duty = &launch->duties.items[i];

		if (!duty_held(duty->what, kind, machine))
			launch_remark(launch, "not enforced: %s",
				      duty_complaint(launch, duty, kind));
	}
	out->kind = kind;
}

static bool is_wanted(const struct launch *launch, enum sbx_backend kind)
{
	return !strcmp(launch->options.backend, "auto") ||
	       !strcmp(launch->options.backend, sbx_backend_name(kind));
}

void backend_choose(struct launch *launch, struct backend *out)
{
	const char *why[SBX_BACKEND_COUNT] = { NULL };
	int best = -1;
	struct sbx_machine machine;

	duties_machine(launch, &machine);
	for (enum sbx_backend kind = 0; kind < SBX_BACKEND_COUNT; kind++) {
		unsigned fatal, lacking;

		if (!is_wanted(launch, kind))
			continue;
		out->path = backend_find(kind, &why[kind]);
		if (!out->path)
			continue;
		lacking = duties_lacking(launch, kind, &machine, &fatal);
		why[kind] = fatal ? first_complaint(launch, kind, &machine) : NULL;
		if (fatal)
			continue;
		if (!lacking) {
			best = (int)kind;
			break;
		}
		best = best < 0 ? (int)kind : best;
	}
	if (best < 0) {
		for (enum sbx_backend kind = 0; kind < SBX_BACKEND_COUNT; kind++)
			if (why[kind] && !strcmp(launch->options.backend, "auto"))
				note("not %s: %s", sbx_backend_name(kind), why[kind]);
			else if (why[kind])
				refuse("%s: %s", sbx_backend_name(kind), why[kind]);
		refuse("no backend here can enforce this policy");
	}
	out->path = backend_find((enum sbx_backend)best, &why[best]);
	take(launch, (enum sbx_backend)best, &machine, out);
}
