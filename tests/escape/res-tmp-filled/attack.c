/* A /tmp in memory is the machine's memory. */
#include "tests/escape/attack.h"

#include <fcntl.h>
#include <sys/stat.h>

static char block[1 << 20];

static long filled(const char *path)
{
	int fd = open(path, O_CREAT | O_WRONLY, 0600), result = fd < 0 ? -1 : 0;

	for (int i = 0; i < 4 && result == 0; i++)
		if (write(fd, block, sizeof(block)) != (ssize_t)sizeof(block))
			result = -1;
	unlink(path);
	return result;
}

/* More empty files than their inodes would find room for in its size. */
static long named(void)
{
	char path[64];
	long result = 0;

	for (int i = 0; i < 4000 && result == 0; i++) {
		snprintf(path, sizeof(path), "/tmp/empty-%d", i);
		result = mknod(path, S_IFREG | 0600, 0);
	}
	for (int i = 0; i < 4000; i++) {
		snprintf(path, sizeof(path), "/tmp/empty-%d", i);
		unlink(path);
	}
	return result;
}

int main(void)
{
	outcome("write", filled("/tmp/fill"));
	outcome("allocate", fallocate(open("/tmp/all", O_CREAT | O_WRONLY, 0600), 0, 0, 4 << 20));
	unlink("/tmp/all");
	outcome("names", named());
	return 0;
}
