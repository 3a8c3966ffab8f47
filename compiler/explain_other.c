/*
 * compiler/explain_other.c - connect, see, submit, use.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "compiler/duties.h"
#include "compiler/explain.h"
#include "compiler/render.h"
#include "compiler/render_words.h"

static bool may_call(const struct question *question, const char *name, const uint64_t args[6])
{
	uint16_t nr[SBX_ARCH_COUNT];
	struct sbx_sys_verdict verdict;
	bool depends;

	if (!emit_syscall_numbers(name, nr) || nr[SBX_X86_64] == SBX_SYS_ABSENT)
		return true;
	if (args)
		sbx_sys_decide(question->blob, SBX_X86_64, nr[SBX_X86_64], args, &verdict);
	else
		sbx_sys_decide_name(question->blob, SBX_X86_64, nr[SBX_X86_64], &verdict,
				    &depends);
	if (verdict.action == SBX_ACT_ALLOW && question->only &&
	    question->only->backend == SBX_LANDLOCK)
		sbx_sys_decide_shared(question->blob, SBX_X86_64, nr[SBX_X86_64], args, &verdict);
	return verdict.action == SBX_ACT_ALLOW;
}

/* Who connects makes a socket first: both are calls that the policy can refuse.  Where
 * not even a program can be started, that is not what was asked.  Nearly all programs ask
 * for a socket that ends with execve(2), some do not. */
static void note_calls(const struct question *question, unsigned domain, struct answer *answer)
{
	const uint64_t lasting[6] = { domain, SOCK_STREAM };
	const uint64_t closing[6] = { domain, SOCK_STREAM | SOCK_CLOEXEC };
	bool opens[] = { may_call(question, "socket", lasting),
			 may_call(question, "socket", closing) };
	const char *call = !opens[0] && !opens[1]		  ? "socket"
			   : !may_call(question, "connect", NULL) ? "connect"
								  : NULL;

	if (answer->allowed && opens[0] != opens[1])
		answer_note(question, answer,
			    "socket(2) is open %s SOCK_CLOEXEC alone: ask about call socket",
			    opens[1] ? "with" : "without");
	if (!answer->allowed || !call || !may_call(question, "execve", NULL))
		return;
	answer_note(question, answer, "this is open, but %s(2) is not: ask about call %s", call,
		    call);
	if (question->only) {
		answer->allowed = false;
		answer->how = arena_printf(question->arena, "by call %s", call);
	}
}

/* The host's sockets lie under a tmp like its other files, and are not copied. */
static void note_not_there(const struct question *question, const char *path,
			   struct answer *answer)
{
	const struct sbx_fs_point *made;
	struct sbx_fs_verdict verdict;

	sbx_fs_decide(&question->view->set, path, SBX_READ, &verdict);
	made = verdict.allowed ? point_made(&question->view->set, &verdict) : NULL;
	if (!made || !answer->allowed || access(path, F_OK) ||
	    (question->only && question->only->backend == SBX_LANDLOCK))
		return;
	answer_note(question, answer, "where there are mounts the host's may not be there: %s (%s)",
		    made->verb == SBX_FS_TMP ? "a tmp lies over it" : "a copy has no sockets",
		    made->path);
}

/* Where a mask lies over a directory, nothing in it is there, a socket neither: also one
 * that a seal excepts by its own name. */
static void note_masked(const struct question *question, const char *path, struct answer *answer)
{
	const struct sbx_fs_set *set = &question->view->set;
	const char *above = arena_copy(question->arena, path, (size_t)(strrchr(path, '/') - path));
	struct sbx_fs_verdict verdict;

	if (!answer->allowed || !*above ||
	    (question->only && question->only->backend == SBX_LANDLOCK))
		return;
	sbx_fs_decide(set, above, SBX_READ, &verdict);
	if (verdict.allowed || verdict.point == SBX_NONE ||
	    duty_of_path(question->arena, set, above, SBX_READ, &verdict) != SBX_DUTY_DENY_BENEATH)
		return;
	answer_note(question, answer,
		    "where there are masks it is not there: one lies over what holds it (%s)",
		    set->points[verdict.point].path);
	if (question->only) {
		answer->allowed = false;
		answer->how = "EACCES";
	}
}

