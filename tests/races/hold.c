/* Programs that run inside for a while: until standard input ends.
 *
 *	hold watch NAME...   how long each could be written or made; at the end a
 *	                     line `NAME MILLISECONDS TIMES now open|closed`
 *	hold attack NAME...  removes, renames, replaces them again and again; at the
 *	                     end `did N`
 *	hold connect PATH    keeps whoever answers for connect(2) busy
 *	hold sleep           nothing
 *
 * Each says `started` first. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

static double now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

/* False: standard input has ended. */
static int wait_ms(int ms)
{
	struct pollfd in = { 0, POLLIN, 0 };

	return poll(&in, 1, ms) == 0;
}

/* Could it be written, or made?  What is made for that is removed again. */
static int is_open(const char *path)
{
	char beneath[1024];
	struct stat st;
	int fd;

	if (lstat(path, &st))
		return errno == ENOENT;
	snprintf(beneath, sizeof(beneath), "%s/probe-watch", path);
	fd = S_ISDIR(st.st_mode) ? open(beneath, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600)
				 : open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd >= 0)
		close(fd);
	if (fd >= 0 && S_ISDIR(st.st_mode))
		unlink(beneath);
	return fd >= 0;
}

static void watch(int count, char **names)
{
	struct {
		double longest, since;
		unsigned times;
	} *seen = calloc((size_t)count, sizeof(*seen));

	do {
		for (int i = 0; i < count; i++) {
			double now = now_ms();

			if (!is_open(names[i])) {
				seen[i].since = 0;
				continue;
			}
			if (seen[i].since == 0) {
				seen[i].since = now;
				seen[i].times++;
			}
			if (now - seen[i].since > seen[i].longest)
				seen[i].longest = now - seen[i].since;
		}
	} while (wait_ms(1));
	/* What was lifted a moment ago is laid again soon. */
	for (int i = 0, waited = 0; i < count && waited < 50; i++)
		for (; is_open(names[i]) && waited < 50; waited++)
			usleep(10000);
	for (int i = 0; i < count; i++)
		printf("%s %.0f %u now %s\n", names[i], seen[i].longest, seen[i].times,
		       is_open(names[i]) ? "open" : "closed");
}

static unsigned attack_one(const char *name)
{
	unsigned done = 0;

	done += !rename(name, "attack-aside");
	done += !unlink(name);
	done += !rmdir(name);
	if (!done)
		return 0;
	close(open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
	/* What has something in it goes back, for the next turn. */
	if (unlink("attack-aside") && rmdir("attack-aside")) {
		unlink(name);
		rename("attack-aside", name);
	}
	return 1;
}

static void attack(int count, char **names)
{
	unsigned done = 0;

	do
		for (int i = 0; i < count; i++)
			done += attack_one(names[i]);
	while (wait_ms(150));
	printf("did %u\n", done);
}

static void keep_connecting(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%s/s", path);
	unlink(address.sun_path);
	if (bind(listener, (struct sockaddr *)&address, sizeof(address)) || listen(listener, 1))
		perror("listen");
	for (int i = 0; i < 8; i++)
		if (fork() == 0)
			for (;;) {
				int fd = socket(AF_UNIX, SOCK_STREAM, 0);

				if (connect(fd, (struct sockaddr *)&address, sizeof(address)))
					usleep(2000);
				close(fd);
			}
	while (wait_ms(3)) {
		int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK);

		close(fd);
	}
}

int main(int argc, char **argv)
{
	setlinebuf(stdout);
	puts("started");
	if (argc < 2)
		return 99;
	switch (argv[1][0]) {
	case 'w':
		watch(argc - 2, argv + 2);
		break;
	case 'a':
		attack(argc - 2, argv + 2);
		break;
	case 'c':
		keep_connecting(getenv("TMPDIR") ? getenv("TMPDIR") : argv[2]);
		break;
	default:
		while (wait_ms(1000))
			;
	}
	return 7;
}
