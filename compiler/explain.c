/*
 * compiler/explain.c - sbxc explain: is it allowed, and which rule says so?
 *
 *	read /home/u/.ssh/id_rsa: refused
 *	    by       seal ~/.ssh                 std/secrets.pol:12
 *	    against  write ~                     mine.pol:9
 *	    held by  bwrap: mount, ENOENT
 *	             firejail: Landlock, EACCES
 *	             landlock: Landlock, EACCES
 */
#include "compiler/explain.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "compiler/render.h"
#include "compiler/stages.h"
#include "compiler/text.h"

static const char help[] =
    "usage: sbxc explain [-q | --format json] [--why-not] [--workspace DIR]\n"
    "                    [--home DIR] [--target BACKEND[@ABI]] [-I DIR] [-D NAME=VALUE]\n"
    "                    BLOB|POLICY ACTION OBJECT\n"
    "  read | write | exec PATH         relative to the current directory\n"
    "  connect HOST[:PORT] | unix:PATH | abstract:NAME\n"
    "  request METHOD https://HOST[:PORT]/PATH\n"
    "  call NAME [ARGUMENT=VALUE ...]\n"
    "  see NAME | slurm \"COMMAND LINE\" | use terminal, pty or user-namespaces\n"
    "The answer is for a session started here: the workspace is the current directory\n"
    "unless --workspace says otherwise.  -q prints the verdict alone, --format json\n"
    "the answer as an object for programs.  --why-not says of\n"
    "what is refused which statement would allow it, ready to paste, and what else that\n"
    "opens.  What holds it is said for each backend on this kernel, or for each --target;\n"
    "one alone is also what the verdict is for.\n"
    "Exit status: 0 there is an answer (with -q: allowed); 1 with -q: refused, or the\n"
    "policy cannot be read; 2 usage.\n";

static const struct {
	const char *name;
	const char *(*explain)(const struct question *question, struct answer *answer);
} actions[] = {
	{ "read", explain_path },
	{ "write", explain_path },
	{ "exec", explain_path },
	{ "call", explain_call },
	{ "connect", explain_connect },
	{ "request", explain_request },
	{ "see", explain_see },
	{ "submit", explain_submit },
	{ "slurm", explain_submit },
	{ "use", explain_use },
	{ "listen", explain_listen },
	{ "limit", explain_limit },
	{ "require", explain_require },
	{ "credential", explain_credential },
	{ "slot", explain_slot },
	{ "share", explain_share },
	{ "device", explain_device },
};

void answer_note(const struct question *question, struct answer *answer, const char *fmt, ...)
{
	char text[2048];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	*VEC_PUSH(question->arena, &answer->notes) =
	    arena_copy(question->arena, text, strlen(text));
}

void answer_condition(const struct question *question, struct answer *answer, const char *fmt, ...)
{
	char text[2048];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	*VEC_PUSH(question->arena, &answer->conditions) =
	    arena_copy(question->arena, text, strlen(text));
}

void answer_held(const struct question *question, struct answer *answer, const char *text)
{
	*VEC_PUSH(question->arena, &answer->held) = text;
}

static const char *how_held(const struct question *question, const struct target *target,
			    enum sbx_duty duty, const char *mount)
{
	const struct sbx_enforcer *enforcer = target_holds(target, duty);
	const char *by, *says = NULL;

	if (!enforcer)
		return arena_printf(question->arena, "nothing: %s",
				    sbx_lack_why(duty, target->backend));
	by = sbx_enforcer_by(enforcer);
	if (mount)
		says = !strcmp(by, "mount") ? mount : !strcmp(by, "Landlock") ? "EACCES" : NULL;
	return says ? arena_printf(question->arena, "%s, %s", by, says) : by;
}

bool question_asks(const struct question *question, enum sbx_backend backend)
{
	for (size_t i = 0; i < question->targets->count; i++)
		if (question->targets->items[i].backend == backend)
			return true;
	return false;
}

bool question_says(const struct question *question, enum sbx_process what)
{
	for (uint32_t i = 0; i < SBX_COUNT(question->blob, PROCESS); i++)
		if (SBX_AT(question->blob, PROCESS, sbx_process_rule, i)->what == what)
			return true;
	return false;
}

/* What a policy asks for and the only backend does not hold: where a rule takes away, it
 * takes nothing there if it is best-effort, else the launch stops; where one gives,
 * nothing is there to be given, but for a copy, read in place without mounts. */
static bool allowed_unheld(const struct question *question, const struct answer *answer,
			   enum sbx_duty duty)
{
	if (!answer->allowed)
		return duty == SBX_DUTY_DENY_BENEATH && answer->rule < SBX_RULE_SELF &&
		       render_head(question->blob, answer->section, answer->rule)->flags &
			   SBX_F_BEST_EFFORT;
	if (duty == SBX_DUTY_TERMINALS)
		return question_says(question, SBX_PROCESS_SHARE_TERMINALS);
	return duty == SBX_DUTY_COPY && question->only->backend == SBX_LANDLOCK &&
	       strcmp(question->action, "read") == 0;
}

