/* What a program in the sandbox tries, and whom it tries it on.
 *
 *	probe listen SOCKET LOG     notes in LOG who connects, and SIGUSR1
 *	probe attack OUTSIDE SECRET SHOWN SOCKET PID
 *	                            says that it runs, writes into the workspace,
 *	                            then tries all; judged by what came of it
 *	probe abi                   prints the Landlock ABI, 0 where there is none
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#define LANDLOCK_CREATE_RULESET 444

static struct sockaddr_un address_of(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	strncpy(address.sun_path, path, sizeof(address.sun_path) - 1);
	return address;
}

static int listen_at(const char *path, const char *log)
{
	struct sockaddr_un address = address_of(path);
	int listener = socket(AF_UNIX, SOCK_STREAM, 0), signals;
	FILE *notes = fopen(log, "a");
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signals = signalfd(-1, &set, 0);
	if (!notes || bind(listener, (struct sockaddr *)&address, sizeof(address)) ||
	    listen(listener, 8))
		return 1;
	for (;;) {
		struct pollfd fds[] = { { listener, POLLIN, 0 }, { signals, POLLIN, 0 } };
		struct signalfd_siginfo info;

		poll(fds, 2, -1);
		if (fds[0].revents) {
			close(accept(listener, NULL, NULL));
			fprintf(notes, "connected\n");
		}
		if (fds[1].revents && read(signals, &info, sizeof(info)) > 0)
			fprintf(notes, "signalled\n");
		fflush(notes);
	}
}

static void say(const char *what, int result)
{
	printf("%s: %s\n", what, result < 0 ? strerror(errno) : "done");
}

static int attack(char **argv)
{
	struct sockaddr_un address = address_of(argv[3]);
	char text[64] = "";
	int fd;

	printf("the probe runs\n");
	fd = open("own", O_WRONLY | O_CREAT | O_TRUNC, 0600);
	printf("workspace %s\n", fd >= 0 && write(fd, "x", 1) == 1 ? "written" : "closed");
	say("write", open(argv[0], O_WRONLY | O_CREAT, 0600));
	fd = open(argv[1], O_RDONLY);
	say("read", fd < 0 ? fd : (int)read(fd, text, sizeof(text) - 1));
	printf("%s", text);
	say("truncate", truncate(argv[2], 0));
	say("truncate while reading", open(argv[2], O_RDONLY | O_TRUNC));
	fd = socket(AF_UNIX, SOCK_STREAM, 0);
	say("connect", fd < 0 ? fd : connect(fd, (struct sockaddr *)&address, sizeof(address)));
	say("signal", kill(atoi(argv[4]), SIGUSR1));
	fflush(stdout);
	usleep(100000); /* for whoever takes notes */
	return 0;
}

int main(int argc, char **argv)
{
	long abi;

	if (argc == 4 && !strcmp(argv[1], "listen"))
		return listen_at(argv[2], argv[3]);
	if (argc == 7 && !strcmp(argv[1], "attack"))
		return attack(argv + 2);
	abi = syscall(LANDLOCK_CREATE_RULESET, NULL, 0, 1);
	printf("%ld\n", abi > 0 ? abi : 0);
	return 0;
}
