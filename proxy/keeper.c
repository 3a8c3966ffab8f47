/*
 * proxy/keeper.c - keeps each credential's value, reads it again in time, and answers.
 *
 * One loop.  A file is read where it is asked for; a command runs beside the loop, so
 * that a slow one holds up no other credential.  Each question is answered once:
 * those that come while a value is being got wait for it together.
 */
#include "proxy/keeper.h"

#include <errno.h>
#include <openssl/crypto.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "proxy/source.h"

#define COMMAND_TIME 30000 /* all times in milliseconds */
#define START_TIME   20000 /* its first: sbx-exec's patience with us ends after 30 s */
#define FORCED_EACH  10000 /* a server that refuses each value makes no storm */
#define MINTED_EACH  60000 /* nor many values */
#define RETRY_EACH   1000
#define EARLY_MAX    60000 /* before its lifetime is over */
#define PATH_SIZE    4096
#define WORDS_MAX    64

struct request {
	uint32_t version;
	uint32_t ask; /* enum keeper_ask */
	uint32_t credential;
};

/* What tells a file from the one that had its name before; all 0: it is no file. */
struct looks {
	dev_t dev;
	ino_t ino;
	off_t size;
	struct timespec modified, changed;
};

struct entry { /* one for each credential, in their order */
	struct secret secret;
	uint32_t generation;
	long read_at, tried_at;    /* 0: never */
	enum source_result result; /* of the last try */
	struct looks looks;        /* of the file, before it */
	bool refused;              /* by a server, and there has been no other value since */
	char why[KEEPER_TEXT_MAX]; /* where it failed: the whole line */
	struct command *command;   /* while it runs */
	unsigned waiting;          /* questions to be answered */
};

struct keeper {
	const struct keeper_setup *setup;
	int fd;
	uint32_t count;
	struct entry *entries;
};

/* ---- what a source is called -------------------------------------------------------------- */

static long now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_BOOTTIME, &time); /* also runs while the machine sleeps */
	return time.tv_sec * 1000L + time.tv_nsec / 1000000L + 1;
}

static const struct sbx_credential *credential_at(const struct keeper *keeper, uint32_t index)
{
	return SBX_AT(keeper->setup->blob, CREDENTIALS, sbx_credential, index);
}

static const char *name_of(const struct keeper *keeper, uint32_t index)
{
	return sbx_string(keeper->setup->blob, credential_at(keeper, index)->name);
}

/* Word @n of a source, with the values of its variables; malloc.  NULL: one has none. */
static char *source_word(const struct keeper *keeper, uint32_t index, uint32_t n)
{
	const struct sbx_credential *credential = credential_at(keeper, index);
	char text[PATH_SIZE];
	uint32_t unset;
	bool wild;

	if (n >= credential->source_count ||
	    sbx_expand(keeper->setup->blob,
		       *SBX_AT(keeper->setup->blob, TMPLS, sbx_tmpl, credential->source_first + n),
		       keeper->setup->vars, text, sizeof(text), &wild, &unset) < 0)
		return NULL;
	return strdup(text);
}

/* "credential NAME: SOURCE: why" */
static void set_why(const struct keeper *keeper, uint32_t index, const char *source,
		    const char *why)
{
	struct entry *entry = &keeper->entries[index];

	snprintf(entry->why, sizeof(entry->why), "credential %s: ", name_of(keeper, index));
	escape_text(entry->why, sizeof(entry->why), source, strlen(source));
	snprintf(entry->why + strlen(entry->why), sizeof(entry->why) - strlen(entry->why), ": %s",
		 why);
}

static struct looks look_at(const struct keeper *keeper, uint32_t index)
{
	bool is_file = credential_at(keeper, index)->source == SBX_SOURCE_FILE;
	char *path = is_file ? source_word(keeper, index, 0) : NULL;
	struct looks looks;
	struct stat st;

	memset(&looks, 0, sizeof(looks)); /* to be compared as bytes */
	if (path && !lstat(path, &st)) {
		looks.dev = st.st_dev;
		looks.ino = st.st_ino;
		looks.size = st.st_size;
		looks.modified = st.st_mtim;
		looks.changed = st.st_ctim;
	}
	free(path);
	return looks;
}

static bool has_changed(const struct keeper *keeper, uint32_t index)
{
	struct looks now_is = look_at(keeper, index);

	return memcmp(&now_is, &keeper->entries[index].looks, sizeof(now_is)) != 0;
}

