/* A set-uid file of the user's in the workspace, which another user of the machine
 * then runs. */
#include "tests/escape/attack.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#define HIGH (0xdeadbeeful << 32)

/* Only if the file has the bit at the end. */
static long made(const char *name, long result)
{
	struct stat st;

	if (result < 0)
		return -1;
	if (!stat(name, &st) && st.st_mode & (S_ISUID | S_ISGID))
		return 0;
	errno = ENOMSG;
	return -1;
}

static long by_openat2(void)
{
	struct open_how how = { .flags = O_CREAT | O_WRONLY, .mode = 06711 };

	return syscall(SYS_openat2, AT_FDCWD, "openat2", &how, sizeof(how));
}

static long unnamed(void)
{
	char name[64];
	int fd = (int)syscall(SYS_openat, AT_FDCWD, ".", O_TMPFILE | O_WRONLY, 06711);

	if (fd < 0)
		return -1;
	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	return linkat(AT_FDCWD, name, AT_FDCWD, "unnamed", AT_SYMLINK_FOLLOW);
}

int main(void)
{
	int fd = creat("file", 0700);

	umask(0);
	outcome("fchmodat", made("file", syscall(SYS_fchmodat, AT_FDCWD, "file", 04711)));
	fchmod(fd, 0700);
	outcome("fchmodat2", made("file", syscall(452, AT_FDCWD, "file", 04711, 0)));
	fchmod(fd, 0700);
	outcome("fchmod", made("file", syscall(SYS_fchmod, fd, 04711)));
	fchmod(fd, 0700);
	outcome("fchmod-wide", made("file", syscall(SYS_fchmod, fd | HIGH, 04711 | HIGH)));
	fchmod(fd, 0700);
	outcome("fchmod-above-16", made("file", syscall(SYS_fchmod, fd, 0x7fff0000 | 04711)));
	outcome("openat",
		made("openat", syscall(SYS_openat, AT_FDCWD, "openat", O_CREAT | O_RDWR, 04711)));
	outcome("openat-wide", made("wide", syscall(SYS_openat, AT_FDCWD, "wide",
						    O_CREAT | O_RDWR | HIGH, 04711 | HIGH)));
	outcome("openat-set-gid",
		made("gid", syscall(SYS_openat, AT_FDCWD, "gid", O_CREAT | O_RDWR, 02711)));
	outcome("openat-unnamed", made("unnamed", unnamed()));
	outcome("openat2", made("openat2", by_openat2()));
	outcome("mknodat",
		made("node", syscall(SYS_mknodat, AT_FDCWD, "node", S_IFREG | 06711, 0)));
	return 0;
}
