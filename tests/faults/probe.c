/*
 * tests/faults/probe.c - the program that a launch starts: what of the policy holds?
 *
 *	faults-probe ATTACK...		"NAME" or "NAME=WHAT"
 *
 * Tries each.  Prints "done ATTACK" for what succeeds, which a whole policy lets
 * none do and no policy all, and then "verdict N of M".
 */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "stub/uapi.h"

static bool opens(const char *path, int flags)
{
	int fd = open(path, flags | O_NONBLOCK | O_CLOEXEC, 0600);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static bool do_read(const char *path)
{
	return opens(path, O_RDONLY);
}

static bool do_write(const char *path)
{
	return opens(path, O_WRONLY);
}

static bool do_create(const char *path)
{
	bool made = opens(path, O_WRONLY | O_CREAT | O_EXCL);

	if (made)
		unlink(path);
	return made;
}

/* A directory with something in it, where there is none. */
static bool do_plant(const char *path)
{
	char file[256];
	bool made = !mkdir(path, 0700), done;

	snprintf(file, sizeof(file), "%s/new", path);
	done = do_create(file);
	if (made)
		rmdir(path);
	return done;
}

static bool do_change(const char *path)
{
	int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
	bool done = fd >= 0 && write(fd, "changed\n", 8) == 8;

	if (fd >= 0)
		close(fd);
	return done;
}

static bool do_execute(const char *path)
{
	int status = 1;
	pid_t child = fork();

	if (child == 0) {
		execl(path, path, NULL);
		_exit(99);
	}
	return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
	       WEXITSTATUS(status) != 99;
}

static bool do_reopen(const char *number)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%s", number);
	return opens(path, O_WRONLY);
}

static bool do_parent(const char *what)
{
	char path[32];

	(void)what;
	snprintf(path, sizeof(path), "/proc/%d/mem", getppid());
	return opens(path, O_RDWR);
}

/* The policy denies it by name. */
static bool do_call(const char *what)
{
	(void)what;
	errno = 0;
	return getpriority(PRIO_PROCESS, 0) != -1 || !errno;
}

/* What only the landlock backend's own filter refuses. */
static bool do_shm(const char *what)
{
	int id = shmget(IPC_PRIVATE, 4096, 0600);

	(void)what;
	if (id >= 0)
		shmctl(id, IPC_RMID, NULL);
	return id >= 0;
}

static bool do_userns(const char *what)
{
	int status = 1;
	pid_t child = fork();

	(void)what;
	if (child == 0)
		_exit(unshare(CLONE_NEWUSER) ? 1 : 0);
	return child > 0 && waitpid(child, &status, 0) == child && !status;
}

static bool reaches(const void *address, socklen_t size, int domain, int type)
{
	int fd = socket(domain, type | SOCK_CLOEXEC, 0);
	bool done = fd >= 0 && !connect(fd, address, size);

	if (fd >= 0)
		close(fd);
	return done;
}

static socklen_t name_unix(struct sockaddr_un *address, const char *name, bool abstract)
{
	size_t length = strlen(name);

	memset(address, 0, sizeof(*address));
	address->sun_family = AF_UNIX;
	memcpy(address->sun_path + abstract, name, length);
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length + 1);
}

static bool do_unix(const char *path)
{
	struct sockaddr_un address;

	return reaches(&address, name_unix(&address, path, false), AF_UNIX, SOCK_STREAM);
}

static bool do_datagram(const char *path)
{
	struct sockaddr_un address;

	return reaches(&address, name_unix(&address, path, false), AF_UNIX, SOCK_DGRAM);
}

static bool do_abstract(const char *name)
{
	struct sockaddr_un address;

	return reaches(&address, name_unix(&address, name, true), AF_UNIX, SOCK_STREAM);
}

static bool do_tcp(const char *port)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_port = htons((uint16_t)atoi(port)),
				       .sin_addr = { htonl(INADDR_LOOPBACK) } };

	return reaches(&address, sizeof(address), AF_INET, SOCK_STREAM);
}

static bool do_fd(const char *number)
{
	return fcntl(atoi(number), F_GETFD) >= 0;
}

static bool do_env(const char *name)
{
	return getenv(name);
}

/* "RESOURCE:MOST" */
static bool do_limit(const char *what)
{
	char *most;
	int resource = (int)strtol(what, &most, 10);
	struct rlimit now = { 0, 0 };

	return getrlimit(resource, &now) || now.rlim_max > strtoull(most + 1, NULL, 10);
}

static bool do_cpus(const char *most)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof(set), &set) || CPU_COUNT(&set) > atoi(most);
}

static bool do_privileges(const char *what)
{
	(void)what;
	return prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1;
}

/* Not the bounding set: with no_new_privs nothing is gained from it. */
static bool do_capabilities(const char *what)
{
	struct uapi_cap_header header = { UAPI_CAP_VERSION_3, 0 };
	struct uapi_cap_data now[2];

	(void)what;
	memset(now, 0xff, sizeof(now));
	syscall(SYS_capget, &header, now);
	for (int i = 0; i < 2; i++)
		if (now[i].effective | now[i].permitted | now[i].inheritable)
			return true;
	return false;
}

static bool do_unfiltered(const char *what)
{
	(void)what;
	return prctl(PR_GET_SECCOMP) != 2;
}

static bool do_signal(const char *pid)
{
	return !kill(atoi(pid), 0);
}

/* "PATH:MOST" */
static bool do_size(const char *what)
{
	char path[128];
	const char *colon = strchr(what, ':');
	struct statvfs fs;

	snprintf(path, sizeof(path), "%.*s", (int)(colon - what), what);
	return statvfs(path, &fs) || fs.f_blocks * fs.f_frsize > strtoull(colon + 1, NULL, 10);
}

static const struct {
	const char name[16];
	bool (*attack)(const char *what);
} attacks[] = {
	{ "read", do_read },
	{ "write", do_write },
	{ "create", do_create },
	{ "plant", do_plant },
	{ "change", do_change },
	{ "execute", do_execute },
	{ "reopen", do_reopen },
	{ "parent", do_parent },
	{ "call", do_call },
	{ "shm", do_shm },
	{ "userns", do_userns },
	{ "unix", do_unix },
	{ "datagram", do_datagram },
	{ "abstract", do_abstract },
	{ "tcp", do_tcp },
	{ "fd", do_fd },
	{ "env", do_env },
	{ "limit", do_limit },
	{ "cpus", do_cpus },
	{ "privileges", do_privileges },
	{ "capabilities", do_capabilities },
	{ "unfiltered", do_unfiltered },
	{ "signal", do_signal },
	{ "size", do_size },
};

static bool succeeds(const char *word)
{
	for (size_t i = 0; i < sizeof(attacks) / sizeof(*attacks); i++) {
		size_t length = strlen(attacks[i].name);

		if (!strncmp(word, attacks[i].name, length) &&
		    (!word[length] || word[length] == '='))
			return attacks[i].attack(word[length] ? word + length + 1 : "");
	}
	fprintf(stderr, "what is %s?\n", word);
	exit(2);
}

int main(int argc, char **argv)
{
	int done = 0;

	if (argc == 1) /* as the one that is executed */
		return 0;
	for (int i = 1; i < argc; i++)
		if (succeeds(argv[i])) {
			printf("done %s\n", argv[i]);
			done++;
		}
	printf("verdict %d of %d\n", done, argc - 1);
	return 0;
}
