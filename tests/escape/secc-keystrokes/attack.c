/* What is typed into the terminal that we share with the shell outside, and what else
 * can be done to it.  An error about the argument says that the call got through. */
#include "tests/escape/attack.h"

#include <sys/ioctl.h>
#include <sys/syscall.h>

#define HIGH (0xdeadbeeful << 32)

static long request(unsigned long number, void *argument)
{
	return syscall(SYS_ioctl, 0, number, argument);
}

/* ENOTTY: this terminal does not know it; another one does. */
static long reached(long result)
{
	return result < 0 && errno != EPERM && errno != ENOTTY ? 0 : result;
}

int main(void)
{
	char byte = '\n';
	int discipline = 0;

	outcome("type", request(TIOCSTI, &byte));
	outcome("type-wide", request(TIOCSTI | HIGH, &byte));
	outcome("type-sign", request(TIOCSTI | 0x80000000ul << 32, &byte));
	outcome("paste", reached(request(TIOCLINUX, (void *)1)));
	outcome("paste-wide", reached(request(TIOCLINUX | HIGH, (void *)1)));
	outcome("console", reached(request(TIOCCONS, NULL)));
	outcome("discipline", request(TIOCSETD, &discipline));
	outcome("discipline-wide", request(TIOCSETD | HIGH, &discipline));
	outcome("keymap", reached(request(0x4b47, (void *)1)));
	outcome("console-switch", reached(request(0x5606, NULL)));
	return 0;
}
