#include "tests/escape/attack.h"

int main(void)
{
	char byte;

	outcome("read", read(0, &byte, 1));
	return 0;
}
