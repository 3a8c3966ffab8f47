/*
 * probe/act_file.c - what can be done to a name.
 *
 * Nothing is cut short and no content is written, so that a name which should
 * have been closed is as it was, also where it was not.
 */
#include "probe/act.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "probe/protocol.h"

#ifndef AT_EXECVE_CHECK
#define AT_EXECVE_CHECK 0x10000 /* linux/fcntl.h, from 6.14 on */
#endif
#define RENAME_EXCHANGE_FLAG 2u /* linux/fs.h */

/* No terminal becomes ours, and no pipe's other end is waited for. */
#define CAREFUL (O_CLOEXEC | O_NOCTTY | O_NONBLOCK)

static int tell(int fd)
{
	if (fd < 0)
		return errno;
	close(fd);
	return 0;
}

int act_read(const char *path)
{
	return tell(open(path, O_RDONLY | CAREFUL));
}

int act_make(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | CAREFUL, 0600);

	if (fd < 0)
		return errno;
	close(fd);
	unlink(path);
	return 0;
}

int act_mkdir(const char *path)
{
	return mkdir(path, 0700) || rmdir(path) ? errno : 0;
}

/* A name beside @path, or in it, that nobody else uses. */
static void beside(char out[PATH_MAX], const char *path, const char *between)
{
	snprintf(out, PATH_MAX, "%s%s%s", path, between, PROBE_PATH_SUFFIX);
}

int act_write(const char *path)
{
	char inside[PATH_MAX];
	int error = tell(open(path, O_WRONLY | CAREFUL));

	if (error != EISDIR)
		return error;
	beside(inside, path, "/");
	return act_make(inside);
}

int act_move(const char *path)
{
	char other[PATH_MAX];

	beside(other, path, "");
	if (rename(path, other))
		return errno;
	return rename(other, path) ? errno : 0;
}

int act_exchange(const char *path)
{
	char other[PATH_MAX];
	int fd, error = 0;

	beside(other, path, "");
	fd = open(other, O_WRONLY | O_CREAT | O_EXCL | CAREFUL, 0600);
	if (fd < 0)
		return errno;
	close(fd);
	if (syscall(SYS_renameat2, AT_FDCWD, other, AT_FDCWD, path, RENAME_EXCHANGE_FLAG))
		error = errno;
	else if (syscall(SYS_renameat2, AT_FDCWD, other, AT_FDCWD, path, RENAME_EXCHANGE_FLAG))
		error = EIO;
	if (error != EIO)
		unlink(other);
	return error;
}

int act_link(const char *path)
{
	char other[PATH_MAX];
	int error;

	beside(other, path, "");
	if (link(path, other))
		return errno;
	error = tell(open(other, O_WRONLY | CAREFUL));
	unlink(other);
	return error;
}

/* What was taken away, from @fd: what comes after is to find it as it was. */
static int put_back(const char *path, int fd, mode_t mode)
{
	int copy = open(path, O_WRONLY | O_CREAT | O_EXCL | CAREFUL, mode);
	char buffer[16384];
	ssize_t got;

	while (fd >= 0 && (got = read(fd, buffer, sizeof(buffer))) > 0)
		if (write(copy, buffer, (size_t)got) != got)
			break;
	return tell(copy);
}

int act_unlink(const char *path)
{
	int fd = open(path, O_RDONLY | CAREFUL), error = 0;
	struct stat st = { .st_mode = 0700 };

	if (fd >= 0)
		fstat(fd, &st);
	if (unlink(path))
		error = errno;
	else
		error = put_back(path, fd, st.st_mode & 0777);
	if (fd >= 0)
		close(fd);
	return error;
}

/* A directory goes over a directory, and nothing else does. */
int act_over(const char *path)
{
	char other[PATH_MAX];
	int error = 0;

	beside(other, path, "");
	error = tell(open(other, O_WRONLY | O_CREAT | O_EXCL | CAREFUL, 0600));
	if (!error && rename(other, path))
		error = errno;
	if (!error)
		return unlink(path) ? errno : 0;
	unlink(other);
	if (error != EISDIR || mkdir(other, 0700))
		return error;
	if (rename(other, path) == 0)
		return rmdir(path) ? errno : 0;
	error = errno;
	rmdir(other);
	return error;
}

int act_displace(const char *path)
{
	char other[PATH_MAX];
	bool moved;
	int error;

	beside(other, path, "");
	moved = rename(path, other) == 0;
	if (!moved && errno != ENOENT)
		return errno;
	error = act_make(path);
	if (moved && rename(other, path) && !error)
		error = errno;
	return error;
}

int act_exec(const char *path)
{
	static char *const none[] = { NULL };

	return syscall(SYS_execveat, AT_FDCWD, path, none, none, AT_EXECVE_CHECK) ? errno : 0;
}

int act_run(const char *path)
{
	char name[] = "sbx-probe", quiet[] = PROBE_QUIET;
	char *const argv[] = { name, quiet, NULL }, *const none[] = { NULL };

	execve(path, argv, none);
	return errno;
}
