/*
 * proxy/vault.c - see vault.h.
 *
 * Values are not kept here: each request asks, which costs a message and its answer
 * within the machine, and wipes what it got.  Only the ways to write a secret stay, of
 * each value for as long as it may be good: the server may have kept it, and show it.
 */
#include "proxy/vault.h"

#include "helper/control.h"
#include "proxy/http.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define NOTE_SECONDS 60
#define OLDER        (3 * KEEPER_PACE) /* values that a source has had, still looked for */

static const char keeper_ended[] = "the keeper of the credentials has ended";

struct older {
	struct redact_set *secrets;
	time_t until;
};

struct entry {
	uint32_t generation;
	struct redact_set *secrets; /* of the current value, */
	time_t got;
	struct older older[OLDER]; /* and of those before, the oldest first */
	unsigned older_count;
	struct conn *waiting; /* all get the next answer */
	bool asked;
	time_t noted, told; /* of a refusal, of what the keeper had to say */
	bool absent;
};

struct vault {
	const struct session *session;
	int fd;
	struct event *event;
	vault_done *done;
	struct keeper_answer answer;
	unsigned changes;
	uint32_t count;
	struct entry entry[];
};

static const char *name_of(const struct vault *vault, uint32_t credential)
{
	const struct sbx_blob *blob = &vault->session->blob;

	return sbx_string(blob, SBX_AT(blob, CREDENTIALS, sbx_credential, credential)->name);
}

/* One without a placeholder is absent: sbx-exec has looked. */
struct vault *vault_make(const struct session *session, int fd)
{
	uint32_t count = SBX_COUNT(&session->blob, CREDENTIALS);
	struct vault *vault = calloc(1, sizeof(*vault) + count * sizeof(struct entry));

	if (!vault)
		return NULL;
	vault->session = session;
	vault->fd = fd;
	vault->count = count;
	for (uint32_t i = 0; i < count; i++)
		vault->entry[i].absent = !given_named(&session->given, "placeholder", name_of(vault, i));
	return vault;
}

void vault_free(struct vault *vault)
{
	if (!vault)
		return;
	if (vault->event)
		event_free(vault->event);
	for (uint32_t i = 0; i < vault->count; i++) {
		redact_set_drop(vault->entry[i].secrets);
		for (unsigned n = 0; n < vault->entry[i].older_count; n++)
			redact_set_drop(vault->entry[i].older[n].secrets);
	}
	close(vault->fd);
	free(vault);
}

bool vault_is_absent(const struct vault *vault, uint32_t credential)
{
	return vault->entry[credential].absent;
}

bool vault_search(const struct vault *vault, uint32_t credential, struct redact *redact)
{
	const struct entry *entry = &vault->entry[credential];
	bool good = !entry->secrets || redact_also(redact, entry->secrets);

	for (unsigned i = 0; good && i < entry->older_count; i++)
		good = redact_also(redact, entry->older[i].secrets);
	return good;
}

unsigned vault_changes(const struct vault *vault)
{
	return vault->changes;
}

static time_t seconds(void)
{
	struct timespec time;

	clock_gettime(CLOCK_BOOTTIME, &time);
	return time.tv_sec;
}

/* The current value makes room for another.  Those that are good no more go; where a file
 * is written ever again, so does the oldest. */
static void outdate(struct vault *vault, uint32_t credential)
{
	const struct sbx_credential *of =
	    SBX_AT(&vault->session->blob, CREDENTIALS, sbx_credential, credential);
	struct entry *entry = &vault->entry[credential];
	time_t now = seconds(), from = of->lifetime_s ? entry->got : now;
	unsigned left = 0;

	for (unsigned i = 0; i < entry->older_count; i++) {
		bool full = !i && entry->older_count == OLDER;

		if (full || entry->older[i].until <= now)
			redact_set_retire(entry->older[i].secrets);
		else
			entry->older[left++] = entry->older[i];
	}
	entry->older_count = left;
	if (entry->secrets)
		entry->older[entry->older_count++] =
		    (struct older){ entry->secrets, from + keeper_good_for(of) };
	entry->got = now;
}

/* Of the answer that was just taken.  False: no memory. */
static bool renew(struct vault *vault)
{
	const struct keeper_answer *answer = &vault->answer;
	struct entry *entry = &vault->entry[answer->credential];

	if (answer->status != KEEPER_VALUE || entry->generation == answer->generation)
		return true;
	outdate(vault, answer->credential);
	vault->changes++;
	entry->secrets = redact_set_make(answer->value, answer->value_size);
	entry->generation = entry->secrets ? answer->generation : 0;
	return entry->secrets != NULL;
}

/* ---- at the start --------------------------------------------------------------- */

