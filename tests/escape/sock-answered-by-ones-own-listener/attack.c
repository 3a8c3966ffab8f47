/* Of two filters that ask a listener, the kernel asks the last one's: if that were
 * ours to have, it could say that the connection may go on. */
#include "tests/escape/attack_filter.h"

int main(int argc, char **argv)
{
	(void)argc;
	outcome("continue", reach_through_own_listener(argv[1]));
	return 0;
}
