/* What goes past the ports: raw sockets, ping, TCP over several paths. */
#include "tests/escape/attack.h"

#include <sys/socket.h>
#include <sys/syscall.h>

enum { ICMP = 1, TCP = 6, UDP = 17, ICMP6 = 58, RAW = 255, MPTCP = 262 };

static void try(const char *variant, int family, int type, int protocol)
{
	int fd = socket(family, type | SOCK_CLOEXEC, protocol);

	outcome(variant, fd);
	if (fd >= 0)
		close(fd);
}

int main(void)
{
	try("ping", AF_INET, SOCK_DGRAM, ICMP);
	try("ping6", AF_INET6, SOCK_DGRAM, ICMP6);
	try("raw-icmp", AF_INET, SOCK_RAW, ICMP);
	try("raw-icmp6", AF_INET6, SOCK_RAW, ICMP6);
	try("raw-tcp", AF_INET, SOCK_RAW, TCP);
	try("raw-udp6", AF_INET6, SOCK_RAW, UDP);
	try("raw-any", AF_INET, SOCK_RAW, RAW);
	try("packet-obsolete", AF_INET, SOCK_PACKET, 0x300);
	try("mptcp", AF_INET, SOCK_STREAM, MPTCP);
	try("mptcp6", AF_INET6, SOCK_STREAM, MPTCP);
	return 0;
}