/* ---- getting a value ----------------------------------------------------------------------- */

/* A value, or the lack of one, that was just got. */
static void settle(struct keeper *keeper, uint32_t index, enum source_result result,
		   struct secret *secret)
{
	struct entry *entry = &keeper->entries[index];

	entry->result = result;
	if (result == SOURCE_READ) {
		if (secret->size != entry->secret.size ||
		    memcmp(secret->value, entry->secret.value, secret->size) != 0) {
			entry->generation++;
			entry->refused = false;
		}
		OPENSSL_cleanse(&entry->secret, sizeof(entry->secret));
		memcpy(entry->secret.value, secret->value, secret->size);
		entry->secret.size = secret->size;
		entry->read_at = entry->tried_at;
		entry->why[0] = '\0';
	}
	OPENSSL_cleanse(secret, sizeof(*secret));
}

static enum source_result read_env(const struct keeper *keeper, const char *name,
				   struct secret *secret, char *why, size_t size)
{
	const char *at = keeper->setup->values, *end = at + keeper->setup->values_size;
	size_t length = strlen(name);

	for (; at < end; at += strnlen(at, (size_t)(end - at)) + 1) {
		size_t line = strnlen(at, (size_t)(end - at));

		if (line > 5 + length && !memcmp(at, "env ", 4) && !memcmp(at + 4, name, length) &&
		    at[4 + length] == '=')
			return source_take(at + 5 + length, line - 5 - length, secret, why, size)
				   ? SOURCE_READ
				   : SOURCE_BAD;
	}
	snprintf(why, size, "it is not set, or empty: export it before sbx-exec is started");
	return SOURCE_ABSENT;
}

static enum source_result run_command(struct keeper *keeper, uint32_t index, char *why, size_t size)
{
	const struct sbx_credential *credential = credential_at(keeper, index);
	const char *home = keeper->setup->vars->value[SBX_VAR_HOME];
	const char *user = keeper->setup->vars->value[SBX_VAR_USER];
	struct command *command = calloc(1, sizeof(*command));
	enum source_result result = SOURCE_BAD;
	char home_word[PATH_SIZE + 8], user_word[256 + 8], path_word[] = "PATH=" SBX_COMMAND_PATH;
	char lang_word[] = "LANG=C.UTF-8";
	char *env[] = { path_word, home_word, user_word, lang_word, NULL };
	char *argv[WORDS_MAX + 1] = { NULL };
	bool good = command && credential->source_count <= WORDS_MAX;

	snprintf(home_word, sizeof(home_word), "HOME=%s", home ? home : "/");
	snprintf(user_word, sizeof(user_word), "USER=%s", user ? user : "");
	snprintf(why, size, "it has too many words, or a variable in it has no value here");
	for (uint32_t i = 0; good && i < credential->source_count; i++)
		good = (argv[i] = source_word(keeper, index, i)) != NULL;
	if (good && argv[0])
		result = command_start(command, argv, env, why, size);
	for (uint32_t i = 0; argv[i]; i++)
		free(argv[i]);
	if (result == SOURCE_READ) {
		long time = keeper->entries[index].read_at ? COMMAND_TIME : START_TIME;

		command->deadline = now() + time;
		command->seconds = (unsigned)time / 1000;
		keeper->entries[index].command = command;
	} else {
		free(command);
	}
	return result;
}

/* Reads the source, or starts what does. */
static void get(struct keeper *keeper, uint32_t index)
{
	const struct sbx_credential *credential = credential_at(keeper, index);
	const char *json =
	    credential->json == SBX_NONE ? NULL : sbx_string(keeper->setup->blob, credential->json);
	char *source = source_word(keeper, index, 0);
	enum source_result result = SOURCE_BAD;
	struct secret secret = { .size = 0 };
	char why[KEEPER_TEXT_MAX / 2];

	keeper->entries[index].tried_at = now();
	keeper->entries[index].looks = look_at(keeper, index);
	snprintf(why, sizeof(why), "a variable in it has no value here");
	if (source && credential->source == SBX_SOURCE_FILE)
		result = source_file(source, json, &secret, why, sizeof(why));
	else if (source && credential->source == SBX_SOURCE_ENV)
		result = read_env(keeper, source, &secret, why, sizeof(why));
	else if (source)
		result = run_command(keeper, index, why, sizeof(why));
	if (result != SOURCE_READ)
		set_why(keeper, index, source ? source : "its source", why);
	if (!keeper->entries[index].command)
		settle(keeper, index, result, &secret);
	free(source);
}

