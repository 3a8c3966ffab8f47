/* Tries to type into its terminal, each way and at the width the kernel reads;
 * prints one word a try. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define TIOCLINUX_ 0x541cul

static void attempt(const char *name, unsigned long request, void *arg)
{
	long result = syscall(SYS_ioctl, 0, request, arg);

	printf("%s=%s\n", name, result == 0 ? "DONE" : errno == EPERM ? "EPERM" : strerror(errno));
}

int main(void)
{
	char byte = '\n', select[2] = { 2, 0 };
	struct winsize size;

	attempt("sti", TIOCSTI, &byte);
	attempt("sti-wide", TIOCSTI | 1ul << 32, &byte);
	attempt("linux", TIOCLINUX_, select);
	attempt("linux-wide", TIOCLINUX_ | 1ul << 32, select);
	attempt("winsize", TIOCGWINSZ, &size);
	return 0;
}
