/*
 * helper/lines.c - see lines.h.
 */
#include "helper/lines.h"

#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>

#include "helper/control.h"

json_t *lines_time(const struct timespec *when)
{
	char text[64];
	struct tm parts;
	size_t length;

	gmtime_r(&when->tv_sec, &parts);
	length = strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &parts);
	snprintf(text + length, sizeof(text) - length, ".%03uZ",
		 (unsigned)(when->tv_nsec / 1000000) % 1000);
	return json_string(text);
}

json_t *lines_ms_since(const struct timespec *when)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return json_integer((now.tv_sec - when->tv_sec) * 1000 +
			    (now.tv_nsec - when->tv_nsec) / 1000000);
}

/* Bytes that are no UTF-8 would be no JSON. */
json_t *lines_text(const char *value, size_t room)
{
	char text[LINES_TEXT];
	size_t i;

	for (i = 0; value[i] && i + 1 < room && i + 1 < sizeof(text); i++)
		text[i] = (char)((unsigned char)value[i] < 0x80 ? value[i] : '?');
	text[i] = '\0';
	return json_string(text);
}

static void note_once(const struct lines *lines, bool *said, const char *what)
{
	if (!*said)
		control_note("%s %s", lines->name, what);
	*said = true;
}

/* Who reads it by its name finds nothing of this. */
static bool is_removed(int fd)
{
	struct stat st;

	return !fstat(fd, &st) && !st.st_nlink && S_ISREG(st.st_mode);
}

/* What was cut off before stays a line of its own. */
static void put(struct lines *lines, char *text, size_t size)
{
	struct pollfd ready = { .fd = lines->fd, .events = POLLOUT };
	char between = '\n';
	struct iovec parts[2] = { { &between, lines->cut }, { text, size } };
	ssize_t put = poll(&ready, 1, 0) == 1 ? writev(lines->fd, parts, 2) : -1;

	if (put == (ssize_t)(lines->cut + size)) {
		lines->cut = false;
		return;
	}
	if (put >= (ssize_t)lines->cut)
		lines->cut = put > (ssize_t)lines->cut;
	note_once(lines, &lines->broken, "cannot be written: lines are missing in it");
}

void lines_write(struct lines *lines, json_t *line)
{
	char *text = json_dumps(line, JSON_COMPACT | JSON_ENSURE_ASCII);
	size_t length;

	json_decref(line);
	if (!text)
		return;
	length = strlen(text);
	text[length] = '\n'; /* in the place of its NUL */
	put(lines, text, length + 1);
	if (is_removed(lines->fd))
		note_once(lines, &lines->gone,
			  "was removed: what is decided is written nowhere");
	free(text);
}
