#include "tests/escape/attack.h"

#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>

/* All that the machine has; ENODEV where that is one. */
static long widened(int pid)
{
	unsigned long all[16], now[16] = { 0 };
	int count = 0;

	memset(all, 0xff, sizeof(all));
	if (syscall(SYS_sched_setaffinity, pid, sizeof(all), all))
		return -1;
	syscall(SYS_sched_getaffinity, 0, sizeof(now), now);
	for (size_t i = 0; i < sizeof(now) / sizeof(*now); i++)
		count += __builtin_popcountl(now[i]);
	errno = ENODEV;
	return count > 1 ? 0 : -1;
}

static void *thread(void *result)
{
	if (widened(0))
		*(int *)result = errno;
	return NULL;
}

static long by_thread(void)
{
	pthread_t id;
	int error = 0;

	pthread_create(&id, NULL, thread, &error);
	pthread_join(id, NULL);
	errno = error;
	return error ? -1 : 0;
}

int main(void)
{
	ALONE("self", widened(0));
	ALONE("thread", by_thread());
	return 0;
}
