/*
 * stub/broker.h - connect(2), decided and made outside.
 *
 * Below ABI 9 Landlock does not hold sockets that have a path.  So a filter
 * sends every connect(2) to a listener in the outer stage, which copies the
 * address, decides, takes the socket by pidfd_getfd(2), connects it and
 * answers.  The caller's own call never goes on, so nothing it changes
 * meanwhile counts.
 */
#ifndef SBX_STUB_BROKER_H
#define SBX_STUB_BROKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct launch;
struct plan;

/* broker_filter.c: does the policy let anybody connect where only a broker can
 * decide?  Pure: from the filter's verdicts and the kernel's Landlock ABI. */
bool broker_wanted(const struct launch *launch);
/* The same for the plan, once the backend is chosen; says what stays shut. */
void broker_plan(struct launch *launch);
/* Why the socket @fd must not be handed on, or NULL: from it the program could
 * reach what no filter and no broker would see. */
const char *broker_objection(const struct launch *launch, int fd);
/* Inner stage: the filter, on this process and its children.  The descriptor of
 * the listener where the plan has a broker, else 0; or -1 and errno. */
int broker_attach(const struct plan *plan);
/* Which devices are the session's alone: numbers with blanks between. */
void broker_list_devices(const struct plan *plan, char *text, size_t size);

/* Without namespaces only a broker lets the proxy be reached, and nothing else. */
bool broker_leads_to_proxy(const struct plan *plan);

/* broker_probe.c: could one run here?  Asked once, for --check tried in a child;
 * NULL: yes, else the reason and remedy (Yama, too old a kernel, another listener). */
const char *broker_obstacle(const struct launch *launch);

/* Outer stage, once the listener has arrived. */
enum { BROKER_WORKERS = 64, BROKER_DEVICES = 64 };
struct broker {
	int listener; /* -1: none */
	int timer;
	unsigned refused;
	unsigned workers; /* that wait for a connection, in processes of their own */
	int worker[BROKER_WORKERS];
	uint64_t devices[BROKER_DEVICES]; /* file systems that are the session's alone */
	size_t device_count;
	int own; /* O_PATH: the session's own directory, where there are no mounts; or -1 */
	struct broker_socket *sockets; /* of `allow unix` */
	size_t socket_count;
	const struct proxy *proxy;
	long said_at; /* so that refusals do not flood: this second's */
	unsigned said;
	bool said_closed;
};
/* @devices: as broker_list_devices() wrote it, inside. */
void broker_start(const struct launch *launch, struct broker *broker, int listener,
		  const char *devices);
/* The same again, where a mask was laid anew. */
void broker_find_devices(const struct launch *launch, struct broker *broker, const char *devices);
/* The listener is readable: answers one call. */
void broker_answer(const struct launch *launch, struct broker *broker);
/* Child @pid of ours has ended: was it a worker? */
bool broker_reaped(struct broker *broker, int pid);
/* Whoever still waits gets ENOSYS. */
void broker_stop(struct broker *broker);

#endif
