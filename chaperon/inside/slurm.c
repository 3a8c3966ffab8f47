/*
 * chaperon/inside/slurm.c - sbx-slurm: sbatch, srun, squeue, ... inside a session.
 *
 * One small static program under each of these names.  It knows no option: it sends its
 * arguments, directory and environment to the session's sbx-chaperon, which decides and
 * runs the real client outside, and passes on what comes back.  What it opens, it opens
 * with the rights of the session.
 */
#include "blob/chaperon_wire.h"
#include "blob/job_wire.h"
#include "chaperon/inside/job.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

extern char **environ;

#define PIECE 65536

static const char *name;  /* as it was called */
static int chaperon = -1; /* the connection */
static int signals[2] = { -1, -1 };
static struct termios before; /* of the terminal on standard input */
static bool is_raw, wants_input;
static char unsent[sizeof(struct chaperon_frame) + PIECE]; /* of standard input */
static size_t unsent_at, unsent_size;

static void restore_terminal(void)
{
	if (is_raw)
		tcsetattr(0, TCSADRAIN, &before);
	is_raw = false;
}

static _Noreturn void fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

static _Noreturn void fail(const char *format, ...)
{
	va_list arguments;

	restore_terminal();
	fprintf(stderr, "%s: sbx: ", name);
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fputc('\n', stderr);
	exit(1);
}

/* ---- sending -------------------------------------------------------------------------- */

/* A request is some fifty small frames: each by itself would wake the chaperon. */
static char outgoing[PIECE];
static size_t outgoing_size;

static bool send_all(const void *data, size_t size)
{
	const char *at = data;

	while (size) {
		ssize_t sent = send(chaperon, at, size, MSG_NOSIGNAL);

		if (sent < 0 && errno == EINTR)
			continue;
		if (sent < 0)
			return false; /* it has said why: see what there is to read */
		at += sent;
		size -= (size_t)sent;
	}
	return true;
}

static bool send_gathered(void)
{
	size_t size = outgoing_size;

	outgoing_size = 0;
	return send_all(outgoing, size);
}

static bool gather(const void *data, size_t size)
{
	if (size > sizeof(outgoing) - outgoing_size && !send_gathered())
		return false;
	if (size > sizeof(outgoing))
		return send_all(data, size);
	memcpy(outgoing + outgoing_size, data, size);
	outgoing_size += size;
	return true;
}

/* It goes with the next send_gathered(). */
static bool add_frame(enum chaperon_frame_kind kind, const void *data, size_t size)
{
	struct chaperon_frame head = { .magic = CHAPERON_FRAME_MAGIC,
				       .version = SBX_CHAPERON_WIRE_VERSION,
				       .kind = (uint8_t)kind,
				       .size = (uint32_t)size };

	if (size > CHAPERON_FRAME_MAX)
		fail("an argument or a variable is longer than 1 MiB");
	return gather(&head, sizeof(head)) && gather(data, size);
}

static struct chaperon_hello terminal_state(void)
{
	struct chaperon_hello hello = { 0 };
	struct winsize size;

	for (int fd = 0; fd < 3; fd++) {
		if (!isatty(fd))
			continue;
		hello.terminal |= 1u << fd;
		if (!ioctl(fd, TIOCGWINSZ, &size)) {
			hello.rows = size.ws_row;
			hello.columns = size.ws_col;
		}
	}
	return hello;
}

/* False: the connection is cut; its last words tell why. */
static bool send_request(int argc, char **argv)
{
	struct chaperon_hello hello = terminal_state();
	static const char own[] = SBX_CHAPERON_VARIABLE "=";
	char cwd[PATH_MAX];
	bool sent = add_frame(CHAPERON_HELLO, &hello, sizeof(hello)) &&
		    add_frame(CHAPERON_ARGUMENT, name, strlen(name));

	if (!getcwd(cwd, sizeof(cwd)))
		fail("the working directory is not there any more");
	for (int i = 1; i < argc && sent; i++)
		sent = add_frame(CHAPERON_ARGUMENT, argv[i], strlen(argv[i]));
	for (char **at = environ; *at && sent; at++)
		if (strchr(*at, '=') && strncmp(*at, own, sizeof(own) - 1) != 0)
			sent = add_frame(CHAPERON_ENV, *at, strlen(*at));
	return sent && add_frame(CHAPERON_CWD, cwd, strlen(cwd)) &&
	       add_frame(CHAPERON_RUN, "", 0) && send_gathered();
}

