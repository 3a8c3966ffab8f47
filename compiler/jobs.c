/*
 * The policy that Slurm jobs run under: `slurm { jobs NAME }`.
 *
 * It is compiled as if it had been asked for, so that a name that is not there
 * and an error in it show now and not when the first job starts.  A policy may
 * name itself, or one that names it back: each is compiled once.
 */
#include <string.h>

#include "compiler/library.h"
#include "compiler/load.h"
#include "compiler/stages.h"
#include "grammar/verbs.h"

static bool is_being_compiled(const struct compilation *c, const char *name)
{
	for (; c; c = c->outer) {
		if (strcmp(c->input, name) == 0)
			return true;
	}
	return false;
}

static void compile_jobs(struct compilation *c, struct span span, const char *name)
{
	c->jobs = ARENA_NEW(&c->arena, struct compilation);
	compilation_init(c->jobs, &c->options);
	c->jobs->options.define_count = 0; /* -D is for the main file */
	c->jobs->options.strip = false;
	c->jobs->diags = c->diags;
	c->jobs->outer = c;
	c->jobs->asked = span;
	if (compile_path(c->jobs, name) && c->jobs->policy->kind != SBX_POLICY)
		diag_error(c->diags, DIAG_I0106, span, "`%s` is a site, and `jobs` takes a policy",
			   name);
}

void check_jobs(struct compilation *c, const struct program *program)
{
	for (size_t i = 0; i < c->policy->slurm.count; i++) {
		const struct slurm_rule *rule = &c->policy->slurm.items[i];
		struct span span = rule->head.place.span;
		struct library_file file;
		struct str name;

		if (rule->verb != SBX_SLURM_JOBS)
			continue;
		name = str_from(tmpl_show(&c->arena, NULL, rule->values.items[0]));
		if (!library_find(&c->arena, &c->options, name, &file)) {
			load_fail_name(c, span, FILE_POLICY, name);
			program_note_chain(c->diags, program, span.source);
		} else if (!is_being_compiled(c, name.ptr)) {
			compile_jobs(c, span, name.ptr);
		}
	}
}
