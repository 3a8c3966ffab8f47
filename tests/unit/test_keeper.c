#include <criterion/criterion.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "compiler/compiler.h"
#include "proxy/source.h"

static char folder[64];

static void set_up(void)
{
	strcpy(folder, "/tmp/keeper.XXXXXX");
	cr_assert(mkdtemp(folder));
}

static void tear_down(void)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf %s", folder);
	cr_assert_eq(system(command), 0);
}

/* Writes a file of the test's; returns its path, good until the next call but one. */
static const char *file(const char *name, const void *text, size_t size, mode_t mode)
{
	static char paths[2][128];
	static int turn;
	char *path = paths[turn ^= 1];
	int fd;

	snprintf(path, sizeof(paths[0]), "%s/%s", folder, name);
	unlink(path);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	cr_assert(fd >= 0 && write(fd, text, size) == (ssize_t)size && !fchmod(fd, mode));
	close(fd);
	return path;
}

static const char *text_file(const char *name, const char *text)
{
	return file(name, text, strlen(text), 0600);
}

/* A script of the test's, which begins in its folder. */
static const char *script(const char *text)
{
	char whole[512];

	snprintf(whole, sizeof(whole), "cd %s\n%s", folder, text);
	return text_file("script", whole);
}

/* ---- values and files ----------------------------------------------------------------------- */

#define LIT(text) text, sizeof(text) - 1

Test(keeper, what_a_value_is)
{
	static const struct {
		const char *text;
		size_t size;
		const char *value, *why;
	} cases[] = {
		{ LIT("sk-12345"), "sk-12345", NULL },
		{ LIT("sk-12345\n"), "sk-12345", NULL },
		{ LIT("sk-12345\r\n"), "sk-12345", NULL },
		{ LIT("two words"), "two words", NULL },
		{ LIT(""), NULL, "there is nothing in it" },
		{ LIT("\n"), NULL, "there is nothing in it" },
		{ LIT("sk-12345\n\n"), NULL,
		  "it has more than one line: the value alone is wanted" },
		{ LIT("sk-1234\nx: y"), NULL,
		  "it has more than one line: the value alone is wanted" },
		{ LIT("sk-1234\rx: y"), NULL, "a byte of it can stand in no HTTP header" },
		{ LIT("sk-1234\0xyz"), NULL, "a byte of it can stand in no HTTP header" },
		{ LIT("sk-1234\xc3\xa9"), NULL, "a byte of it can stand in no HTTP header" },
		{ LIT("sk-1234\x7f"), NULL, "a byte of it can stand in no HTTP header" },
		{ LIT(" sk-12345"), NULL, "it begins or ends with a blank" },
		{ LIT("sk-12345 \n"), NULL, "it begins or ends with a blank" },
		{ LIT("sk-1234"), NULL,
		  "it has fewer than 8 bytes, which could not be told from other text in an "
		  "answer" },
	};
	char why[256], big[KEEPER_VALUE_MAX + 2];
	struct secret secret;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		bool good = source_take(cases[i].text, cases[i].size, &secret, why, sizeof(why));

		cr_expect_eq(good, cases[i].value != NULL, "case %zu", i);
		if (good)
			cr_expect(secret.size == strlen(cases[i].value) &&
				  !memcmp(secret.value, cases[i].value, secret.size));
		else
			cr_expect_str_eq(why, cases[i].why);
	}
	memset(big, 'a', sizeof(big));
	cr_expect(source_take(big, KEEPER_VALUE_MAX, &secret, why, sizeof(why)));
	cr_expect_not(source_take(big, KEEPER_VALUE_MAX + 1, &secret, why, sizeof(why)));
	cr_expect_str_eq(why, "it has more than 8192 bytes");
}

static void expect_file(const char *path, const char *json, enum source_result want,
			const char *text)
{
	struct secret secret;
	char why[512] = "";
	enum source_result result = source_file(path, json, &secret, why, sizeof(why));

	cr_expect_eq(result, want, "%s %s: %s", path, json ? json : "", why);
	if (result == SOURCE_READ)
		cr_expect(secret.size == strlen(text) && !memcmp(secret.value, text, secret.size));
	else
		cr_expect_str_eq(why, text);
}

