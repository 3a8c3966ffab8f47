/*
 * probe/act_other.c - sockets, terminals, namespaces, descriptors, limits.
 */
#include "probe/act.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "probe/protocol.h"

static int connect_to(const struct sockaddr *address, socklen_t length)
{
	int fd = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0), error = 0;

	if (fd < 0)
		return errno;
	if (connect(fd, address, length))
		error = errno;
	close(fd);
	return error;
}

int act_tcp(unsigned port)
{
	const struct sockaddr_in here = { .sin_family = AF_INET,
					  .sin_port = htons((uint16_t)port),
					  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };

	return connect_to((const void *)&here, sizeof(here));
}

static int connect_local(const char *name, size_t at)
{
	struct sockaddr_un there = { .sun_family = AF_UNIX };
	size_t length = strlen(name);

	if (at + length >= sizeof(there.sun_path))
		return ENAMETOOLONG;
	memcpy(there.sun_path + at, name, length);
	return connect_to((const void *)&there,
			  (socklen_t)(offsetof(struct sockaddr_un, sun_path) + at + length));
}

int act_unix(const char *path)
{
	return connect_local(path, 0);
}

int act_abstract(const char *name)
{
	return connect_local(name, 1);
}

/* The socket, or -1 and errno. */
static int listen_at(const struct sockaddr *address, socklen_t length)
{
	int fd = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0), error;

	if (fd < 0 || (bind(fd, address, length) == 0 && listen(fd, 1) == 0))
		return fd;
	error = errno;
	close(fd);
	errno = error;
	return -1;
}

int act_listen(unsigned port)
{
	const struct sockaddr_in here = { .sin_family = AF_INET,
					  .sin_port = htons((uint16_t)port) };
	int fd = listen_at((const void *)&here, sizeof(here));

	if (fd < 0)
		return errno;
	close(fd);
	return 0;
}

/* It is the host's where somebody has it already. */
int act_port(unsigned port)
{
	int error = act_listen(port);

	return error == EADDRINUSE ? 0 : error ? error : EADDRNOTAVAIL;
}

int act_bind(const char *directory)
{
	struct sockaddr_un here = { .sun_family = AF_UNIX };
	int length =
	    snprintf(here.sun_path, sizeof(here.sun_path), "%s/" PROBE_PATH_SUFFIX, directory);
	int fd;

	if (length < 0 || (size_t)length >= sizeof(here.sun_path))
		return ENAMETOOLONG;
	fd = listen_at((const void *)&here, sizeof(here));
	if (fd < 0)
		return errno;
	close(fd);
	return unlink(here.sun_path) ? errno : 0;
}

static int use_pty(void)
{
	int fd = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC), zero = 0, number, error = 0;

	if (fd < 0)
		return errno;
	if (ioctl(fd, TIOCSPTLCK, &zero) || ioctl(fd, TIOCGPTN, &number))
		error = errno;
	close(fd);
	return error;
}

int act_domains(void)
{
	const uint64_t executing = 1; /* the one right that is taken: of execve(2) */
	int fd = (int)syscall(SYS_landlock_create_ruleset, &executing, sizeof(executing), 0);
	int count = 0;

	if (fd < 0)
		return -1;
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	while (count < ACT_DOMAINS_MAX && syscall(SYS_landlock_restrict_self, fd, 0) == 0)
		count++;
	return count;
}

int act_use(const char *what)
{
	struct winsize size;

	if (!strcmp(what, "pty"))
		return use_pty();
	if (!strcmp(what, "user-namespaces"))
		return unshare(CLONE_NEWUSER) ? errno : 0;
	if (!strcmp(what, "landlock"))
		return act_domains() == ACT_DOMAINS_MAX ? 0 : errno;
	/* The one handed over is standard error, where there is one. */
	return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) ? errno : 0;
}

int act_fd(int fd)
{
	return fcntl(fd, F_GETFD) < 0 ? errno : 0;
}

static int more_memory(unsigned long long size)
{
	/* Touched nowhere, so that the machine has to find nothing. */
	void *there = mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return there == MAP_FAILED ? errno : 0;
}

static int more_files(unsigned long long count)
{
	/* A number at or above the limit is refused, however few are open. */
	int fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, (int)count);

	if (fd < 0)
		return errno == EINVAL ? EMFILE : errno;
	close(fd);
	return 0;
}

int act_wait(unsigned ms)
{
	struct timespec left = { ms / 1000, ms % 1000 * 1000000L };

	while (nanosleep(&left, &left))
		if (errno != EINTR)
			return errno;
	return 0;
}

/* Also after asking for all of them. */
static int more_cpus(unsigned long long count)
{
	cpu_set_t set;

	memset(&set, 0xff, sizeof(set));
	sched_setaffinity(0, sizeof(set), &set);
	if (sched_getaffinity(0, sizeof(set), &set))
		return errno;
	return (unsigned long long)CPU_COUNT(&set) <= count ? EDQUOT : 0;
}

/* Does more than @value of this pass?  What takes long to use up is read back. */
int act_limit(const char *name, unsigned long long value)
{
	static const struct {
		const char *name;
		int resource;
	} known[] = { { "processes", RLIMIT_NPROC },
		      { "cpu-time", RLIMIT_CPU },
		      { "file-size", RLIMIT_FSIZE },
		      { "core-size", RLIMIT_CORE } };
	struct rlimit limit;

	if (!strcmp(name, "memory"))
		return more_memory(value);
	if (!strcmp(name, "cpus"))
		return more_cpus(value);
	if (!strcmp(name, "open-files"))
		return more_files(value);
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (!strcmp(name, known[i].name)) {
			if (getrlimit((unsigned)known[i].resource, &limit))
				return errno;
			return limit.rlim_cur <= value ? EDQUOT : 0;
		}
	return ENOSYS;
}
