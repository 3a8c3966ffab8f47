/* What root may do by its capabilities. */
#include "tests/escape/attack.h"

#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>

static long all(void)
{
	struct __user_cap_header_struct header = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct data[2] = { { 1u << CAP_SYS_ADMIN, 1u << CAP_SYS_ADMIN, 1u << CAP_SYS_ADMIN } };

	return syscall(SYS_capset, &header, data);
}

static long ambient(void)
{
	return all() ? -1 : prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_SYS_ADMIN, 0, 0);
}

/* What a file of root's that all may start gives to who starts it. */
static long restarted(void)
{
	char line[128] = "";
	unsigned long long held = 0;
	FILE *status = popen("grep CapEff /proc/self/status", "r");

	if (!status || !fgets(line, sizeof(line), status) || sscanf(line, "CapEff: %llx", &held) != 1)
		return -1;
	pclose(status);
	errno = EPERM;
	return held ? 0 : -1;
}

static long raw(void)
{
	return socket(AF_INET, SOCK_RAW, IPPROTO_ICMP);
}

static long made(void)
{
	int fd = open("f", O_CREAT | O_RDWR, 0);

	close(fd);
	return fd < 0 ? -1 : open("f", O_RDWR); /* mode 0 */
}

int main(void)
{
	gid_t groups[] = { 4 };

	ALONE("capset", all());
	ALONE("ambient", ambient());
	ALONE("restarted", restarted());
	ALONE("securebits", prctl(PR_SET_SECUREBITS, 0, 0, 0, 0));
	ALONE("bounding", prctl(PR_CAPBSET_DROP, CAP_SYS_BOOT, 0, 0, 0));
	ALONE("setuid", setresuid(1, 1, 1));
	ALONE("setgid", setresgid(1, 1, 1));
	ALONE("setgroups", setgroups(1, groups));
	ALONE("raw-socket", raw());
	ALONE("mode-0", made());
	ALONE("chroot", chroot("."));
	ALONE("nice", setpriority(PRIO_PROCESS, 0, -5));
	ALONE("log", syscall(SYS_syslog, 10, NULL, 0));
	return 0;
}
