/*
 * blob/filter_has.c - what a policy's system call filters take upon themselves
 * where nothing but a filter can.
 *
 * Without namespaces a backend is no better than the filter, and a policy need
 * not import the module that has the lines for it.  So calls as a program would
 * make them are put to the verdict functions; both programs count, since they
 * run beside each other.  What Landlock keeps apart by itself (ptrace(2) and
 * all that asks the kernel the same question) is not among them.
 */
#include "blob/enforce.h"
#include "blob/verdict.h"

#define TCP_OPEN 0x20000000 /* MSG_FASTOPEN, linux/socket.h */
#define OTHER    1          /* some process, some identifier */
#define AT_CWD   0xffffff9c /* AT_FDCWD */
#define NONE     SBX_SYS_ABSENT

enum kind { NET_OTHER, NET_TCP, NET_SENDING, USER, MODES, TIMES, CUT, KIND_COUNT };
static const struct probe {
	uint16_t nr[SBX_ARCH_COUNT];
	uint8_t kind;
	uint32_t args[4];
} probes[] = {
	/* socket(2): AF_INET 2, AF_INET6 10, AF_PACKET 17, AF_BLUETOOTH 31, AF_VSOCK 40;
	 * SOCK_STREAM 1, SOCK_DGRAM 2, SOCK_RAW 3, SOCK_SEQPACKET 5 */
	{ { 41, 198 }, NET_TCP, { 2, 1 } },
	{ { 41, 198 }, NET_TCP, { 10, 1 } },
	{ { 41, 198 }, NET_TCP, { 2, 0x80801, 6 } }, /* close-on-exec, not blocking */
	{ { 41, 198 }, NET_OTHER, { 2, 2 } },
	{ { 41, 198 }, NET_OTHER, { 10, 2 } },
	{ { 41, 198 }, NET_OTHER, { 10, 0x80802, 17 } },
	{ { 41, 198 }, NET_OTHER, { 2, 3, 1 } },
	{ { 41, 198 }, NET_OTHER, { 10, 3, 58 } },
	{ { 41, 198 }, NET_OTHER, { 2, 5 } },
	{ { 41, 198 }, NET_OTHER, { 10, 5 } },
	{ { 41, 198 }, NET_OTHER, { 2, 1, 262 } }, /* IPPROTO_MPTCP */
	{ { 41, 198 }, NET_OTHER, { 10, 1, 262 } },
	{ { 41, 198 }, NET_OTHER, { 2, 1, 132 } }, /* IPPROTO_SCTP */
	{ { 41, 198 }, NET_OTHER, { 10, 1, 132 } },
	{ { 41, 198 }, NET_OTHER, { 17, 3 } },
	{ { 41, 198 }, NET_OTHER, { 17, 2 } },
	{ { 41, 198 }, NET_OTHER, { 31, 3 } },
	{ { 41, 198 }, NET_OTHER, { 40, 1 } },
	{ { 41, 198 }, NET_OTHER, { 40, 2 } },
	/* io_uring_setup: a ring makes and connects sockets unseen */
	{ { 425, 425 }, NET_OTHER, { 8 } },
	/* sendto, sendmsg, sendmmsg that connect past Landlock */
	{ { 44, 206 }, NET_SENDING, { 3, 0, 1, TCP_OPEN } },
	{ { 46, 211 }, NET_SENDING, { 3, 0, TCP_OPEN } },
	{ { 307, 269 }, NET_SENDING, { 3, 0, 1, TCP_OPEN } },

	/* prlimit64, sched_setaffinity, _setattr, _setparam, _setscheduler */
	{ { 302, 261 }, USER, { OTHER, 7 } },
	{ { 203, 122 }, USER, { OTHER, 8 } },
	{ { 314, 274 }, USER, { OTHER } },
	{ { 142, 118 }, USER, { OTHER } },
	{ { 144, 119 }, USER, { OTHER } },
	/* setpriority, ioprio_set: of a process, of a group, of all the user's */
	{ { 141, 140 }, USER, { 0, OTHER, 19 } },
	{ { 141, 140 }, USER, { 1, OTHER, 19 } },
	{ { 141, 140 }, USER, { 2, 0, 19 } },
	{ { 251, 30 }, USER, { 1, OTHER } },
	{ { 251, 30 }, USER, { 2, OTHER } },
	{ { 251, 30 }, USER, { 3, 0 } },
	/* shmget, shmat, shmctl; msgget, msgsnd, msgrcv, msgctl */
	{ { 29, 194 }, USER, { OTHER } },
	{ { 30, 196 }, USER, { OTHER } },
	{ { 31, 195 }, USER, { OTHER } },
	{ { 68, 186 }, USER, { OTHER } },
	{ { 69, 189 }, USER, { OTHER } },
	{ { 70, 188 }, USER, { OTHER } },
	{ { 71, 187 }, USER, { OTHER } },
	/* semget, semop, semtimedop, semctl; mq_open, mq_unlink */
	{ { 64, 190 }, USER, { OTHER } },
	{ { 65, 193 }, USER, { OTHER } },
	{ { 220, 192 }, USER, { OTHER } },
	{ { 66, 191 }, USER, { OTHER } },
	{ { 240, 180 }, USER, { OTHER } },
	{ { 241, 181 }, USER, { OTHER } },
	/* add_key, request_key, keyctl */
	{ { 248, 217 }, USER, { OTHER } },
	{ { 249, 218 }, USER, { OTHER } },
	{ { 250, 219 }, USER, { OTHER } },

	/* chmod, fchmod, fchmodat, fchmodat2 */
	{ { 90, NONE }, MODES, { OTHER, 0666 } },
	{ { 91, 52 }, MODES, { 3, 0666 } },
	{ { 268, 53 }, MODES, { 3, OTHER, 0666 } },
	{ { 452, 452 }, MODES, { 3, OTHER, 0666 } },
	{ { 268, 53 }, MODES, { AT_CWD, OTHER, 0666 } },
	/* chown, lchown, fchown, fchownat */
	{ { 92, NONE }, MODES, { OTHER, 1, 1 } },
	{ { 94, NONE }, MODES, { OTHER, 1, 1 } },
	{ { 93, 55 }, MODES, { 3, 1, 1 } },
	{ { 260, 54 }, MODES, { 3, OTHER, 1, 1 } },
	{ { 260, 54 }, MODES, { AT_CWD, OTHER, 1, 1 } },
	/* setxattr, lsetxattr, fsetxattr, setxattrat */
	{ { 188, 5 }, MODES, { OTHER, OTHER } },
	{ { 189, 6 }, MODES, { OTHER, OTHER } },
	{ { 190, 7 }, MODES, { 3, OTHER } },
	{ { 463, 463 }, MODES, { 3, OTHER } },
	/* utime, utimes, futimesat, utimensat, of a path; file_setattr */
	{ { 132, NONE }, TIMES, { OTHER } },
	{ { 235, NONE }, TIMES, { OTHER } },
	{ { 261, NONE }, TIMES, { 3, OTHER } },
	{ { 280, 88 }, TIMES, { 3, OTHER } },
	{ { 280, 88 }, TIMES, { AT_CWD, OTHER } },
	{ { 469, 469 }, TIMES, { 3, OTHER } },
	/* removexattr, lremovexattr, removexattrat; fremovexattr needs an open file */
	{ { 197, 14 }, TIMES, { OTHER, OTHER } },
	{ { 198, 15 }, TIMES, { OTHER, OTHER } },
	{ { 466, 466 }, TIMES, { 3, OTHER } },

	/* truncate; open, openat with O_RDONLY | O_TRUNC, and with O_CLOEXEC; openat2 */
	{ { 76, 45 }, CUT, { OTHER, 0 } },
	{ { 2, NONE }, CUT, { OTHER, 0x200 } },
	{ { 2, NONE }, CUT, { OTHER, 0x80200 } },
	{ { 257, 56 }, CUT, { 3, OTHER, 0x200 } },
	{ { 257, 56 }, CUT, { 3, OTHER, 0x80200 } },
	{ { 437, 437 }, CUT, { 3, OTHER } },
};