/* ---- the script of a batch job ----------------------------------------------------------- */

static int open_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat status;

	if (fd >= 0 && !fstat(fd, &status) && S_ISDIR(status.st_mode)) {
		close(fd);
		fd = -1;
	}
	return fd;
}

/* As sbatch looks for it: here, then along PATH unless there is a slash in it. */
static int find_script(const char *script)
{
	const char *at = getenv("PATH");
	char path[PATH_MAX];
	int fd = open_file(script);

	while (fd < 0 && at && *at && !strchr(script, '/')) {
		size_t size = strcspn(at, ":");

		if (snprintf(path, sizeof(path), "%.*s/%s", (int)size, at, script) <
		    (int)sizeof(path))
			fd = open_file(path);
		at += size + (at[size] == ':');
	}
	return fd;
}

static void send_script(const char *script)
{
	static char piece[PIECE];
	int fd = *script ? find_script(script) : 0;
	ssize_t got = 1;

	if (fd < 0) {
		snprintf(piece, sizeof(piece), "Unable to open file %.1000s", script);
		if (add_frame(CHAPERON_NO_SCRIPT, piece, strlen(piece)))
			send_gathered();
		return;
	}
	while (got > 0) {
		got = read(fd, piece, sizeof(piece));
		if (got < 0 && errno == EINTR)
			got = 1;
		else if (got < 0)
			fail("the script cannot be read: %s", strerror(errno));
		else if (!add_frame(CHAPERON_SCRIPT, piece, (size_t)got) || !send_gathered())
			break;
	}
	if (*script)
		close(fd);
}

/* ---- a program that runs ------------------------------------------------------------------ */

static void on_signal(int number)
{
	char byte = (char)number;
	int saved = errno;

	if (write(signals[1], &byte, 1) < 0)
		errno = saved; /* the pipe is full of others */
	errno = saved;
}

/* From now on what the program is to hear of is its own matter. */
static void begin_input(void)
{
	static const int passed[] = {
		SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGWINCH
	};
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_RESTART };

	wants_input = true;
	if (pipe2(signals, O_CLOEXEC | O_NONBLOCK))
		fail("%s", strerror(errno));
	for (size_t i = 0; i < sizeof(passed) / sizeof(passed[0]); i++)
		sigaction(passed[i], &action, NULL);
	fcntl(chaperon, F_SETFL, O_NONBLOCK);
}

static void begin_terminal(void)
{
	struct termios raw;

	if (tcgetattr(0, &before))
		return;
	raw = before;
	cfmakeraw(&raw);
	is_raw = !tcsetattr(0, TCSADRAIN, &raw);
}

/* A frame for later: the chaperon takes it once the program reads. */
static void queue_frame(enum chaperon_frame_kind kind, const void *data, size_t size)
{
	struct chaperon_frame head = { .magic = CHAPERON_FRAME_MAGIC,
				       .version = SBX_CHAPERON_WIRE_VERSION,
				       .kind = (uint8_t)kind,
				       .size = (uint32_t)size };

	memcpy(unsent, &head, sizeof(head));
	memcpy(unsent + sizeof(head), data, size);
	unsent_at = 0;
	unsent_size = sizeof(head) + size;
}

static void send_unsent(void)
{
	ssize_t sent = send(chaperon, unsent + unsent_at, unsent_size - unsent_at, MSG_NOSIGNAL);

	if (sent > 0)
		unsent_at += (size_t)sent;
	else if (errno != EAGAIN && errno != EINTR)
		unsent_at = unsent_size; /* it has ended: what it said is read */
	if (unsent_at == unsent_size)
		unsent_at = unsent_size = 0;
}

