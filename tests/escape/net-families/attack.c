/* Every family of sockets, in each way to say it. */
#include "tests/escape/attack.h"

#include <sys/socket.h>
#include <sys/syscall.h>

static const char *const names[] = {
	"unspec",   "unix",       "inet",    "ax25",      "ipx",     "appletalk", "netrom",
	"bridge",   "atmpvc",     "x25",     "inet6",     "rose",    "decnet",    "netbeui",
	"security", "key",        "netlink", "packet",    "ash",     "econet",    "atmsvc",
	"rds",      "sna",        "irda",    "pppox",     "wanpipe", "llc",       "ib",
	"mpls",     "can",        "tipc",    "bluetooth", "iucv",    "rxrpc",     "isdn",
	"phonet",   "ieee802154", "caif",    "alg",       "nfc",     "vsock",     "kcm",
	"qipcrtr",  "smc",        "xdp",     "mctp",
};

enum { WIDE = 32 };

/* The first that the kernel makes; else the error of the first, or what is not "there is none". */
static long any(unsigned long family, unsigned long more, unsigned long flags)
{
	static const unsigned types[] = { SOCK_STREAM, SOCK_DGRAM, SOCK_RAW, SOCK_SEQPACKET,
					  SOCK_RDM };
	int error = 0;

	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
		for (unsigned long protocol = 0; protocol < 4; protocol++) {
			long fd = syscall(SYS_socket, family | more, types[i] | flags | more,
					  protocol | more);

			if (fd >= 0) {
				close((int)fd);
				return fd;
			}
			if (!error || error == ESOCKTNOSUPPORT || error == EPROTONOSUPPORT)
				error = errno;
		}
	errno = error;
	return -1;
}

/* Also with flags, and with bits above those that the kernel reads. */
static long any_way(unsigned long family)
{
	if (any(family, 0, 0) >= 0 || any(family, 0, SOCK_CLOEXEC | SOCK_NONBLOCK) >= 0)
		return 0;
	return any(family, 1ul << WIDE | 1ul << 63, SOCK_CLOEXEC);
}

int main(void)
{
	for (unsigned family = 0; family < sizeof(names) / sizeof(*names); family++) {
		if (family == AF_UNIX || family == AF_INET || family == AF_INET6 ||
		    family == AF_NETLINK)
			continue; /* these may be had */
		outcome(names[family], any_way(family));
	}
	return 0;
}
