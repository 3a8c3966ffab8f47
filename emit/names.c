/*
 * emit/names.c - names and numbers of system calls, from libseccomp's tables.
 */
#include <seccomp.h>
#include <stdlib.h>
#include <string.h>

#include "emit/emit.h"

#define NUMBER_END 600 /* behind every number that either architecture has */

static const uint32_t library_arch[SBX_ARCH_COUNT] = {
	[SBX_X86_64] = SCMP_ARCH_X86_64,
	[SBX_AARCH64] = SCMP_ARCH_AARCH64,
};

bool emit_syscall_numbers(const char *name, uint16_t nr[SBX_ARCH_COUNT])
{
	bool known = false;

	for (unsigned arch = 0; arch < SBX_ARCH_COUNT; arch++) {
		int number = seccomp_syscall_resolve_name_arch(library_arch[arch], name);

		/* Other negative numbers: a call of some other architecture. */
		known |= number != __NR_SCMP_ERROR;
		nr[arch] = number >= 0 && number < NUMBER_END ? (uint16_t)number : SBX_SYS_ABSENT;
	}
	return known;
}

const char *emit_syscall_name(struct arena *arena, enum sbx_arch arch, unsigned nr)
{
	char *name = seccomp_syscall_resolve_num_arch(library_arch[arch], (int)nr);
	const char *copy = name ? arena_copy(arena, name, strlen(name)) : NULL;

	free(name);
	return copy;
}

static int compare_names(const void *left, const void *right)
{
	return strcmp(*(char *const *)left, *(char *const *)right);
}

const char *emit_syscall_name_at(size_t index)
{
	static char *names[SBX_ARCH_COUNT * NUMBER_END];
	static size_t count;
	size_t unique = 0;

	if (!count) {
		for (unsigned arch = 0; arch < SBX_ARCH_COUNT; arch++)
			for (int nr = 0; nr < NUMBER_END; nr++) {
				names[count] =
				    seccomp_syscall_resolve_num_arch(library_arch[arch], nr);
				count += names[count] != NULL;
			}
		qsort(names, count, sizeof(names[0]), compare_names);
		for (size_t i = 0; i < count; i++) {
			if (unique && !strcmp(names[unique - 1], names[i]))
				free(names[i]);
			else
				names[unique++] = names[i];
		}
		count = unique;
	}
	return index < count ? names[index] : NULL;
}
