/*
 * stub/env.c - the environment, from nothing.
 *
 * Every variable of the caller is asked for by name; what no rule passes is
 * not there.  A name that occurs twice is dropped: programs disagree on which
 * of the two counts.  So is what is no proper entry.
 */
#include "stub/prepare.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "blob/chaperon_wire.h"
#include "stub/job.h"
#include "stub/launch.h"
#include "stub/out.h"
#include "stub/vars.h"

#define PATH_DEFAULT "/usr/local/bin:/usr/bin:/bin"

struct entry {
	const char *text;
	size_t name_length;
};

static int by_name(const void *a, const void *b)
{
	const struct entry *left = a, *right = b;
	size_t shorter =
	    left->name_length < right->name_length ? left->name_length : right->name_length;
	int order = memcmp(left->text, right->text, shorter);

	if (order)
		return order;
	return (left->name_length > right->name_length) - (left->name_length < right->name_length);
}

/* NAME=value with a name of visible ASCII. */
static bool parse(const char *text, struct entry *out)
{
	const char *equals = strchr(text, '=');

	if (!equals || equals == text)
		return false;
	for (const char *s = text; s < equals; s++)
		if (*s <= ' ' || *s >= 0x7f)
			return false;
	out->text = text;
	out->name_length = (size_t)(equals - text);
	return true;
}

static void pass(struct launch *launch, const struct entry *entry)
{
	char *name = mem_copy(entry->text, entry->name_length);
	struct sbx_env_verdict verdict;

	sbx_env_decide(&launch->blob, name, &verdict);
	if ((!verdict.visible && !job_says(launch, name, &verdict)) || verdict.set)
		return;
	/* The caller's idea of the directory may hold links that are not inside. */
	*vec_add(&launch->plan.environ) =
	    strcmp(name, "PWD") ? entry->text : mem_join("PWD=", launch->plan.cwd);
}

static void pass_all(struct launch *launch)
{
	struct entry *entries;
	size_t count = 0;

	while (launch->environ[count])
		count++;
	entries = mem_get((count + 1) * sizeof(*entries));
	count = 0;
	for (char **at = launch->environ; *at; at++)
		count += parse(*at, &entries[count]);
	mem_sort(entries, count, sizeof(*entries), by_name);
	for (size_t i = 0; i < count;) {
		size_t next = i + 1;

		while (next < count && !by_name(&entries[i], &entries[next]))
			next++;
		if (next == i + 1)
			pass(launch, &entries[i]);
		else
			launch_detail(launch, "variable %.*s is given %u times: dropped",
				      (int)entries[i].name_length, entries[i].text,
				      (unsigned)(next - i));
		i = next;
	}
}

static void set_one(struct launch *launch, uint32_t index)
{
	const struct sbx_env_rule *rule = SBX_AT(&launch->blob, ENV, sbx_env_rule, index);
	const char *name = sbx_string(&launch->blob, rule->name), *value;
	struct sbx_env_verdict verdict;
	uint32_t unset;
	bool wild;

	if (rule->head.verb != SBX_ENV_SET)
		return;
	sbx_env_decide(&launch->blob, name, &verdict);
	if (!verdict.visible || !verdict.set || verdict.rule != index)
		return;
	value = vars_expand(launch, rule->value, &wild, &unset);
	if (value) {
		*vec_add(&launch->plan.environ) = mem_join(mem_join(name, "="), value);
		return;
	}
	if (!(rule->head.flags & SBX_F_OPTIONAL))
		launch_obstacle(launch,
				"set %s: $%s has no value here%s (%s): mark the line optional",
				name, sbx_var_name(&launch->blob, unset), vars_why_unset(unset),
				launch_place(launch, rule->head.loc));
	else
		launch_detail(launch, "set %s: $%s has no value here: skipped", name,
			      sbx_var_name(&launch->blob, unset));
}

static void set_placeholder(struct launch *launch, uint32_t index)
{
	const struct sbx_credential *credential =
	    SBX_AT(&launch->blob, CREDENTIALS, sbx_credential, index);
	const char *name = sbx_string(&launch->blob, credential->name);
	const char *placeholder = launch->proxy.placeholder[index];
	struct sbx_env_verdict verdict;

	sbx_env_decide(&launch->blob, name, &verdict);
	if (placeholder && verdict.credential == index)
		*vec_add(&launch->plan.environ) = mem_join(mem_join(name, "="), placeholder);
}

const char *environ_find(const struct launch *launch, const char *name)
{
	size_t length = strlen(name);

	for (char **at = launch->environ; *at; at++)
		if (!strncmp(*at, name, length) && (*at)[length] == '=')
			return (*at)[length + 1] ? *at + length + 1 : NULL;
	return NULL;
}

static const char **entry_of(struct plan *plan, const char *name)
{
	size_t length = strlen(name);

	for (size_t i = 0; i < plan->environ.count; i++)
		if (!strncmp(plan->environ.items[i], name, length) &&
		    plan->environ.items[i][length] == '=')
			return &plan->environ.items[i];
	return NULL;
}

const char *environ_get(struct launch *launch, const char *name)
{
	const char **entry = entry_of(&launch->plan, name);

	return entry ? *entry + strlen(name) + 1 : NULL;
}

void environ_set(struct launch *launch, const char *name, const char *value)
{
	const char **entry = entry_of(&launch->plan, name);

	if (!entry)
		entry = vec_add(&launch->plan.environ);
	*entry = mem_join(mem_join(name, "="), value);
}

/* By which the program finds Slurm's clients, and these sbx-chaperon: where there is none,
 * they say so. */
static void set_slurm(struct launch *launch)
{
	const char *path = environ_get(launch, "PATH");

	environ_set(launch, "PATH",
		    mem_join(mem_join(launch->slurm.clients, ":"), path ? path : PATH_DEFAULT));
	if (launch->slurm.helper.path)
		environ_set(launch, SBX_CHAPERON_VARIABLE, launch->slurm.socket);
}

void prepare_environ(struct launch *launch)
{
	pass_all(launch);
	for (uint32_t i = 0; i < SBX_COUNT(&launch->blob, CREDENTIALS); i++)
		set_placeholder(launch, i);
	for (uint32_t i = 0; i < SBX_COUNT(&launch->blob, ENV); i++)
		set_one(launch, i);
	if (launch->slurm.clients)
		set_slurm(launch);
}
