#include "tests/escape/attack.h"

#include <fcntl.h>
#include <linux/memfd.h>
#include <sys/syscall.h>

/* push 60; pop rax; xor edi, edi; syscall: it ends well. */
static const unsigned char program[] = {
	0x7f, 'E',  'L',  'F', 2,    1, 1,    0, 0,    0,    0,    0,    0,    0,    0,    0,
	2,    0,    0x3e, 0,   1,    0, 0,    0, 0x78, 0,    0x40, 0,    0,    0,    0,    0,
	0x40, 0,    0,    0,   0,    0, 0,    0, 0,    0,    0,    0,    0,    0,    0,    0,
	0,    0,    0,    0,   0x40, 0, 0x38, 0, 1,    0,    0,    0,    0,    0,    0,    0,
	1,    0,    0,    0,   5,    0, 0,    0, 0,    0,    0,    0,    0,    0,    0,    0,
	0,    0,    0x40, 0,   0,    0, 0,    0, 0,    0,    0x40, 0,    0,    0,    0,    0,
	0x80, 0,    0,    0,   0,    0, 0,    0, 0x80, 0,    0,    0,    0,    0,    0,    0,
	0,    0x10, 0,    0,   0,    0, 0,    0, 0x6a, 0x3c, 0x58, 0x31, 0xff, 0x0f, 0x05, 0x90,
};

static char *const none[] = { NULL };

/* 0: it ran and ended well. */
static long run(unsigned long flags, int by_name)
{
	pid_t child = fork();
	int status = 0;

	if (child == 0) {
		char name[64];
		int fd = (int)syscall(SYS_memfd_create, "x", flags);

		if (fd < 0)
			_exit(errno);
		if (write(fd, program, sizeof(program)) != sizeof(program))
			_exit(errno);
		snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
		if (by_name)
			execve(name, none, none);
		else
			syscall(SYS_execveat, fd, "", none, none, AT_EMPTY_PATH);
		_exit(errno);
	}
	waitpid(child, &status, 0);
	errno = WIFEXITED(status) ? WEXITSTATUS(status) : EINTR;
	return errno ? -1 : 0;
}

int main(void)
{
	outcome("execveat", run(MFD_CLOEXEC, 0));
	outcome("by-name", run(0, 1));
	outcome("sealing", run(MFD_ALLOW_SEALING, 0));
	outcome("wide-flags", run(MFD_CLOEXEC | 0xdeadbeeful << 32, 0));
	return 0;
}
