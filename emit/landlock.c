/*
 * emit/landlock.c - what our rights are in Landlock's terms.
 *
 * Every right any kernel knows is handled, so what no rule grants is refused;
 * the launcher takes away what its kernel does not know.  Making device nodes
 * is handled and never granted.  Connecting to a path socket is granted by
 * `allow unix` alone, never by a file right.
 */
#include "emit/landlock.h"

#include "emit/parts.h"

void emit_landlock(struct writer *writer, const struct policy *policy)
{
	struct sbx_landlock landlock = {
		.handled_fs = (SBX_LL_RESOLVE_UNIX << 1) - 1,
		.scoped = SBX_LL_SCOPE_ABSTRACT_UNIX | SBX_LL_SCOPE_SIGNAL,
		.read = SBX_LL_READ_FILE | SBX_LL_READ_DIR,
		.write = SBX_LL_WRITE_FILE | SBX_LL_TRUNCATE | SBX_LL_REFER | SBX_LL_REMOVE_DIR |
			 SBX_LL_REMOVE_FILE | SBX_LL_MAKE_DIR | SBX_LL_MAKE_REG | SBX_LL_MAKE_SOCK |
			 SBX_LL_MAKE_FIFO | SBX_LL_MAKE_SYM,
		.exec = SBX_LL_EXECUTE,
		.device = SBX_LL_IOCTL_DEV,
	};

	if (policy->net_mode != SBX_NET_HOST)
		landlock.handled_net = SBX_LL_BIND_TCP | SBX_LL_CONNECT_TCP;
	WRITER_ADD(writer, LANDLOCK, &landlock);
}
