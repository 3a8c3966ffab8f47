/*
 * tests/bpf/shared.c - what std/syscalls refuses without namespaces.
 *
 * Calls as a C library makes them, and what the second program answers; both
 * are written out here, so that a line lost from the library is noticed.
 */
#include <errno.h>
#include <stdio.h>
#include <sys/socket.h>

#include "emit/emit.h"
#include "tests/bpf/compare.h"
#include "tests/lib/sim.h"

#define ERRNO(number) (SBX_RET_ERRNO | (number))
#define OURSELVES     4242 /* a number that may be ours or anybody's */

static const struct {
	const char *name;
	uint64_t args[4];
	uint32_t answer;
} calls[] = {
	/* other processes of the user */
	{ "prlimit64", { OURSELVES, 0 }, ERRNO(EPERM) },
	{ "prlimit64", { 0, 7 }, SBX_RET_ALLOW },
	{ "prlimit64", { 1ull << 32, 7 }, SBX_RET_ALLOW }, /* an int: it is 0 */
	{ "prlimit64", { 1ull << 32 | 1 }, ERRNO(EPERM) },
	{ "sched_setaffinity", { OURSELVES }, ERRNO(EPERM) },
	{ "sched_setaffinity", { 0 }, SBX_RET_ALLOW },
	{ "sched_getaffinity", { OURSELVES }, SBX_RET_ALLOW },
	{ "sched_setattr", { 1 }, ERRNO(EPERM) },
	{ "sched_setparam", { 1 }, ERRNO(EPERM) },
	{ "sched_setscheduler", { 1 }, ERRNO(EPERM) },
	{ "sched_setscheduler", { UINT64_MAX }, ERRNO(EPERM) },
	{ "migrate_pages", { 1 }, ERRNO(EPERM) },
	{ "move_pages", { 1 }, ERRNO(EPERM) },
	{ "move_pages", { 0 }, SBX_RET_ALLOW },
	{ "setpriority", { 0, 0, 5 }, SBX_RET_ALLOW },
	{ "setpriority", { 0, 1, 5 }, ERRNO(EPERM) },
	{ "setpriority", { 1, 0, 5 }, ERRNO(EPERM) }, /* PRIO_PGRP: a pipeline of the user's */
	{ "setpriority", { 2, 0, 5 }, ERRNO(EPERM) }, /* PRIO_USER */
	{ "getpriority", { 2, 0 }, SBX_RET_ALLOW },
	{ "ioprio_set", { 1, 0 }, SBX_RET_ALLOW },
	{ "ioprio_set", { 1, 1 }, ERRNO(EPERM) },
	{ "ioprio_set", { 2, 0 }, ERRNO(EPERM) },
	{ "ioprio_set", { 3, 0 }, ERRNO(EPERM) },
	/* what the user's processes share by number or name */
	{ "shmget", { 0 }, ERRNO(ENOSYS) },
	{ "shmat", { 5 }, ERRNO(ENOSYS) },
	{ "shmctl", { 5 }, ERRNO(ENOSYS) },
	{ "msgget", { 5 }, ERRNO(ENOSYS) },
	{ "msgsnd", { 5 }, ERRNO(ENOSYS) },
	{ "msgrcv", { 5 }, ERRNO(ENOSYS) },
	{ "msgctl", { 5 }, ERRNO(ENOSYS) },
	{ "semget", { 5 }, ERRNO(ENOSYS) },
	{ "semop", { 5 }, ERRNO(ENOSYS) },
	{ "semtimedop", { 5 }, ERRNO(ENOSYS) },
	{ "semctl", { 5 }, ERRNO(ENOSYS) },
	{ "mq_open", { 0 }, ERRNO(ENOSYS) },
	{ "mq_unlink", { 0 }, ERRNO(ENOSYS) },
	/* the network; tests/explain has the policy that listens */
	{ "socket", { AF_INET, SOCK_STREAM }, ERRNO(EAFNOSUPPORT) },
	{ "socket", { AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 6 }, ERRNO(EAFNOSUPPORT) },
	{ "socket", { AF_INET, SOCK_DGRAM }, ERRNO(EAFNOSUPPORT) },
	{ "socket", { AF_INET, SOCK_RAW, 1 }, ERRNO(EAFNOSUPPORT) },
	{ "socket", { 1ull << 32 | AF_INET, SOCK_STREAM }, ERRNO(EAFNOSUPPORT) },
	{ "socket", { AF_UNIX, SOCK_STREAM }, SBX_RET_ALLOW },
	{ "socket", { AF_UNIX, SOCK_DGRAM }, SBX_RET_ALLOW },
	{ "sendto", { 3, 0, 1, 0x20000000 }, ERRNO(EOPNOTSUPP) },
	{ "sendto", { 3, 0, 1, 0x4000 }, SBX_RET_ALLOW },
	{ "sendmsg", { 3, 0, 0x20000040 }, ERRNO(EOPNOTSUPP) },
	{ "sendmmsg", { 3, 0, 1, 0x20000000 }, ERRNO(EOPNOTSUPP) },
	{ "sendmmsg", { 3, 0, 0x20000000, 0 }, SBX_RET_ALLOW },
};

unsigned check_shared(const struct sbx_blob *blob)
{
	unsigned wrong = 0;

	for (unsigned arch = 0; arch < SBX_ARCH_COUNT; arch++)
		for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
			struct sim_data data = { 0 };
			uint16_t nr[SBX_ARCH_COUNT];
			uint32_t answer;

			if (!emit_syscall_numbers(calls[i].name, nr))
				continue;
			data.nr = nr[arch];
			for (unsigned n = 0; n < 4; n++)
				data.args[n] = calls[i].args[n];
			answer =
			    sim_run(blob->section[SBX_SEC_BPF_SHARED_X86_64 + arch].records,
				    blob->section[SBX_SEC_BPF_SHARED_X86_64 + arch].count, &data)
				.answer;
			if (answer == calls[i].answer)
				continue;
			fprintf(stderr, "%s(%#llx, %#llx, ...) is answered %#x, not %#x\n",
				calls[i].name, (unsigned long long)calls[i].args[0],
				(unsigned long long)calls[i].args[1], answer, calls[i].answer);
			wrong++;
		}
	return wrong;
}
