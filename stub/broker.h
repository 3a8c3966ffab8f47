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

struct launch;
struct inner;
struct plan;
struct plan_broker;

/* Does the policy let anybody connect where only a broker can decide?  Pure: from
 * the filter's verdicts and the kernel's Landlock ABI. */
bool broker_wanted(const struct launch *launch);
/* Could one run here?  Tried in a child; NULL: yes, else the reason and remedy
 * (another listener, Yama, too old a kernel). */
const char *broker_obstacle(void);

/* Inner stage: the filter, on this process and its children; the descriptor of
 * the listener, or -1 and errno. */
int broker_attach(const struct plan *plan);

/* Outer stage, once the listener has arrived. */
struct broker {
	int listener; /* -1: none */
	unsigned refused;
	unsigned workers;
};
void broker_start(const struct launch *launch, struct broker *broker, int listener);
/* The listener is readable: answers what waits there. */
void broker_answer(const struct launch *launch, struct broker *broker);
/* Child @pid of ours has ended: was it a worker? */
bool broker_reaped(struct broker *broker, int pid);

#endif
