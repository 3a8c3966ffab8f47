#include "tests/escape/attack.h"

#include <fcntl.h>
#include <sys/ioctl.h>

int main(void)
{
	int other = ioctl(0, TIOCGPTPEER, O_RDWR | O_NOCTTY);

	outcome("open-the-terminal", other);
	outcome("type", write(0, "evil\n", 5));
	return 0;
}
