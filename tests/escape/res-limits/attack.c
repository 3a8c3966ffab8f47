#include "tests/escape/attack.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>

static long raised(int which, unsigned long to)
{
	struct rlimit limit = { to, to };

	return setrlimit((__rlimit_resource_t)which, &limit);
}

static long raised_by_prlimit(int which, unsigned long to)
{
	unsigned long limit[2] = { to, to };

	return syscall(SYS_prlimit64, 0, which, limit, NULL);
}

static long mapped(void)
{
	void *memory = mmap(NULL, 512ul << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return memory == MAP_FAILED ? -1 : 0;
}

static long opened(void)
{
	for (int i = 0; i < 100; i++)
		if (open("/dev/null", O_RDONLY) < 0)
			return -1;
	return 0;
}

static long sized(void)
{
	int fd = open("large", O_CREAT | O_WRONLY, 0600);

	return fd < 0 ? -1 : ftruncate(fd, 4 << 20);
}

static long written(void)
{
	signal(SIGXFSZ, SIG_IGN);
	return sized();
}

int main(void)
{
	ALONE("memory", mapped());
	ALONE("open-files", opened());
	ALONE("file-size", sized());
	ALONE("file-size-ignored", written());
	ALONE("raise-memory", raised(RLIMIT_DATA, 900ul << 20));
	ALONE("raise-open-files", raised(RLIMIT_NOFILE, 100));
	ALONE("raise-file-size", raised_by_prlimit(RLIMIT_FSIZE, 8 << 20));
	ALONE("raise-core", raised_by_prlimit(RLIMIT_CORE, 1 << 20));
	return 0;
}
