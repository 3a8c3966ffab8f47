/*
 * stub/broker_call.h - one connect(2) that waits for its answer.
 */
#ifndef SBX_STUB_BROKER_CALL_H
#define SBX_STUB_BROKER_CALL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/un.h>

struct launch;
struct broker;

struct call {
	uint64_t id;
	int caller; /* a thread, as numbered here */
	int socket; /* the caller's, fetched; what follows is of this one */
	int domain;
	int root, directory; /* O_PATH: of the caller, where its address is a path; else -1 */
	int target;          /* O_PATH: what the path leads to, or -1 */
	union {
		struct sockaddr any;
		struct sockaddr_un path;
		char bytes[128]; /* all that the kernel takes */
	} address;               /* copied once */
	unsigned length;
	unsigned expected; /* the socket's port, which the proxy was told; or 0 */
};

/* The path of the address; NULL: it is of another kind. */
const char *call_path(const struct call *call, char text[static 109]);
/* broker_decide.c: 0, and the address is what to connect to, or an errno.  Nothing
 * that is a path remains: it then names call->target. */
int broker_decide(const struct launch *launch, struct broker *broker, struct call *call);
/* broker_proxy.c: is the address the proxy's, as it is told inside? */
bool call_names_proxy(const struct call *call);
/* Then 0, the address is where it really is, and it expects the socket; or an errno. */
int broker_to_proxy(const struct launch *launch, struct broker *broker, struct call *call);
/* How the connect went: what does not come is no longer expected.  Returns what the
 * caller is told. */
int broker_settle(const struct broker *broker, const struct call *call, int error);
/* "1.2.3.4:80", of an address of the network. */
const char *call_address(const struct call *call, char text[static 64]);
/* listen(2) of the caller's, made for it. */
int broker_listen(const struct launch *launch, struct broker *broker, const struct call *call,
		  int backlog);
/* Pins what `allow unix` opens, and the session's own directory. */
void broker_find_sockets(const struct launch *launch, struct broker *broker);
/* Counts it, and says so under -v, but not without end. */
int broker_refuse(const struct launch *launch, struct broker *broker, const char *what,
		  const char *why);

#endif
