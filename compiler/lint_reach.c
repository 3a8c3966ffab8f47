/*
 * compiler/lint_reach.c - what a policy lets in and out beside files: variables, hosts,
 * sockets, credentials, limits.
 */
#include <string.h>

#include "blob/match.h"
#include "compiler/lint.h"

/* Names of variables whose values are keys, as std/secrets/tokens knows them. */
static const char *const key_names[] = {
	"*TOKEN",     "*TOKENS",      "*SECRET*", "*_KEY",     "*_KEYS",
	"*PASSWORD*", "*PASSWD*",     "*_PAT",    "*_AUTH",    "*_COOKIE",
	"*_DSN",      "*CREDENTIAL*", "*_PASS",   "AWS_*KEY*", "DATABASE_URL",
};
/* What runs a program when another starts. */
static const char *const run_names[] = {
	"LD_PRELOAD",
	"LD_AUDIT",
	"LD_LIBRARY_PATH",
	"BASH_ENV",
	"ENV",
	"PROMPT_COMMAND",
	"NODE_OPTIONS",
	"PYTHONSTARTUP",
	"PYTHONPATH",
	"PERL5OPT",
	"RUBYOPT",
	"GIT_SSH_COMMAND",
	"GIT_EXTERNAL_DIFF",
	"JAVA_TOOL_OPTIONS",
	"RUSTC_WRAPPER",
	"GCONV_PATH",
};
/* Ways to services of the host. */
static const char *const service_names[] = {
	"DBUS_SESSION_BUS_ADDRESS", "DOCKER_HOST", "SSH_AUTH_SOCK",  "DISPLAY",
	"WAYLAND_DISPLAY",          "XAUTHORITY",  "CONTAINER_HOST",
};

static bool is_wild(struct str name)
{
	return memchr(name.ptr, '*', name.len) != NULL;
}

static bool matches(struct lint *lint, const char *pattern, struct str name)
{
	return sbx_star_match(pattern, str_cstr(lint->arena, name));
}

static bool any_matches(struct lint *lint, const char *const *patterns, size_t count,
			struct str name)
{
	for (size_t i = 0; i < count; i++)
		if (matches(lint, patterns[i], name))
			return true;
	return false;
}

#define ANY(lint, patterns, name)                                                                  \
	any_matches((lint), (patterns), sizeof(patterns) / sizeof(*(patterns)), (name))

/* ---- environment ----------------------------------------------------------------------- */

/* The line of a module that denies @name by a pattern, or NULL. */
static const struct rule_head *denied_by_pattern(struct lint *lint, struct str name)
{
	for (size_t i = 0; i < lint->policy->env.count; i++) {
		const struct env_rule *rule = &lint->policy->env.items[i];

		if (rule->verb == SBX_ENV_DENY && !rule->head.main_file && is_wild(rule->name) &&
		    matches(lint, str_cstr(lint->arena, rule->name), name))
			return &rule->head;
	}
	return NULL;
}

static void find_pass(struct lint *lint, const struct env_rule *rule)
{
	const struct rule_head *deny =
	    is_wild(rule->name) ? NULL : denied_by_pattern(lint, rule->name);
	int length = (int)rule->name.len;
	const char *name = rule->name.ptr;

	if (rule->head.compat.ptr || !rule->head.main_file)
		return;
	/* An exact name beats a pattern, so a pass opens what a module shuts, without `override`.
	 */
	if (deny)
		lint_find(lint, &rule->head, DIAG_L0307,
			  "`%.*s` opens what %s denies: add compat \"why\"", length, name,
			  lint_place(lint, deny));
	else if (ANY(lint, key_names, rule->name))
		lint_find(lint, &rule->head, DIAG_L0308,
			  "`%.*s` looks like a key, which then is inside: add compat \"why\", or "
			  "write a `credential`",
			  length, name);
	else if (ANY(lint, run_names, rule->name))
		lint_find(
		    lint, &rule->head, DIAG_L0309,
		    "`%.*s` runs a program of its own when another starts: add compat \"why\"",
		    length, name);
	else if (ANY(lint, service_names, rule->name))
		lint_find(lint, &rule->head, DIAG_L0401,
			  "`%.*s` is the way to a service outside: add compat \"why\"", length,
			  name);
}

/* Does @text begin as keys of well-known services do, or hold a password for a host? */
static bool is_key(const char *text)
{
	static const char *const starts[] = { "sk-",       "ghp_",  "gho_",  "github_pat_",
					      "glpat-",    "xoxb-", "xoxp-", "hf_",
					      "AKIA",      "AIza",  "npm_",  "pypi-",
					      "-----BEGIN" };
	const char *host = strstr(text, "://"), *at, *colon;

	for (size_t i = 0; i < sizeof(starts) / sizeof(*starts); i++)
		if (strncmp(text, starts[i], strlen(starts[i])) == 0 &&
		    strlen(text) >= strlen(starts[i]) + 8)
			return true;
	if (!host)
		return false;
	at = strchr(host, '@');
	colon = strchr(host + 3, ':');
	return at && colon && colon < at;
}

