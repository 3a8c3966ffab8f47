/* Bits above those that the kernel reads of an argument, and of the number itself. */
#include "tests/escape/attack.h"

#include <sched.h>
#include <stdlib.h>
#include <sys/personality.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#define HIGH (0xdeadbeeful << 32)

#ifdef __x86_64__
/* syscall(3) would do as well, but who knows what it makes of the number. */
static long wide_number(unsigned long number, unsigned long first)
{
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(number | HIGH), "D"(first), "S"(0), "d"(0)
			 : "rcx", "r11", "memory");
	if (result >= 0)
		return result;
	errno = (int)-result;
	return -1;
}
#else
static long wide_number(unsigned long number, unsigned long first)
{
	return syscall((long)(number | HIGH), first, 0, 0);
}
#endif

static long wide_limit(unsigned long pid)
{
	struct rlimit limit;

	return syscall(SYS_prlimit64, pid | HIGH, RLIMIT_CORE, NULL, &limit);
}

int main(int argc, char **argv)
{
	unsigned long pid = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;

	ALONE("number", wide_number(SYS_unshare, CLONE_NEWUSER));
	ALONE("socket", syscall(SYS_socket, AF_VSOCK | HIGH, SOCK_STREAM | HIGH, HIGH));
	ALONE("netlink", syscall(SYS_socket, AF_NETLINK | HIGH, SOCK_RAW | HIGH, 4 | HIGH));
	ALONE("personality", syscall(SYS_personality, READ_IMPLIES_EXEC | HIGH));
	ALONE("persona-low", syscall(SYS_personality, (unsigned)ADDR_COMPAT_LAYOUT));
	ALONE("priority", syscall(SYS_setpriority, PRIO_PROCESS | HIGH, pid | HIGH, 19));
	ALONE("limit", wide_limit(pid));
	return 0;
}