/* What a session makes where nothing of the host's is, it may connect to. */
static void note_own_socket(const struct question *question, const char *path,
			    struct answer *answer)
{
	bool elsewhere = question->only && question->only->backend == SBX_LANDLOCK;
	const struct sbx_fs_point *made;
	struct sbx_fs_verdict verdict;

	sbx_fs_decide(&question->view->set, path, SBX_WRITE, &verdict);
	made = verdict.allowed ? point_made(&question->view->set, &verdict) : NULL;
	note_not_there(question, path, answer);
	if (made)
		answer_note(question, answer, "a socket that the session itself makes %s %s works",
			    elsewhere ? "in its own directory in" : "in its private", made->path);
}

/* A rule holds for its name as written and for what that leads to. */
static void decide_unix(const struct question *question, const char *path,
			struct sbx_net_verdict *verdict)
{
	const struct view *view = question->view;

	sbx_net_decide_unix(question->blob, &view->vars, path, verdict);
	for (uint32_t i = 0; i < SBX_COUNT(question->blob, NET) && verdict->rule == SBX_NONE; i++) {
		const struct sbx_net_rule *rule = SBX_AT(question->blob, NET, sbx_net_rule, i);
		const char *name = NULL;

		if (rule->head.verb == SBX_NETV_ALLOW && rule->kind == SBX_NETK_UNIX)
			name = view_expand(view, rule->path);
		if (name && !strcmp(view_real(question->arena, name), path))
			sbx_net_decide_unix(question->blob, &view->vars, name, verdict);
	}
}

static const char *connect_unix(const struct question *question, const char *text,
				struct answer *answer)
{
	const char *written = view_path(question->view, text), *path;
	struct sbx_net_verdict verdict;

	if (!written)
		return "that variable has no value here";
	path = view_real(question->arena, written);
	decide_unix(question, path, &verdict);
	answer->object = arena_printf(question->arena, "unix:%s", path);
	answer->allowed = verdict.allowed;
	answer->rule = verdict.rule;
	answer->nobody = "no rule allows that socket";
	answer_duty(question, answer, SBX_DUTY_PATH_SOCKETS, NULL);
	note_calls(question, AF_UNIX, answer);
	note_masked(question, path, answer);
	note_links(question, written, path, answer);
	note_own_socket(question, path, answer);
	return NULL;
}

static const char *connect_abstract(const struct question *question, const char *name,
				    struct answer *answer)
{
	struct sbx_net_verdict verdict;

	sbx_net_decide_abstract(question->blob, name, &verdict);
	answer->allowed = verdict.allowed;
	answer->rule = verdict.rule;
	answer->nobody = "no rule allows that socket";
	answer_duty(question, answer, SBX_DUTY_ABSTRACT_SOCKETS, NULL);
	note_calls(question, AF_UNIX, answer);
	return NULL;
}

const char *explain_mode(const struct question *question)
{
	static const char *const modes[] = { "mode none", NULL, "mode host" };
	const struct sbx_meta *meta = sbx_meta(question->blob);
	struct text text = { .arena = question->arena };

	if (!modes[meta->net_mode])
		return "no rule allows it";
	text_add(&text, "%s", modes[meta->net_mode]);
	words_head(&text, question->blob, &meta->net_mode_head);
	if (meta->net_mode_head.loc != SBX_NONE)
		text_add(&text, "  %s",
			 render_places(question->arena, question->blob, meta->net_mode_head.loc));
	return text_end(&text);
}

