/*
 * proxy/control.c - see control.h.
 */
#include "proxy/control.h"

#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* The descriptors of @header; those that do not fit were closed by the kernel. */
static void take_fds(struct msghdr *header, int fds[CONTROL_FDS])
{
	for (struct cmsghdr *part = CMSG_FIRSTHDR(header); part; part = CMSG_NXTHDR(header, part)) {
		size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);

		if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS)
			continue;
		memcpy(fds, CMSG_DATA(part), (count < CONTROL_FDS ? count : CONTROL_FDS) * sizeof(int));
	}
}

enum control_result control_receive(bool wait, struct proxy_message *message,
				    int fds[CONTROL_FDS])
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(CONTROL_FDS * sizeof(int))];
	} extra;
	struct iovec part = { message, sizeof(*message) };
	struct msghdr header = { .msg_iov = &part, .msg_iovlen = 1, .msg_control = &extra,
				 .msg_controllen = sizeof(extra) };
	ssize_t got;

	*message = (struct proxy_message){ 0 };
	for (int i = 0; i < CONTROL_FDS; i++)
		fds[i] = -1;
	do
		got = recvmsg(SBX_PROXY_WIRE_FD, &header,
			      MSG_CMSG_CLOEXEC | (wait ? 0 : MSG_DONTWAIT));
	while (got < 0 && errno == EINTR);
	if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
		return CONTROL_NOTHING;
	if (got < (ssize_t)offsetof(struct proxy_message, text))
		return CONTROL_CLOSED;
	message->text[PROXY_TEXT - 1] = '\0';
	take_fds(&header, fds);
	return CONTROL_GOT;
}

static bool send_message(enum proxy_message_kind kind, int value, const char *text, int flags)
{
	struct proxy_message message = { .kind = kind, .value = value };
	size_t length = 0;

	if (text) {
		snprintf(message.text, sizeof(message.text), "%s", text);
		length = strlen(message.text) + 1;
	}
	length += offsetof(struct proxy_message, text);
	return send(SBX_PROXY_WIRE_FD, &message, length, flags | MSG_NOSIGNAL) == (ssize_t)length;
}

bool control_send(enum proxy_message_kind kind, const char *text)
{
	return send_message(kind, 0, text, MSG_DONTWAIT);
}

static void escape(char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < ' ' || *text == 0x7f)
			*text = '?';
}

void control_note(const char *format, ...)
{
	char text[PROXY_TEXT];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	escape(text);
	control_send(PROXY_NOTE, text);
}

bool control_summary(bool inexact, const char *format, ...)
{
	char text[PROXY_TEXT];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	escape(text);
	return send_message(PROXY_SUMMARY, inexact, text, 0);
}
