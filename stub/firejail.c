/*
 * stub/firejail.c - the plan in firejail's words.
 */
#include "stub/backend.h"

#include "stub/launch.h"
#include "stub/out.h"

const char *firejail_find(const char **why)
{
	*why = "not in this version";
	return NULL;
}

void firejail_translate(struct launch *launch, struct backend *out)
{
	(void)launch;
	(void)out;
}

void firejail_become(const struct backend *backend, const struct handover *inherit)
{
	backend_exec(backend, inherit, NULL, 0);
}

const char *firejail_explain(const char *text)
{
	return text;
}
