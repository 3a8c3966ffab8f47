/*
 * tests/bpf/test_bpf.c - do the seccomp programs say what the tables say?
 *
 *	test_bpf [BLOB ...]
 *
 * Policies made here (hand-picked ones, then random ones out of few calls and
 * few values, so that rules collide), then the blobs named.
 */
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/bpf/compare.h"
#include "tests/lib/model.h"

static unsigned passed, failed;
static unsigned long runs;

/*
 * Does the kernel take the program in section @id, of this machine?  The child that installs
 * it may then not even be able to exit: it says so in shared memory and waits
 * to be killed.
 */
static bool kernel_takes(const struct sbx_blob *blob, uint32_t id)
{
	struct {
		unsigned short count;
		const void *insns;
	} program = { (unsigned short)blob->section[id].count, blob->section[id].records };
	void *shared =
	    mmap(NULL, sizeof(int), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	volatile enum { WAITING, TAKEN, REFUSED } *state = shared;
	pid_t child = shared == MAP_FAILED ? -1 : fork();
	bool taken;

	if (child < 0) {
		perror("a child to try a filter in");
		exit(2);
	}
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL); /* it spins */
		if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
		    syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program))
			*state = REFUSED;
		else
			*state = TAKEN;
		for (;;)
			;
	}
	while (*state == WAITING)
		sched_yield();
	taken = *state == TAKEN;
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	munmap(shared, sizeof(int));
	return taken;
}

static void check(const struct sbx_blob *blob, const char *name)
{
#ifdef __x86_64__
	const uint32_t id = SBX_SEC_BPF_X86_64, shared = SBX_SEC_BPF_SHARED_X86_64;
#else
	const uint32_t id = SBX_SEC_BPF_AARCH64, shared = SBX_SEC_BPF_SHARED_AARCH64;
#endif

	if (!kernel_takes(blob, id) ||
	    (blob->section[shared].count && !kernel_takes(blob, shared))) {
		fprintf(stderr, "%s: the kernel refuses the program\n", name);
		failed++;
	} else if (compare_programs(blob, name, &runs)) {
		failed++;
	} else {
		passed++;
	}
}

static void check_policy(struct arena *arena, const struct policy *policy, const char *name)
{
	struct emitted out;
	struct sbx_blob blob;

	model_open(arena, policy, true, &out, &blob);
	check(&blob, name);
}

static struct sys_cond *add_cond(struct arena *arena, struct sys_stmt *stmt, size_t room)
{
	struct sys_cond *conds = arena_array(arena, room, sizeof(*conds));

	for (size_t i = 0; i < stmt->cond_count; i++)
		conds[i] = stmt->conds[i];
	stmt->conds = conds;
	return &conds[stmt->cond_count++];
}

/* A list too long for conditional jumps. */
static void check_long_list(struct arena *arena)
{
	struct policy *policy = model_new(arena);
	struct sys_stmt *stmt = model_sys(arena, policy, SBX_SYS_ALLOW, SBX_ACT_ALLOW, 0);
	uint64_t *values = arena_array(arena, 700, sizeof(*values));

	for (size_t i = 0; i < 700; i++)
		values[i] = i * 3 + (i % 5 ? 0 : 1ull << 33);
	model_use(arena, stmt, "prctl", SBX_RANK_WHERE);
	*add_cond(arena, stmt, 1) =
	    (struct sys_cond){ 0, 8, true, SBX_IN, UINT64_MAX, values, 700, { 0 } };
	check_policy(arena, policy, "long list");
}

/* Everything that exists is spoken of and neighbours differ, so the tree is as deep as it gets. */
static void check_everything(struct arena *arena)
{
	struct policy *policy = model_new(arena);
	struct emitted out;
	struct sbx_blob blob;
	const char *name;

	for (unsigned error = 1; error <= 3; error++)
		model_sys(arena, policy, SBX_SYS_DENY, SBX_ACT_ERRNO, error);
	for (size_t i = 0; (name = emit_syscall_name_at(i)); i++) {
		uint16_t nr[SBX_ARCH_COUNT];

		emit_syscall_numbers(name, nr);
		model_use(arena, &policy->sys.items[nr[SBX_X86_64] % 3], name,
			  i % 2 ? SBX_RANK_GROUP : SBX_RANK_NAME);
	}
	model_use_number(arena, &policy->sys.items[0], "new", 599, SBX_RANK_NAME);
	model_open(arena, policy, true, &out, &blob);
	check(&blob, "everything");
	if (print_depths(&blob, "everything") > 14)
		failed++;
	else
		passed++;
}

static unsigned pick(unsigned below)
{
	return (unsigned)rand() % below;
}

