/* Keystrokes for the shell outside, and other requests that change the terminal for it. */
#include "tests/escape/attack.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

int main(void)
{
	int tty = open("/dev/tty", O_RDWR), line = 0;
	char byte = '\n';

	outcome("type", syscall(SYS_ioctl, 0, (unsigned long)TIOCSTI, &byte));
	outcome("type-wide", syscall(SYS_ioctl, 0, TIOCSTI | 1ul << 32, &byte));
	outcome("type-widest", syscall(SYS_ioctl, 0, TIOCSTI | ~0ul << 32, &byte));
	outcome("type-by-dev-tty", syscall(SYS_ioctl, tty, (unsigned long)TIOCSTI, &byte));
	outcome("type-by-output", syscall(SYS_ioctl, 1, (unsigned long)TIOCSTI, &byte));
	outcome("discipline", syscall(SYS_ioctl, 0, (unsigned long)TIOCSETD, &line));
	outcome("discipline-wide", syscall(SYS_ioctl, 0, TIOCSETD | 1ul << 32, &line));
	return 0;
}