void answer_duty(const struct question *question, struct answer *answer, enum sbx_duty duty,
		 const char *mount)
{
	bool allowed = answer->allowed;
	const struct targets *targets = question->targets;
	const char **texts = arena_array(question->arena, targets->count, sizeof(*texts));
	bool same = true;

	for (size_t i = 0; i < targets->count; i++) {
		texts[i] = how_held(question, &targets->items[i], duty, mount);
		same &= !strcmp(texts[i], texts[0]);
	}
	for (size_t i = 0; i < (same ? 1 : targets->count); i++)
		answer_held(question, answer,
			    same ? texts[0]
				 : arena_printf(question->arena, "%s: %s",
						sbx_backend_name(targets->items[i].backend),
						texts[i]));
	if (question->only && !target_holds(question->only, duty))
		answer->allowed = allowed_unheld(question, answer, duty);
	if (answer->allowed != allowed)
		answer->how = arena_printf(question->arena, "on %s",
					   sbx_backend_name(question->only->backend));
}

static void print_row(struct arena *arena, const char *label, const char *text)
{
	printf("    %-8s %s\n", label, diag_escape(arena, str_from(text)));
}

static void print_rule(const struct question *question, const char *label,
		       enum sbx_section_id section, uint32_t rule, const char *text)
{
	const struct sbx_head *head;
	size_t width;

	if (rule == SBX_RULE_SELF && section == SBX_SEC_FS) {
		print_row(question->arena, label,
			  "sbx itself: a session never writes its policy, its launcher, or a "
			  "`.git` file");
		return;
	}
	head = render_head(question->blob, section, rule);
	if (!text)
		text = render_rule(question->arena, question->blob, section, rule, 0);
	width = strlen(text);
	if (head->loc != SBX_NONE)
		text = arena_printf(question->arena, "%s%*s%s", text,
				    width < 48 ? (int)(48 - width) : 2, "",
				    render_places(question->arena, question->blob, head->loc));
	print_row(question->arena, label, text);
	if (head->flags & SBX_F_BEST_EFFORT)
		print_row(question->arena, "", "best-effort: runs also where it cannot be held");
}

static const char *verdict_of(const struct question *question, const struct answer *answer)
{
	if (answer->says)
		return diag_escape(question->arena, str_from(answer->says));
	return answer->allowed ? "allowed" : "refused";
}

static void print_answer(const struct question *question, const struct answer *answer)
{
	printf("%s %s: %s", question->action,
	       diag_escape(question->arena, str_from(answer->object)),
	       verdict_of(question, answer));
	printf(answer->how ? " (%s)\n" : "\n", answer->how);
	if (answer->rule == SBX_NONE)
		print_row(question->arena, "by", answer->nobody);
	else
		print_rule(question, "by", answer->section, answer->rule, answer->by);
	if (answer->loser != SBX_NONE)
		print_rule(question, "against", answer->section, answer->loser, NULL);
	for (size_t i = 0; i < answer->conditions.count; i++)
		print_row(question->arena, "if", answer->conditions.items[i]);
	for (size_t i = 0; i < answer->notes.count; i++)
		print_row(question->arena, "note", answer->notes.items[i]);
	for (size_t i = 0; i < answer->held.count; i++)
		print_row(question->arena, i ? "" : "held by", answer->held.items[i]);
}

/* "fs { a; b }": a section stands once in a file. */
static void print_remedy(const struct question *question, const struct remedy *remedy)
{
	struct text text = { .arena = question->arena };

	for (size_t i = 0; i < remedy->seals.count; i++)
		print_row(question->arena, i ? "" : "why not",
			  arena_printf(question->arena, "this breaks a seal: %s",
				       remedy->seals.items[i]));
	if (remedy->add.count) {
		print_row(question->arena, remedy->seals.count ? "" : "why not",
			  remedy->seals.count
			      ? "and only then, in a policy that extends this one"
			      : "it would be allowed with this, in a policy that extends this one");
		text_add(&text, "    %s { ", remedy->section);
		for (size_t i = 0; i < remedy->add.count; i++)
			text_add(&text, "%s%s", i ? "; " : "", remedy->add.items[i]);
		text_add(&text, " }");
		print_row(question->arena, "", text_end(&text));
	}
	for (size_t i = 0; i < remedy->notes.count; i++)
		print_row(question->arena,
			  i || remedy->add.count || remedy->seals.count ? "" : "why not",
			  remedy->notes.items[i]);
}

struct request { /* the command line */
	struct compile_options options;
	struct view_options view;
	const char *policy;
	struct question question;
	struct targets targets;
	const char *wrong; /* what is, with the command line; NULL: it is not said */
	bool quiet, why_not, json, help;
};

static bool read_option(int argc, char **argv, int *index, struct request *request,
			struct arena *arena)
{
	const char *option = argv[*index];
	const char **value = !strcmp(option, "--workspace") ? &request->view.workspace
			     : !strcmp(option, "--home")    ? &request->view.home
							    : NULL;