/* A pass with a wildcard, by names that many have. */
static void find_wild_pass(struct lint *lint)
{
	static const char *const samples[] = {
		"AWS_SECRET_ACCESS_KEY",
		"GITHUB_TOKEN",
		"OPENAI_API_KEY",
		"ANTHROPIC_API_KEY",
		"HF_TOKEN",
		"AZURE_CLIENT_SECRET",
		"GOOGLE_APPLICATION_CREDENTIALS",
		"NPM_TOKEN",
		"SLURM_JWT",
		"VAULT_TOKEN",
		"DATABASE_URL",
		"PGPASSWORD",
	};
	const struct rule_head *said = NULL;

	for (size_t i = 0; i < sizeof(samples) / sizeof(*samples); i++) {
		struct sbx_env_verdict verdict;
		const struct rule_head *head;
		const struct sbx_env_rule *rule;

		sbx_env_decide(&lint->blob, samples[i], &verdict);
		if (!verdict.visible || verdict.set || verdict.rule == SBX_NONE)
			continue;
		rule = SBX_AT(&lint->blob, ENV, sbx_env_rule, verdict.rule);
		head = lint_head(lint, SBX_SEC_ENV, verdict.rule);
		if (head == said || head->compat.ptr ||
		    !strchr(sbx_string(&lint->blob, rule->name), '*'))
			continue;
		lint_find(lint, head, DIAG_L0308,
			  "`%s` lets %s in, which is a key: name the variables, or add compat "
			  "\"why\"",
			  sbx_string(&lint->blob, rule->name), samples[i]);
		said = head;
	}
}

static void find_env(struct lint *lint)
{
	find_wild_pass(lint);
	for (size_t i = 0; i < lint->policy->env.count; i++)
		if (lint->policy->env.items[i].verb == SBX_ENV_PASS)
			find_pass(lint, &lint->policy->env.items[i]);
	for (uint32_t i = 0; i < SBX_COUNT(&lint->blob, ENV); i++) {
		const struct sbx_env_rule *rule = SBX_AT(&lint->blob, ENV, sbx_env_rule, i);
		const char *value;

		if (rule->head.verb != SBX_ENV_SET)
			continue;
		value = lint_text(lint, rule->value);
		if (value && is_key(value))
			lint_find(
			    lint, lint_head(lint, SBX_SEC_ENV, i), DIAG_L0310,
			    "the value of `%s` looks like a key: a policy is no place for one",
			    sbx_string(&lint->blob, rule->name));
	}
}

/* ---- network --------------------------------------------------------------------------- */

static void find_sockets(struct lint *lint)
{
	static const char *const sockets[] = {
		"/run/docker.sock",
		"/var/run/docker.sock",
		"/run/podman/podman.sock",
		"/run/user/1000/podman/podman.sock",
		"/run/containerd/containerd.sock",
		"/run/dbus/system_bus_socket",
		"/var/run/dbus/system_bus_socket",
		"/run/user/1000/bus",
		"/run/systemd/private",
		"/run/user/1000/systemd/private",
		"/run/libvirt/libvirt-sock",
		"/run/user/1000/keyring/ssh",
		"/run/user/1000/gnupg/S.gpg-agent",
		"/tmp/.X11-unix/X0",
		"/run/user/1000/wayland-0",
		"/run/munge/munge.socket.2",
	};

	uint32_t said = SBX_NONE; /* a rule that opens many is told once */

	for (size_t i = 0; i < sizeof(sockets) / sizeof(*sockets); i++) {
		struct sbx_net_verdict verdict;

		sbx_net_decide_unix(&lint->blob, &lint->vars, sockets[i], &verdict);
		if (verdict.allowed && verdict.rule != said) {
			said = verdict.rule;
			lint_find(lint, lint_head(lint, SBX_SEC_NET, verdict.rule), DIAG_L0401,
				  "%s can be reached: its service does outside what it is asked",
				  sockets[i]);
		}
	}
}

