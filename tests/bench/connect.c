/* Median time of one connect(2), in microseconds: to a listener of its own by a
 * path and by TCP over loopback, blocking and not.  usage: connect DIRECTORY */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS 2001

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec * 1e6 + (double)ts.tv_nsec / 1e3;
}

static int compare(const void *a, const void *b)
{
	return *(const double *)a < *(const double *)b ? -1 : 1;
}

static void measure(const char *name, struct sockaddr *address, socklen_t length, int flags)
{
	static double times[ROUNDS];
	int listener = socket(address->sa_family, SOCK_STREAM, 0);

	if (bind(listener, address, length) || listen(listener, 8) ||
	    getsockname(listener, address, &length)) {
		printf("%s -\n", name);
		return;
	}
	for (int i = 0; i < ROUNDS; i++) {
		int fd = socket(address->sa_family, SOCK_STREAM | flags, 0), peer;
		double start = now();

		if (connect(fd, address, length) && errno != EINPROGRESS) {
			perror(name);
			exit(1);
		}
		times[i] = now() - start;
		peer = accept(listener, NULL, NULL);
		close(peer);
		close(fd);
	}
	close(listener);
	qsort(times, ROUNDS, sizeof(*times), compare);
	printf("%s %.1f\n", name, times[ROUNDS / 2]);
}

int main(int argc, char **argv)
{
	struct sockaddr_un path = { .sun_family = AF_UNIX };

	if (argc < 2)
		return 99;
	for (int flags = 0; flags <= SOCK_NONBLOCK; flags += SOCK_NONBLOCK) {
		struct sockaddr_in host = { .sin_family = AF_INET,
					    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };

		snprintf(path.sun_path, sizeof(path.sun_path), "%s/bench.%d", argv[1], flags);
		measure(flags ? "unix-nonblock" : "unix", (struct sockaddr *)&path, sizeof(path),
			flags);
		unlink(path.sun_path);
		measure(flags ? "tcp-nonblock" : "tcp", (struct sockaddr *)&host, sizeof(host),
			flags);
	}
	return 0;
}