Test(keeper, files, .init = set_up, .fini = tear_down)
{
	char path[128], remedy[256], *big = malloc(SOURCE_MAX + 1);

	expect_file(text_file("key", "sk-ant-0001\n"), NULL, SOURCE_READ, "sk-ant-0001");
	snprintf(path, sizeof(path), "%s/none", folder);
	expect_file(path, NULL, SOURCE_ABSENT,
		    "it is not there: put the value into it, in one line, and chmod 600 it");
	expect_file(path, ".a", SOURCE_ABSENT, "it is not there: log in first");
	snprintf(path, sizeof(path), "%s/key/x", folder);
	expect_file(path, NULL, SOURCE_ABSENT,
		    "it is not there: put the value into it, in one line, and chmod 600 it");
	snprintf(remedy, sizeof(remedy), "others can read or write it: chmod 600 %s/key", folder);
	expect_file(file("key", "sk-ant-0001\n", 12, 0640), NULL, SOURCE_BAD, remedy);
	expect_file(file("key", "sk-ant-0001\n", 12, 0604), NULL, SOURCE_BAD, remedy);
	expect_file(file("key", "sk-ant-0001\n", 12, 0400), NULL, SOURCE_READ, "sk-ant-0001");
	snprintf(path, sizeof(path), "%s/again", folder);
	snprintf(remedy, sizeof(remedy), "%s/key", folder);
	cr_assert_eq(link(remedy, path), 0);
	expect_file(path, NULL, SOURCE_BAD,
		    "it has another name (hard link), which may lie where others write: cp it to a "
		    "file of its own");
	cr_assert_eq(unlink(path), 0);
	snprintf(path, sizeof(path), "%s/link", folder);
	cr_assert_eq(symlink("key", path), 0);
	expect_file(path, NULL, SOURCE_BAD, "it is a symbolic link: name the file itself");
	snprintf(path, sizeof(path), "%s/fifo", folder);
	cr_assert_eq(mkfifo(path, 0600), 0);
	expect_file(path, NULL, SOURCE_BAD, "it is no regular file");
	expect_file(folder, NULL, SOURCE_BAD, "it is no regular file");
	expect_file("/dev/null", NULL, SOURCE_BAD, "it is no regular file");
	memset(big, 'a', SOURCE_MAX + 1);
	expect_file(file("big", big, SOURCE_MAX + 1, 0600), NULL, SOURCE_BAD,
		    "it has more than 65536 bytes");
	free(big);
	expect_file(text_file("empty", ""), NULL, SOURCE_BAD, "there is nothing in it");
}

Test(keeper, json, .init = set_up, .fini = tear_down)
{
	const char *path = text_file(
	    "creds",
	    "{\"claude\": {\"token\": \"sk-ant-oat-1\", \"n\": 12345678, \"o\": {},"
	    " \"short\": \"x\", \"line\": \"sk-12345\\nx: y\"}, \"dup.key\": \"12345678\"}");

	expect_file(path, ".claude.token", SOURCE_READ, "sk-ant-oat-1");
	expect_file(path, ".claude.none", SOURCE_ABSENT,
		    "its JSON has no .claude.none: log in again, or name the right key");
	expect_file(path, ".claude.token.more", SOURCE_ABSENT,
		    "its JSON has no .claude.token.more: log in again, or name the right key");
	expect_file(path, ".claude.n", SOURCE_BAD, "in its JSON, .claude.n is no string");
	expect_file(path, ".claude", SOURCE_BAD, "in its JSON, .claude is no string");
	expect_file(path, ".claude.line", SOURCE_BAD,
		    "it has more than one line: the value alone is wanted");
	expect_file(text_file("bad", "{\n \"k\": sk-secret-99 }"), ".k", SOURCE_BAD,
		    "it is no JSON (line 2)");
	expect_file(text_file("twice", "{\"k\": \"12345678\", \"k\": \"87654321\"}"), ".k",
		    SOURCE_BAD, "it is no JSON (line 1)");
	expect_file(text_file("list", "[\"12345678\"]"), ".k", SOURCE_ABSENT,
		    "its JSON has no .k: log in again, or name the right key");
}

