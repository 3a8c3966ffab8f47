/* What a user may do to the limits, priority, processors and pages of any process of his. */
#include "tests/escape/attack.h"

#include <sched.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>

struct attributes { /* linux/sched/types.h */
	unsigned size, policy;
	unsigned long flags;
	int nice;
	unsigned priority;
	unsigned long runtime, deadline, period;
};

int main(int argc, char **argv)
{
	int pid = argc > 1 ? atoi(argv[1]) : 0, status = 0, node = 0;
	struct rlimit cpu = { 3600, RLIM_INFINITY };
	struct sched_param zero = { 0 };
	struct attributes attributes = { .size = sizeof(attributes), .nice = 19 };
	unsigned long nodes = 1, mask = 1;
	void *page = &status;

	outcome("prlimit", syscall(SYS_prlimit64, pid, RLIMIT_CPU, &cpu, NULL));
	outcome("prlimit-read", syscall(SYS_prlimit64, pid, RLIMIT_CPU, NULL, &cpu));
	outcome("setpriority", syscall(SYS_setpriority, PRIO_PROCESS, pid, 18));
	outcome("setpriority-group", syscall(SYS_setpriority, PRIO_PGRP, pid, 18));
	outcome("ioprio_set", syscall(SYS_ioprio_set, 1, pid, 3 << 13));
	outcome("ioprio_set-group", syscall(SYS_ioprio_set, 2, pid, 3 << 13));
	outcome("setaffinity", syscall(SYS_sched_setaffinity, pid, sizeof(mask), &mask));
	outcome("setscheduler", syscall(SYS_sched_setscheduler, pid, SCHED_BATCH, &zero));
	outcome("setparam", syscall(SYS_sched_setparam, pid, &zero));
	outcome("setattr", syscall(SYS_sched_setattr, pid, &attributes, 0));
	outcome("migrate_pages", syscall(SYS_migrate_pages, pid, 64ul, &nodes, &nodes));
	outcome("move_pages", syscall(SYS_move_pages, pid, 1ul, &page, &node, &status, 2));
	return 0;
}
