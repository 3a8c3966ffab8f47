/*
 * chaperon/plain.c - commands that are of no job: what is nobody's, lists of names, and what
 * a client says of itself.
 */
#include "chaperon/command.h"

#include <string.h>

void plain_begin(struct client *client)
{
	command_line(client);
	client_run(client, ANSWER_SECONDS);
}

/* The list is text, and text comes back: nothing is told of any node. */
void plain_names(struct client *client)
{
	static const char variable[] = "SLURM_JOB_NODELIST";
	const struct sbx_slurm_request *request = &client->ask.request;
	const char *list = request->operand_count ? request->operands[0] : NULL;

	/* The real one has no variable but ours. */
	if (!list)
		list = strings_variable(&client->intake.environment, variable);
	if (!list)
		list = strings_variable(&client->server->session->step, variable);
	if (!list || list[0] == '-' || strchr(list, '/')) {
		ask_refuse(&client->ask, "%s refused: it takes one list of names, such as n[1-3]",
			   request->command);
		command_refused(client);
		return;
	}
	command_line(client);
	strings_add(&client->line, "show");
	strings_add(&client->line, "%s", client->command->words);
	strings_add(&client->line, "%s", list);
	client_run(client, ANSWER_SECONDS);
}

/* By the real one, which asks no daemon for it. */
void plain_about(struct client *client, const char *option)
{
	strings_add(&client->line, "%s", client->command->program);
	strings_add(&client->line, "%s", option);
	client_run(client, ANSWER_SECONDS);
}