/* ---- the process ---------------------------------------------------------------------------- */

struct session {
	struct compilation compilation;
	struct sbx_blob blob;
	struct sbx_vars vars;
	int fd;
	pid_t pid;
};

static const char values[] =
    "session x\0env REAL=value-of-real\0env REALLY=no\0env EMPTY=\0home /h";

/* A keeper for a policy with these credentials; @optional: all of them. */
static void start(struct session *session, const char *credentials, bool optional)
{
	struct compile_options options = { 0 };
	struct keeper_setup setup = { &session->blob, &session->vars, values, sizeof(values) };
	int pair[2];
	char text[4096];

	memset(session, 0, sizeof(*session));
	snprintf(text, sizeof(text),
		 "language 1\npolicy \"t\"\nworkspace $cwd\nsyscalls { allow read }\n"
		 "net { mode proxy; allow a.test }\n%s",
		 credentials);
	compilation_init(&session->compilation, &options);
	if (!compile_path(&session->compilation, text_file("p.pol", text))) {
		diag_flush(session->compilation.diags, stderr, false);
		cr_assert_fail("the policy does not compile");
	}
	cr_assert_null(sbx_blob_open(session->compilation.blob.data, session->compilation.blob.size,
				     &session->blob));
	for (uint32_t i = 0; optional && i < SBX_COUNT(&session->blob, CREDENTIALS); i++)
		((struct sbx_credential *)(uintptr_t)SBX_AT(&session->blob, CREDENTIALS,
							    sbx_credential, i))
		    ->head.flags |= SBX_F_OPTIONAL;
	session->vars.value[SBX_VAR_HOME] = folder;
	cr_assert_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	session->pid = fork();
	if (session->pid == 0)
		keeper_run(&setup, pair[1]);
	close(pair[1]);
	session->fd = pair[0];
}

static void stop(struct session *session)
{
	int status;

	close(session->fd);
	cr_expect_eq(waitpid(session->pid, &status, 0), session->pid);
	cr_expect(WIFEXITED(status) && !WEXITSTATUS(status));
	compilation_free(&session->compilation);
}

static struct keeper_answer take(struct session *session)
{
	struct pollfd ready = { session->fd, POLLIN, 0 };
	static struct keeper_answer answer;

	cr_assert_eq(poll(&ready, 1, 20000), 1);
	cr_assert_eq(keeper_take(session->fd, &answer), 1);
	return answer;
}

static struct keeper_answer ask(struct session *session, uint32_t credential, enum keeper_ask how)
{
	cr_assert(keeper_ask(session->fd, credential, how));
	return take(session);
}

static void expect_value(const struct keeper_answer *answer, const char *value)
{
	cr_expect_eq(answer->status, KEEPER_VALUE, "%s", answer->text);
	cr_expect(answer->value_size == strlen(value) &&
		      !memcmp(answer->value, value, answer->value_size),
		  "%.*s", (int)answer->value_size, answer->value);
}

static void nap(long milliseconds)
{
	struct timespec time = { milliseconds / 1000, milliseconds % 1000 * 1000000 };

	nanosleep(&time, NULL);
}

#define REST "; host a.test; header x-api-key }\n"

