/* For attacks in C: filters of the attack's own, and listeners that say of a call
 * that it may go on, as past one of somebody else's. */
#include "tests/escape/attack.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>

/* @action for the call @number, nothing for all others. */
static inline long own_filter(int number, unsigned action, unsigned flags)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)number, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, action),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { 4, filter };

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
}

/* @call makes the call @number in a child, and gives an errno; a listener of our own
 * says that it may go on.  0, or -1 and errno. */
static inline long go_on(int number, int (*call)(const char *), const char *argument)
{
	int listener = (int)own_filter(number, SECCOMP_RET_USER_NOTIF,
				       SECCOMP_FILTER_FLAG_NEW_LISTENER);
	struct seccomp_notif_resp answer = { .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE };
	struct seccomp_notif asked = { 0 };
	int status = 0;
	pid_t child;

	if (listener < 0)
		return -1;
	child = fork();
	if (child == 0)
		_exit(call(argument));
	if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &asked))
		return -1;
	answer.id = asked.id;
	ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer);
	waitpid(child, &status, 0);
	errno = WEXITSTATUS(status);
	return errno ? -1 : 0;
}

/* Connects, and is greeted; or an errno. */
static inline int connect_to(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	char byte;

	strncpy(address.sun_path, path, sizeof(address.sun_path) - 1);
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)))
		return errno;
	return read(fd, &byte, 1) == 1 ? 0 : ENOMSG;
}

static inline long reach_through_own_listener(const char *path)
{
	return go_on(SYS_connect, connect_to, path);
}
