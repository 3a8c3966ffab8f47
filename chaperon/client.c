/*
 * chaperon/client.c - see client.h.
 */
#include "chaperon/client.h"

#include "chaperon/log.h"
#include "helper/control.h"

#include <malloc.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define AGAIN (256u << 10)

/* ---- its life ------------------------------------------------------------------------- */

/* Our own fault: better no chaperon than one that reads what is freed. */
static void hold(bool holds)
{
	if (holds)
		return;
	control_note("sbx-chaperon: a client has ended before what it runs: this is a bug");
	abort();
}

/* What is kept for it may have changed. */
static void account(struct client *client)
{
	size_t held = client->intake.bytes + client->intake.script_room;

	if (client->captured)
		held += evbuffer_get_length(client->captured);
	if (client->io)
		held += evbuffer_get_length(bufferevent_get_output(client->io));
	client->server->held += held - client->held;
	client->held = held;
}

/* Room for @size bytes more?  Only then what has been given back meanwhile is looked for. */
static bool has_room(struct server *server, size_t size)
{
	if (server->held + size > HELD_MAX)
		for (struct client *client = server->clients; client; client = client->next)
			account(client);
	return server->held + size <= HELD_MAX;
}

static void within(struct client *client, int seconds)
{
	evtimer_add(client->deadline, &(struct timeval){ .tv_sec = seconds });
}

/* The one place where it goes on in its life: see client.h. */
static void become(struct client *client, enum client_life life)
{
	hold(life > client->life);
	hold(!client->run || life == CLIENT_DROPPED || life == CLIENT_GONE);
	client->life = life;
	switch (life) {
	case CLIENT_TALKS:
		break;
	case CLIENT_DROPPED:
		bufferevent_disable(client->io, EV_READ);
		within(client, CHAPERON_FRAME_SECONDS);
		break;
	case CLIENT_TOLD:
		bufferevent_disable(client->io, EV_READ);
		bufferevent_setwatermark(client->io, EV_WRITE, 0, 0);
		/* Who does not read it in this time is not there any more. */
		within(client, CHAPERON_FRAME_SECONDS);
		break;
	case CLIENT_GONE:
	case CLIENT_OVER:
		if (client->io)
			bufferevent_free(client->io);
		client->io = NULL;
		evtimer_del(client->deadline);
		if (life == CLIENT_OVER)
			event_active(client->deadline, EV_TIMEOUT, 0);
	}
}

/* Of on_deadline() alone, and of the end of the session. */
static void client_free(struct client *client)
{
	struct server *server;

	hold(!client->run);
	*client->link = client->next;
	if (client->next)
		client->next->link = client->link;
	client->server->count--;
	client->server->held -= client->held;
	if (client->io)
		bufferevent_free(client->io);
	event_free(client->deadline);
	if (client->captured)
		evbuffer_free(client->captured);
	ask_free(&client->ask);
	intake_free(&client->intake);
	strings_free(&client->line);
	ids_free(&client->ids);
	free(client->partitions);
	free(client->words);
	server = client->server;
	free(client);
	if (!server->count && server->most > 8) {
		malloc_trim(0);
		server->most = 0;
	}
}

/* ---- ending --------------------------------------------------------------------------- */

static void write_log(struct client *client, const char *verdict, const char *reason, int status)
{
	struct log_line line = { .begun = client->begun,
				 .arguments = &client->intake.arguments,
				 .verdict = verdict,
				 .reason = reason,
				 .rule = client->ask.rule,
				 .job = client->job,
				 .status = WIFEXITED(status) ? WEXITSTATUS(status)
							     : 128 + WTERMSIG(status) };

	if (client->intake.arguments.count)
		log_write(client->server->session, &line);
}

static void leave(struct client *client, int status)
{
	uint32_t value = (uint32_t)status;

	client_send(client, CHAPERON_EXIT, &value, sizeof(value));
	become(client, client->io ? CLIENT_TOLD : CLIENT_OVER);
}

void client_exit(struct client *client, int status)
{
	write_log(client, "allowed", NULL, status);
	leave(client, status);
}

