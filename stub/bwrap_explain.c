/*
 * stub/bwrap_explain.c - why bubblewrap failed: one reason, one remedy.
 *
 * Its own messages name the call that failed, not the cause; the cause is
 * usually a setting of the distribution that can be read.
 */
#include "stub/backend.h"

#include <string.h>
#include <unistd.h>

#include "stub/out.h"
#include "stub/proc.h"

long backend_setting(const char *path)
{
	char text[32];
	const char *end;

	if (!proc_read(path, text, sizeof(text)))
		return -1;
	return (long)out_read_number(text, &end);
}

const char *bwrap_explain_namespaces(void)
{
	if (backend_setting("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") == 1)
		return "AppArmor forbids user namespaces to programs without a profile: install "
		       "one "
		       "for bwrap that allows userns";
	if (backend_setting("/proc/sys/kernel/unprivileged_userns_clone") == 0)
		return "user namespaces are turned off: sysctl kernel.unprivileged_userns_clone=1";
	if (backend_setting("/proc/sys/user/max_user_namespaces") == 0)
		return "user namespaces are turned off: sysctl user.max_user_namespaces=15000";
	return "this system or container forbids new user namespaces: allow them there";
}

/* Pairs: what it says, and what that means; "": ask the settings.  One text and
 * not a table of pointers, each of which the loader would have to adjust. */
static const char known[] =
    "nknown option\0"
    "bubblewrap is too old: install 0.8 or newer\0"
    "setuid mode\0"
    "bubblewrap is set-uid here, and then it limits the size of no tmpfs: chmod u-s it\0"
    "Unexpected capabilities\0"
    "bubblewrap has file capabilities, which it does not expect: setcap -r it\0"
    "uid map\0"
    "\0"
    "No permissions to creat\0"
    "\0"
    "Creating new namespace failed: Operation not permitted\0"
    "\0"
    "not support user namespaces\0"
    "this kernel is built without user namespaces: boot one that has them\0"
    "nesting depth or\0"
    "no more user namespaces may be made here: sysctl user.max_user_namespaces=15000, outside "
    "the container or sandbox that there is around\0"
    "loopback: \0"
    "\0"
    "make / slave\0"
    "mounting is forbidden here, as inside a Landlock or AppArmor sandbox: start outside it\0"
    "mount tmpfs: No such\0"
    "bubblewrap works in /tmp, which is not there: make it, or grant it in the policy around\0"
    "pivot_root\0"
    "the root of this system cannot be exchanged, as in an initramfs: boot from a file system\0"
    "mount proc\0"
    "this container hides parts of /proc, so a new one may not be mounted: start the "
    "container with an unmasked /proc\0"
    "exec: \0"
    "bubblewrap could not be executed: reinstall the package bubblewrap\0";

const char *bwrap_explain(const char *text)
{
	const char *reason = backend_known(known, text);

	return reason && !*reason ? bwrap_explain_namespaces() : reason;
}
