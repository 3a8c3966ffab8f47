/* The same calls by other numbers: x32's, and those of 32-bit programs. */
#include "tests/escape/attack.h"

#include <sched.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#define X32 0x40000000L

#ifdef __x86_64__
static long by_interrupt(long number, long first, long second, long third)
{
	long result;

	__asm__ volatile("int $0x80"
			 : "=a"(result)
			 : "a"(number), "b"(first), "c"(second), "d"(third)
			 : "r8", "r9", "r10", "r11", "memory");
	if (result >= 0)
		return result;
	errno = (int)-result;
	return -1;
}
#else
static long by_interrupt(long number, long first, long second, long third)
{
	(void)number, (void)first, (void)second, (void)third;
	errno = ENOSYS;
	return -1;
}
#endif

int main(void)
{
	ALONE("x32-getpid", syscall(X32 | SYS_getpid));
	ALONE("x32-socket", syscall(X32 | SYS_socket, AF_VSOCK, SOCK_STREAM, 0));
	ALONE("x32-unshare", syscall(X32 | SYS_unshare, CLONE_NEWUSER));
	ALONE("x32-ioctl", syscall(X32 | 514, 0, 0x5413, NULL));
	ALONE("i386-getpid", by_interrupt(20, 0, 0, 0));
	ALONE("i386-socket", by_interrupt(359, AF_VSOCK, SOCK_STREAM, 0));
	ALONE("i386-unshare", by_interrupt(310, CLONE_NEWUSER, 0, 0));
	return 0;
}
