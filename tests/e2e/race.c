/* Threads that change what a connect is given while it is decided.
 *
 *	race address GOOD BAD ROUNDS	the path of the address
 *	race descriptor GOOD BAD ROUNDS	which socket the number is
 *	race name GOOD BAD ROUNDS	where a link leads, and what a name is
 *	race flags GOOD BAD ROUNDS	whether the socket blocks; BAD never accepts
 *
 * A listener says who it is: HOST or INSIDE.  Prints how often each was reached. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

static struct sockaddr_un address = { .sun_family = AF_UNIX };
static const char *good, *bad;
static _Atomic int over, number;

/* Byte by byte too, so that it is caught half changed. */
static void *change_address(void *unused)
{
	(void)unused;
	while (!over) {
		strcpy(address.sun_path, bad);
		strcpy(address.sun_path, good);
	}
	return NULL;
}

/* The number is that of a local socket, of one of the internet, of none. */
static void *change_descriptor(void *unused)
{
	int inet = socket(AF_INET, SOCK_STREAM, 0), file = open("/dev/null", O_RDONLY);

	(void)unused;
	while (!over) {
		int local = socket(AF_UNIX, SOCK_STREAM, 0);

		dup2(inet < 0 ? file : inet, number);
		dup2(local, number);
		dup2(file, number);
		dup2(local, number);
		close(local);
	}
	return NULL;
}

static void *change_name(void *unused)
{
	(void)unused;
	while (!over) {
		unlink("swing");
		if (symlink(bad, "swing"))
			perror("swing");
		if (symlink(good, "swing2"))
			perror("swing");
		rename("swing2", "swing");
	}
	return NULL;
}

static void *change_flags(void *unused)
{
	(void)unused;
	while (!over) {
		fcntl(number, F_SETFL, O_NONBLOCK);
		fcntl(number, F_SETFL, 0);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	const struct timeval patience = { 0, 20 * 1000 };
	int rounds, host = 0, inside = 0;
	pthread_t thread;
	void *(*change)(void *);

	if (argc < 5)
		return 99;
	good = argv[2];
	bad = argv[3];
	rounds = atoi(argv[4]);
	strcpy(address.sun_path, bad);
	change = *argv[1] == 'a'   ? change_address
		 : *argv[1] == 'd' ? change_descriptor
		 : *argv[1] == 'n' ? change_name
				   : change_flags;
	if (change == change_name)
		strcpy(address.sun_path, "swing");
	number = 100;
	dup2(0, number);
	pthread_create(&thread, NULL, change, NULL);
	for (int i = 0; i < rounds; i++) {
		int fd =
		    socket(AF_UNIX, SOCK_STREAM | (change == change_flags ? SOCK_NONBLOCK : 0), 0);
		char text[8] = "";

		if (change == change_flags) {
			setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
			dup2(fd, number);
		}
		if (change == change_descriptor) {
			/* Whichever it was: what is behind the number now may be another. */
			if (!connect(number, (struct sockaddr *)&address, sizeof(address))) {
				int now = dup(number);

				if (recv(now, text, sizeof(text) - 1, MSG_DONTWAIT) > 0)
					host += *text == 'H';
				close(now);
			}
		} else if (!connect(fd, (struct sockaddr *)&address, sizeof(address)) &&
			   change != change_flags && read(fd, text, sizeof(text) - 1) > 0) {
			host += *text == 'H';
			inside += *text == 'I';
		}
		close(fd);
	}
	over = 1;
	pthread_join(thread, NULL);
	printf("host=%d inside=%d\n", host, inside);
	return 0;
}
