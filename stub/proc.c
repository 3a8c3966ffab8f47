/*
 * stub/proc.c - small files of /proc, read without allocating.
 */
#include "stub/proc.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "stub/out.h"

size_t proc_read(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t length = fd >= 0 ? read(fd, text, size - 1) : -1;

	if (fd >= 0)
		close(fd);
	text[length > 0 ? length : 0] = '\0';
	return length > 0 ? (size_t)length : 0;
}

uint64_t proc_number(const char *text, const char *label, unsigned base)
{
	const char *at = out_find(text, label);
	uint64_t value = 0;

	if (!at)
		return 0;
	for (at = out_skip(at + strlen(label)); *at; at++) {
		unsigned digit = *at >= 'a' ? (unsigned)(*at - 'a') + 10 : (unsigned)(*at - '0');

		if (digit >= base)
			break;
		value = value * base + digit;
	}
	return value;
}
