/*
 * stub/choose.c - which backend.
 *
 * `auto` takes the first that is there and holds every duty; else the first
 * whose lacks are all best-effort.  `--backend` and `require { backend }` leave
 * fewer to choose from.
 *
 * That one is there does not mean that it works: distributions and containers
 * forbid user namespaces in half a dozen ways, some of which only the program
 * itself runs into.  Asking beforehand would cost every launch.  So what was
 * chosen is started; where it says that it cannot, and nothing else has been
 * started, the launch begins anew without it, by an exec, and decides
 * everything again.  One that fails in no known way, or whose work does not
 * stand up to verification, ends the launch: a liar is no reason to go on.
 */
#include "stub/backend.h"

#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "stub/duties.h"
#include "stub/launch.h"
#include "stub/out.h"
#include "stub/sys.h"

enum { BEGINNINGS_MAX = 6 };

struct choice {
	struct sbx_machine machine;
	int best;                           /* enum sbx_backend; -1: none */
	const char *why[SBX_BACKEND_COUNT]; /* not this one; NULL: it could, or was not asked for */
};

static bool is_named(const struct launch *launch, const struct sbx_require_rule *rule,
		     enum sbx_backend kind)
{
	for (uint32_t i = 0; i < rule->count; i++) {
		char name[64];
		uint32_t unset;
		bool wild;

		if (sbx_expand(&launch->blob,
			       *SBX_AT(&launch->blob, TMPLS, sbx_tmpl, rule->first + i),
			       &launch->vars, name, sizeof(name), &wild, &unset) >= 0 &&
		    !strcmp(name, sbx_backend_name(kind)))
			return true;
	}
	return false;
}

/* `require { backend }`: NULL: @kind may be. */
static const char *policy_objection(const struct launch *launch, enum sbx_backend kind)
{
	for (uint32_t i = 0; i < SBX_COUNT(&launch->blob, REQUIRE); i++) {
		const struct sbx_require_rule *rule =
		    SBX_AT(&launch->blob, REQUIRE, sbx_require_rule, i);

		if (rule->what == SBX_REQUIRE_BACKEND && !is_named(launch, rule, kind))
			return out_string("the policy wants another backend (%s): add %s to its "
					  "require { backend }",
					  launch_place(launch, rule->head.loc),
					  sbx_backend_name(kind));
	}
	return NULL;
}

/* What @kind lacks: the first that stops the launch. */
static const char *duty_objection(const struct launch *launch, enum sbx_backend kind,
				  const struct sbx_machine *machine, unsigned fatal)
{
	const char *more = fatal > 1 ? out_string(" (and %u more: see --check)", fatal - 1) : "";

	for (size_t i = 0; i < launch->duties.count; i++) {
		const struct duty *duty = &launch->duties.items[i];

		if (!duty_held(duty->what, kind, machine) && !duty_is_optional(duty))
			return mem_join(duty_complaint(launch, duty, kind), more);
	}
	return NULL;
}

const char *backend_objection(const struct launch *launch, enum sbx_backend kind)
{
	const char *why, *path = backend_find(kind, &why);

	if (!path)
		return why;
	why = policy_objection(launch, kind);
	return why ? why : proof_objection(launch, kind, path);
}

static void compare(const struct launch *launch, unsigned wanted, struct choice *out)
{
	bool perfect = false;

	out->best = -1;
	duties_machine(launch, &out->machine);
	for (enum sbx_backend kind = 0; kind < SBX_BACKEND_COUNT && !perfect; kind++) {
		unsigned lacking, fatal;

		if (!(wanted & 1u << kind))
			continue;
		lacking = duties_lacking(launch, kind, &out->machine, &fatal);
		out->why[kind] = backend_objection(launch, kind);
		if (!out->why[kind] && fatal)
			out->why[kind] = duty_objection(launch, kind, &out->machine, fatal);
		perfect = !out->why[kind] && !lacking;
		if (perfect || (!out->why[kind] && out->best < 0))
			out->best = (int)kind;
	}
}

