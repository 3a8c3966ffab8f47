/* A name or an address that is now that of a service which may be reached, now of
 * one that may not.  What was decided must be what is connected. */
#include "tests/escape/attack.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

enum { ROUNDS = 1500, NUMBER = 100 };

static struct sockaddr_un address = { .sun_family = AF_UNIX };
static _Atomic socklen_t length = sizeof(address);
static const char *bad, *good;
static _Atomic int over;

static void change_address(void)
{
	strcpy(address.sun_path, bad);
	strcpy(address.sun_path, good);
}

/* Two names of one length in one string: the end says which. */
static void change_length(void)
{
	length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(bad));
	length = sizeof(address);
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
}

static void change_descriptor(void)
{
	int file = open("/dev/null", O_RDONLY), local = socket(AF_UNIX, SOCK_STREAM, 0);

	dup2(file, NUMBER);
	dup2(local, NUMBER);
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
	int reached = 0;

	strcpy(address.sun_path, path);
	length = sizeof(address);
	over = 0;
	pthread_create(&thread, NULL, run, (void *)change);
	for (int i = 0; i < ROUNDS && !reached; i++) {
		int fd = socket(AF_UNIX, SOCK_STREAM, 0), held = fd;
		char text[16] = "";

		if (change == change_descriptor)
			held = NUMBER;
		if (!connect(held, (struct sockaddr *)&address, length) &&
		    recv(held, text, sizeof(text) - 1, change == change_descriptor ? MSG_DONTWAIT : 0) > 0)
			reached = *text == 't';
		close(fd);
	}
	over = 1;
	pthread_join(thread, NULL);
	printf("%s %s\n", variant, reached ? "done" : "no");
	fflush(stdout);
}

int main(int argc, char **argv)
{
	char longer[108];
	const char *tmp = getenv("TMPDIR");

	(void)argc;
	bad = argv[1];
	good = argv[2];
	if (chdir(tmp ? tmp : "/tmp"))
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
