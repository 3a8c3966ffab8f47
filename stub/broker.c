/*
 * stub/broker.c - connect(2), decided and made outside.
 */
#include "stub/broker.h"

#include <errno.h>

#include "stub/launch.h"

bool broker_wanted(const struct launch *launch)
{
	(void)launch;
	return false;
}

const char *broker_obstacle(void)
{
	return "not in this version";
}

int broker_attach(const struct plan *plan)
{
	(void)plan;
	errno = ENOSYS;
	return -1;
}

void broker_start(const struct launch *launch, struct broker *broker, int listener)
{
	(void)launch;
	broker->listener = listener;
}

void broker_answer(const struct launch *launch, struct broker *broker)
{
	(void)launch;
	(void)broker;
}

bool broker_reaped(struct broker *broker, int pid)
{
	(void)broker;
	(void)pid;
	return false;
}
