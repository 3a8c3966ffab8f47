/*
 * stub/broker_filter.c - when there is a broker, and the filter that calls it.
 *
 * What reaches a socket by its path: connect(2); sendto(2) and sendmsg(2) on a
 * datagram socket, whose address no listener could hold still; a ring, whose
 * calls no filter sees.  Only the first is brokered.  Datagram sockets of the
 * local family and rings are refused to a program that could use them so (a
 * stream or seqpacket socket takes no address when it sends), and sockets that
 * the caller made are handed on only if they lead nowhere else.
 */
#include "stub/broker.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "blob/bpf.h"
#include "stub/launch.h"
#include "stub/out.h"
#include "stub/sys.h"

#if defined(__x86_64__)
#define OUR_ARCH  SBX_X86_64
#define OUR_AUDIT SBX_AUDIT_X86_64
#else
#define OUR_ARCH  SBX_AARCH64
#define OUR_AUDIT SBX_AUDIT_AARCH64
#endif

#define LANDLOCK_HOLDS_PATHS 9   /* from this ABI on */
#define TYPE_MASK            0xf /* SOCK_TYPE_MASK of linux/net.h: above it are flags */

/* ---- what the policy leaves open -------------------------------------------------- */

/* With whatever arguments? */
static bool may_call(const struct launch *launch, uint32_t nr)
{
	struct sbx_sys_verdict verdict;
	bool depends;

	sbx_sys_decide_name(&launch->blob, OUR_ARCH, nr, &verdict, &depends);
	return depends || verdict.action == SBX_ACT_ALLOW;
}

/* Every argument that gives such a socket, so that no `where` is overlooked. */
static bool may_make(const struct launch *launch, uint32_t nr, unsigned type)
{
	if (!may_call(launch, nr))
		return false;
	for (unsigned flags = 0; flags < 4; flags++)
		for (unsigned protocol = 0; protocol <= AF_UNIX; protocol++) {
			const uint64_t args[6] = { AF_UNIX,
						   type | (flags & 1 ? SOCK_CLOEXEC : 0) |
						       (flags & 2 ? SOCK_NONBLOCK : 0),
						   protocol };
			struct sbx_sys_verdict verdict;

			sbx_sys_decide(&launch->blob, OUR_ARCH, nr, args, &verdict);
			if (verdict.action == SBX_ACT_ALLOW)
				return true;
		}
	return false;
}

static bool may_send(const struct launch *launch)
{
	return may_call(launch, SYS_connect) || may_call(launch, SYS_sendto) ||
	       may_call(launch, SYS_sendmsg) || may_call(launch, SYS_sendmmsg);
}

bool broker_leads_to_proxy(const struct plan *plan)
{
	return plan->proxy && plan->backend == SBX_LANDLOCK;
}

bool broker_wanted(const struct launch *launch)
{
	return sys_landlock_abi() < LANDLOCK_HOLDS_PATHS && may_call(launch, SYS_connect) &&
	       (may_make(launch, SYS_socket, SOCK_STREAM) ||
		may_make(launch, SYS_socket, SOCK_SEQPACKET));
}

/* Is there more to refuse, whether or not somebody may connect? */
static bool reaches_unseen(const struct launch *launch)
{
	if (may_call(launch, SYS_io_uring_setup))
		return true;
	return may_send(launch) && (may_make(launch, SYS_socket, SOCK_DGRAM) ||
				    may_make(launch, SYS_socket, SOCK_RAW) ||
				    may_make(launch, SYS_socketpair, SOCK_DGRAM) ||
				    may_make(launch, SYS_socketpair, SOCK_RAW));
}

void broker_plan(struct launch *launch)
{
	struct plan *plan = &launch->plan;

#ifdef SBX_TEST_WITHOUT_BROKER
	return;
#endif
	plan->broker = broker_wanted(launch) || broker_leads_to_proxy(plan);
	plan->no_datagrams =
	    plan->broker || (sys_landlock_abi() < LANDLOCK_HOLDS_PATHS && reaches_unseen(launch));
	if (plan->no_datagrams && may_call(launch, SYS_io_uring_setup))
		launch_remark(launch, "io_uring stays shut: a ring reaches any socket unseen");
	for (uint32_t i = 0; i < SBX_COUNT(&launch->blob, NET); i++) {
		const struct sbx_net_rule *rule = SBX_AT(&launch->blob, NET, sbx_net_rule, i);

		if (rule->head.verb != SBX_NETV_ALLOW || rule->kind != SBX_NETK_ABSTRACT)
			continue;
		if (plan->backend != SBX_LANDLOCK && !plan->share_net)
			launch_remark(launch,
				      "allow abstract opens nothing: the session has a network "
				      "of its own, and with it its own abstract sockets (%s)",
				      launch_place(launch, rule->head.loc));
		else if (!plan->broker)
			launch_remark(launch,
				      "allow abstract opens nothing: Landlock scopes them all, "
				      "and there is no connect broker (%s)",
				      launch_place(launch, rule->head.loc));
	}
}

/* ---- sockets of the caller's ------------------------------------------------------ */

static bool is_unconnected(int fd)
{
	struct sockaddr_storage peer;
	socklen_t size = sizeof(peer), word = sizeof(int);
	int listens = 0;

	return getpeername(fd, (struct sockaddr *)&peer, &size) &&
	       (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &word) || !listens);
}

