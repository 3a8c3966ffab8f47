/* Each protocol of netlink: audit, firewall, device events, crypto, other programs. */
#include "tests/escape/attack.h"

#include <linux/netlink.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>

static const struct {
	const char *name;
	unsigned protocol;
} kinds[] = {
	{ "usersock", 2 },        { "sock-diag", 4 },  { "nflog", 5 },   { "xfrm", 6 },
	{ "selinux", 7 },         { "iscsi", 8 },      { "audit", 9 },   { "fib-lookup", 10 },
	{ "connector", 11 },      { "netfilter", 12 }, { "ip6-fw", 13 }, { "dnrt", 14 },
	{ "kobject-uevent", 15 }, { "generic", 16 },   { "scsi", 18 },   { "ecryptfs", 19 },
	{ "rdma", 20 },           { "crypto", 21 },    { "smc", 22 },
};

int main(void)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		long fd = socket(AF_NETLINK, SOCK_RAW, (int)kinds[i].protocol);

		/* And with bits above those that the kernel reads. */
		if (fd < 0)
			fd = syscall(SYS_socket, AF_NETLINK | 1ul << 32, SOCK_DGRAM | 1ul << 33,
				     kinds[i].protocol | 1ul << 34);
		outcome(kinds[i].name, fd);
	}
	return 0;
}