/* Whoever asked sees a line for each reason; the log has them in one. */
void client_refuse(struct client *client)
{
	const struct ask *ask = &client->ask;
	char text[ASK_TEXT_SIZE], all[ASK_PROBLEMS * 256] = "";
	size_t length = 0;

	for (unsigned i = 0; i < ask->problem_count && i < ASK_PROBLEMS; i++) {
		ask_problem_text(ask, i, text);
		client_say(client, "%s", text);
		if (length < sizeof(all))
			length += (size_t)snprintf(all + length, sizeof(all) - length, "%s%s",
						   i ? "; " : "", text + strlen("sbx: "));
	}
	if (ask->problem_count > ASK_PROBLEMS)
		client_say(client, "sbx: and %u more", ask->problem_count - ASK_PROBLEMS);
	write_log(client, "refused", all, 1 << 8);
	leave(client, 1 << 8);
}

void client_fail(struct client *client, const char *format, ...)
{
	char text[1024];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	client_say(client, "sbx: %s", text);
	write_log(client, "failed", text, 1 << 8);
	leave(client, 1 << 8);
}

void client_end_all(struct server *server)
{
	struct client *next;

	for (struct client *client = server->clients; client; client = next) {
		next = client->next;
		if (!client->run)
			client_free(client);
		else if (client->life < CLIENT_GONE)
			become(client, CLIENT_GONE);
	}
}

/* Nobody is at the other end any more. */
static void hang_up(struct client *client)
{
	if (!client->run) {
		become(client, CLIENT_OVER);
		return;
	}
	if (!client->outlives)
		run_signal(client->run, SIGTERM);
	become(client, CLIENT_GONE);
	run_pause(client->run, false); /* its end may be here */
}

/* It speaks in tongues. */
static void drop(struct client *client, const char *why)
{
	client_say(client, "sbx: %s", why);
	if (!client->run) {
		leave(client, 1 << 8);
		return;
	}
	if (!client->outlives)
		run_signal(client->run, SIGTERM);
	become(client, CLIENT_DROPPED); /* what the run ends with is sent */
}

/* ---- the real client's side ------------------------------------------------------------- */

static void on_output(void *context, int fd, const void *data, size_t size)
{
	client_send(context, fd == 1 ? CHAPERON_OUTPUT : CHAPERON_ERROR, data, size);
}

/* On with what has been read already, too. */
static void on_room(void *context)
{
	struct client *client = context;

	if (client->life != CLIENT_TALKS)
		return;
	bufferevent_enable(client->io, EV_READ);
	bufferevent_trigger(client->io, EV_READ, 0);
}

static void on_end(void *context, int status)
{
	struct client *client = context;

	client->run = NULL;
	command_end(client);
	if (status == -1)
		client_fail(client, "%s: Slurm did not answer within %d s",
			    client->ask.request.command, ANSWER_SECONDS);
	else
		client_exit(client, status);
}

/* What sbatch says is the number of a job, for which there is always room. */
static bool fits(const struct client *client, size_t all, size_t size)
{
	if (client->outlives && all <= ANSWER_ROOM)
		return true;
	return all <= CAPTURE_MAX && has_room(client->server, size);
}

static void on_captured(void *context, int fd, const void *data, size_t size)
{
	struct client *client = context;

	account(client);
	if (fd == 2)
		client_send(client, CHAPERON_ERROR, data, size);
	else if (fits(client, evbuffer_get_length(client->captured) + size, size))
		evbuffer_add(client->captured, data, size);
	else
		client->cut = true;
	if (fd == 1)
		command_output(client);
}

static void on_captured_end(void *context, int status)
{
	struct client *client = context;

	client->run = NULL;
	if (status == -1)
		client_fail(client, "%s: Slurm did not answer within %d s",
			    client->ask.request.command, ANSWER_SECONDS);
	else if (client->cut)
		client_fail(client, "%s says more than 16 MiB: ask for less",
			    client->ask.request.command);
	else if (client->life != CLIENT_TALKS && !client->outlives)
		client_exit(client, status); /* nobody waits for the rest */
	else
		client->then(client, status);
}

/* A step is told by Slurm's own variables what it is a step of. */
static char **environment_of(const struct client *client)
{
	const struct session *session = client->server->session;

	return command_is_step(client) ? session->step.items : session->environment.items;
}