const char *broker_objection(const struct launch *launch, int fd)
{
	socklen_t size = sizeof(int);
	int domain = 0, type = 0;

	if (getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &size) ||
	    getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size))
		return NULL; /* no socket */
	/* These could be connected anew, from the host's network. */
	if (domain == AF_INET || domain == AF_INET6)
		return sbx_meta(&launch->blob)->net_mode == SBX_NET_HOST
			   ? NULL
			   : "a network socket, and the policy leaves no network";
	if (domain != AF_UNIX)
		return "a socket of a kind that is not handed on";
	if (type != SOCK_STREAM && type != SOCK_SEQPACKET)
		return sys_landlock_abi() < LANDLOCK_HOLDS_PATHS && may_send(launch)
			   ? "a datagram socket, which reaches every socket of the host's"
			   : NULL;
	return is_unconnected(fd) ? "a socket that is not connected yet" : NULL;
}

/* ---- the filter ------------------------------------------------------------------- */

enum {
	TO_SOCKET = 11,
	REFUSED = 17,
	NO_SUCH_CALL,
	ASKED,
	LISTENS,
	BUSY,
	ALLOWED,
	KILLED,
	FILTER_SIZE
};

#define WORD(offset)                                                                               \
	{                                                                                          \
		SBX_BPF_LOAD, 0, 0, offset                                                         \
	}
#define RETURN(value)                                                                              \
	{                                                                                          \
		SBX_BPF_RET, 0, 0, value                                                           \
	}
/* At instruction @at: where it goes when the word is @k, and when not. */
#define IF(at, k, yes, no)                                                                         \
	{                                                                                          \
		SBX_BPF_JEQ, (yes) - (at)-1, (no) - (at)-1, k                                      \
	}

/* Something around us may answer in the kernel's place: a listener is a number of its
 * own, and datagrams are refused. */
static bool is_attached(const struct plan *plan, long listener)
{
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	bool attached = fd < 0 && errno == EACCES && (listener > STDERR_FILENO || !plan->broker);

	if (fd >= 0)
		close(fd);
	errno = 0;
	return attached;
}

int broker_attach(const struct plan *plan)
{
	struct uapi_sock_filter filter[FILTER_SIZE] = {
		WORD(SBX_DATA_ARCH),
		IF(1, OUR_AUDIT, 2, KILLED),
		WORD(SBX_DATA_NR),
		IF(3, SYS_connect, ASKED, 4),
		IF(4, SYS_io_uring_setup, NO_SUCH_CALL, 5),
		IF(5, SYS_socket, TO_SOCKET, 6),
		IF(6, SYS_socketpair, TO_SOCKET, 7),
		/* To wait for connections on the host's network is another way out. */
		IF(7, SYS_listen, LISTENS, 8),
		/* Once the launcher has been killed its listener is gone, and the kernel
		 * would let the program have one of its own, which is asked instead of us. */
		IF(8, SYS_seccomp, 9, ALLOWED),
		WORD(SBX_DATA_ARG(1)),
		{ SBX_BPF_JSET, BUSY - 11, ALLOWED - 11, UAPI_SECCOMP_NEW_LISTENER },
		[TO_SOCKET] = WORD(SBX_DATA_ARG(0)),
		IF(12, AF_UNIX, 13, ALLOWED),
		WORD(SBX_DATA_ARG(1)),
		{ SBX_BPF_AND, 0, 0, TYPE_MASK },
		IF(15, SOCK_STREAM, ALLOWED, 16),
		IF(16, SOCK_SEQPACKET, ALLOWED, REFUSED),
		[REFUSED] = RETURN(SBX_RET_ERRNO | EACCES),
		[NO_SUCH_CALL] = RETURN(SBX_RET_ERRNO | ENOSYS),
		[ASKED] = RETURN(plan->broker ? UAPI_SECCOMP_RET_USER_NOTIF : SBX_RET_ALLOW),
		[LISTENS] = RETURN(broker_leads_to_proxy(plan) ? UAPI_SECCOMP_RET_USER_NOTIF
							       : SBX_RET_ALLOW),
		[BUSY] = RETURN(plan->broker ? SBX_RET_ERRNO | EBUSY : SBX_RET_ALLOW),
		[ALLOWED] = RETURN(SBX_RET_ALLOW),
		[KILLED] = RETURN(SBX_RET_KILL_PROCESS),
	};
	struct uapi_sock_fprog program = { FILTER_SIZE, filter };
	unsigned long flags = plan->broker ? UAPI_SECCOMP_NEW_LISTENER : 0;
	/* A signal must not make the caller connect twice. */
	long listener = syscall(SYS_seccomp, UAPI_SECCOMP_SET_MODE_FILTER,
				flags ? flags | UAPI_SECCOMP_WAIT_KILLABLE : 0, &program);

	if (listener < 0 && errno == EINVAL && flags)
		listener = syscall(SYS_seccomp, UAPI_SECCOMP_SET_MODE_FILTER, flags, &program);
	return listener < 0 || is_attached(plan, listener) ? (int)listener : -1;
}

/* ---- the session's own file systems ------------------------------------------------ */

static size_t add_device(const char *path, char *text, size_t size)
{
	struct stat st;

	if (stat(path, &st) || !S_ISDIR(st.st_mode))
		return 0;
	return out_text(text, size, "%llu ", (unsigned long long)st.st_dev);
}

void broker_list_devices(const struct plan *plan, char *text, size_t size)
{
	size_t at = 0;

	*text = '\0';
	if (plan->backend == SBX_LANDLOCK)
		return; /* it mounts nothing */
	for (size_t i = 0; i < plan->mounts.count && size - at > 24; i++)
		if (plan->mounts.items[i].kind == MOUNT_TMP)
			at += add_device(plan->mounts.items[i].path, text + at, size - at);
	for (size_t i = 0; i < plan->masks.count && size - at > 24; i++)
		if (plan->masks.items[i].kind == MASK_TMP || plan->masks.items[i].kind == MASK_COPY)
			at += add_device(plan->masks.items[i].path, text + at, size - at);
}