const char *explain_connect(const struct question *question, struct answer *answer)
{
	uint32_t mode = sbx_meta(question->blob)->net_mode;
	struct sbx_net_verdict verdict;
	const char *host, *error;
	unsigned port;

	answer->section = SBX_SEC_NET;
	if (!strncmp(question->object, "unix:", 5))
		return connect_unix(question, question->object + 5, answer);
	if (strchr("/~$", question->object[0]))
		return connect_unix(question, question->object, answer);
	if (!strncmp(question->object, "abstract:", 9))
		return connect_abstract(question, question->object + 9, answer);
	if (strchr(question->object, '/'))
		return "a host is asked about, as in HOST:PORT; a URL by `request GET URL`";
	error = explain_port(question, question->object, &host, &port);
	if (error)
		return error;
	sbx_net_decide(question->blob, host, port, &verdict);
	answer->object = arena_printf(question->arena, "%s:%u", host, port);
	answer->allowed = verdict.allowed;
	answer->rule = verdict.rule;
	answer->nobody = explain_mode(question);
	if (mode == SBX_NET_HOST)
		answer_held(question, answer, "nothing: the policy opens the host's network");
	else if (mode == SBX_NET_PROXY)
		answer_held(question, answer,
			    "the proxy outside, which decides by name and address");
	else
		answer_duty(question, answer, SBX_DUTY_NO_NETWORK, NULL);
	note_calls(question, *host == '[' ? AF_INET6 : AF_INET, answer);
	if (!verdict.allowed || mode != SBX_NET_PROXY)
		return NULL;
	if (sbx_net_ends_tls(question->blob, &question->view->vars, host, port))
		answer_note(question, answer,
			    "TLS ends at the proxy, which decides each request: ask with `request "
			    "METHOD https://HOST/PATH`");
	answer_note(question, answer, "each address the name resolves to is decided too");
	return NULL;
}

/* ---- listen ----------------------------------------------------------------------------- */

/* A socket that can be made in a directory can be listened on there. */
static const char *listen_unix(const struct question *question, struct answer *answer)
{
	const char *path = view_path(question->view, question->object + 5);
	struct sbx_fs_verdict verdict;

	if (!path)
		return "that variable has no value here";
	path = view_real(question->arena, path);
	sbx_fs_decide(&question->view->set, path, SBX_WRITE, &verdict);
	answer->object = arena_printf(question->arena, "unix:%s", path);
	answer->allowed = verdict.allowed;
	answer->section = SBX_SEC_FS;
	answer->rule =
	    verdict.point == SBX_NONE ? SBX_NONE : question->view->points.items[verdict.point].rule;
	answer->nobody = "no rule grants to write there";
	answer_note(question, answer, "whoever can write in a directory can make a socket there");
	note_own_socket(question, path, answer);
	answer_duty(question, answer,
		    duty_of_path(question->arena, &question->view->set, path, SBX_WRITE, &verdict), NULL);
	return NULL;
}

const char *explain_listen(const struct question *question, struct answer *answer)
{
	bool host = sbx_meta(question->blob)->net_mode == SBX_NET_HOST, allowed;
	char *end;
	unsigned long port = strtoul(question->object, &end, 10);

	if (!strncmp(question->object, "unix:", 5))
		return listen_unix(question, answer);
	if (*end || !port || port > UINT16_MAX)
		return "a port is a number from 1 to 65535; a local socket is written unix:PATH";
	answer->section = SBX_SEC_NET;
	answer->allowed = host;
	answer->nobody = host ? explain_mode(question) : "no rule lets it be reached there";
	for (uint32_t i = 0; i < SBX_COUNT(question->blob, NET); i++) {
		const struct sbx_net_rule *rule = SBX_AT(question->blob, NET, sbx_net_rule, i);

		if (rule->head.verb != SBX_NETV_LISTEN || rule->kind != SBX_NETK_PORT ||
		    rule->port != port)
			continue;
		answer->allowed = true;
		answer->rule = i;
	}
	if (host) {
		answer_held(question, answer, "nothing: the policy opens the host's network");
		return NULL;
	}
	answer_note(
	    question, answer,
	    "where the network is the session's own, programs inside reach each other on any "
	    "port, and nobody outside reaches them");
	allowed = answer->allowed;
	answer_duty(question, answer, SBX_DUTY_LISTEN, NULL);
	/* What nothing holds is that no other port is taken: this one is there. */
	answer->allowed = allowed;
	answer->how = NULL;
	return NULL;
}

/* ---- see, submit, use -------------------------------------------------------------------- */

/* Without mounts what is `tmp /tmp` is a directory of the session's own, and these name
 * it, unless the policy sets them to something that it grants. */