static void find_hosts(struct lint *lint)
{
	for (size_t i = 0; i < lint->policy->net.count; i++) {
		const struct net_rule *rule = &lint->policy->net.items[i];

		if (rule->verb != SBX_NETV_ALLOW || rule->kind > SBX_NETK_ADDRESS ||
		    rule->head.compat.ptr)
			continue;
		if (rule->kind == SBX_NETK_ANY)
			lint_find(
			    lint, &rule->head, DIAG_L0402,
			    "every host is allowed: name those that are needed, or add compat "
			    "\"why\"");
		if (rule->port == 53 || rule->port == 853)
			lint_find(lint, &rule->head, DIAG_L0403,
				  "port %u is DNS, which carries anything to anybody: the proxy "
				  "resolves names itself",
				  rule->port);
		else if (rule->port != 443 && rule->port != 80)
			lint_find(
			    lint, &rule->head, DIAG_L0403,
			    "port %u is no HTTP, so that nothing of it is seen or logged: add "
			    "compat \"why\"",
			    rule->port);
	}
}

/* Programs find the proxy by a variable, and get nowhere without. */
static void find_proxy(struct lint *lint)
{
	const struct policy *policy = lint->policy;

	if (policy->net_mode != SBX_NET_PROXY || policy->kind != SBX_POLICY)
		return;
	for (size_t i = 0; i < policy->env.count; i++) {
		const struct env_rule *rule = &policy->env.items[i];

		if (rule->verb == SBX_ENV_SET && (str_is(rule->name, "HTTPS_PROXY") ||
						  str_is(rule->name, "https_proxy")))
			return;
	}
	lint_find(lint, &policy->net_mode_head, DIAG_L0404,
		  "no variable says where the proxy is: import std/proxy");
}

/* ---- the rest ---------------------------------------------------------------------------- */

#define MINUTE 60u
#define LONG   (60 * MINUTE) /* the checklist wants minutes */

/* What a credential's value is worth when it leaks: NULL for what is said to live shortly.
 * Reading a file again does not change what is in it; a login's JSON its program renews. */
static const char *lives_long(const struct lint *lint, const struct credential *credential)
{
	uint32_t seconds = credential->lifetime_s;

	if (credential->source == SBX_SOURCE_ENV)
		return "a variable is read once, whatever `refresh` and `lifetime` say: take the "
		       "key from `source exec`, or add compat \"why\"";
	if (!seconds && credential->source == SBX_SOURCE_FILE && !credential->json.len)
		return "a key in a file lives until somebody changes it, however often it is "
		       "read: say its `lifetime` if something does, or add compat \"why\"";
	if (!seconds)
		seconds = credential->refresh_s;
	if (!seconds)
		return "a credential with no lifetime: add `lifetime` or `refresh`";
	return seconds <= LONG
		   ? NULL
		   : arena_printf(lint->arena,
				  "a credential that lives for %u minutes: up to an hour is short",
				  seconds / MINUTE);
}

static void find_credentials(struct lint *lint)
{
	for (size_t i = 0; i < lint->policy->credentials.count; i++) {
		const struct credential *credential = &lint->policy->credentials.items[i];
		const char *why = lives_long(lint, credential);

		if (why && !credential->head.compat.ptr)
			lint_find(lint, &credential->head, DIAG_L0303, "%s", why);
	}
}

static void find_limits(struct lint *lint)
{
	bool memory = false, processes = false;

	for (size_t i = 0; i < lint->policy->limits.count; i++) {
		memory |= lint->policy->limits.items[i].limit == SBX_LIMIT_MEMORY;
		processes |= lint->policy->limits.items[i].limit == SBX_LIMIT_PROCESSES;
	}
	if (!memory)
		lint_find(lint, &lint->policy->head, DIAG_L0301,
			  "no limit on memory: limits { memory 8G }");
	if (!processes)
		lint_find(lint, &lint->policy->head, DIAG_L0301,
			  "no limit on processes: limits { processes 512 }");
}

static void find_slots(struct lint *lint)
{
	for (size_t i = 0; i < lint->policy->slots.count; i++)
		if (!lint->policy->slots.items[i].for_s)
			lint_find(lint, &lint->policy->slots.items[i].head, DIAG_L0311,
				  "what a person grants here never ends: add `for 1h`");
}

static void find_descriptors(struct lint *lint)
{
	for (size_t i = 0; i < lint->policy->process.count; i++) {
		const struct process_rule *rule = &lint->policy->process.items[i];

		if (rule->what == SBX_PROCESS_PASS_FD && !rule->head.compat.ptr)
			lint_find(lint, &rule->head, DIAG_L0312,
				  "descriptor %u goes past every rule of files and network: add "
				  "compat \"why\"",
				  rule->value);
	}
}

void lint_reach(struct lint *lint)
{
	find_env(lint);
	find_sockets(lint);
	find_hosts(lint);
	find_proxy(lint);
	find_credentials(lint);
	find_limits(lint);
	find_slots(lint);
	find_descriptors(lint);
}
