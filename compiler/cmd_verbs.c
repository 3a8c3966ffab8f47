/*
 * sbxc verbs: the table of statements, as text or for the manual.
 */
#include <string.h>

#include "compiler/stages.h"
#include "grammar/verbs.h"

int cmd_verbs(int argc, char **argv)
{
	bool markdown = false;
	int status = read_markdown(argc, argv, &markdown);

	if (status >= 0)
		return status;
	verbs_print(stdout, markdown);
	return finish_output(SBXC_OK);
}
