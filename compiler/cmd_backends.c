/*
 * sbxc backends: what each backend holds, and by what (blob/enforce.def).
 */
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "blob/enforce.h"
#include "compiler/stages.h"
#include "compiler/text.h"

static const char *condition(unsigned needs)
{
	switch (needs) {
	case SBX_HAS_OWN_NET:
		return "unless mode host";
	case SBX_HAS_NET_FILTER:
	case SBX_HAS_USER_FILTER:
		return "std/syscalls";
	case SBX_HAS_KEY_FILTER:
		return "@keyring is denied";
	case SBX_HAS_MODE_FILTER:
		return "chmod, chown and setxattr are refused";
	case SBX_HAS_MODE_FILTER | SBX_HAS_TIME_FILTER:
		return "these, utime and removexattr are refused";
	}
	return NULL; /* SBX_HAS_NOTIFY: that is what "connect broker" means */
}

/* "Landlock (ABI 6); connect broker; else not: ..." */
static const char *cell(struct arena *arena, enum sbx_duty duty, enum sbx_backend backend)
{
	const char *why = sbx_lack_why(duty, backend);
	const struct sbx_enforcer *way;
	struct text text = { .arena = arena };

	for (size_t i = 0; (way = sbx_enforcer_at(i)); i++) {
		const char *needs = condition(way->needs);

		if (way->duty != duty || way->backend != backend)
			continue;
		text_add(&text, "%s%s", text.bytes.count ? "; " : "", sbx_enforcer_by(way));
		if (way->landlock && needs)
			text_add(&text, " (ABI %u, %s)", way->landlock, needs);
		else if (way->landlock)
			text_add(&text, " (ABI %u)", way->landlock);
		else if (needs)
			text_add(&text, " (%s)", needs);
	}
	if (*why)
		text_add(&text, "%snot: %s", text.bytes.count ? "; else " : "", why);
	return text_end(&text);
}

static void print_plain(struct arena *arena)
{
	for (unsigned duty = 0; duty < SBX_DUTY_COUNT; duty++) {
		printf("%s: %s\n", sbx_duty_name((enum sbx_duty)duty),
		       sbx_duty_text((enum sbx_duty)duty));
		for (unsigned i = 0; i < SBX_BACKEND_COUNT; i++)
			printf("    %-9s %s\n", sbx_backend_name((enum sbx_backend)i),
			       cell(arena, (enum sbx_duty)duty, (enum sbx_backend)i));
	}
}

static void print_markdown(struct arena *arena)
{
	printf("| |");
	for (unsigned i = 0; i < SBX_BACKEND_COUNT; i++)
		printf(" %s |", sbx_backend_name((enum sbx_backend)i));
	printf("\n| --- |");
	for (unsigned i = 0; i < SBX_BACKEND_COUNT; i++)
		printf(" --- |");
	for (unsigned duty = 0; duty < SBX_DUTY_COUNT; duty++) {
		printf("\n| **%s** %s |", sbx_duty_name((enum sbx_duty)duty),
		       sbx_duty_text((enum sbx_duty)duty));
		for (unsigned i = 0; i < SBX_BACKEND_COUNT; i++)
			printf(" %s |", cell(arena, (enum sbx_duty)duty, (enum sbx_backend)i));
	}
	putchar('\n');
}

int cmd_backends(int argc, char **argv)
{
	struct arena arena = { 0 };
	bool markdown = false;
	int status = read_markdown(argc, argv, &markdown);

	if (status >= 0)
		return status;
	if (markdown)
		print_markdown(&arena);
	else
		print_plain(&arena);
	arena_free(&arena);
	return finish_output(SBXC_OK);
}
