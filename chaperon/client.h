/*
 * chaperon/client.h - one connection: one command, from its request to its exit status.
 */
#ifndef SBX_CHAPERON_CLIENT_H
#define SBX_CHAPERON_CLIENT_H

#include "chaperon/ask.h"
#include "chaperon/frame.h"
#include "chaperon/ids.h"
#include "chaperon/record.h"
#include "chaperon/run.h"

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <time.h>

#define ANSWER_SECONDS 10 /* what a client that only asks may take */
#define CAPTURE_MAX    (16u << 20)
#define ANSWER_ROOM    (64u << 10) /* for what sbatch says, however much is held */
#define HELD_MAX       (64u << 20) /* the session's limits do not hold what is kept for it here */

struct server {
	struct event_base *base;
	struct session *session;
	struct record *record;
	struct client *clients;
	unsigned count;
	unsigned most; /* at the same time, since memory was last given back */
	size_t held;   /* bytes that were said by and to all clients together */
};

/*
 * The life of a client goes downwards alone:
 *
 *	TALKS ---> DROPPED ---> TOLD ---> OVER        OVER: the event loop frees it, and
 *	  |           |                    ^          nothing else does
 *	  +-----------+------> GONE -------+
 *
 * While a real client runs for it (@run), what it began is not at its end: it is TALKS,
 * DROPPED or GONE.  Nobody frees it below a caller: a pointer holds until the loop turns.
 */
enum client_life {
	CLIENT_TALKS,   /* its frames are taken */
	CLIENT_DROPPED, /* broke the rules: none is taken; what its run ends with is its answer */
	CLIENT_TOLD,    /* EXIT is sent; until it is read */
	CLIENT_GONE,    /* has closed, and what it began goes on */
	CLIENT_OVER,
};

struct command;
enum shown_column { SHOWN_AS_IS, SHOWN_LEFT, SHOWN_RIGHT }; /* in it, to the left, right */
struct client {
	struct server *server;
	struct client *next, **link;
	enum client_life life;
	struct bufferevent *io; /* NULL: GONE or OVER */
	struct event *deadline; /* of what its life waits for; frees it once it is OVER */
	struct intake intake;
	size_t held; /* its part of server->held */
	struct ask ask;
	const char **words; /* the arguments, as ask_line() orders them */
	const struct command *command;
	struct run *run;
	struct strings line; /* of the real client */
	struct evbuffer *captured;
	char *partitions; /* as sinfo has them: see hours.h */
	void (*then)(struct client *, int status); /* once that is whole */
	void (*hours_then)(struct client *);       /* once a budget of hours bears it */
	bool cut;                                  /* more than CAPTURE_MAX was said */
	bool input, outlives; /* @outlives: not to be ended when the client goes */
	struct timespec begun;
	char tag[JOB_TAG_SIZE];
	uint32_t job;
	uint64_t asked; /* record->lines when the queue was asked */
	struct job_ids ids;
	enum shown_column column; /* of comments, in a listing */
};

void client_begin(struct server *server, int fd);
/* The session is over: drops all. */
void client_end_all(struct server *server);

void client_send(struct client *client, enum chaperon_frame_kind kind, const void *data,
		 size_t size);
/* One line on its standard error. */
void client_say(struct client *client, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* The end: each writes the log.  @status as of wait(2).  No run is on, and no second one
 * follows. */
void client_exit(struct client *client, int status);
void client_refuse(struct client *client); /* says ask's problems, exits 1 */
void client_fail(struct client *client, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Runs client->line: its output goes to the client as it comes. */
void client_run(struct client *client, int seconds);
/* Runs @line, keeps its standard output in client->captured and calls @then. */
void client_capture(struct client *client, const struct strings *line,
		    void (*then)(struct client *, int status));

/* command.c: the request is whole; so is the script that it wanted. */
void command_begin(struct client *client);
void command_script(struct client *client);
/* What client_run() is for has begun. */
void command_begun(struct client *client);
/* What client_run() began is over. */
void command_end(struct client *client);
/* Is it srun, in a job that there is already? */
bool command_is_step(const struct client *client);
/* Called while client->captured grows. */
void command_output(struct client *client);

#endif
