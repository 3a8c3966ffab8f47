/* Connects to a local socket in each way there is; prints one word a try: ok (and
 * what the listener sent), or the error.
 *
 *	connect HOW PATH [MORE]
 *
 * HOW: stream, seqpacket, nonblock, setsid (a grandchild without a terminal),
 * abstract, tcp (PATH is a port), send (with an address, on a stream socket),
 * dgram, raw, pair (datagrams, by sendto), ring (io_uring), unspec, addresses
 * (what is no address), deep (from a directory whose name is too long), many
 * (MORE times), alarm (a signal while it waits), inherited (sendto on MORE), closed
 * (not dumpable). */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static struct sockaddr_un address = { .sun_family = AF_UNIX };
static socklen_t length;

static void name_path(const char *path)
{
	strncpy(address.sun_path, path, sizeof(address.sun_path) - 1);
	length = sizeof(address);
}

static void say(const char *what, int result)
{
	printf("%s=%s\n", what, result < 0 ? strerrorname_np(errno) : "ok");
}

/* What it says when it is reached: "ok HOST". */
static void greet(const char *what, int fd, int result)
{
	struct pollfd wait = { fd, POLLIN, 0 };
	char text[16] = "";

	if (result == 0 && poll(&wait, 1, 2000) > 0 && read(fd, text, sizeof(text) - 1) < 0)
		text[0] = '\0';
	printf("%s=%s%s%s\n", what, result < 0 ? strerrorname_np(errno) : "ok", *text ? " " : "",
	       text);
}

static int try(int fd)
{
	return connect(fd, (struct sockaddr *)&address, length);
}

static void nonblock(const char *what)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);

	greet(what, fd, try(fd));
}

static void tcp(const char *port, int flags)
{
	struct sockaddr_in host = { .sin_family = AF_INET,
				    .sin_port = htons((unsigned short)atoi(port)),
				    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM | flags, 0);
	int result = fd < 0 ? -1 : connect(fd, (struct sockaddr *)&host, sizeof(host));

	if (result < 0 && errno == EINPROGRESS) {
		struct pollfd wait = { fd, POLLOUT, 0 };
		socklen_t size = sizeof(errno);

		poll(&wait, 1, 5000);
		getsockopt(fd, SOL_SOCKET, SO_ERROR, &errno, &size);
		result = errno ? -1 : 0;
	}
	greet("tcp", fd, result);
}

static void datagram(const char *what, int fd)
{
	char byte = 'D';
	struct iovec part = { &byte, 1 };
	struct msghdr head = {
		.msg_name = &address, .msg_namelen = length, .msg_iov = &part, .msg_iovlen = 1
	};

	if (fd < 0) {
		say(what, -1);
		return;
	}
	say(what, (int)sendto(fd, "D", 1, 0, (struct sockaddr *)&address, length));
	say("sendmsg", (int)sendmsg(fd, &head, 0));
	say("connect", try(fd));
}

static void pair(int type)
{
	int fds[2] = { -1, -1 };

	if (socketpair(AF_UNIX, type, 0, fds))
		fds[0] = -1;
	datagram("pair", fds[0]);
}

static void unspec(void)
{
	struct sockaddr none = { .sa_family = AF_UNSPEC };
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	say("unspec-inet", fd < 0 ? -1 : connect(fd, &none, sizeof(none)));
	fd = socket(AF_UNIX, SOCK_STREAM, 0);
	say("unspec-unix", connect(fd, &none, sizeof(none)));
	/* The family of the address is not the socket's. */
	address.sun_family = AF_INET;
	say("inet-on-unix", try(fd));
	address.sun_family = AF_UNIX;
	fd = socket(AF_INET, SOCK_STREAM, 0);
	say("unix-on-inet", fd < 0 ? -1 : try(fd));
}

