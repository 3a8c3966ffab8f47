/*
 * stub/bundle.c - the program's roots of trust, a file for each session.
 *
 * Where sbx-proxy ends TLS it does so with an authority of the session's own,
 * which the program has to trust; so $ca-bundle is a file that the proxy writes,
 * the system's roots and that one.  It lies beside the sessions' records
 * (sessions.c), where every backend can show it and no program can write, and is
 * locked as long as its session lives: one without a lock is a dead session's.
 * Its name is known, and in the plan, before it is made.
 */
#include <string.h>
#include <unistd.h>

#include "stub/launch.h"

void bundle_make(struct launch *launch)
{
	struct proxy *proxy = &launch->proxy;

	proxy->bundle_fd = sessions_own_file(launch, proxy->bundle, &proxy->bundle_dir);
}

void bundle_remove(const struct launch *launch)
{
	if (launch->proxy.bundle)
		unlinkat(launch->proxy.bundle_dir, strrchr(launch->proxy.bundle, '/') + 1, 0);
}
