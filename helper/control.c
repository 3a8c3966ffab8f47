/*
 * helper/control.c - see control.h.
 */
#include "helper/control.h"

#include "blob/blob.h"

#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* The descriptors of @header; those that do not fit were closed by the kernel. */
static void take_fds(struct msghdr *header, int fds[HELPER_FDS])
{
	for (struct cmsghdr *part = CMSG_FIRSTHDR(header); part; part = CMSG_NXTHDR(header, part)) {
		size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);

		if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS)
			continue;
		memcpy(fds, CMSG_DATA(part), (count < HELPER_FDS ? count : HELPER_FDS) * sizeof(int));
	}
}

enum control_result control_receive(bool wait, struct helper_message *message,
				    int fds[HELPER_FDS])
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(HELPER_FDS * sizeof(int))];
	} extra;
	struct iovec part = { message, sizeof(*message) };
	struct msghdr header = { .msg_iov = &part, .msg_iovlen = 1, .msg_control = &extra,
				 .msg_controllen = sizeof(extra) };
	ssize_t got;

	*message = (struct helper_message){ 0 };
	for (int i = 0; i < HELPER_FDS; i++)
		fds[i] = -1;
	do
		got = recvmsg(SBX_HELPER_WIRE_FD, &header,
			      MSG_CMSG_CLOEXEC | (wait ? 0 : MSG_DONTWAIT));
	while (got < 0 && errno == EINTR);
	if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
		return CONTROL_NOTHING;
	if (got < (ssize_t)offsetof(struct helper_message, text))
		return CONTROL_CLOSED;
	message->text[HELPER_TEXT - 1] = '\0';
	take_fds(&header, fds);
	return CONTROL_GOT;
}

static bool send_message(unsigned kind, int value, const char *text, int flags)
{
	struct helper_message message = { .kind = kind, .value = value };
	size_t length = 0;

	if (text) {
		snprintf(message.text, sizeof(message.text), "%s", text);
		length = strlen(message.text) + 1;
	}
	length += offsetof(struct helper_message, text);
	return send(SBX_HELPER_WIRE_FD, &message, length, flags | MSG_NOSIGNAL) == (ssize_t)length;
}

bool control_send(unsigned kind, const char *text)
{
	return send_message(kind, 0, text, MSG_DONTWAIT);
}

void control_note(const char *format, ...)
{
	char text[HELPER_TEXT];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	sbx_make_printable(text);
	control_send(HELPER_NOTE, text);
}

bool control_say(unsigned kind, int value, const char *format, ...)
{
	char text[HELPER_TEXT];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	sbx_make_printable(text);
	return send_message(kind, value, text, 0);
}
