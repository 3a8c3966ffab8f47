/*
 * The policy that Slurm jobs run under: `slurm { jobs NAME }`.
 *
 * It is compiled as if it had been asked for, and its blob becomes part of the one being
 * made: the same bytes that `sbxc NAME` would write, so that one digest names it here, on
 * a node and in a proof.  A job's own jobs run under what the job runs under.  So the
 * policy that is put in names none but itself, and there is no third.
 */
#include <string.h>
#include <sys/stat.h>

#include "compiler/library.h"
#include "compiler/load.h"
#include "compiler/stages.h"
#include "grammar/verbs.h"

/* By the file: what `jobs` names is an installed one, and this may be that by its path. */
static bool is_itself(const struct compilation *c, const struct library_file *file)
{
	struct stat us, it;

	return !stat(c->read.items[0], &us) && !stat(file->path, &it) && us.st_ino == it.st_ino &&
	       us.st_dev == it.st_dev;
}

static struct str compile_jobs(struct compilation *c, struct span span, const char *name)
{
	struct compilation *jobs = c->jobs = ARENA_NEW(&c->arena, struct compilation);

	compilation_init(jobs, &c->options);
	jobs->options.define_count = 0; /* -D is for the main file */
	jobs->diags = c->diags;
	jobs->outer = c;
	jobs->asked = span;
	if (compile_path(jobs, name) && jobs->policy->kind != SBX_POLICY)
		diag_error(c->diags, DIAG_I0106, span, "`%s` is a site, and `jobs` takes a policy",
			   name);
	return (struct str){ (const char *)jobs->blob.data, jobs->blob.size };
}

static void fail_third(struct compilation *c, const struct program *program, struct span span,
		       const char *name)
{
	diag_error(c->diags, DIAG_C0803, span,
		   "jobs of a job run under its own policy, and this names another: `%s`", name);
	program_note_chain(c->diags, program, span.source);
	diag_note(c->diags, NO_PLACE, "`jobs %s` says so, whatever it extends says", c->input);
}

/* False: jobs run under this policy itself, and the rule says nothing. */
static bool follow(struct compilation *c, const struct program *program,
		   const struct slurm_rule *rule)
{
	struct span span = rule->head.place.span;
	struct library_file file;
	struct str name = str_from(tmpl_show(&c->arena, NULL, rule->values.items[0]));

	if (c->policy->kind == SBX_SITE) {
		diag_error(c->diags, DIAG_C0803, span,
			   "a site names no policy for jobs: it is the bound of each");
		program_note_chain(c->diags, program, span.source);
	} else if (!library_find(&c->arena, &c->options, name, &file)) {
		load_fail_name(c, span, FILE_POLICY, name);
		program_note_chain(c->diags, program, span.source);
	} else if (is_itself(c, &file)) {
		return false;
	} else if (c->outer) {
		fail_third(c, program, span, name.ptr);
	} else {
		c->policy->jobs = compile_jobs(c, span, name.ptr);
	}
	return true;
}

void compile_jobs_policy(struct compilation *c, const struct program *program)
{
	size_t kept = 0;

	for (size_t i = 0; i < c->policy->slurm.count; i++) {
		const struct slurm_rule *rule = &c->policy->slurm.items[i];

		if (rule->verb != SBX_SLURM_JOBS || follow(c, program, rule))
			c->policy->slurm.items[kept++] = *rule;
	}
	c->policy->slurm.count = kept;
}
