/*
 * stub/proc.c - files of /proc.
 */
#include "stub/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "stub/mem.h"
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

/* ---- modes ------------------------------------------------------------------------- */

bool proc_chmod(int fd, mode_t mode)
{
	char path[32];

	out_text(path, sizeof(path), "/proc/self/fd/%d", fd);
	return !chmod(path, mode);
}

int proc_open_own(int dir, const char *name, int flags)
{
	int fd = openat(dir, name, flags), path;
	struct stat st;

	if (fd >= 0 || errno != EACCES)
		return fd;
	path = openat(dir, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (path >= 0 && !fstat(path, &st) && proc_chmod(path, st.st_mode | 0600)) {
		fd = openat(dir, name, flags);
		proc_chmod(path, st.st_mode & 07777);
	}
	if (path >= 0)
		close(path);
	return fd;
}

bool proc_open_up(int fd, mode_t *before)
{
	struct stat st;

	if (fstat(fd, &st) || st.st_uid != getuid() || (st.st_mode & 0300) == 0300)
		return false;
	*before = st.st_mode & 07777;
	return proc_chmod(fd, *before | 0300);
}

/* ---- mounts ------------------------------------------------------------------------ */

/* In place; "\\040" is a blank. */
static void unescape(char *path)
{
	char *to = path;

	for (; *path; path++)
		if (*path == '\\' && strspn(path + 1, "01234567") >= 3) {
			*to++ =
			    (char)((path[1] - '0') << 6 | (path[2] - '0') << 3 | (path[3] - '0'));
			path += 3;
		} else {
			*to++ = *path;
		}
	*to = '\0';
}

static char *field(char *line, unsigned index)
{
	for (; index && *line; line++)
		index -= *line == ' ';
	return line;
}

char *proc_mounts(void)
{
	int fd = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC);
	size_t size = 0, room = 16384;
	char *text = mem_get(room), *more;
	ssize_t got = -1;

	while (fd >= 0 && (got = read(fd, text + size, room - size - 1)) > 0) {
		size += (size_t)got;
		if (room - size > 4096)
			continue;
		more = mem_get(room *= 2);
		memcpy(more, text, size);
		text = more;
	}
	if (got < 0)
		refuse("/proc/self/mountinfo: %s: mount /proc", out_error(errno));
	close(fd);
	return text;
}

bool proc_next_mount(char **at, struct proc_mount *out)
{
	char *line = *at, *path = field(line, 4);
	const char *number = field(line, 2);
	unsigned parts[2];

	if (!*line)
		return false;
	*at = line + strcspn(line, "\n");
	*at += **at == '\n';
	parts[0] = (unsigned)out_read_number(number, &number);
	parts[1] = (unsigned)out_read_number(number + (*number == ':'), &number);
	out->dev = makedev(parts[0], parts[1]);
	out->read_only = !strncmp(field(line, 5), "ro", 2);
	path[strcspn(path, " ")] = '\0';
	unescape(path);
	out->path = path;
	return true;
}