static void addresses(void)
{
	int fd = socket(AF_UNIX, SOCK_STREAM, 0), file = open("/dev/null", O_RDONLY);
	char *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	munmap(page + 4096, 4096);
	say("null", connect(fd, NULL, sizeof(address)));
	say("past-the-end", connect(fd, (struct sockaddr *)(page + 4090), sizeof(address)));
	say("empty", connect(fd, (struct sockaddr *)&address, 0));
	say("short", connect(fd, (struct sockaddr *)&address, 1));
	say("long", connect(fd, (struct sockaddr *)&address, 200));
	say("negative", connect(fd, (struct sockaddr *)&address, (socklen_t)-1));
	say("no-path", connect(fd, (struct sockaddr *)&address, 2));
	say("no-descriptor", try(999));
	say("no-socket", try(file));
	/* 108 bytes and no NUL. */
	memset(address.sun_path, 'x', sizeof(address.sun_path));
	say("unended", try(fd));
	name_path("/dev/null");
	say("no-socket-file", try(fd));
}

/* Its own name does not fit into anything any more. */
static void deep(const char *path)
{
	char name[201];
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	memset(name, 'd', 200);
	name[200] = '\0';
	for (int i = 0; i < 25; i++)
		if ((mkdir(name, 0700) && errno != EEXIST) || chdir(name)) {
			perror("deep");
			return;
		}
	name_path(path);
	greet("absolute", fd, try(fd));
	if (symlink(path, "link") && errno != EEXIST)
		perror("link");
	name_path("link");
	fd = socket(AF_UNIX, SOCK_STREAM, 0);
	greet("link", fd, try(fd));
	fd = socket(AF_UNIX, SOCK_STREAM, 0);
	unlink("here");
	name_path("here");
	say("bind", bind(fd, (struct sockaddr *)&address, length));
	listen(fd, 1);
	say("here", try(socket(AF_UNIX, SOCK_STREAM, 0)));
}

/* It connects when it is an orphan. */
static void setsid_grandchild(void)
{
	int done[2];
	char byte;

	if (pipe(done))
		return;
	if (fork() == 0) {
		pid_t parent = getpid();

		setsid();
		if (fork() == 0) {
			int fd = socket(AF_UNIX, SOCK_STREAM, 0);

			while (getppid() == parent)
				usleep(1000);
			greet("setsid", fd, try(fd));
			fflush(NULL);
		}
		_exit(0);
	}
	close(done[1]);
	wait(NULL);
	if (read(done[0], &byte, 1) < 0)
		perror("setsid");
}

static void many(int count)
{
	int good = 0;

	for (int i = 0; i < count; i++) {
		int fd = socket(AF_UNIX, SOCK_STREAM, 0);

		good += try(fd) == 0;
		close(fd);
	}
	printf("many=%d\n", good);
}

/* ---- io_uring: the connect is the kernel's, and no filter sees it ------------------ */

static int ring(void)
{
	struct io_uring_params params = { 0 };
	int fd = (int)syscall(SYS_io_uring_setup, 4, &params), target;
	char *queue;
	unsigned *tail, *array, *done;
	struct io_uring_sqe *entry;
	struct io_uring_cqe *result;

	if (fd < 0)
		return -1;
	queue = mmap(NULL, 4096 * 4, PROT_READ | PROT_WRITE, MAP_SHARED, fd, IORING_OFF_SQ_RING);
	entry = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, IORING_OFF_SQES);
	target = socket(AF_UNIX, SOCK_STREAM, 0);
	memset(entry, 0, sizeof(*entry));
	entry->opcode = IORING_OP_CONNECT;
	entry->fd = target;
	entry->addr = (unsigned long)&address;
	entry->off = length;
	tail = (unsigned *)(queue + params.sq_off.tail);
	array = (unsigned *)(queue + params.sq_off.array);
	done = (unsigned *)(queue + params.cq_off.tail);
	array[0] = 0;
	__atomic_store_n(tail, 1, __ATOMIC_RELEASE);
	if (syscall(SYS_io_uring_enter, fd, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0) < 0 || !*done)
		return -1;
	result = (struct io_uring_cqe *)(queue + params.cq_off.cqes);
	if (result->res < 0) {
		errno = -result->res;
		return -1;
	}
	return 0;
}

