#include <criterion/criterion.h>
#include <stdio.h>
#include <unistd.h>

#include "blob/enforce.h"
#include "compiler/compiler.h"

#define NET   SBX_HAS_NET_FILTER
#define USER  SBX_HAS_USER_FILTER
#define MODES SBX_HAS_MODE_FILTER
#define TIMES SBX_HAS_TIME_FILTER
#define CUT   SBX_HAS_CUT_FILTER
#define KEYS  SBX_HAS_KEY_FILTER
#define ALL   (NET | USER | MODES | TIMES | CUT | KEYS)

/* What a policy with these lines has, on both architectures alike. */
static unsigned has(unsigned landlock, const char *calls, const char *net)
{
	char path[64];
	struct compile_options options = { 0 };
	struct compilation c;
	struct sbx_blob blob;
	unsigned found;
	FILE *file;

	snprintf(path, sizeof(path), "/tmp/filter-has.%d.pol", getpid());
	file = fopen(path, "w");
	fprintf(file,
		"language 1\npolicy \"t\"\nworkspace $cwd\n"
		"signature socket domain:int type:int protocol:int\n"
		"signature utimensat dirfd:fd path:pointer times:pointer flags:int\n"
		"signature openat dirfd:fd path:pointer flags:int mode:int\n"
		"signature fchmod fd:fd mode:mode\n"
		"signature ioctl fd:fd request:uint arg:pointer\n"
		"syscalls { %s }\nnet { %s }\n",
		calls, net);
	fclose(file);
	compilation_init(&c, &options);
	if (!compile_path(&c, path)) {
		diag_flush(c.diags, stderr, false);
		cr_assert_fail("the policy does not compile");
	}
	cr_assert_null(sbx_blob_open(c.blob.data, c.blob.size, &blob));
	found = sbx_filter_has(&blob, SBX_X86_64, landlock);
	cr_expect_eq(found, sbx_filter_has(&blob, SBX_AARCH64, landlock), "%s", calls);
	compilation_free(&c);
	remove(path);
	return found;
}

Test(filter_has, nothing_allowed)
{
	cr_expect_eq(has(0, "allow read", "mode none"), ALL);
	cr_expect_eq(has(0, "allow read sendto sendmsg sendmmsg", "mode none"), ALL);
}

Test(filter_has, each_call_counts)
{
	static const char *const user[] = { "prlimit64",
					    "sched_setaffinity",
					    "sched_setattr",
					    "sched_setparam",
					    "sched_setscheduler",
					    "setpriority",
					    "ioprio_set",
					    "shmget",
					    "shmat",
					    "shmctl",
					    "msgget",
					    "msgsnd",
					    "msgrcv",
					    "msgctl",
					    "semget",
					    "semop",
					    "semtimedop",
					    "semctl",
					    "mq_open",
					    "mq_unlink" };
	static const char *const keys[] = { "add_key", "request_key", "keyctl" };
	static const char *const modes[] = { "fchmod",   "fchmodat",  "fchown",   "fchownat",
					     "setxattr", "lsetxattr", "fsetxattr" };
	static const char *const times[] = { "utimensat", "removexattr", "lremovexattr",
					     "fremovexattr", "ioctl" };
	static const char *const cutting[] = { "truncate", "openat", "openat2" };
	static const char *const network[] = { "socket", "io_uring_setup" };
	char line[64];

	for (size_t i = 0; i < sizeof(user) / sizeof(user[0]); i++) {
		snprintf(line, sizeof(line), "allow read %s", user[i]);
		cr_expect_eq(has(7, line, "mode none"), ALL & ~USER, "%s", user[i]);
	}
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		snprintf(line, sizeof(line), "allow read %s", keys[i]);
		cr_expect_eq(has(7, line, "mode none"), ALL & ~(USER | KEYS), "%s", keys[i]);
		snprintf(line, sizeof(line), "allow read %s; deny %s without namespaces", keys[i],
			 keys[i]);
		cr_expect_eq(has(7, line, "mode none"), ALL & ~KEYS, "%s, on two backends", keys[i]);
	}
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		snprintf(line, sizeof(line), "allow read %s", modes[i]);
		cr_expect_eq(has(7, line, "mode none"), ALL & ~MODES, "%s", modes[i]);
	}
	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		snprintf(line, sizeof(line), "allow read %s", times[i]);
		cr_expect_eq(has(7, line, "mode none"), ALL & ~TIMES, "%s", times[i]);
	}
	cr_expect_eq(has(7, "allow utimensat where dirfd == -100", "mode none"), ALL & ~TIMES);
	for (size_t i = 0; i < sizeof(cutting) / sizeof(cutting[0]); i++) {
		snprintf(line, sizeof(line), "allow read %s", cutting[i]);
		cr_expect_eq(has(2, line, "mode none"), ALL & ~CUT, "%s", cutting[i]);
	}
	for (size_t i = 0; i < sizeof(network) / sizeof(network[0]); i++) {
		snprintf(line, sizeof(line), "allow read %s", network[i]);
		cr_expect_eq(has(7, line, "mode none; listen 80"), ALL & ~NET, "%s", network[i]);
	}
}

