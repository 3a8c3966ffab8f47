/* A name or an address that is now that of a service which may be reached, now of
 * one that may not.  What was decided must be what is connected. */
#include "tests/escape/attack.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>

enum { ROUNDS = 100, NUMBER = 100 };

static struct sockaddr_un address = { .sun_family = AF_UNIX };
static _Atomic socklen_t length = sizeof(address);
static const char *bad, *good;
static _Atomic int over;
static double seconds = 10; /* outside it ends sooner: at the first that gets through */

/* Where both share a processor, the one stops at either of the other's states: an odd
 * number, so that it is each one's turn. */
static void now_and_then(void)
{
	static unsigned count;

	if (count++ % 15 == 0)
		sched_yield();
}

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void change_address(void)
{
	strcpy(address.sun_path, bad);
	now_and_then();
	strcpy(address.sun_path, good);
	now_and_then();
}

/* Two names of one length in one string: the end says which. */
static void change_length(void)
{
	length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(bad));
	now_and_then();
	length = sizeof(address);
	now_and_then();
}

static void change_link(void)
{
	if (symlink(good, "link2") == 0)
		rename("link2", "link");
	if (symlink(bad, "link2") == 0)
		rename("link2", "link");
}

static void change_name(void)
{
	rename("to-bad", "swing");
	rename("swing", "to-bad");
	rename("to-good", "swing");
	rename("swing", "to-good");
}

static void change_directory(void)
{
	renameat2(AT_FDCWD, "one", AT_FDCWD, "two", RENAME_EXCHANGE);
	now_and_then();
}

static void change_descriptor(void)
{
	int file = open("/dev/null", O_RDONLY), local = socket(AF_UNIX, SOCK_STREAM, 0);

	dup2(file, NUMBER);
	now_and_then();
	dup2(local, NUMBER);
	now_and_then();
	close(file);
	close(local);
}

static void *run(void *change)
{
	while (!over)
		((void (*)(void))change)();
	return NULL;
}

/* Did the host's answer, ever? */
static void race(const char *variant, void (*change)(void), const char *path)
{
	pthread_t thread;
	double end = now() + seconds;
	int reached = 0;

	strcpy(address.sun_path, path);
	length = sizeof(address);
	over = 0;
	pthread_create(&thread, NULL, run, (void *)change);
	for (int i = 0; (i < ROUNDS || now() < end) && !reached; i++) {
		int fd = socket(AF_UNIX, SOCK_STREAM, 0), held = fd;
		char text[16] = "";

		if (change == change_descriptor)
			held = NUMBER;
		if (!connect(held, (struct sockaddr *)&address, length) &&
		    recv(held, text, sizeof(text) - 1,
			 change == change_descriptor ? MSG_DONTWAIT : 0) > 0)
			reached = *text == 't';
		close(fd);
		sched_yield();
	}
	over = 1;
	pthread_join(thread, NULL);
	printf("%s %s\n", variant, reached ? "done" : "no");
	fflush(stdout);
}

int main(int argc, char **argv)
{
	char longer[108];
	const char *place = getenv("PRIVATE");

	(void)argc;
	bad = argv[1];
	good = argv[2];
	if (place) {
		mkdir(place, 0700);
		seconds = 0.05;
	}
	if (chdir(place ? place : "."))
		return 1;
	race("address", change_address, good);
	race("link", change_link, "link");
	if (symlink(bad, "to-bad") || symlink(good, "to-good"))
		return 1;
	race("rename", change_name, "swing");
	mkdir("one", 0700);
	mkdir("two", 0700);
	if (symlink(bad, "one/s") || symlink(good, "two/s"))
		return 1;
	race("directory", change_directory, "one/s");
	dup2(0, NUMBER);
	race("descriptor", change_descriptor, bad);
	/* BAD with more behind it is no name at all. */
	snprintf(longer, sizeof(longer), "%s-not", bad);
	race("length", change_length, longer);
	return 0;
}