static bool let_through(const struct sbx_blob *blob, enum sbx_arch arch, const struct probe *probe)
{
	const uint64_t args[6] = { probe->args[0], probe->args[1], probe->args[2], probe->args[3] };
	struct sbx_sys_verdict first, second;

	if (probe->nr[arch] == SBX_SYS_ABSENT)
		return false;
	sbx_sys_decide(blob, arch, probe->nr[arch], args, &first);
	sbx_sys_decide_shared(blob, arch, probe->nr[arch], args, &second);
	return first.action == SBX_ACT_ALLOW && second.action == SBX_ACT_ALLOW;
}

/* add_key, request_key, keyctl, whatever they are asked: by its number a key is reached from
 * any namespace. */
static bool keeps_keys(const struct sbx_blob *blob, enum sbx_arch arch)
{
	static const uint16_t calls[][SBX_ARCH_COUNT] = { { 248, 217 }, { 249, 218 }, { 250, 219 } };
	struct sbx_sys_verdict verdict;
	bool depends;

	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
		sbx_sys_decide_name(blob, arch, calls[i][arch], &verdict, &depends);
		if (depends || verdict.action == SBX_ACT_ALLOW)
			return false;
	}
	return true;
}

static bool listens(const struct sbx_blob *blob)
{
	for (uint32_t i = 0; i < SBX_COUNT(blob, NET); i++) {
		const struct sbx_net_rule *rule = SBX_AT(blob, NET, sbx_net_rule, i);

		if (rule->head.verb == SBX_NETV_LISTEN && rule->kind == SBX_NETK_PORT)
			return true;
	}
	return false;
}

unsigned sbx_filter_has(const struct sbx_blob *blob, enum sbx_arch arch, unsigned landlock)
{
	bool refused[KIND_COUNT] = { true, true, true, true, true, true, true };
	unsigned has = 0;

	for (size_t i = 0; i < sizeof(probes) / sizeof(*probes); i++)
		if (let_through(blob, arch, &probes[i]))
			refused[probes[i].kind] = false;
	/* From ABI 4 on Landlock holds what connects by connect(2).  That a socket can
	 * listen on any port then is the duty LISTEN's, where the policy listens. */
	if (refused[NET_OTHER] &&
	    (refused[NET_TCP] || (landlock >= 4 && listens(blob) && refused[NET_SENDING])))
		has |= SBX_HAS_NET_FILTER;
	if (refused[USER])
		has |= SBX_HAS_USER_FILTER;
	if (refused[MODES])
		has |= SBX_HAS_MODE_FILTER;
	if (refused[TIMES])
		has |= SBX_HAS_TIME_FILTER;
	if (refused[CUT])
		has |= SBX_HAS_CUT_FILTER;
	if (keeps_keys(blob, arch))
		has |= SBX_HAS_KEY_FILTER;
	return has;
}