static void random_condition(struct arena *arena, struct sys_cond *cond)
{
	static const uint64_t interesting[] = {
		0,          1,          2,           0x5412,     0x7fffffff,
		0x80000000, 0xffffffff, 0x100000000, UINT64_MAX, 0x8000000000000000,
		40
	};
	static const uint64_t masks[] = { UINT64_MAX,   UINT64_MAX, 0xf,
					  0xfffffffff0, 0x80000001, 0xffff0000ffff0000 };
	bool wide = pick(2);
	size_t count;
	uint64_t *values;

	cond->op = (enum sbx_cond_op)pick(SBX_IN + 1);
	count = cond->op == SBX_IN ? 1 + pick(4) : 1;
	values = arena_array(arena, count, sizeof(*values));
	for (size_t i = 0; i < count; i++) {
		values[i] = interesting[pick(sizeof(interesting) / sizeof(interesting[0]))];
		values[i] = wide ? values[i] : (uint32_t)values[i];
	}
	cond->arg = pick(3);
	cond->width = wide ? 8 : 4;
	cond->is_signed = pick(2);
	cond->mask = masks[pick(sizeof(masks) / sizeof(masks[0]))];
	cond->mask = wide ? cond->mask : (uint32_t)cond->mask;
	cond->values = values;
	cond->value_count = count;
}

static void random_statement(struct arena *arena, struct policy *policy)
{
	static const char *const names[] = { "read", "ioctl", "kill", "open", "renameat2", "dup2" };
	static const unsigned errors[] = { 1, 13, 38 };
	enum sbx_sys_verb verb = (enum sbx_sys_verb)pick(3);
	enum sbx_sys_action action = verb == SBX_SYS_ALLOW ? SBX_ACT_ALLOW
				     : pick(3)             ? SBX_ACT_ERRNO
							   : SBX_ACT_KILL;
	struct sys_stmt *stmt =
	    model_sys(arena, policy, verb, action, action == SBX_ACT_ERRNO ? errors[pick(3)] : 0);
	size_t conds = pick(3) ? 1 + pick(3) : 0, uses = 1 + pick(3);

	if (verb != SBX_SYS_ALLOW && !pick(3))
		stmt->head.flags = SBX_F_SHARED;
	for (size_t i = 0; i < conds; i++)
		random_condition(arena, add_cond(arena, stmt, conds));
	for (size_t i = 0; i < uses; i++) {
		enum sbx_sys_rank rank = verb == SBX_SYS_SEAL ? SBX_RANK_SEAL
					 : conds              ? SBX_RANK_WHERE
					 : pick(2)            ? SBX_RANK_NAME
							      : SBX_RANK_GROUP;

		if (pick(8))
			model_use(arena, stmt, names[pick(6)], rank);
		else
			model_use_number(arena, stmt, "new", 597 + pick(3), rank);
	}
}

static void check_random(unsigned seed)
{
	struct arena arena = { 0 };
	struct policy *policy = model_new(&arena);
	char name[32];

	srand(seed);
	policy->sys_default_said = true;
	policy->sys_default.action = (enum sbx_sys_action)pick(3);
	if (policy->sys_default.action == SBX_ACT_ERRNO)
		policy->sys_default.error = 38;
	for (unsigned i = 1 + pick(7); i; i--)
		random_statement(&arena, policy);
	snprintf(name, sizeof(name), "random %u", seed);
	check_policy(&arena, policy, name);
	arena_free(&arena);
}

static void check_file(const char *path)
{
	FILE *file = fopen(path, "rb");
	void *data = aligned_alloc(8, SBX_BLOB_SIZE_MAX);
	struct sbx_blob blob;
	const char *error;
	size_t size;

	if (!file) {
		perror(path);
		exit(2);
	}
	size = fread(data, 1, SBX_BLOB_SIZE_MAX, file);
	fclose(file);
	error = sbx_blob_open(data, size, &blob);
	if (error) {
		fprintf(stderr, "%s: %s\n", path, error);
		failed++;
	} else {
		check(&blob, path);
		print_depths(&blob, path);
		if (!strcmp(sbx_string(&blob, sbx_meta(&blob)->name), "shell"))
			*(check_shared(&blob) ? &failed : &passed) += 1;
	}
	free(data);
}

int main(int argc, char **argv)
{
	struct arena arena = { 0 };

	check_policy(&arena, model_new(&arena), "empty");
	check_policy(&arena, model_full(&arena), "full");
	check_long_list(&arena);
	check_everything(&arena);
	arena_free(&arena);
	for (unsigned seed = 1; seed <= 150; seed++)
		check_random(seed);
	for (int i = 1; i < argc; i++)
		check_file(argv[i]);
	printf("%lu runs compared\n", runs);
	printf("bpf: %u passed, %u failed, 0 skipped\n", passed, failed);
	return failed ? 1 : 0;
}
