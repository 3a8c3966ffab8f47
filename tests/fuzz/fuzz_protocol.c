/*
 * Any messages from the inner stage, with descriptors or without.  Whatever they say:
 * the outer stage ends, kills nobody but its backend, keeps no descriptor that it does
 * not use, and lets no text of theirs write to the terminal.
 *
 * Each message: a byte that says with how many descriptors it comes, and of what kind
 * (the low two bits), the kind of message, four bytes of value, then text to the next
 * 0xff.
 */
#include "tests/fuzz/launcher.h"

#include <dirent.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>

/* It shall not stop or kill what is not its own here. */
static int killed(int pid, int number);
static int no_pidfd(long number, ...);
#define kill    killed
#define syscall no_pidfd
#include "stub/supervise.c"
#include "stub/supervise_stop.c"
#undef kill
#undef syscall

#define BACKEND_PID  0x7ffffff0
#define MESSAGES_MAX 20

static int listener;

static int killed(int pid, int number)
{
	if (pid != BACKEND_PID)
		fuzz_fault("%d was to be sent %d", pid, number);
	return 0;
}

/* pidfd_open() is a descriptor of our own; nothing else is called so while messages
 * are read but pidfd_send_signal(), which goes where that leads. */
static int no_pidfd(long number, ...)
{
	return number == SYS_pidfd_open ? open("/dev/null", O_RDONLY | O_CLOEXEC) : 0;
}

/* ---- the rest of the outer stage ---------------------------------------------------- */

bool backend_go_on(const struct backend *backend)
{
	(void)backend;
	return true;
}

void backend_drop_process_limit(struct plan *plan)
{
	(void)plan;
}

/* No job: none to read, and nothing to hand over. */
int backend_sealed_file(const char *name, const void *data, size_t size)
{
	(void)name;
	(void)data;
	(void)size;
	return -1;
}

/* No helper: none to find, to hear or to hand a socket to. */
void proxy_find(struct launch *launch)
{
	(void)launch;
}

void slurm_find(struct launch *launch)
{
	(void)launch;
}

int proxy_socket(unsigned port)
{
	(void)port;
	return -1;
}

int helper_hear(struct helper *helper, struct helper_message *message)
{
	(void)helper;
	(void)message;
	return -1;
}

bool helper_listen(struct helper *helper, int value)
{
	(void)helper;
	(void)value;
	return true;
}

void broker_start(const struct launch *launch, struct broker *broker, int fd, const char *devices)
{
	(void)launch;
	if (strnlen(devices, MESSAGE_TEXT) == MESSAGE_TEXT)
		fuzz_fault("a text without an end");
	listener = broker->listener = fd;
}

void broker_stop(struct broker *broker)
{
	(void)broker;
}

bool broker_reaped(struct broker *broker, int pid)
{
	(void)broker;
	(void)pid;
	return false;
}

void broker_answer(const struct launch *launch, struct broker *broker)
{
	(void)launch;
	(void)broker;
}

void terminal_follow_stop(int program, int number)
{
	(void)program;
	(void)number;
}

void terminal_stop(void)
{
}

void terminal_follow_continue(int program)
{
	(void)program;
}

bool terminal_is_gone(void)
{
	return false;
}

/* ---- the inner stage --------------------------------------------------------------- */

static void send_message(int socket, unsigned how, void *bytes, size_t size)
{
	int fds[3] = { socket, socket, socket };
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(fds))] = { 0 };
	struct iovec part = { bytes, size };
	struct msghdr head = { .msg_iov = &part, .msg_iovlen = 1 };
	size_t count = how & 3;

	if (count) {
		struct cmsghdr *cmsg;

		head.msg_control = control;
		head.msg_controllen = CMSG_SPACE(count * sizeof(int));
		cmsg = CMSG_FIRSTHDR(&head);
		cmsg->cmsg_level = SOL_SOCKET;
		cmsg->cmsg_type = SCM_RIGHTS;
		cmsg->cmsg_len = CMSG_LEN(count * sizeof(int));
		memcpy(CMSG_DATA(cmsg), fds, count * sizeof(int));
	}
	sendmsg(socket, &head, MSG_DONTWAIT);
}

/* The message at @data; how long it is. */
static size_t send_one(int socket, const uint8_t *data, size_t size)
{
	const uint8_t *end = size > 6 ? memchr(data + 6, 0xff, size - 6) : NULL;
	size_t length = end ? (size_t)(end - data) : size;
	struct message message = { .kind = length > 1 ? data[1] : 0 };
	size_t text = length > 6 ? length - 6 : 0;

	if (length >= 6)
		memcpy(&message.value, data + 2, 4);
	if (text > MESSAGE_TEXT)
		text = MESSAGE_TEXT;
	memcpy(message.text, data + 6, text);
	/* One that is cut off too. */
	send_message(socket, data[0], &message,
		     data[0] & 0x80 ? length % sizeof(message)
				    : sizeof(message) - MESSAGE_TEXT + text);
	return length + (end != NULL);
}

struct session_input {
	const uint8_t *data;
	size_t size;
	int ours, theirs;
	struct watch watch;
	struct outcome out;
	struct backend backend;
};

static void receive_all(void *data)
{
	struct session_input *in = data;
	struct launch *launch = mem_get(sizeof(*launch));
	struct watch *s = &in->watch;

	launch->options.verbose = true;
	in->backend.kind = in->size && in->data[0] & 0x40 ? SBX_FIREJAIL : SBX_BWRAP;
	in->backend.pid = BACKEND_PID;
	in->backend.socket = in->ours;
	s->launch = launch;
	s->backend = &in->backend;
	s->out = &in->out;
	s->helpers[0] = &launch->proxy.helper;
	s->helpers[1] = &launch->slurm.helper;
	in->out.words = "";
	s->broker.listener = s->first = s->inner = s->pidfd = -1;
	for (unsigned i = 0; i < MESSAGES_MAX && in->size && !s->over; i++) {
		size_t length = send_one(in->theirs, in->data, in->size);

		in->data += length;
		in->size -= length;
		if (!receive(s, MSG_DONTWAIT))
			break;
	}
	if (s->out->failed && strlen(s->out->failed) >= MESSAGE_TEXT)
		fuzz_fault("a text without an end");
	if (s->out->failed)
		note("%s", s->out->failed);
}

static unsigned open_descriptors(void)
{
	unsigned count = 0;
	DIR *dir = opendir("/proc/self/fd");

	while (readdir(dir))
		count++;
	closedir(dir);
	return count;
}

static unsigned close_one(int fd)
{
	return fd >= 0 && !close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct session_input *in = calloc(1, sizeof(*in));
	unsigned before, after, kept;
	int pair[2], on = 1;

	listener = -1;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		fuzz_fault("no sockets");
	setsockopt(pair[0], SOL_SOCKET, SO_PASSCRED, &on, sizeof(on));
	*in = (struct session_input){
		.data = data, .size = size, .ours = pair[0], .theirs = pair[1]
	};
	before = open_descriptors();
	if (launcher_run(receive_all, in) >= 0)
		fuzz_fault("it ended");
	after = open_descriptors();
	kept = close_one(in->watch.first) + close_one(in->watch.inner) +
	       close_one(in->watch.pidfd) + close_one(listener);
	if (after != before + kept)
		fuzz_fault("%u descriptors stay open, and %u are known", after - before, kept);
	close(pair[0]);
	close(pair[1]);
	free(in);
	return 0;
}