static void command_done(struct keeper *keeper, uint32_t index, bool late)
{
	struct entry *entry = &keeper->entries[index];
	char *source = source_word(keeper, index, 0);
	char why[KEEPER_TEXT_MAX / 2];
	struct secret secret;
	enum source_result result = command_end(entry->command, late, &secret, why, sizeof(why));

	if (result != SOURCE_READ)
		set_why(keeper, index, source ? source : "its source", why);
	free(entry->command);
	entry->command = NULL;
	settle(keeper, index, result, &secret);
	free(source);
}

/* ---- when, and what is said ------------------------------------------------------------------ */

static long lifetime_of(const struct sbx_credential *credential)
{
	return (long)credential->lifetime_s * 1000;
}

static bool expired(const struct keeper *keeper, uint32_t index)
{
	long lifetime = lifetime_of(credential_at(keeper, index));

	return lifetime && now() >= keeper->entries[index].read_at + lifetime;
}

/* At least so long between two runs of its command; 0: it has none. */
static long pace_of(const struct sbx_credential *credential)
{
	if (credential->source != SBX_SOURCE_EXEC)
		return 0;
	return (long)keeper_good_for(credential) * 1000 / KEEPER_PACE;
}

static bool due(const struct keeper *keeper, uint32_t index, enum keeper_ask ask)
{
	const struct sbx_credential *credential = credential_at(keeper, index);
	const struct entry *entry = &keeper->entries[index];
	long refresh = (long)credential->refresh_s * 1000, lifetime = lifetime_of(credential);
	long forced = FORCED_EACH, pace = pace_of(credential);
	long early = lifetime / 10 < EARLY_MAX ? lifetime / 10 : EARLY_MAX, time = now();

	if (!entry->tried_at)
		return true;
	if (entry->result != SOURCE_READ)
		return time >= entry->tried_at + RETRY_EACH;
	if (pace)
		forced = pace < MINTED_EACH ? MINTED_EACH : pace;
	return (ask == KEEPER_REFUSED && time >= entry->tried_at + forced) ||
	       (entry->refused && has_changed(keeper, index)) ||
	       (refresh && time >= entry->read_at + (refresh < pace ? pace : refresh)) ||
	       (lifetime && time >= entry->read_at + lifetime - early);
}

static void send_answer(const struct keeper *keeper, uint32_t index)
{
	struct entry *entry = &keeper->entries[index];
	const struct sbx_credential *credential = credential_at(keeper, index);
	struct keeper_answer answer = { .version = KEEPER_VERSION, .credential = index };
	bool old =
	    entry->result != SOURCE_READ; /* a value, if there is one, is of an earlier try */

	if (old && (!lifetime_of(credential) || expired(keeper, index)))
		OPENSSL_cleanse(&entry->secret, sizeof(entry->secret));
	snprintf(answer.text, sizeof(answer.text), "%s", entry->why);
	answer.status = KEEPER_FAILED;
	if (entry->secret.size) {
		answer.status = KEEPER_VALUE;
		answer.generation = entry->generation;
		answer.value_size = (uint32_t)entry->secret.size;
		memcpy(answer.value, entry->secret.value, entry->secret.size);
	} else if (entry->result == SOURCE_ABSENT && credential->head.flags & SBX_F_OPTIONAL) {
		answer.status = KEEPER_ABSENT;
	}
	while (send(keeper->fd, &answer, sizeof(answer), MSG_NOSIGNAL) < 0 && errno == EINTR)
		;
	OPENSSL_cleanse(&answer, sizeof(answer));
}

static void answer_all(struct keeper *keeper, uint32_t index)
{
	struct entry *entry = &keeper->entries[index];

	for (; !entry->command && entry->waiting; entry->waiting--)
		send_answer(keeper, index);
}

/* ---- the loop -------------------------------------------------------------------------------- */

