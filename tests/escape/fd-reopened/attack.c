/* A descriptor that may only be read or appended to is opened anew for more. */
#include "tests/escape/attack.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>

int main(void)
{
	char path[64];

	outcome("proc-write", open("/proc/self/fd/0", O_WRONLY));
	outcome("proc-cut", open("/proc/self/fd/0", O_RDONLY | O_TRUNC));
	outcome("thread-write", open("/proc/thread-self/fd/0", O_RDWR));
	snprintf(path, sizeof(path), "/proc/%d/task/%ld/fd/0", getpid(), syscall(SYS_gettid));
	outcome("task-write", open(path, O_RDWR));
	outcome("truncate", truncate("/proc/self/fd/0", 0));
	outcome("log-read", open("/proc/self/fd/2", O_RDONLY));
	outcome("log-cut", open("/proc/self/fd/2", O_WRONLY | O_TRUNC));
	outcome("dev-stdin", open("/dev/stdin", O_RDWR));
	outcome("dev-fd", open("/dev/fd/0", O_RDWR));
	outcome("link", linkat(AT_FDCWD, "/proc/self/fd/0", AT_FDCWD, "linked", AT_SYMLINK_FOLLOW));
	outcome("link-write", open("linked", O_RDWR));
	return 0;
}
