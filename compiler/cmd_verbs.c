/*
 * sbxc verbs: the table of statements, as text or for the manual.
 */
#include <string.h>

#include "compiler/stages.h"
#include "grammar/verbs.h"

int cmd_verbs(int argc, char **argv)
{
	static const char *const known[] = { "--markdown", "--help" };
	bool markdown = false;

	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--markdown") == 0) {
			markdown = true;
		} else if (strcmp(argv[i], "--help") == 0) {
			puts("usage: sbxc verbs [--markdown]");
			return finish_output(SBXC_OK);
		} else {
			return usage_unknown("option", argv[i], known, 2);
		}
	}
	verbs_print(stdout, markdown);
	return finish_output(SBXC_OK);
}