static void note_own_tmp(const struct question *question, struct answer *answer)
{
	static const char *const names[] = { "TMPDIR", "TMP", "TEMP" };
	const struct sbx_fs_set *set = &question->view->set;
	bool named = false, made = false;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		named |= !strcmp(question->object, names[i]);
	for (size_t i = 0; i < set->count; i++)
		made |= set->points[i].verb == SBX_FS_TMP &&
			(!strcmp(set->points[i].path, "/tmp") ||
			 !strcmp(set->points[i].path, "/var/tmp"));
	if (!named || !made || !question_asks(question, SBX_LANDLOCK))
		return;
	answer_note(question, answer,
		    "on landlock sbx-exec sets it to a directory of the session's own, unless its "
		    "value is one that the session may write");
	answer->allowed |= question->only != NULL;
}

const char *explain_see(const struct question *question, struct answer *answer)
{
	struct sbx_env_verdict verdict;

	sbx_env_decide(question->blob, question->object, &verdict);
	answer->allowed = verdict.visible;
	answer->section = SBX_SEC_ENV;
	answer->rule = verdict.rule;
	if (verdict.credential != SBX_NONE) {
		answer->section = SBX_SEC_CREDENTIALS;
		answer->rule = verdict.credential;
		answer_note(question, answer, "inside it holds a placeholder, never the value");
	} else if (verdict.visible) {
		answer_note(question, answer,
			    verdict.set ? "the policy sets it"
					: "with its value from outside, if it has one");
	}
	answer->nobody = "no rule passes or sets it";
	note_own_tmp(question, answer);
	answer_held(question, answer, "environment built from nothing");
	return NULL;
}

/* 0, 1 and 2 are handed on at any rate. */
static const char *use_descriptor(const struct question *question, struct answer *answer)
{
	char *end;
	unsigned long number = strtoul(question->object + 3, &end, 10);

	if (!question->object[3] || *end || number > INT32_MAX)
		return "a descriptor is written fd:N";
	answer->section = SBX_SEC_PROCESS;
	answer->allowed = number <= 2;
	answer->nobody = number <= 2 ? "a standard stream" : "no rule passes it";
	for (uint32_t i = 0; i < SBX_COUNT(question->blob, PROCESS); i++) {
		const struct sbx_process_rule *rule =
		    SBX_AT(question->blob, PROCESS, sbx_process_rule, i);

		if (rule->what != SBX_PROCESS_PASS_FD || rule->value != number)
			continue;
		answer->allowed = true;
		answer->rule = i;
	}
	if (answer->allowed)
		answer_note(
		    question, answer,
		    "never a directory, a descriptor of a mere path, or a device that is no "
		    "terminal and not /dev/null");
	answer_held(question, answer, "sbx-exec, which closes all others");
	return NULL;
}

const char *explain_use(const struct question *question, struct answer *answer)
{
	bool pty = !strcmp(question->object, "pty");
	bool terminal = pty || !strcmp(question->object, "terminal");
	uint32_t wanted = terminal ? SBX_PROCESS_TERMINAL_NONE : SBX_PROCESS_USERNS;

	if (!strncmp(question->object, "fd:", 3))
		return use_descriptor(question, answer);
	if (!terminal && strcmp(question->object, "user-namespaces"))
		return "what can be used is called `terminal` (the one handed over), `pty` (new "
		       "ones), `user-namespaces` or `fd:N`";
	answer->section = SBX_SEC_PROCESS;
	answer->allowed = terminal;
	answer->nobody = terminal ? "nothing forbids it" : "no rule allows it";
	for (uint32_t i = 0; i < SBX_COUNT(question->blob, PROCESS); i++)
		if (SBX_AT(question->blob, PROCESS, sbx_process_rule, i)->what == wanted) {
			answer->allowed = !terminal;
			answer->rule = i;
		}
	if (pty && answer->allowed && question_asks(question, SBX_LANDLOCK) &&
	    !question_says(question, SBX_PROCESS_SHARE_TERMINALS))
		answer_note(question, answer, "refused on landlock without `share terminals`");
	if (pty && answer->allowed)
		answer_duty(question, answer, SBX_DUTY_TERMINALS, NULL);
	else if (terminal)
		answer_held(question, answer, "sbx-exec, which starts with or without one");
	else
		answer_duty(question, answer,
			    answer->allowed ? SBX_DUTY_USER_NAMESPACES : SBX_DUTY_SYSTEM_CALLS,
			    NULL);
	return NULL;
}