Test(keeper, each_kind_of_source, .init = set_up, .fini = tear_down)
{
	struct session session;
	struct keeper_answer answer;

	text_file("key", "value-of-file\n");
	text_file("json", "{\"a\": {\"b\": \"value-of-json\"}}");
	start(&session,
	      "credential A { source file ~/key" REST
	      "credential B { source file ~/json json .a.b" REST
	      "credential C { source env REAL" REST
	      "credential D { source exec /bin/echo \"value-of $home\"" REST
	      "credential E { source env NONE" REST "credential F { source file ~/none" REST
	      "credential G { source exec /bin/false now" REST,
	      false);
	answer = ask(&session, 0, KEEPER_GET);
	expect_value(&answer, "value-of-file");
	cr_expect_str_eq(answer.text, "");
	cr_expect_eq(answer.generation, 1);
	answer = ask(&session, 1, KEEPER_GET);
	expect_value(&answer, "value-of-json");
	answer = ask(&session, 2, KEEPER_GET);
	expect_value(&answer, "value-of-real");
	answer = ask(&session, 3, KEEPER_GET);
	cr_expect(!strncmp(answer.value, "value-of /tmp/keeper.", 21));
	answer = ask(&session, 4, KEEPER_GET);
	cr_expect_eq(answer.status, KEEPER_FAILED);
	cr_expect_str_eq(
	    answer.text,
	    "credential E: NONE: it is not set, or empty: export it before sbx-exec is started");
	answer = ask(&session, 5, KEEPER_GET);
	cr_expect_eq(answer.status, KEEPER_FAILED);
	cr_expect(strstr(answer.text, "credential F: /tmp/keeper.") == answer.text &&
		  strstr(answer.text, "/none: it is not there: put the value into it, in one line, "
				      "and chmod 600 it"));
	answer = ask(&session, 6, KEEPER_GET);
	cr_expect_eq(answer.status, KEEPER_FAILED);
	cr_expect_str_eq(answer.text, "credential G: /bin/false: it ended with status 1");
	stop(&session);
}

Test(keeper, what_is_optional_may_be_absent_but_not_wrong, .init = set_up, .fini = tear_down)
{
	struct session session;

	text_file("empty", "");
	start(&session,
	      "credential A { source file ~/none" REST "credential B { source env EMPTY" REST
	      "credential C { source exec /nonexistent/x" REST
	      "credential D { source file ~/empty" REST,
	      true);
	for (uint32_t i = 0; i < 4; i++)
		cr_expect_eq(ask(&session, i, KEEPER_GET).status,
			     i == 3 ? KEEPER_FAILED : KEEPER_ABSENT, "%u", i);
	stop(&session);
}

/* After a refusal a file is read again as soon as it is another; a command not each time. */
Test(keeper, refused_values_are_read_again, .init = set_up, .fini = tear_down)
{
	struct session session;
	struct keeper_answer answer;
	char mint[128];

	text_file("key", "first-value");
	start(&session, "credential A { source file ~/key" REST, false);
	expect_value((answer = ask(&session, 0, KEEPER_GET), &answer), "first-value");
	text_file("key", "second-value");
	expect_value((answer = ask(&session, 0, KEEPER_GET), &answer), "first-value");
	expect_value((answer = ask(&session, 0, KEEPER_REFUSED), &answer), "second-value");
	text_file("key", "third-value");
	expect_value((answer = ask(&session, 0, KEEPER_GET), &answer), "second-value");
	text_file("key", "second-value");
	expect_value((answer = ask(&session, 0, KEEPER_REFUSED), &answer), "second-value");
	text_file("key", "the-fourth-value");
	expect_value((answer = ask(&session, 0, KEEPER_GET), &answer), "the-fourth-value");
	stop(&session);
	text_file("mint", "#!/bin/sh\necho x >>\"$0.count\"\necho value-of-$(wc -l <\"$0.count\")\n");
	snprintf(mint, sizeof(mint), "%s/mint", folder);
	cr_assert_eq(chmod(mint, 0700), 0);
	start(&session, "credential A { source exec ~/mint" REST, false);
	expect_value((answer = ask(&session, 0, KEEPER_GET), &answer), "value-of-1");
	expect_value((answer = ask(&session, 0, KEEPER_REFUSED), &answer), "value-of-1");
	stop(&session);
}

/* A command is not run as often as its policy says where that makes more values than can be
 * looked for, nor whenever a server refuses one. */
