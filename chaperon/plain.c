/*
 * chaperon/plain.c - commands that are of no job: what is nobody's, lists of names, and what
 * a client says of itself.
 */
#include "chaperon/command.h"

#include <stdlib.h>
#include <string.h>

#define NAMES_MAX 65536 /* of nodes: more than clusters have */

void plain_begin(struct client *client)
{
	command_line(client);
	client_run(client, ANSWER_SECONDS);
}

static uint64_t bounded(uint64_t count)
{
	return count > NAMES_MAX ? NAMES_MAX + 1 : count;
}

/* How many are "1-3,7]"; *at ends behind the bracket. */
static uint64_t count_numbers(const char **at)
{
	uint64_t count = 0;

	do {
		char *end;
		uint64_t first = strtoull(*at, &end, 10), last = first;

		if (*end == '-')
			last = strtoull(end + 1, &end, 10);
		count = bounded(count + 1 + (last > first ? bounded(last - first) : 0));
		*at = end + strcspn(end, ",]");
	} while (**at && *(*at)++ == ',');
	return count;
}

/* What a list such as n[1-3]x[0-9],login stands for: the real one would be a long while at
 * work for a few bytes, outside the session's limits. */
static uint64_t count_names(const char *list)
{
	uint64_t all = 0, item = 1;

	while (*list) {
		char sign = *list++;

		if (sign == '[')
			item = bounded(item * count_numbers(&list));
		if (sign == ',') {
			all = bounded(all + item);
			item = 1;
		}
	}
	return bounded(all + item);
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
	if (count_names(list) > NAMES_MAX) {
		ask_refuse(&client->ask, "%s refused: more than %d names", request->command,
			   NAMES_MAX);
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
