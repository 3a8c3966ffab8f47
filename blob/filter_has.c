/*
 * blob/filter_has.c - what a policy's system call filters take upon themselves
 * where nothing but a filter can.
 *
 * Without namespaces a backend is no better than the filter, and a policy need
 * not import the module that has the lines for it.  So calls as a program would
 * make them are put to the verdict functions, and of those that change files all
 * that there are; both programs count, since they run beside each other.  What
 * Landlock keeps apart by itself (ptrace(2) and all that asks the kernel the same
 * question) is not among them.
 */
#include "blob/enforce.h"

#include <errno.h>

#include "blob/verdict.h"

#define TCP_OPEN 0x20000000 /* MSG_FASTOPEN, linux/socket.h */
#define OTHER    1          /* some process, some identifier */
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
};

/* Of one argument the bits in @known are @value, all else is whatever it may be. */
enum form { ANY, SET_FLAGS, SET_XATTR, ENABLE_VERITY, CUT_1, CUT_2 };
static const struct {
	uint32_t arg, known, value;
} forms[] = {
	[SET_FLAGS] = { 1, ~0u, 0x40086602 }, /* FS_IOC_SETFLAGS: chattr */
	[SET_XATTR] = { 1, ~0u, 0x401c5820 }, /* FS_IOC_FSSETXATTR */
	[ENABLE_VERITY] = { 1, ~0u, 0x40806685 },
	[CUT_1] = { 1, 0x203, 0x200 }, /* O_ACCMODE | O_TRUNC: O_RDONLY | O_TRUNC */
	[CUT_2] = { 2, 0x203, 0x200 },
};
/* Calls of which none of this form may get through. */
static const struct whole {
	uint16_t nr[SBX_ARCH_COUNT];
	uint8_t kind, form;
} wholes[] = {
	/* chmod, fchmod, fchmodat, fchmodat2; chown, lchown, fchown, fchownat */
	{ { 90, NONE }, MODES, ANY },
	{ { 91, 52 }, MODES, ANY },
	{ { 268, 53 }, MODES, ANY },
	{ { 452, 452 }, MODES, ANY },
	{ { 92, NONE }, MODES, ANY },
	{ { 94, NONE }, MODES, ANY },
	{ { 93, 55 }, MODES, ANY },
	{ { 260, 54 }, MODES, ANY },
	/* setxattr, lsetxattr, fsetxattr, setxattrat */
	{ { 188, 5 }, MODES, ANY },
	{ { 189, 6 }, MODES, ANY },
	{ { 190, 7 }, MODES, ANY },
	{ { 463, 463 }, MODES, ANY },
	/* utime, utimes, futimesat, utimensat (and futimens); file_setattr */
	{ { 132, NONE }, TIMES, ANY },
	{ { 235, NONE }, TIMES, ANY },
	{ { 261, NONE }, TIMES, ANY },
	{ { 280, 88 }, TIMES, ANY },
	{ { 469, 469 }, TIMES, ANY },
	/* removexattr, lremovexattr, fremovexattr, removexattrat */
	{ { 197, 14 }, TIMES, ANY },
	{ { 198, 15 }, TIMES, ANY },
	{ { 199, 16 }, TIMES, ANY },
	{ { 466, 466 }, TIMES, ANY },
	/* ioctl, for which a file that is open to read will do */
	{ { 16, 29 }, TIMES, SET_FLAGS },
	{ { 16, 29 }, TIMES, SET_XATTR },
	{ { 16, 29 }, TIMES, ENABLE_VERITY },

	/* truncate; open and openat that cut what they open to read; openat2 */
	{ { 76, 45 }, CUT, ANY },
	{ { 2, NONE }, CUT, CUT_1 },
	{ { 257, 56 }, CUT, CUT_2 },
	{ { 437, 437 }, CUT, ANY },
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

static bool refuses(const struct sbx_blob *blob, enum sbx_arch arch, const struct whole *whole)
{
	uint64_t known[6] = { 0 }, value[6] = { 0 };

	known[forms[whole->form].arg] = forms[whole->form].known;
	value[forms[whole->form].arg] = forms[whole->form].value;
	return whole->nr[arch] == SBX_SYS_ABSENT ||
	       sbx_sys_refuses(blob, arch, whole->nr[arch], known, value);
}

/* add_key, request_key, keyctl, whatever they are asked: by its number a key is reached from
 * any namespace. */
static bool keeps_keys(const struct sbx_blob *blob, enum sbx_arch arch)
{
	static const uint16_t calls[][SBX_ARCH_COUNT] = { { 248, 217 },
							  { 249, 218 },
							  { 250, 219 } };
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
	for (size_t i = 0; i < sizeof(wholes) / sizeof(*wholes); i++)
		if (!refuses(blob, arch, &wholes[i]))
			refused[wholes[i].kind] = false;
	/* In mode proxy the connect broker holds what connects by connect(2), and what
	 * listens; else Landlock, from ABI 4 on.  That a socket can listen on any port then
	 * is the duty LISTEN's, where the policy listens. */
	if (refused[NET_OTHER] &&
	    (refused[NET_TCP] || (refused[NET_SENDING] &&
				  (sbx_meta(blob)->net_mode == SBX_NET_PROXY ||
				   (landlock >= 4 && listens(blob))))))
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

uint32_t sbx_sys_tell(const struct sbx_blob *blob, enum sbx_arch arch, bool shared, bool two)
{
	/* setns, process_madvise, pidfd_getfd, prlimit64 */
	static const uint16_t calls[][SBX_ARCH_COUNT] = {
		{ 308, 268 }, { 440, 440 }, { 438, 438 }, { 302, 261 }
	};
	static const uint64_t args[6] = { ~0ull };

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		struct sbx_sys_verdict own, other;

		sbx_sys_decide(blob, arch, calls[i][arch], args, &own);
		sbx_sys_decide_shared(blob, arch, calls[i][arch], args, &other);
		if (shared)
			own = other;
		else if (two && other.action != SBX_ACT_ALLOW)
			continue;
		if (own.action == SBX_ACT_ERRNO && own.error != EBADF && own.error != ESRCH)
			return calls[i][arch];
	}
	return 0;
}