static void say_why_not(const struct choice *choice)
{
	for (enum sbx_backend kind = 0; kind < SBX_BACKEND_COUNT; kind++)
		if (choice->why[kind])
			note("not %s: %s", sbx_backend_name(kind), choice->why[kind]);
}

static _Noreturn void refuse_all(const struct launch *launch, const struct choice *choice)
{
	for (enum sbx_backend kind = 0; kind < SBX_BACKEND_COUNT; kind++)
		if (launch->options.backends == 1u << kind)
			refuse("%s: %s", sbx_backend_name(kind), choice->why[kind]);
	say_why_not(choice);
	refuse("no backend here can enforce this policy: nothing was started; do one of the above");
}

static void take(struct launch *launch, const struct choice *choice, struct backend *out)
{
	bool lacking;

	out->kind = (enum sbx_backend)choice->best;
	lacking = duties_summary(launch, out->kind, &choice->machine);
	if (launch->options.verbose || (lacking && !launch->options.quiet))
		say_why_not(choice);
}

void backend_choose(struct launch *launch, struct backend *out)
{
	struct choice choice = { .best = -1 };
	const char *why;

	compare(launch, launch->options.backends, &choice);
	if (choice.best < 0)
		refuse_all(launch, &choice);
	out->path = backend_find((enum sbx_backend)choice.best, &why);
	take(launch, &choice, out);
}

/* ---- the next one ------------------------------------------------------------------ */

/* The same command line, for these backends only; what a launch has changed of
 * this process is put back first. */
static _Noreturn void start_anew(const struct launch *launch, unsigned backends)
{
	const struct options *options = &launch->options;
	size_t count = 0, at = 0;
	const char *names = "--backend=";
	char **words;
	sigset_t blocked;

	for (enum sbx_backend kind = 0; kind < SBX_BACKEND_COUNT; kind++)
		if (backends & 1u << kind)
			names =
			    out_string("%s%s%s", names, count++ ? "," : "", sbx_backend_name(kind));
	for (count = 0; options->argv[count];)
		count++;
	words = mem_get((count + 2) * sizeof(*words));
	for (size_t i = 0; i < count; i++) {
		if (i == options->end)
			words[at++] = mem_string(names);
		words[at++] = options->argv[i];
	}
	sigemptyset(&blocked);
	for (int number = 1; number < 64; number++)
		if (launch->plan.blocked & 1ull << number)
			sigaddset(&blocked, number);
	if (!(launch->plan.ignored & 1ull << SIGPIPE))
		signal(SIGPIPE, SIG_DFL);
	if (!(launch->plan.ignored & 1ull << SIGXFSZ))
		signal(SIGXFSZ, SIG_DFL);
	sys_prlimit(RLIMIT_NOFILE, &launch->descriptors, NULL);
	umask(launch->plan.umask);
	sigprocmask(SIG_SETMASK, &blocked, NULL);
	execve("/proc/self/exe", words, launch->environ);
	refuse("the launch cannot begin anew: start again");
}

void backend_instead(const struct launch *launch, enum sbx_backend failed, const char *why)
{
	unsigned left = launch->options.backends & ~(1u << failed);
	struct choice choice = { .best = -1 };

	if (!left)
		return;
	compare(launch, left, &choice);
	choice.why[failed] = why;
	if (choice.best < 0)
		refuse_all(launch, &choice);
	launch_remark(launch, "not %s: %s", sbx_backend_name(failed), why);
	start_anew(launch, left);
}

void backend_again(const struct launch *launch, const char *why)
{
	static const char again[] = "start again";
	size_t length = strlen(why);

	if (length < sizeof(again) || strcmp(why + length - (sizeof(again) - 1), again) != 0 ||
	    launch->options.choices >= BEGINNINGS_MAX)
		return;
	launch_detail(launch, "%s", why);
	start_anew(launch, launch->options.backends);
}