static const char *first_answer(struct vault *vault, unsigned *found)
{
	struct keeper_answer *answer = &vault->answer;
	static char text[KEEPER_TEXT_MAX];
	const char *wrong = NULL;

	snprintf(text, sizeof(text), "%s", answer->text);
	if (answer->credential >= vault->count)
		wrong = "the keeper of the credentials speaks nonsense";
	else if (answer->status == KEEPER_FAILED)
		wrong = text;
	else if (answer->status == KEEPER_ABSENT) {
		vault->entry[answer->credential].absent = true;
		control_note("%s", text);
	} else {
		++*found;
		if (*text)
			control_note("%s", text);
		wrong = renew(vault) ? NULL : "no memory";
	}
	keeper_wipe(answer);
	return wrong;
}

const char *vault_fill(struct vault *vault)
{
	struct pollfd ready = { .fd = vault->fd, .events = POLLIN };
	const char *wrong = NULL;
	unsigned found = 0, asked = 0;

	for (uint32_t i = 0; i < vault->count; i++) {
		if (vault->entry[i].absent)
			continue;
		asked++;
		if (!keeper_ask(vault->fd, i, KEEPER_GET))
			return keeper_ended;
	}
	for (unsigned answers = 0; answers < asked && !wrong;) {
		int got = keeper_take(vault->fd, &vault->answer);

		if (got < 0)
			return keeper_ended;
		if (got) {
			answers++;
			wrong = first_answer(vault, &found);
		} else {
			poll(&ready, 1, -1);
		}
	}
	return wrong || found ? wrong : "none of the policy's credentials is there";
}

/* ---- for requests --------------------------------------------------------------- */

/* Whoever waits for @credential gets the answer, or NULL: there will be none. */
static void hand_out(struct vault *vault, uint32_t credential, const struct keeper_answer *answer)
{
	struct entry *entry = &vault->entry[credential];

	entry->asked = false;
	while (entry->waiting) {
		struct conn *conn = entry->waiting;

		entry->waiting = conn->http->next_waiting;
		conn->http->waiting = false;
		vault->done(conn, answer, entry->secrets);
	}
}

/* Files and commands of the person's are for the person, not for the program inside. */
static void tell(struct vault *vault, uint32_t credential)
{
	struct entry *entry = &vault->entry[credential];
	time_t now = time(NULL);

	if (!vault->answer.text[0] || (entry->told && now - entry->told < NOTE_SECONDS))
		return;
	entry->told = now;
	control_note("%s", vault->answer.text);
}

static void on_answer(evutil_socket_t fd, short what, void *context)
{
	struct vault *vault = context;
	int got;

	(void)what;
	while ((got = keeper_take(fd, &vault->answer)) > 0) {
		uint32_t credential = vault->answer.credential;

		if (credential < vault->count) {
			tell(vault, credential);
			hand_out(vault, credential, renew(vault) ? &vault->answer : NULL);
		}
		keeper_wipe(&vault->answer);
	}
	if (!got)
		return;
	event_del(vault->event);
	control_note("%s: none goes out from here on", keeper_ended);
	for (uint32_t i = 0; i < vault->count; i++)
		hand_out(vault, i, NULL);
}

void vault_watch(struct vault *vault, struct event_base *base)
{
	vault->event = event_new(base, vault->fd, EV_READ | EV_PERSIST, on_answer, vault);
	if (vault->event)
		event_add(vault->event, NULL);
}

void vault_ask(struct vault *vault, struct conn *conn, vault_done *done)
{
	struct entry *entry = &vault->entry[conn->http->credential];

	vault->done = done;
	if (!entry->asked && !keeper_ask(vault->fd, conn->http->credential, KEEPER_GET)) {
		done(conn, NULL, NULL);
		return;
	}
	entry->asked = true;
	conn->http->waiting = true;
	conn->http->next_waiting = entry->waiting;
	entry->waiting = conn;
}

void vault_forget(struct vault *vault, struct conn *conn)
{
	struct conn **link = &vault->entry[conn->http->credential].waiting;

	while (*link != conn)
		link = &(*link)->http->next_waiting;
	*link = conn->http->next_waiting;
	conn->http->waiting = false;
}

void vault_refused(struct vault *vault, uint32_t credential, unsigned status, const char *host)
{
	struct entry *entry = &vault->entry[credential];
	time_t now = time(NULL);

	if (status == 401)
		entry->asked |= keeper_ask(vault->fd, credential, KEEPER_REFUSED);
	if (entry->noted && now - entry->noted < NOTE_SECONDS)
		return;
	entry->noted = now;
	control_note("%s refuses the credential %s (%u): is it still valid?", host,
		     name_of(vault, credential), status);
}
