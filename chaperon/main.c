/*
 * chaperon/main.c - sbx-chaperon: Slurm for one session.
 *
 * sbx-exec starts it, hands over the policy and takes its socket back by closing: there
 * is nothing to configure and no other way to run it.  It has the user's rights, since
 * the real clients need them; it never runs as root.
 */
#include "chaperon/client.h"
#include "chaperon/confine.h"
#include "helper/control.h"
#include "chaperon/sweep.h"
#include "chaperon/tables.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define BATCH 16 /* connections before others have their turn */

static const char usage[] =
    "usage: sbx-chaperon --help | --version\n"
    "Slurm for a session with a `slurm` section: sbx-exec starts it, with a socket as\n"
    "descriptor 3.  It has no use by itself.\n";

struct worker {
	struct server server;
	struct event *control, *children, *incoming;
	int fd; /* that listens; -1: none yet */
};

/* Descriptors 0 to 2 may be closed: nothing else is to get these numbers. */
static bool fill_standard_fds(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDWR);
	while (fd >= 0 && fd < SBX_HELPER_WIRE_FD);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static bool is_started_by_launcher(void)
{
	int type = 0;
	socklen_t size = sizeof(type);

	return !getsockopt(SBX_HELPER_WIRE_FD, SOL_SOCKET, SO_TYPE, &type, &size) &&
	       type == SOCK_SEQPACKET && !fcntl(SBX_HELPER_WIRE_FD, F_SETFD, FD_CLOEXEC);
}

static void on_incoming(evutil_socket_t fd, short what, void *context)
{
	struct worker *worker = context;

	(void)what;
	for (int i = 0; i < BATCH; i++) {
		int client = accept4(fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

		if (client < 0)
			return;
		client_begin(&worker->server, client);
	}
}

static void take_socket(struct worker *worker, int fd)
{
	int flags = fcntl(fd, F_GETFL);

	if (worker->fd >= 0 || flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK)) {
		close(fd);
		return;
	}
	worker->fd = fd;
	worker->incoming =
	    event_new(worker->server.base, fd, EV_READ | EV_PERSIST, on_incoming, worker);
	if (worker->incoming)
		event_add(worker->incoming, NULL);
}

static void on_control(evutil_socket_t fd, short what, void *context)
{
	struct worker *worker = context;
	struct helper_message message;
	int fds[HELPER_FDS];
	enum control_result result;

	(void)fd;
	(void)what;
	while ((result = control_receive(false, &message, fds)) == CONTROL_GOT)
		for (int i = 0; i < HELPER_FDS; i++) {
			if (fds[i] < 0)
				continue;
			if (!i && message.kind == HELPER_LISTEN)
				take_socket(worker, fds[i]);
			else
				close(fds[i]);
		}
	if (result == CONTROL_CLOSED)
		event_base_loopbreak(worker->server.base);
}

static void on_child(evutil_socket_t fd, short what, void *context)
{
	(void)fd;
	(void)what;
	(void)context;
	run_reap();
}

static bool watch(struct worker *worker)
{
	struct event_base *base = worker->server.base = event_base_new();

	worker->fd = -1;
	if (!base)
		return false;
	worker->children = evsignal_new(base, SIGCHLD, on_child, NULL);
	worker->control =
	    event_new(base, SBX_HELPER_WIRE_FD, EV_READ | EV_PERSIST, on_control, worker);
	return worker->children && worker->control && !event_add(worker->children, NULL) &&
	       !event_add(worker->control, NULL);
}

/* NULL, or why there is no session. */
static const char *serve(void)
{
	static struct session session;
	static struct record record;
	static struct worker worker;
	const char *wrong = confine_process();

	if (!wrong)
		wrong = session_receive(&session);
	if (!wrong)
		wrong = record_open(&record, &session);
	if (!wrong && !directories_make(session.jobs))
		wrong = "the directory of jobs cannot be made";
	if (wrong)
		return wrong;
	if (!confine_files(&session))
		control_note(
		    "this kernel has no Landlock: sbx-chaperon could change each of your files");
	tables_ask(&session);
	worker.server.session = &session;
	worker.server.record = &record;
	if (!watch(&worker))
		return "no memory";
	control_send(HELPER_READY, NULL);
	sweep_jobs(&session);
	event_base_dispatch(worker.server.base);
	run_end_all();
	client_end_all(&worker.server);
	return NULL;
}

int main(int argc, char **argv)
{
	static const int warnings[] = { SIGHUP, SIGINT, SIGQUIT, SIGUSR1, SIGUSR2, SIGTERM };
	const char *wrong;

	if (argc == 2 && !strcmp(argv[1], "--version")) {
		puts("sbx-chaperon " SBX_VERSION);
		return 0;
	}
	if (argc == 2 && !strcmp(argv[1], "--help")) {
		fputs(usage, stdout);
		return 0;
	}
	if (argc != 1 || !fill_standard_fds() || !is_started_by_launcher()) {
		fputs(usage, stderr);
		return 2;
	}
	signal(SIGPIPE, SIG_IGN);
	/* It ends when its launcher does.  What is sent to each process of a batch job, as a
	 * warning, is for the script alone. */
	for (size_t i = 0; i < sizeof(warnings) / sizeof(*warnings); i++)
		signal(warnings[i], SIG_IGN);
	signal(SIGXFSZ, SIG_IGN); /* a log at the caller's limit is a log that ends */
	wrong = serve();
	if (wrong)
		control_send(HELPER_FAILED, wrong);
	return wrong ? 1 : 0;
}