Test(keeper, commands_that_mint, .init = set_up, .fini = tear_down)
{
	struct session session;
	struct keeper_answer answer;

	start(&session,
	      "credential A { source exec /bin/date +%s%N; refresh 1s" REST
	      "credential B { source exec /bin/date +%s%N; refresh 1s; lifetime 64s" REST
	      "credential C { source exec /bin/date +%s%N; lifetime 2s" REST,
	      false);
	for (uint32_t i = 0; i < 3; i++)
		cr_expect_eq((answer = ask(&session, i, KEEPER_GET), answer.generation), 1);
	nap(2100);
	for (uint32_t i = 0; i < 3; i++) {
		cr_expect_eq((answer = ask(&session, i, KEEPER_REFUSED), answer.generation),
			     i == 2 ? 2 : 1, "%u", i);
		cr_expect_eq((answer = ask(&session, i, KEEPER_GET), answer.generation),
			     i == 2 ? 2 : 1, "%u", i);
	}
	stop(&session);
}

Test(keeper, old_values, .init = set_up, .fini = tear_down)
{
	struct session session;
	struct keeper_answer answer;

	text_file("a", "first-value");
	text_file("b", "first-value");
	start(&session,
	      "credential A { source file ~/a; refresh 1s" REST
	      "credential B { source file ~/b; refresh 1s; lifetime 1h" REST,
	      false);
	for (uint32_t i = 0; i < 2; i++)
		expect_value((answer = ask(&session, i, KEEPER_GET), &answer), "first-value");
	text_file("a", "second-value");
	nap(1100);
	expect_value((answer = ask(&session, 0, KEEPER_GET), &answer), "second-value");
	cr_expect_eq(answer.generation, 2);
	text_file("a", "");
	text_file("b", "");
	nap(1100);
	/* without a lifetime nobody says that the old value is still good */
	answer = ask(&session, 0, KEEPER_GET);
	cr_expect_eq(answer.status, KEEPER_FAILED);
	cr_expect(answer.value_size == 0 && strstr(answer.text, "/a: there is nothing in it"));
	answer = ask(&session, 1, KEEPER_GET);
	expect_value(&answer, "first-value");
	cr_expect(strstr(answer.text, "/b: there is nothing in it"));
	stop(&session);
}

/* A slow command holds up no other credential, and is run once for all who wait. */
Test(keeper, slow_commands, .init = set_up, .fini = tear_down)
{
	struct session session;
	struct keeper_answer answer;
	char policy[1024];

	text_file("key", "value-of-file");
	snprintf(policy, sizeof(policy),
		 "credential A { source exec /bin/sh %s" REST "credential B { source file ~/key" REST,
		 script("echo x >>runs; sleep 0.5; echo value-of-command"));
	start(&session, policy, false);
	cr_assert(keeper_ask(session.fd, 0, KEEPER_GET) && keeper_ask(session.fd, 0, KEEPER_GET));
	cr_assert(keeper_ask(session.fd, 1, KEEPER_GET));
	answer = take(&session);
	cr_expect_eq(answer.credential, 1);
	for (int i = 0; i < 2; i++) {
		answer = take(&session);
		cr_expect_eq(answer.credential, 0);
		expect_value(&answer, "value-of-command");
	}
	stop(&session);
	snprintf(policy, sizeof(policy), "test $(wc -l <%s/runs) = 1", folder);
	cr_expect_eq(system(policy), 0);
}

/* Who is gone, or speaks otherwise, ends it; what it runs ends with it. */
Test(keeper, the_end, .init = set_up, .fini = tear_down)
{
	static const uint32_t wrong[][4] = { { 2, 1, 0, 0 }, { 1, 3, 0, 0 }, { 1, 1, 1, 0 } };
	struct session session;
	struct keeper_answer answer;
	char policy[1024];

	for (size_t i = 0; i < 4; i++) {
		struct pollfd gone = { .events = POLLIN };

		start(&session, "credential A { source env REAL" REST, false);
		cr_assert(send(session.fd, wrong[i % 3], i == 3 ? 16 : 12, 0) > 0);
		gone.fd = session.fd;
		cr_assert_eq(poll(&gone, 1, 20000), 1);
		cr_expect_eq(keeper_take(session.fd, &answer), -1);
		stop(&session);
	}
	snprintf(policy, sizeof(policy),
		 "credential A { source exec /bin/sh %s" REST,
		 script("echo $$ >pid; sleep 100"));
	start(&session, policy, false);
	cr_assert(keeper_ask(session.fd, 0, KEEPER_GET));
	snprintf(policy, sizeof(policy), "%s/pid", folder);
	for (int i = 0; i < 500 && access(policy, F_OK); i++)
		nap(10);
	nap(50);
	stop(&session);
	snprintf(policy, sizeof(policy),
		 "sleep 0.1; ! grep -q 'State:.[RSD]' /proc/$(cat %s/pid)/status 2>/dev/null",
		 folder);
	cr_expect_eq(system(policy), 0);
}