static void read_input(void)
{
	static char piece[PIECE];
	ssize_t got = read(0, piece, sizeof(piece));

	if (got < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (got <= 0)
		wants_input = false;
	queue_frame(CHAPERON_INPUT, piece, got > 0 ? (size_t)got : 0);
}

static void read_signal(void)
{
	struct chaperon_hello hello;
	uint32_t number;
	char byte;

	if (read(signals[0], &byte, 1) != 1)
		return;
	number = (uint32_t)byte;
	hello = terminal_state();
	if (number == SIGWINCH)
		queue_frame(CHAPERON_RESIZE, &hello, sizeof(hello));
	else
		queue_frame(CHAPERON_SIGNAL, &number, sizeof(number));
}

/* Until there is something to read. */
static void wait_for_chaperon(void)
{
	for (;;) {
		bool free_to_send = !unsent_size;
		struct pollfd fds[] = {
			{ .fd = chaperon,
			  .events = (short)(POLLIN | (free_to_send ? 0 : POLLOUT)) },
			{ .fd = signals[0] >= 0 && free_to_send ? signals[0] : -1,
			  .events = POLLIN },
			{ .fd = wants_input && free_to_send ? 0 : -1, .events = POLLIN },
		};

		if (poll(fds, 3, -1) < 0)
			continue;
		if (fds[0].revents & POLLOUT)
			send_unsent();
		if (fds[0].revents & (POLLIN | POLLHUP | POLLERR))
			return;
		if (fds[1].revents)
			read_signal();
		else if (fds[2].revents)
			read_input();
	}
}

/* ---- receiving ---------------------------------------------------------------------------- */

static void receive(void *data, size_t size)
{
	char *at = data;

	while (size) {
		ssize_t got;

		wait_for_chaperon();
		got = recv(chaperon, at, size, 0);
		if (got < 0 && (errno == EAGAIN || errno == EINTR))
			continue;
		if (got <= 0)
			fail("the session's sbx-chaperon has ended");
		at += got;
		size -= (size_t)got;
	}
}

static void put(int fd, const char *data, size_t size)
{
	while (size) {
		ssize_t written = write(fd, data, size);

		if (written < 0 && errno == EAGAIN) {
			struct pollfd ready = { .fd = fd, .events = POLLOUT };

			poll(&ready, 1, -1);
		} else if (written < 0 && errno != EINTR) {
			return; /* nobody reads it */
		} else if (written > 0) {
			data += written;
			size -= (size_t)written;
		}
	}
}

static _Noreturn void end_as(const void *body, size_t size)
{
	uint32_t status = 0;

	restore_terminal();
	if (size != sizeof(status))
		fail("sbx-chaperon is of another version");
	memcpy(&status, body, sizeof(status));
	exit(WIFEXITED((int)status) ? WEXITSTATUS((int)status) : 128 + WTERMSIG((int)status));
}

static void answer(void)
{
	static char body[CHAPERON_FRAME_MAX + 1];
	struct chaperon_frame head;

	receive(&head, sizeof(head));
	if (head.magic != CHAPERON_FRAME_MAGIC || head.version != SBX_CHAPERON_WIRE_VERSION ||
	    head.size > CHAPERON_FRAME_MAX)
		fail("sbx-chaperon is of another version");
	receive(body, head.size);
	body[head.size] = '\0';
	switch (head.kind) {
	case CHAPERON_WANT_SCRIPT:
		send_script(body);
		break;
	case CHAPERON_WANT_INPUT:
		begin_input();
		break;
	case CHAPERON_TERMINAL:
		begin_terminal();
		break;
	case CHAPERON_OUTPUT:
	case CHAPERON_ERROR:
		put(head.kind == CHAPERON_OUTPUT ? 1 : 2, body, head.size);
		break;
	case CHAPERON_EXIT:
		end_as(body, head.size);
	default:
		fail("sbx-chaperon is of another version");
	}
}

static void join(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	const char *path = getenv(SBX_CHAPERON_VARIABLE);

	if (!path || strlen(path) >= sizeof(address.sun_path))
		fail("no Slurm here: the policy has no `slurm` section, or this is a task of srun");
	strcpy(address.sun_path, path);
	chaperon = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (chaperon < 0 || connect(chaperon, (const struct sockaddr *)&address, sizeof(address)))
		fail("the session's sbx-chaperon does not answer: %s", strerror(errno));
}

int main(int argc, char **argv)
{
	const char *slash = argc ? strrchr(argv[0], '/') : NULL;

	name = !argc ? "sbx-slurm" : slash ? slash + 1 : argv[0];
	if (!strcmp(name, SBX_JOB_RUNNER))
		job_run(argc, argv);
	if (!strcmp(name, "sbx-slurm")) {
		fputs("usage: it is called by the names of Slurm's clients, inside a session\n",
		      argc > 1 && !strcmp(argv[1], "--help") ? stdout : stderr);
		return argc > 1 && !strcmp(argv[1], "--help") ? 0 : 2;
	}
	join();
	send_request(argc, argv);
	for (;;)
		answer();
}
