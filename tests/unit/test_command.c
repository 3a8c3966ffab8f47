#include <criterion/criterion.h>
#include <poll.h>
#include <string.h>

#include "proxy/source.h"

static enum source_result run(char *script, long milliseconds, struct secret *secret, char *why,
			      size_t size)
{
	static struct command command;
	char shell[] = "/bin/sh", option[] = "-c", home[] = "HOME=/h";
	char *argv[] = { shell, option, script, NULL }, *env[] = { home, NULL };
	enum source_result result = command_start(&command, argv, env, why, size);
	struct pollfd end = { .events = POLLIN };

	if (result != SOURCE_READ)
		return result;
	end.fd = command.pidfd;
	command.seconds = 20;
	for (long left = milliseconds; left > 0 && !command.too_much; left -= 10) {
		command_read(&command);
		if (poll(&end, 1, 10) == 1)
			return command_end(&command, false, secret, why, size);
	}
	return command_end(&command, true, secret, why, size);
}

static void expect_run(const char *script, long milliseconds, enum source_result want,
		       const char *text)
{
	struct secret secret;
	char why[512] = "", copy[512];

	strcpy(copy, script);
	cr_expect_eq(run(copy, milliseconds, &secret, why, sizeof(why)), want, "%s: %s", script,
		     why);
	if (want == SOURCE_READ)
		cr_expect(secret.size == strlen(text) && !memcmp(secret.value, text, secret.size),
			  "%s: %.*s", script, (int)secret.size, secret.value);
	else
		cr_expect_str_eq(why, text);
}

Test(command, commands)
{
	expect_run("echo token-$HOME-$LANG", 20000, SOURCE_READ, "token-/h-");
	expect_run(
	    "pwd; exec 1>&-", 20000, SOURCE_BAD,
	    "what it printed is no value: it has fewer than 8 bytes, which could not be told "
	    "from other text in an answer");
	/* nothing of ours is open there */
	expect_run("cd /proc/self/fd; exec echo fds: [0-9]*", 20000, SOURCE_READ, "fds: 0 1 2 3");
	/* of its complaint the last line that says something, however long that was */
	expect_run("echo Traceback: >&2; echo no such account >&2; printf '\\n \\n' >&2; exit 3", 20000,
		   SOURCE_BAD, "it ended with status 3: no such account");
	expect_run("yes | head -c 100000 >&2; echo that was it >&2; exit 3", 20000, SOURCE_BAD,
		   "it ended with status 3: that was it");
	expect_run("head -c 100000 /dev/zero | tr '\\0' x >&2; exit 3", 20000, SOURCE_BAD,
		   "it ended with status 3");
	expect_run("exit 3", 20000, SOURCE_BAD, "it ended with status 3");
	expect_run("printf 'a\\033[31mb\\303\\251' >&2; exit 1", 20000, SOURCE_BAD,
		   "it ended with status 1: a\\x1b[31mb\\xc3\\xa9");
	/* the value in its own error text */
	expect_run("echo secret-99; echo bad secret-99 there >&2; exit 1", 20000, SOURCE_BAD,
		   "it ended with status 1: bad ********* there");
	expect_run("kill -9 $$", 20000, SOURCE_BAD, "it was killed by signal 9");
	expect_run("echo waiting for you >&2; sleep 100", 300, SOURCE_BAD,
		   "it was not done after 20 seconds: waiting for you");
	/* what holds the output open in the background is not waited for */
	expect_run("sleep 15 & echo token-12345", 10000, SOURCE_READ, "token-12345");
	expect_run("yes", 20000, SOURCE_BAD, "it printed more than 65536 bytes");
	expect_run("head -c 65536 /dev/zero", 20000, SOURCE_BAD,
		   "what it printed is no value: a byte of it can stand in no HTTP header");
}

Test(command, programs_that_are_none)
{
	static struct command command;
	char none[] = "/nonexistent/x", data[] = "/etc/passwd", *env[] = { NULL };
	char *absent[] = { none, NULL }, *bad[] = { data, NULL };
	char why[256];

	cr_expect_eq(command_start(&command, absent, env, why, sizeof(why)), SOURCE_ABSENT);
	cr_expect_str_eq(why, "it is no program that you may run: No such file or directory");
	cr_expect_eq(command_start(&command, bad, env, why, sizeof(why)), SOURCE_BAD);
	cr_expect_str_eq(why, "it is no program that you may run: Permission denied");
}