/* One question; false: there is nobody any more, or it speaks another language. */
static bool serve(struct keeper *keeper)
{
	struct request request;
	ssize_t size = recv(keeper->fd, &request, sizeof(request), MSG_DONTWAIT | MSG_TRUNC);

	if (size < 0)
		return errno == EINTR || errno == EAGAIN;
	if (size != sizeof(request) || request.version != KEEPER_VERSION ||
	    request.credential >= keeper->count ||
	    (request.ask != KEEPER_GET && request.ask != KEEPER_REFUSED))
		return false;
	keeper->entries[request.credential].waiting++;
	keeper->entries[request.credential].refused |= request.ask == KEEPER_REFUSED;
	if (!keeper->entries[request.credential].command &&
	    due(keeper, request.credential, (enum keeper_ask)request.ask))
		get(keeper, request.credential);
	answer_all(keeper, request.credential);
	return true;
}

/* Each command's output, errors and end; returns how long to wait for the next. */
static int poll_commands(const struct keeper *keeper, struct pollfd *polled)
{
	long time = now(), wait = -1;

	for (uint32_t i = 0; i < keeper->count; i++) {
		const struct command *command = keeper->entries[i].command;
		struct pollfd *of = &polled[1 + 3 * i];

		of[0] = (struct pollfd){ command ? command->out : -1, POLLIN, 0 };
		of[1] = (struct pollfd){ command ? command->err : -1, POLLIN, 0 };
		of[2] = (struct pollfd){ command ? command->pidfd : -1, POLLIN, 0 };
		if (command && (wait < 0 || command->deadline - time < wait))
			wait = command->deadline > time ? command->deadline - time : 0;
	}
	return (int)wait;
}

static void turn_commands(struct keeper *keeper, const struct pollfd *polled)
{
	for (uint32_t i = 0; i < keeper->count; i++) {
		struct command *command = keeper->entries[i].command;
		const struct pollfd *of = &polled[1 + 3 * i];
		bool late;

		if (!command)
			continue;
		if (of[0].revents || of[1].revents)
			command_read(command);
		late = now() >= command->deadline;
		if (!of[2].revents && !late && !command->too_much)
			continue;
		command_done(keeper, i, late && !of[2].revents);
		answer_all(keeper, i);
	}
}

static void confine(int fd)
{
	const struct rlimit none = { 0, 0 };

	prctl(PR_SET_NAME, "sbx-keeper");
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_DUMPABLE, 0);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	setrlimit(RLIMIT_CORE, &none);
	signal(SIGPIPE, SIG_IGN);
	if (fd > 3)
		syscall(SYS_close_range, 3u, (unsigned)fd - 1, 0u);
	syscall(SYS_close_range, (unsigned)fd + 1, ~0u, 0u);
}

void keeper_run(const struct keeper_setup *setup, int fd)
{
	struct keeper keeper = { setup, fd, SBX_COUNT(setup->blob, CREDENTIALS), NULL };
	struct pollfd *polled = calloc(1 + 3 * (size_t)keeper.count, sizeof(*polled));

	confine(fd);
	keeper.entries = calloc(keeper.count + 1, sizeof(*keeper.entries));
	while (keeper.entries && polled) {
		int wait = poll_commands(&keeper, polled);

		polled[0] = (struct pollfd){ fd, POLLIN, 0 };
		if (poll(polled, 1 + 3 * (nfds_t)keeper.count, wait) < 0 && errno != EINTR)
			break;
		turn_commands(&keeper, polled);
		if (polled[0].revents && !serve(&keeper))
			break;
	}
	_exit(0); /* and with it what still runs: command.c */
}

/* ---- the worker's side ------------------------------------------------------------------------
 */

bool keeper_ask(int fd, uint32_t credential, enum keeper_ask ask)
{
	const struct request request = { KEEPER_VERSION, (uint32_t)ask, credential };

	return send(fd, &request, sizeof(request), MSG_DONTWAIT | MSG_NOSIGNAL) == sizeof(request);
}

int keeper_take(int fd, struct keeper_answer *answer)
{
	ssize_t size = recv(fd, answer, sizeof(*answer), MSG_DONTWAIT | MSG_TRUNC);

	if (size < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (size != sizeof(*answer) || answer->version != KEEPER_VERSION ||
	    answer->status < KEEPER_VALUE || answer->status > KEEPER_FAILED ||
	    answer->value_size > KEEPER_VALUE_MAX ||
	    (answer->status == KEEPER_VALUE) != (answer->value_size != 0) ||
	    !memchr(answer->text, '\0', sizeof(answer->text)))
		return -1;
	return 1;
}

void keeper_wipe(struct keeper_answer *answer)
{
	OPENSSL_cleanse(answer, sizeof(*answer));
}
