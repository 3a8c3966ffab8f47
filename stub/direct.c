/*
 * stub/direct.c - the backend "landlock": no namespace, no mount.
 *
 * A child of ours becomes the inner stage where it is; the Landlock domain and
 * the filters are all that holds.
 */
#include "stub/backend.h"

#include "stub/inner.h"
#include "stub/launch.h"

const char *direct_find(const char **why)
{
	(void)why;
	return "";
}

void direct_translate(struct launch *launch, struct backend *out)
{
	(void)launch;
	(void)out;
}

bool direct_alone(const struct launch *launch)
{
	(void)launch;
	return false;
}

void direct_exec(const struct launch *launch)
{
	inner_run_here(&launch->plan, -1);
}

void direct_become(const struct launch *launch, const struct handover *inherit)
{
	inner_run_here(&launch->plan, inherit->socket);
}
