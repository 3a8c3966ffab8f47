/*
 * proxy/main.c - sbx-proxy: the way out of one session.
 *
 * sbx-exec starts it, hands over the policy and takes its socket back by closing:
 * there is nothing to configure and no other way to run it.  First everything that
 * needs files or other processes, then the confinement, then READY, then the loop.
 */
#include "proxy/confine.h"
#include "proxy/conn.h"
#include "helper/control.h"
#include "proxy/listen.h"
#include "proxy/resolve.h"
#include "proxy/setup.h"
#include "proxy/upstream.h"
#include "proxy/vault.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define CONN_LIMIT 2048
#define OTHER_FDS 64 /* descriptors that no connection has */

static const char usage[] =
	"usage: sbx-proxy --help | --version\n"
	"The way out of a session with `net { mode proxy }`: sbx-exec starts it, with a socket\n"
	"as descriptor 3.  It has no use by itself.\n";

/* Descriptors 0 to 2 may be closed: nothing else is to get these numbers.  Whatever is
 * open past the socket was left to us by mistake. */
static bool settle_fds(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDWR);
	while (fd >= 0 && fd < SBX_HELPER_WIRE_FD);
	return fd >= 0 && !close_range(SBX_HELPER_WIRE_FD + 1, ~0u, 0);
}

static bool is_started_by_launcher(void)
{
	int type = 0;
	socklen_t size = sizeof(type);

	return !getsockopt(SBX_HELPER_WIRE_FD, SOL_SOCKET, SO_TYPE, &type, &size) &&
	       type == SOCK_SEQPACKET;
}

/* Two descriptors a connection. */
static unsigned connection_limit(void)
{
	struct rlimit files;
	rlim_t room;

	if (getrlimit(RLIMIT_NOFILE, &files))
		return 64;
	files.rlim_cur = files.rlim_max;
	setrlimit(RLIMIT_NOFILE, &files);
	if (getrlimit(RLIMIT_NOFILE, &files) || files.rlim_cur < OTHER_FDS * 2)
		return 16;
	room = (files.rlim_cur - OTHER_FDS) / 2;
	return room < CONN_LIMIT ? (unsigned)room : CONN_LIMIT;
}

/*
 * A connection that goes on makes itself due again, and all that is due has its turn before
 * the kernel is asked for more: while one went on, no other could begin, no timer would
 * end, and sbx-exec would not be heard.  So the kernel is asked now and then.
 */
#define ASK_EACH 64 /* turns */
static const struct timeval ask_after = { .tv_usec = 2000 };

static const char *worker_open(struct worker *worker)
{
	struct event_config *config = event_config_new();

	worker->limit = connection_limit();
	if (!config)
		return "no memory";
	event_config_set_flag(config, EVENT_BASE_FLAG_NOLOCK);
	event_config_set_max_dispatch_interval(config, &ask_after, ASK_EACH, 0);
	worker->base = event_base_new_with_config(config);
	event_config_free(config);
	if (worker->base)
		worker->resolver = resolver_make(worker->base);
	if (worker->base && worker->vault)
		vault_watch(worker->vault, worker->base);
	return worker->resolver ? NULL : "no memory";
}

/*
 * The roots are read before the program waits for its first answer, but not while it
 * is being started, which wants the processors too; and a few at a time: it may be over
 * before they are.
 */
#define ROOTS_AT_ONCE 8
static const struct timeval roots_after = { .tv_usec = 100000 };

static void begin_reading(evutil_socket_t fd, short what, void *reading)
{
	(void)fd, (void)what;
	*(bool *)reading = true;
}

static void worker_run(struct worker *worker)
{
	bool reading = false;

	if (worker->upstream)
		event_base_once(worker->base, -1, EV_TIMEOUT, begin_reading, &reading,
				&roots_after);
	while (!event_base_loop(worker->base, reading ? EVLOOP_NONBLOCK : EVLOOP_ONCE) &&
	       !event_base_got_break(worker->base)) {
		conn_bury(worker);
		reading = reading && upstream_read(worker->upstream, ROOTS_AT_ONCE);
	}
	/* The session is over: what is still open goes into the log. */
	while (worker->conns)
		conn_end(worker->conns);
	conn_bury(worker);
	tally_tell(&worker->tally);
}

/* NULL, or why there is no session. */
static const char *serve(void)
{
	static struct session session;
	static struct worker worker = { .session = &session };
	struct listener *listener;
	const char *wrong = confine_process();

	if (!wrong)
		wrong = session_receive(&session);
	if (!wrong)
		wrong = setup_session(&worker);
	if (!wrong)
		wrong = worker_open(&worker);
	if (wrong)
		return wrong;
	listener = listen_begin(&worker);
	if (!listener)
		return "no memory";
	wrong = chdir("/") ? "there is no root directory" : confine_worker();
	if (wrong)
		return wrong;
	control_send(HELPER_READY, NULL);
	worker_run(&worker);
	listen_end(listener);
	resolver_free(worker.resolver);
	setup_undo(&worker);
	event_base_free(worker.base);
	return NULL;
}

int main(int argc, char **argv)
{
	const char *wrong;

	if (argc == 2 && !strcmp(argv[1], "--version")) {
		puts("sbx-proxy " SBX_VERSION);
		return 0;
	}
	if (argc == 2 && !strcmp(argv[1], "--help")) {
		fputs(usage, stdout);
		return 0;
	}
	if (argc != 1 || !settle_fds() || !is_started_by_launcher()) {
		fputs(usage, stderr);
		return 2;
	}
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN); /* a log at the caller's limit is a log that ends */
	umask(077);
	wrong = serve();
	if (wrong)
		control_send(HELPER_FAILED, wrong);
	return wrong ? 1 : 0;
}
