/*
 * tests/verdict/driver.c - answers questions that tests/verdict/reference.py puts.
 *
 * One line each, fields separated by tabs:
 *	new			forget all rules
 *	fs VERB RIGHTS WILD PATH [EXCEPT ...]
 *	env VERB NAME
 *	net VERB KIND PORT HOST [ADDRESS/BITS ...]	the rest: `at`
 *	fs? RIGHT PATH		and so on: one line of answer
 *	env? NAME
 *	net? HOST PORT
 *	address? HOST ADDRESS PORT
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "blob/match.h"
#include "tests/lib/model.h"

#define WORDS 16

struct state {
	struct arena arena;
	struct policy *policy;
	struct {
		VEC_OF(struct sbx_fs_point)
	} points;
	struct {
		VEC_OF(const char *)
	} excepts;
	struct emitted out;
	struct sbx_blob blob;
	bool stale; /* the blob is older than the rules */
};

static void start(struct state *state)
{
	arena_free(&state->arena);
	memset(state, 0, sizeof(*state));
	state->policy = model_new(&state->arena);
	state->policy->net_mode = SBX_NET_PROXY;
	state->stale = true;
}

static char *keep(struct state *state, const char *text)
{
	return arena_copy(&state->arena, text, strlen(text));
}

static void add_fs(struct state *state, char **word, size_t count)
{
	uint32_t first = (uint32_t)state->excepts.count;

	for (size_t i = 5; i < count; i++)
		*VEC_PUSH(&state->arena, &state->excepts) = keep(state, word[i]);
	*VEC_PUSH(&state->arena, &state->points) =
	    (struct sbx_fs_point){ .path = keep(state, word[4]),
				   .verb = (uint8_t)atoi(word[1]),
				   .rights = (uint8_t)atoi(word[2]),
				   .wild = (uint8_t)atoi(word[3]),
				   .except_first = first,
				   .except_count = (uint32_t)(count - 5) };
}

static struct sbx_cidr read_cidr(const char *text)
{
	char address[64];
	struct sbx_cidr cidr = { 0 };
	const char *slash = strchr(text, '/');

	snprintf(address, sizeof(address), "%.*s", (int)(slash - text), text);
	if (sbx_host_kind(address, cidr.address) != SBX_HOST_ADDRESS)
		exit(2);
	cidr.bits = (uint32_t)atoi(slash + 1) + (strchr(address, ':') ? 0 : 96);
	return cidr;
}

static void add_net(struct state *state, char **word, size_t count)
{
	struct net_rule rule = { .verb = (enum sbx_net_verb)atoi(word[1]),
				 .kind = (enum sbx_net_kind)atoi(word[2]),
				 .port = (unsigned)atoi(word[3]) };
	struct sbx_cidr *at = arena_array(&state->arena, count, sizeof(*at));

	if (rule.kind == SBX_NETK_ADDRESS)
		rule.cidr = read_cidr(word[4]);
	else
		rule.host = str_from(keep(state, word[4]));
	for (size_t i = 5; i < count; i++)
		at[rule.at_count++] = read_cidr(word[i]);
	rule.at = at;
	*VEC_PUSH(&state->arena, &state->policy->net) = rule;
}

static const struct sbx_blob *blob_of(struct state *state)
{
	if (state->stale)
		model_open(&state->arena, state->policy, true, &state->out, &state->blob);
	state->stale = false;
	return &state->blob;
}

static void answer(struct state *state, char **word)
{
	struct sbx_fs_set set = { state->points.items, state->points.count, state->excepts.items };
	struct sbx_fs_verdict fs;
	struct sbx_env_verdict env;
	struct sbx_net_verdict net = { false, 0 };
	uint8_t address[16];

	if (!strcmp(word[0], "fs?")) {
		sbx_fs_decide(&set, word[2], (unsigned)atoi(word[1]), &fs);
		printf("%d %d\n", fs.allowed, fs.why == SBX_WHY_SEAL);
	} else if (!strcmp(word[0], "env?")) {
		sbx_env_decide(blob_of(state), word[1], &env);
		printf("%d %d\n", env.visible, env.set);
	} else if (!strcmp(word[0], "net?")) {
		sbx_net_decide(blob_of(state), word[1], (unsigned)atoi(word[2]), &net);
		printf("%d\n", net.allowed);
	} else {
		sbx_host_kind(word[2], address);
		sbx_net_decide_address(blob_of(state), word[1], address, (unsigned)atoi(word[3]),
				       &net);
		printf("%d\n", net.allowed);
	}
}

int main(void)
{
	static char line[65536];
	struct state state = { 0 };

	start(&state);
	while (fgets(line, sizeof(line), stdin)) {
		char *word[WORDS], *rest = line, *next;
		size_t count = 0;

		line[strcspn(line, "\n")] = '\0';
		while (count < WORDS && (next = strsep(&rest, "\t")))
			word[count++] = next;
		if (!strcmp(word[0], "new")) {
			start(&state);
		} else if (!strcmp(word[0], "fs")) {
			add_fs(&state, word, count);
		} else if (!strcmp(word[0], "env")) {
			*VEC_PUSH(&state.arena, &state.policy->env) =
			    (struct env_rule){ .verb = (enum sbx_env_verb)atoi(word[1]),
					       .name = str_from(keep(&state, word[2])) };
		} else if (!strcmp(word[0], "net")) {
			add_net(&state, word, count);
		} else {
			answer(&state, word);
		}
	}
	arena_free(&state.arena);
	return 0;
}