/* ---- a connect that waits ---------------------------------------------------------- */

static void on_alarm(int number)
{
	(void)number;
}

/* Nobody accepts at @path.  A signal must get through all the same. */
static void hang(void)
{
	struct sigaction action = { .sa_handler = on_alarm };
	struct timeval patience = { 0, 200 * 1000 };
	int fd;

	for (;;) { /* fills it */
		fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
		if (try(fd))
			break;
	}
	say("full", -1);
	sigaction(SIGALRM, &action, NULL);
	ualarm(200 * 1000, 0);
	fd = socket(AF_UNIX, SOCK_STREAM, 0);
	say("signalled", try(fd));
	fd = socket(AF_UNIX, SOCK_STREAM, 0);
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	say("timed-out", try(fd));
}

int main(int argc, char **argv)
{
	const char *how = argc > 2 ? argv[1] : "";
	int fd;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc < 3)
		return 99;
	name_path(argv[2]);
	if (!strcmp(how, "stream") || !strcmp(how, "seqpacket")) {
		fd = socket(AF_UNIX, how[1] == 't' ? SOCK_STREAM : SOCK_SEQPACKET, 0);
		greet(how, fd, try(fd));
	} else if (!strcmp(how, "abstract")) {
		address.sun_path[0] = '\0';
		strncpy(address.sun_path + 1, argv[2], sizeof(address.sun_path) - 2);
		length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(argv[2]));
		fd = socket(AF_UNIX, SOCK_STREAM, 0);
		greet(how, fd, try(fd));
	} else if (!strcmp(how, "nonblock")) {
		nonblock(how);
	} else if (!strcmp(how, "tcp")) {
		tcp(argv[2], argc > 3 ? SOCK_NONBLOCK : 0);
	} else if (!strcmp(how, "setsid")) {
		setsid_grandchild();
	} else if (!strcmp(how, "send")) {
		fd = socket(AF_UNIX, SOCK_STREAM, 0);
		say("stream", (int)sendto(fd, "S", 1, 0, (struct sockaddr *)&address, length));
		fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);
		say("seqpacket", (int)sendto(fd, "S", 1, 0, (struct sockaddr *)&address, length));
	} else if (!strcmp(how, "dgram") || !strcmp(how, "raw")) {
		datagram(how, socket(AF_UNIX, *how == 'd' ? SOCK_DGRAM : SOCK_RAW, 0));
		/* Above the 32 bits that the kernel reads, and with flags. */
		fd = (int)syscall(SYS_socket, 1ul << 32 | AF_UNIX,
				  1ul << 32 | SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
		datagram("wide", fd);
	} else if (!strcmp(how, "pair")) {
		pair(SOCK_DGRAM);
		pair(SOCK_RAW | SOCK_NONBLOCK);
	} else if (!strcmp(how, "closed")) {
		prctl(PR_SET_DUMPABLE, 0);
		fd = socket(AF_UNIX, SOCK_STREAM, 0);
		greet(how, fd, try(fd));
	} else if (!strcmp(how, "ring")) {
		say(how, ring());
	} else if (!strcmp(how, "unspec")) {
		unspec();
	} else if (!strcmp(how, "addresses")) {
		addresses();
	} else if (!strcmp(how, "deep")) {
		deep(argv[2]);
	} else if (!strcmp(how, "many") && argc > 3) {
		many(atoi(argv[3]));
	} else if (!strcmp(how, "alarm")) {
		hang();
	} else if (!strcmp(how, "inherited") && argc > 3) {
		say(how,
		    (int)sendto(atoi(argv[3]), "D", 1, 0, (struct sockaddr *)&address, length));
	} else {
		return 99;
	}
	return 0;
}
