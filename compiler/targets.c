/*
 * compiler/targets.c - --target BACKEND[@ABI].
 */
#include "compiler/targets.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/diag.h"

#define ABI_MAX     100
#define ABI_VERSION 1 /* LANDLOCK_CREATE_RULESET_VERSION, linux/landlock.h */

unsigned targets_abi_here(void)
{
	long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, ABI_VERSION);

	return abi > 0 ? (unsigned)abi : 0;
}

static void add(struct arena *arena, struct targets *targets, enum sbx_backend backend,
		unsigned abi)
{
	const char *name = sbx_backend_name(backend);

	*VEC_PUSH(arena, targets) = (struct target){
		.backend = backend,
		.machine = { .landlock = abi },
		.text = abi ? arena_printf(arena, "%s (ABI %u)", name, abi)
			    : arena_printf(arena, "%s (no Landlock)", name),
	};
}

static const char *fail_name(struct arena *arena, const char *text, size_t length)
{
	const char *names[SBX_BACKEND_COUNT], *near;

	for (unsigned i = 0; i < SBX_BACKEND_COUNT; i++)
		names[i] = sbx_backend_name((enum sbx_backend)i);
	near = suggest((struct str){ text, length }, names, SBX_BACKEND_COUNT);
	if (near)
		return arena_printf(arena, "there is no backend `%.*s`; did you mean `%s`?",
				    (int)length, text, near);
	return arena_printf(arena,
			    "there is no backend `%.*s`: they are bwrap, firejail and landlock",
			    (int)length, text);
}

static const char *add_one(struct arena *arena, struct targets *targets, const char *text)
{
	const char *at = strchr(text, '@');
	size_t length = at ? (size_t)(at - text) : strlen(text);
	unsigned long abi = at ? 0 : targets_abi_here();
	char *end = NULL;

	if (at)
		abi = strtoul(at + 1, &end, 10);
	if (at && (at[1] < '0' || at[1] > '9' || *end || abi > ABI_MAX))
		return arena_printf(arena, "`%s` is not a Landlock ABI: a number, 0 for none",
				    at + 1);
	for (unsigned i = 0; i < SBX_BACKEND_COUNT; i++) {
		const char *name = sbx_backend_name((enum sbx_backend)i);

		if (strlen(name) != length || memcmp(name, text, length))
			continue;
		add(arena, targets, (enum sbx_backend)i, (unsigned)abi);
		return NULL;
	}
	return fail_name(arena, text, length);
}

const char *targets_add(struct arena *arena, struct targets *targets, const char *text)
{
	for (const char *start = text;; text++) {
		const char *wrong;

		if (*text && *text != ',')
			continue;
		wrong = add_one(arena, targets, arena_copy(arena, start, (size_t)(text - start)));
		if (wrong || !*text)
			return wrong;
		start = text + 1;
	}
}

void targets_settle(struct arena *arena, struct targets *targets, const struct sbx_blob *blob)
{
	/* That a connect broker can run there is taken for granted.  The filters of both
	 * architectures are alike but for calls that one of them lacks. */
	unsigned has = SBX_HAS_NOTIFY;

	if (sbx_meta(blob)->net_mode != SBX_NET_HOST)
		has |= SBX_HAS_OWN_NET;
	if (!targets->count)
		for (unsigned i = 0; i < SBX_BACKEND_COUNT; i++)
			add(arena, targets, (enum sbx_backend)i, targets_abi_here());
	for (size_t i = 0; i < targets->count; i++) {
		struct sbx_machine *machine = &targets->items[i].machine;

		machine->has = has | sbx_filter_has(blob, SBX_X86_64, machine->landlock);
	}
}

const struct sbx_enforcer *target_holds(const struct target *target, enum sbx_duty duty)
{
	return sbx_enforcer(duty, target->backend, &target->machine);
}
