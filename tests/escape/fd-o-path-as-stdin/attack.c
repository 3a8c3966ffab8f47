#include "tests/escape/attack.h"

#include <fcntl.h>

int main(void)
{
	outcome("read", openat(0, ".ssh/id", O_RDONLY));
	outcome("write", openat(0, ".ssh/id", O_WRONLY));
	return 0;
}
