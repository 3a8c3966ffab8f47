/*
 * stub/proxy.c - sbx-proxy, and where it is reached.
 *
 * It serves whoever reaches the socket that it is handed.  Where that lies in a
 * network namespace this is the program alone; on the host's loopback everybody
 * could, so there each connection of the program's is announced (broker_proxy.c).
 */
#include "stub/proxy.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "stub/backend.h"
#include "stub/launch.h"
#include "stub/load.h"
#include "stub/out.h"
#include "stub/sys.h"

#define BACKLOG   4096
#define END_MS    1000
#define NAMED_MAX 5u /* hosts, without -v */
/* For room in its queue, where a burst of connections comes before it does. */
#define LOOK_MS   10
#define EXPECT_MS 2000
#define FORGET_MS 5000

/* ---- before the launch ------------------------------------------------------------ */

/* Its name, as every launch has another: number and time. */
static void name_bundle(struct launch *launch)
{
	const char *place = sessions_place(launch, "net { mode proxy }");
	struct timespec now;

	sys_clock(CLOCK_BOOTTIME, &now);
	launch->proxy.bundle = out_string("%s/" BUNDLE_PREFIX "%d-%llu", place, getpid(),
					  (unsigned long long)now.tv_sec * 1000000000ull +
					      (unsigned long long)now.tv_nsec);
}

void proxy_find(struct launch *launch)
{
	const struct sbx_meta *meta = sbx_meta(&launch->blob);
	struct helper *helper = &launch->proxy.helper;

	*helper = (struct helper){ .name = "the proxy",
				   .without = "no network",
				   .hangs = "what a credential's source runs hangs",
				   .log_option = "--net-log",
				   .socket = -1,
				   .listener = -1 };
	if (meta->net_mode != SBX_NET_PROXY)
		return;
	name_bundle(launch);
	helper_find(launch, helper, "sbx-proxy", "net { mode proxy }", &meta->net_mode_head);
}

void proxy_prepare(struct launch *launch)
{
	if (!launch->proxy.helper.path)
		return;
	helper_open_log(launch, &launch->proxy.helper);
	bundle_make(launch);
}

/* ---- messages --------------------------------------------------------------------- */

/* 0; EAGAIN: it took nothing all that time; or another error: it has ended. */
static int tell_port(const struct proxy *proxy, enum proxy_message_kind kind, unsigned port,
		     int wait_ms)
{
	struct pollfd fd = { proxy->helper.socket, POLLOUT, 0 };

	for (int waited = 0; !helper_tell(&proxy->helper, kind, (int)port, NULL, 0);
	     waited += LOOK_MS) {
		if (errno != EAGAIN || waited >= wait_ms)
			return errno;
		poll(&fd, 1, LOOK_MS);
	}
	return 0;
}

int proxy_expect(const struct proxy *proxy, unsigned port)
{
	return tell_port(proxy, PROXY_EXPECT, port, EXPECT_MS);
}

/* The port may be anybody's next: better no proxy than one that serves it. */
void proxy_forget(const struct proxy *proxy, unsigned port)
{
	if (tell_port(proxy, PROXY_FORGET, port, FORGET_MS))
		shutdown(proxy->helper.socket, SHUT_RDWR);
}

/* ---- its socket ------------------------------------------------------------------- */

int proxy_socket(unsigned port)
{
	const struct sockaddr_in here = { .sin_family = AF_INET,
					  .sin_port = htons((uint16_t)port),
					  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd >= 0 && !bind(fd, (const struct sockaddr *)&here, sizeof(here)) &&
	    !listen(fd, BACKLOG))
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

/* Without a network namespace it is the host's, at any port that is free. */
static void listen_here(struct proxy *proxy)
{
	struct sockaddr_in here = { 0 };
	socklen_t size = sizeof(here);

	proxy->helper.listener = proxy_socket(0);
	if (proxy->helper.listener < 0 ||
	    getsockname(proxy->helper.listener, (struct sockaddr *)&here, &size))
		refuse("no place on 127.0.0.1 for the proxy: %s: start outside of a sandbox",
		       out_error(errno));
	proxy->port = ntohs(here.sin_port);
}

/* ---- the session ------------------------------------------------------------------ */

void proxy_start(struct launch *launch)
{
	struct proxy *proxy = &launch->proxy;

	if (!proxy->helper.path)
		return;
	if (launch->plan.backend == SBX_LANDLOCK)
		listen_here(proxy);
	helper_tell_session(launch, &proxy->helper, SBX_PROXY_WIRE_VERSION,
			    credentials_values(launch), proxy->bundle_fd);
}

/* Until it closes its end.  However much it has to say, the session ends. */
static void hear_summary(struct launch *launch)
{
	struct proxy *proxy = &launch->proxy;
	struct pollfd fd = { proxy->helper.socket, POLLIN, 0 };
	struct helper_message message;
	uint64_t until = sys_now_ms() + END_MS, now;

	shutdown(proxy->helper.socket, SHUT_WR);
	while (proxy->helper.socket >= 0 && (now = sys_now_ms()) < until &&
	       poll(&fd, 1, (int)(until - now)) == 1) {
		switch (helper_hear(&proxy->helper, &message)) {
		case HELPER_NOTE:
			launch_remark(launch, "%s", message.text);
			break;
		case PROXY_SUMMARY:
			*vec_add(&proxy->summary) = mem_string(message.text);
			proxy->inexact |= message.value != 0;
		}
	}
}

void proxy_report(const struct launch *launch)
{
	const struct proxy *proxy = &launch->proxy;
	size_t count = proxy->summary.count;
	/* One more takes no more room than to say that there is one. */
	size_t named = launch->options.verbose || count <= NAMED_MAX + 1 ? count : NAMED_MAX;

	for (size_t i = 0; i < named; i++)
		note("%s", proxy->summary.items[i]);
	if (named < count)
		note("... and %s%u more hosts (-v names them)", proxy->inexact ? "at least " : "",
		     (unsigned)(count - named));
}

void proxy_stop(struct launch *launch)
{
	struct helper *helper = &launch->proxy.helper;

	if (helper->socket >= 0 && !launch->options.quiet)
		hear_summary(launch);
	helper_stop(helper);
}