/* However the keeper ends, nothing of a command's is left, in whatever session. */
Test(keeper, a_killed_keeper_leaves_nothing, .init = set_up, .fini = tear_down)
{
	struct session session;
	char text[1024];
	bool gone = false;

	snprintf(text, sizeof(text),
		 "credential A { source exec /bin/sh %s" REST,
		 script("setsid sleep 9873 & (sleep 9873 & echo x >there); sleep 9873"));
	start(&session, text, false);
	cr_assert(keeper_ask(session.fd, 0, KEEPER_GET));
	snprintf(text, sizeof(text), "%s/there", folder);
	for (int i = 0; i < 1000 && access(text, F_OK); i++)
		nap(10);
	nap(50);
	cr_expect_eq(system("pgrep -fx 'sleep 9873' >/dev/null"), 0);
	kill(session.pid, SIGKILL);
	for (int i = 0; i < 200 && !gone; i++) {
		nap(20);
		gone = system("pgrep -fx 'sleep 9873' >/dev/null") != 0;
	}
	cr_expect(gone);
	cr_expect_eq(waitpid(session.pid, NULL, 0), session.pid);
	close(session.fd);
	compilation_free(&session.compilation);
}

/* What a command left behind ends with it, by whatever end. */
Test(keeper, a_command_leaves_nothing, .init = set_up, .fini = tear_down)
{
	struct session session;
	struct keeper_answer answer;
	char text[1024];

	snprintf(text, sizeof(text), "credential A { source exec /bin/sh %s" REST,
		 script("(setsid sleep 9874 &); echo value-of-command"));
	start(&session, text, false);
	answer = ask(&session, 0, KEEPER_GET);
	expect_value(&answer, "value-of-command");
	cr_expect_neq(system("pgrep -fx 'sleep 9874' >/dev/null"), 0);
	stop(&session);
}

Test(keeper, answers_that_are_none)
{
	struct keeper_answer answer = { .version = KEEPER_VERSION, .status = KEEPER_FAILED }, got;
	int pair[2];

	cr_assert_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	cr_expect_eq(keeper_take(pair[0], &got), 0);
	send(pair[1], &answer, sizeof(answer), 0);
	cr_expect_eq(keeper_take(pair[0], &got), 1);
	send(pair[1], &answer, sizeof(answer) - 1, 0);
	cr_expect_eq(keeper_take(pair[0], &got), -1);
	answer.version++;
	send(pair[1], &answer, sizeof(answer), 0);
	cr_expect_eq(keeper_take(pair[0], &got), -1);
	answer.version--;
	answer.status = KEEPER_VALUE;
	send(pair[1], &answer, sizeof(answer), 0);
	cr_expect_eq(keeper_take(pair[0], &got), -1);
	answer.value_size = KEEPER_VALUE_MAX + 1;
	send(pair[1], &answer, sizeof(answer), 0);
	cr_expect_eq(keeper_take(pair[0], &got), -1);
	answer.value_size = 8;
	memset(answer.text, 'x', sizeof(answer.text));
	send(pair[1], &answer, sizeof(answer), 0);
	cr_expect_eq(keeper_take(pair[0], &got), -1);
	close(pair[1]);
	cr_expect_eq(keeper_take(pair[0], &got), -1);
	close(pair[0]);
}