void client_run(struct client *client, int seconds)
{
	static const struct run_watch watch = { on_output, on_room, on_end };
	struct run_terminal terminal = { client->input && ask_option(&client->ask, "--pty") &&
					     client->intake.hello.terminal & 1,
					 client->intake.hello.rows, client->intake.hello.columns };

	if (!client->line.broken)
		client->run = run_begin(client->server->base, client->line.items,
					environment_of(client), &terminal, seconds, &watch, client);
	if (!client->run) {
		command_end(client);
		client_fail(client, "%s cannot be started", client->line.items[0]);
		return;
	}
	command_begun(client);
	if (terminal.wanted)
		client_send(client, CHAPERON_TERMINAL, NULL, 0);
	if (client->input)
		client_send(client, CHAPERON_WANT_INPUT, NULL, 0);
	else
		run_input_end(client->run);
}

void client_capture(struct client *client, const struct strings *line,
		    void (*then)(struct client *, int status))
{
	static const struct run_watch watch = { on_captured, on_room, on_captured_end };

	if (!client->captured)
		client->captured = evbuffer_new();
	evbuffer_drain(client->captured, evbuffer_get_length(client->captured));
	client->then = then;
	if (!line->broken && client->captured)
		client->run = run_begin(client->server->base, line->items,
					client->server->session->environment.items, NULL,
					ANSWER_SECONDS, &watch, client);
	if (!client->run)
		client_fail(client, "%s cannot be started", line->count ? line->items[0] : "it");
}

/* ---- what the client sends ----------------------------------------------------------------- */

static const char *pass_input(struct client *client, const struct chaperon_frame *head,
			      const void *body)
{
	if (!client->input)
		return "input that nobody asked for";
	if (!client->run)
		return NULL; /* it has ended; the client hears of it */
	if (!head->size)
		run_input_end(client->run);
	else
		run_input(client->run, body, head->size);
	if (run_is_full(client->run))
		bufferevent_disable(client->io, EV_READ);
	return NULL;
}

static const char *pass_signal(struct client *client, const struct chaperon_frame *head,
			       const void *body)
{
	static const int passed[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGCONT };
	uint32_t number;

	if (head->size != sizeof(number))
		return "a signal that is not understood";
	memcpy(&number, body, sizeof(number));
	if (client->outlives)
		return NULL; /* ended now, nobody would know whether there is a job */
	for (size_t i = 0; i < sizeof(passed) / sizeof(passed[0]); i++)
		if (client->run && number == (uint32_t)passed[i])
			run_signal(client->run, passed[i]);
	return NULL;
}

static const char *pass_size(struct client *client, const struct chaperon_frame *head,
			     const void *body)
{
	struct chaperon_hello hello;

	if (head->size != sizeof(hello))
		return "a size that is not understood";
	memcpy(&hello, body, sizeof(hello));
	if (client->run)
		run_resize(client->run, hello.rows, hello.columns);
	return NULL;
}

/* One frame.  NULL, or why the connection ends. */
static const char *take(struct client *client, const struct chaperon_frame *head, const void *body)
{
	enum intake_stage before = client->intake.stage;
	const char *wrong;

	if (before == INTAKE_RUNNING && head->kind == CHAPERON_INPUT)
		return pass_input(client, head, body);
	if (before == INTAKE_RUNNING && head->kind == CHAPERON_SIGNAL)
		return pass_signal(client, head, body);
	if (before == INTAKE_RUNNING && head->kind == CHAPERON_RESIZE)
		return pass_size(client, head, body);
	if (before == INTAKE_SCRIPT && head->kind == CHAPERON_NO_SCRIPT) {
		client_fail(client, "%s: %.*s", client->ask.request.command, (int)head->size,
			    (const char *)body);
		return NULL;
	}
	if (!has_room(client->server, head->size))
		return "too much is asked for at the same time: try again";
	wrong = intake_take(&client->intake, head, body);
	account(client);
	if (wrong || client->intake.stage != INTAKE_RUNNING)
		return wrong;
	evtimer_del(client->deadline);
	if (before == INTAKE_REQUEST)
		command_begin(client);
	else
		command_script(client);
	return NULL;
}

/* A frame that has begun must come to its end. */
static void watch_time(struct client *client, bool begun)
{
	if (client->intake.stage == INTAKE_REQUEST)
		return; /* all of the request in one time */
	if (!begun || !(bufferevent_get_enabled(client->io) & EV_READ)) /* it is we who wait */
		evtimer_del(client->deadline);
	else if (!evtimer_pending(client->deadline, NULL))
		within(client, CHAPERON_FRAME_SECONDS);
}