/* What is refused for some arguments is not refused. */
Test(filter_has, in_all_its_ways)
{
	cr_expect_eq(has(7, "allow read fchmod; deny fchmod where mode & 0x12 != 0", "mode none"),
		     ALL & ~MODES);
	cr_expect_eq(has(7, "allow read; allow fchmod where mode == 0x1ed", "mode none"),
		     ALL & ~MODES);
	cr_expect_eq(has(7, "allow read; deny fchmod where fd == 1", "mode none"), ALL);
	cr_expect_eq(has(7, "allow ioctl where request != 0x40086602", "mode none"), ALL & ~TIMES);
	cr_expect_eq(has(7,
			 "allow ioctl; deny ioctl where request in 0x40086602 0x401c5820 0x40806685",
			 "mode none"),
		     ALL);
	cr_expect_eq(has(7, "allow openat; deny openat where flags & 0x200 != 0", "mode none"), ALL);
	cr_expect_eq(has(7, "allow openat; deny openat where flags & 0x600 == 0x200", "mode none"),
		     ALL & ~CUT);
	cr_expect_eq(has(7, "allow openat where flags & 0x243 == 0", "mode none"), ALL);
}

/* Landlock holds TCP from ABI 4 on, but not a connection made by sending. */
Test(filter_has, tcp)
{
	static const char tcp[] = "allow socket where domain in 2 10 and type & 0xf == 1 and "
				  "protocol in 0 6";

	cr_expect_eq(has(4, tcp, "mode none; listen 80"), ALL);
	cr_expect_eq(has(3, tcp, "mode none; listen 80"), ALL & ~NET);
	cr_expect_eq(has(4, tcp, "mode none"), ALL & ~NET, "it could listen on any port");
	for (size_t i = 0; i < 3; i++) {
		static const char *const calls[] = { "sendto", "sendmsg", "sendmmsg" };
		char line[128];

		snprintf(line, sizeof(line), "%s; allow %s", tcp, calls[i]);
		cr_expect_eq(has(4, line, "mode none; listen 80"), ALL & ~NET, "%s", calls[i]);
	}
}

/* O_RDONLY with O_TRUNC cuts what Landlock below ABI 3 lets be read. */
Test(filter_has, cutting)
{
	static const char *const lines[] = {
		"allow openat where flags & 0x200 == 0",
		"allow openat; deny openat where flags & 0x200 != 0 and flags & 3 == 0",
		"allow openat; deny openat where flags & 0x200 != 0 without namespaces",
	};

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		cr_expect_eq(has(2, lines[i], "mode none"), ALL, "%s", lines[i]);
	cr_expect_eq(has(2, "allow openat where flags & 3 == 0", "mode none"), ALL & ~CUT);
}

/* A second program counts. */
Test(filter_has, shared)
{
	cr_expect_eq(has(7, "allow shmget; deny shmget without namespaces", "mode none"), ALL);
	cr_expect_eq(has(7, "allow socket; deny socket without network", "mode none"), ALL);
	cr_expect_eq(has(7, "allow socket; deny socket without network", "mode host compat \"x\""),
		     ALL & ~NET);
}