	if (value && *index + 1 < argc) {
		*value = argv[++*index];
		return true;
	}
	if (!strcmp(option, "--target") && *index + 1 < argc) {
		request->wrong = targets_add(arena, &request->targets, argv[++*index]);
		return !request->wrong;
	}
	if (!strcmp(option, "-q")) {
		request->quiet = true;
		return true;
	}
	if (!strcmp(option, "--format") && *index + 1 < argc) {
		request->json = !strcmp(argv[++*index], "json");
		if (!request->json)
			request->wrong = "the format is json";
		return request->json;
	}
	if (!strcmp(option, "--why-not")) {
		request->why_not = true;
		return true;
	}
	if (is_help(option)) {
		request->help = true;
		return true;
	}
	return common_option(argc, argv, index, &request->options, arena);
}

/* Options stand before the action: an object may start with a dash. */
static bool read_request(int argc, char **argv, struct request *request, struct arena *arena)
{
	int i = 1;

	for (; i < argc && (argv[i][0] == '-' && argv[i][1]); i++)
		if (!read_option(argc, argv, &i, request, arena))
			return false;
	if (i < argc)
		request->policy = argv[i++];
	for (; i < argc && argv[i][0] == '-'; i++)
		if (!read_option(argc, argv, &i, request, arena))
			return false;
	if (i + 2 > argc)
		return false;
	request->question.action = argv[i];
	request->question.object = argv[i + 1];
	request->question.args = argv + i + 2;
	request->question.arg_count = (size_t)(argc - i - 2);
	for (i += 2; i < argc; i++)
		if (argv[i][0] == '-') {
			request->wrong =
			    arena_printf(arena, "`%s`: options stand before the action, `%s`",
					 argv[i], request->question.action);
			return false;
		}
	if (request->question.arg_count && strcmp(request->question.action, "call") &&
	    strcmp(request->question.action, "request")) {
		request->wrong = arena_printf(arena, "`%s`: one object is asked about at a time",
					      request->question.args[0]);
		return false;
	}
	return true;
}

const char *explain_ask(const struct question *question, struct answer *answer)
{
	*answer = (struct answer){ .object = question->object,
				   .rule = SBX_NONE,
				   .loser = SBX_NONE };
	if (!*answer->object)
		return "nothing is asked about: the object is empty";
	for (size_t i = 0; i < sizeof(actions) / sizeof(actions[0]); i++)
		if (!strcmp(question->action, actions[i].name))
			return actions[i].explain(question, answer);
	return "the actions are read, write, exec, device, connect, request, listen, call, see, "
	       "slurm, submit, use, limit, require, credential, slot and share";
}

static int answer_request(struct request *request, struct arena *arena, const struct sbx_blob *blob)
{
	bool only = request->targets.count == 1;
	struct remedy remedy = { 0 };
	struct answer answer;
	struct view view;
	const char *error;

	request->view.defines = request->options.defines;
	request->view.define_count = request->options.define_count;
	error = view_make(&view, arena, blob, &request->view);
	targets_settle(arena, &request->targets, blob);
	request->question.targets = &request->targets;
	request->question.only = only ? &request->targets.items[0] : NULL;
	request->question.arena = arena;
	request->question.blob = blob;
	request->question.view = &view;
	if (!error)
		view_find_links(&view);
	if (!error)
		error = explain_ask(&request->question, &answer);
	if (error) {
		fprintf(stderr, "sbxc explain: %s %s: %s\n",
			diag_escape(arena, str_from(request->question.action)),
			diag_escape(arena, str_from(request->question.object)), error);
		return SBXC_USAGE;
	}
	if (!request->quiet) {
		bool helps = request->why_not && !answer.allowed && !answer.says;

		if (!request->json)
			print_answer(&request->question, &answer);
		if (helps)
			remedy_find(&request->question, &answer, &remedy);
		if (request->json)
			explain_print_json(&request->question, &answer, helps ? &remedy : NULL);
		else if (helps)
			print_remedy(&request->question, &remedy);
		return SBXC_OK;
	}
	puts(verdict_of(&request->question, &answer));
	return answer.allowed ? 0 : 1;
}

int cmd_explain(int argc, char **argv)
{
	struct request request = { 0 };
	struct compilation compilation;
	struct arena arena = { 0 };
	int status = SBXC_ERRORS;
	struct sbx_blob blob;

	if (!read_request(argc, argv, &request, &arena) || request.help) {
		status = usage_end("explain", request.wrong, request.help, help);
		arena_free(&arena);
		return status;
	}
	compilation_init(&compilation, &request.options);
	if (open_blob_or_compile(&compilation, request.policy, &blob)) {
		if (!compilation.policy)
			request.view.blob_path = request.policy;
		status = answer_request(&request, &compilation.arena, &blob);
	}
	compilation_free(&compilation);
	arena_free(&arena);
	return finish_output(status);
}