static void on_read(struct bufferevent *io, void *context)
{
	struct client *client = context;
	struct evbuffer *in = bufferevent_get_input(io);
	struct chaperon_frame head;
	const char *wrong = NULL;
	enum frame_state state = FRAME_MORE;

	while (client->life == CLIENT_TALKS && evbuffer_get_length(in) &&
	       bufferevent_get_enabled(io) & EV_READ) {
		size_t size = evbuffer_get_length(in);
		const unsigned char *data = evbuffer_pullup(in, -1);
		size_t used;

		state = frame_read(data, size, &head, &wrong);
		if (state != FRAME_WHOLE)
			break;
		used = sizeof(head) + head.size;
		wrong = take(client, &head, data + sizeof(head));
		if (wrong)
			break;
		evbuffer_drain(in, used);
		state = FRAME_MORE;
	}
	if (client->life != CLIENT_TALKS)
		return;
	if (wrong)
		drop(client, wrong);
	else
		watch_time(client, evbuffer_get_length(in) != 0);
}

static void on_write(struct bufferevent *io, void *context)
{
	struct client *client = context;

	if (client->life == CLIENT_TOLD && !evbuffer_get_length(bufferevent_get_output(io)))
		become(client, CLIENT_OVER);
	else if (client->run)
		run_pause(client->run, false); /* its end may be here: nothing behind it */
}

static void on_event(struct bufferevent *io, short what, void *context)
{
	(void)io;
	if (what & (BEV_EVENT_EOF | BEV_EVENT_ERROR))
		hang_up(context);
}

static void on_deadline(evutil_socket_t fd, short what, void *context)
{
	struct client *client = context;

	(void)fd;
	(void)what;
	switch (client->life) {
	case CLIENT_TALKS:
		drop(client, "the request did not arrive in time");
		break;
	case CLIENT_DROPPED:
	case CLIENT_TOLD:
		hang_up(client);
		break;
	case CLIENT_GONE:
		break; /* waits for the end of its run alone */
	case CLIENT_OVER:
		client_free(client);
	}
}

/* The session's own user, as the kernel says it. */
static bool is_ours(int fd)
{
	struct ucred peer;
	socklen_t size = sizeof(peer);

	return !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) && peer.uid == getuid();
}

/* A script may take its time, but keeps nobody's place from those who wait.  True: there is
 * one now. */
static bool make_room(struct server *server)
{
	struct client *slow = NULL;

	for (struct client *client = server->clients; client; client = client->next)
		if (client->life == CLIENT_TALKS && client->intake.stage == INTAKE_SCRIPT)
			slow = client; /* the oldest comes last */
	if (!slow || time(NULL) - slow->begun.tv_sec <= CHAPERON_FRAME_SECONDS)
		return false;
	drop(slow, "the script did not arrive in time, and others wait");
	return true;
}

/* The connection is its own, once it has all that a life needs. */
static bool set_up(struct client *client, struct server *server, int fd)
{
	client->deadline = evtimer_new(server->base, on_deadline, client);
	client->io = client->deadline
			 ? bufferevent_socket_new(server->base, fd, BEV_OPT_CLOSE_ON_FREE)
			 : NULL;
	if (client->io)
		return true;
	if (client->deadline)
		event_free(client->deadline);
	return false;
}

void client_begin(struct server *server, int fd)
{
	struct client *client = is_ours(fd) ? calloc(1, sizeof(*client)) : NULL;

	if (!client || !set_up(client, server, fd)) {
		free(client);
		close(fd);
		return;
	}
	client->server = server;
	client->next = server->clients;
	client->link = &server->clients;
	if (client->next)
		client->next->link = &client->next;
	server->clients = client;
	server->count++;
	if (server->count > server->most)
		server->most = server->count;
	client->ask.rule = SBX_NONE;
	clock_gettime(CLOCK_REALTIME, &client->begun);
	bufferevent_setcb(client->io, on_read, on_write, on_event, client);
	bufferevent_setwatermark(client->io, EV_READ, 0,
				 CHAPERON_FRAME_MAX + sizeof(struct chaperon_frame));
	bufferevent_setwatermark(client->io, EV_WRITE, AGAIN, 0);
	within(client, CHAPERON_FRAME_SECONDS);
	if (server->count > CHAPERON_CLIENTS_MAX && !make_room(server)) {
		client_say(client, "sbx: %d commands run at the same time: wait for one of them",
			   CHAPERON_CLIENTS_MAX);
		leave(client, 1 << 8);
		return;
	}
	bufferevent_enable(client->io, EV_READ | EV_WRITE);
}
