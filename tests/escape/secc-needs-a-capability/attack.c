/* Calls for the administrator: mounts, clocks, swap, names, ports, files of others'.
 * The arguments harm nobody: an error about them says that the call got through. */
#include "tests/escape/attack.h"

#include <fcntl.h>
#include <linux/reboot.h>
#include <sched.h>
#include <sys/syscall.h>

#define NOWHERE ((void *)1)
#define HIGH    (1ul << 32)
/* Elsewhere there never were these. */
#ifdef __x86_64__
#define OLD(name) SYS_##name
#else
#define OLD(name) -1
#endif

static void try(const char *variant, long result)
{
	int error = errno;

	if (result < 0 && error != EPERM && error != ENOSYS && error != EACCES)
		result = 0;
	errno = error;
	outcome(variant, result);
}

int main(void)
{
	try("mount", syscall(SYS_mount, NOWHERE, NOWHERE, NOWHERE, 0, NOWHERE));
	try("mount-remount", syscall(SYS_mount, NULL, "/nowhere", NULL, 32 | 4096 | HIGH, NULL));
	try("umount2", syscall(SYS_umount2, "/nowhere", 2));
	try("pivot-root", syscall(SYS_pivot_root, "/nowhere", "/nowhere"));
	try("chroot", syscall(SYS_chroot, "/nowhere"));
	try("fsopen", syscall(SYS_fsopen, "nowhere", 0));
	try("fspick", syscall(SYS_fspick, AT_FDCWD, "/nowhere", 0));
	try("fsconfig", syscall(SYS_fsconfig, -1, 0, NOWHERE, NULL, 0));
	try("fsmount", syscall(SYS_fsmount, -1, 0, 0));
	try("move-mount", syscall(SYS_move_mount, -1, "nowhere", -1, "nowhere", 0));
	try("open-tree", syscall(SYS_open_tree, AT_FDCWD, "/nowhere", 1));
	try("open-tree-plain", syscall(SYS_open_tree, AT_FDCWD, ".", 0));
	try("open-tree-attr", syscall(467, AT_FDCWD, ".", 0, NULL, 0));
	try("mount-setattr", syscall(SYS_mount_setattr, AT_FDCWD, "/nowhere", 0, NOWHERE, 32));
	try("swapon", syscall(SYS_swapon, "/nowhere", 0));
	try("swapoff", syscall(SYS_swapoff, "/nowhere"));
	try("acct", syscall(SYS_acct, "/nowhere"));
	try("quotactl", syscall(SYS_quotactl, 0x80000700, "/nowhere", 0, NOWHERE));
	try("quotactl-fd", syscall(SYS_quotactl_fd, -1, 0x80000700, 0, NOWHERE));
	try("sethostname", syscall(SYS_sethostname, NOWHERE, 1000));
	try("setdomainname", syscall(SYS_setdomainname, NOWHERE, 1000));
	try("settimeofday", syscall(SYS_settimeofday, NOWHERE, NULL));
	try("clock-settime", syscall(SYS_clock_settime, 0, NOWHERE));
	try("clock-adjtime", syscall(SYS_clock_adjtime, 0, NOWHERE));
	try("adjtimex", syscall(SYS_adjtimex, NOWHERE));
	try("syslog", syscall(SYS_syslog, 3, NOWHERE, 1));
	try("syslog-size", syscall(SYS_syslog, 10, NULL, 0));
	try("reboot", syscall(SYS_reboot, 0, 0, LINUX_REBOOT_CMD_CAD_OFF, NULL));
	try("fanotify", syscall(SYS_fanotify_init, 0, O_RDONLY));
	try("fanotify-mark", syscall(SYS_fanotify_mark, -1, 1, 0, AT_FDCWD, NULL));
	try("setgroups", syscall(SYS_setgroups, 1, NOWHERE));
	try("iopl", syscall(OLD(iopl), 4));
	try("ioperm", syscall(OLD(ioperm), 0x10000ul, 1, 1));
	try("modify-ldt", syscall(OLD(modify_ldt), 0, NULL, 0));
	try("uselib", syscall(OLD(uselib), NOWHERE));
	try("ustat", syscall(OLD(ustat), 0, NOWHERE));
	try("sysfs", syscall(OLD(sysfs), 3));
	try("sysctl", syscall(OLD(_sysctl), NOWHERE));
	try("create-module", syscall(OLD(create_module), NOWHERE, 0));
	try("nfsservctl", syscall(SYS_nfsservctl, 0, NOWHERE, NOWHERE));
	try("lsm-set-self-attr", syscall(460, 100, NOWHERE, 1, 0));
	return 0;
}
