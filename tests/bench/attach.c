/*
 * What attaching a filter costs: forks 200 times, each child attaches the
 * program read from standard input and times seccomp(2); prints the median in
 * microseconds.
 */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

int main(void)
{
	static struct sock_filter program[4096];
	size_t size = fread(program, sizeof(*program), 4096, stdin);
	struct sock_fprog fprog = { (unsigned short)size, program };
	double times[200];

	for (int i = 0; i < 200; i++) {
		int ends[2];
		if (pipe(ends))
			return 1;
		if (fork() == 0) {
			struct timespec a, b;
			prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
			clock_gettime(CLOCK_MONOTONIC, &a);
			long rc = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &fprog);
			clock_gettime(CLOCK_MONOTONIC, &b);
			double us = (double)(b.tv_sec - a.tv_sec) * 1e6 +
				    (double)(b.tv_nsec - a.tv_nsec) / 1e3;
			if (rc || write(ends[1], &us, sizeof(us)) != sizeof(us))
				_exit(1);
			_exit(0);
		}
		if (read(ends[0], &times[i], sizeof(times[i])) != sizeof(times[i]))
			return 1;
		close(ends[0]);
		close(ends[1]);
		wait(NULL);
	}
	qsort(times, 200, sizeof(*times), by_value);
	printf("%.0f\n", times[100]);
	return 0;
}
