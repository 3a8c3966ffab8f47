/*
 * compiler/lint_files.c - what the file rules leave open that the checklist wants shut.
 *
 * Each question is a path of a made-up machine (model_vars) and a right; the
 * rule that answers it is where the finding is.
 */
#include <string.h>

#include "compiler/lint.h"

struct probe {
	const char *path, *what;
};

static bool is_var(const struct tmpl *path, unsigned var)
{
	return path->count && path->segs[0].kind == SBX_SEG_VAR && path->segs[0].var == var;
}

/* "~/x" on the model's machine; any other path is as it is. */
static const char *at_home(struct lint *lint, const char *path)
{
	return path[0] == '~'
		   ? arena_printf(lint->arena, "%s%s", lint->vars.value[SBX_VAR_HOME], path + 1)
		   : path;
}

/* Is @path the host's and open, and its rule none of @said?  Then it is put there. */
static const struct fs_rule *opens(struct lint *lint, const char *path, unsigned right,
				   const struct fs_rule **said, size_t *count)
{
	const struct fs_rule *rule;
	struct sbx_fs_verdict verdict;

	if (!path || !lint_may(lint, at_home(lint, path), right, &verdict))
		return NULL;
	rule = lint_fs_rule(lint, &verdict);
	if (rule->verb != SBX_FS_GRANT)
		return NULL; /* a private one */
	for (size_t i = 0; i < *count; i++)
		if (said[i] == rule)
			return NULL;
	return said[(*count)++] = rule;
}

static void find_home(struct lint *lint)
{
	const struct fs_rule *said[1], *rule;
	size_t count = 0;

	rule = opens(lint, "~/any-file", SBX_WRITE, said, &count);
	if (rule) {
		lint_find(lint, &rule->head, DIAG_L0101,
			  "the home directory is writable: name the directories that have to be");
		return;
	}
	rule = opens(lint, "~/any-file", SBX_READ, said, &count);
	if (rule && !rule->head.compat.ptr)
		lint_find(lint, &rule->head, DIAG_L0107,
			  "all of home is readable: name what has to be, or add compat \"why\"");
}

static void find_second_trees(struct lint *lint)
{
	for (size_t i = 0; i < lint->policy->fs.count; i++) {
		const struct fs_rule *rule = &lint->policy->fs.items[i];
		const struct tmpl *path = &rule->path;

		if (rule->verb != SBX_FS_GRANT || !(rule->rights & SBX_WRITE) ||
		    rule->head.compat.ptr || !rule->head.main_file)
			continue;
		if (is_var(path, SBX_VAR_WORKSPACE) || is_var(path, SBX_VAR_CWD) ||
		    is_var(path, SBX_VAR_GITDIR) || is_var(path, SBX_VAR_GITCOMMON) ||
		    i == lint->policy->workspace_rule)
			continue;
		lint_find(lint, &rule->head, DIAG_L0102,
			  "a second writable tree, without a reason: add compat \"why\"");
	}
}

static void find_unsealed(struct lint *lint)
{
	static const char *const stores[] = { "~/.ssh/id_ed25519", "~/.aws/credentials",
					      "~/.gnupg/private-keys-v1.d/key" };

	for (size_t i = 0; i < sizeof(stores) / sizeof(*stores); i++) {
		struct sbx_fs_verdict verdict;

		lint_may(lint, at_home(lint, stores[i]), SBX_READ, &verdict);
		if (verdict.why != SBX_WHY_SEAL)
			lint_find(lint, &lint->policy->head, DIAG_L0103,
				  "%s is not sealed, so a later grant could open it: import "
				  "std/secrets",
				  stores[i]);
	}
}

static void find_shared_tmp(struct lint *lint)
{
	static const char *const places[] = { "/tmp", "/var/tmp", "/dev/shm" };
	const struct fs_rule *said[3];
	size_t count = 0;

	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		const struct fs_rule *rule = opens(
		    lint, arena_printf(lint->arena, "%s/x", places[i]), SBX_WRITE, said, &count);

		if (rule)
			lint_find(lint, &rule->head, DIAG_L0104,
				  "the host's %s is writable: use a private one, `tmp %s`",
				  places[i], places[i]);
	}
}

static void find_system(struct lint *lint)
{
	static const char *const places[] = { "/usr/bin/env", "/bin/sh",     "/lib/x",
					      "/etc/passwd",  "/opt/x",      "/boot/x",
					      "/var/lib/x",   "/any-file/x", "/proc/sys/kernel/x" };
	const struct fs_rule *said[9], *rule;
	size_t count = 0;

	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		rule = opens(lint, places[i], SBX_WRITE, said, &count);
		if (rule)
			lint_find(lint, &rule->head, DIAG_L0106,
				  "%s can be written: the system is for reading", places[i]);
	}
	rule = opens(lint, "/any-file/x", SBX_READ, said, &count);
	if (rule)
		lint_find(lint, &rule->head, DIAG_L0108,
			  "the whole root is granted: nothing is denied by default any more; name "
			  "what is needed, or import std/base");
}

/* What runs outside later, without anybody asking: it is as good as a way out. */
static void find_run_later(struct lint *lint)
{
	const struct probe probes[] = {
		{ lint->vars.value[SBX_VAR_POLICY], "the policy itself" },
		{ lint->vars.value[SBX_VAR_LAUNCHER], "the launcher" },
		{ "~/.bashrc", "~/.bashrc" },
		{ "~/.profile", "~/.profile" },
		{ "~/.config/systemd/user/x.service", "a service of yours" },
		{ "~/.config/autostart/x.desktop", "what your desktop starts" },
		{ "~/.config/fish/config.fish", "your shell's startup file" },
		{ "~/.local/bin/x", "a program in your PATH" },
		{ "~/.ssh/authorized_keys", "who may log in" },
		{ "~/.gitconfig", "~/.gitconfig" },
		{ "~/.config/git/config", "git's configuration" },
	};
	const struct fs_rule *said[1 + sizeof(probes) / sizeof(*probes)], *rule;
	size_t count = 0;

	/* One that opens all of home has its finding. */
	opens(lint, "~/any-file", SBX_WRITE, said, &count);
	for (size_t i = 0; i < sizeof(probes) / sizeof(*probes); i++) {
		rule = opens(lint, probes[i].path, SBX_WRITE, said, &count);
		if (rule)
			lint_find(lint, &rule->head, DIAG_L0109,
				  "%s can be written, and is used outside later: add `deny write`",
				  probes[i].what);
	}
}

/* The directories of PATH: what is found there first is what runs. */
static void find_path(struct lint *lint)
{
	for (uint32_t i = 0; i < SBX_COUNT(&lint->blob, ENV); i++) {
		const struct sbx_env_rule *rule = SBX_AT(&lint->blob, ENV, sbx_env_rule, i);
		const char *value;

		if (rule->head.verb != SBX_ENV_SET ||
		    strcmp(sbx_string(&lint->blob, rule->name), "PATH") != 0)
			continue;
		value = lint_text(lint, rule->value);
		for (const char *at = value; at; at = strchr(at, ':'), at += at != NULL) {
			const char *dir = arena_copy(lint->arena, at, strcspn(at, ":"));
			const char *path = arena_printf(lint->arena, "%s/x", dir);
			struct sbx_fs_verdict verdict;

			if (dir[0] != '/')
				lint_find(
				    lint, lint_head(lint, SBX_SEC_ENV, i), DIAG_L0110,
				    "PATH has `%s`, which is the current directory or depends "
				    "on it",
				    dir);
			else if (lint_may(lint, path, SBX_WRITE, &verdict))
				lint_find(lint, lint_head(lint, SBX_SEC_ENV, i), DIAG_L0110,
					  "%s is in PATH and can be written inside", dir);
		}
	}
}

static void find_readable_keys(struct lint *lint)
{
	static const char *const keys[] = {
		"~/.ssh/id_ed25519",
		"~/.aws/credentials",
		"~/.gnupg/private-keys-v1.d/x.key",
		"~/.netrc",
		"~/.git-credentials",
		"~/.npmrc",
		"~/.pypirc",
		"~/.cargo/credentials.toml",
		"~/.docker/config.json",
		"~/.kube/config",
		"~/.vault-token",
		"~/.config/gh/hosts.yml",
		"~/.config/gcloud/application_default_credentials.json",
		"~/.claude/.credentials.json",
		"~/.codex/auth.json",
		"~/.local/share/keyrings/login.keyring",
		"~/.password-store/x.gpg",
		"~/.mozilla/firefox/x/cookies.sqlite",
		"~/.bash_history",
		"/etc/shadow",
		"/etc/ssl/private/x.key",
		"/etc/munge/munge.key",
	};
	const struct fs_rule *said[2 + sizeof(keys) / sizeof(*keys)], *rule;
	size_t count = 0;

	/* Those that open all of home, or everything, have their finding. */
	opens(lint, "~/any-file", SBX_READ, said, &count);
	opens(lint, "/any-file/x", SBX_READ, said, &count);
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		rule = opens(lint, keys[i], SBX_READ, said, &count);
		if (rule && !rule->head.compat.ptr)
			lint_find(lint, &rule->head, DIAG_L0111,
				  "%s can be read inside: a key, a login or a history; seal it, "
				  "or add compat \"why\"",
				  keys[i]);
	}
}

/* A tmpfs is memory. */
static void find_endless_tmp(struct lint *lint)
{
	for (size_t i = 0; i < lint->policy->fs.count; i++) {
		const struct fs_rule *rule = &lint->policy->fs.items[i];

		if (rule->verb != SBX_FS_TMP || rule->size || !rule->head.main_file)
			continue;
		lint_find(lint, &rule->head, DIAG_L0112,
			  "a tmp without a size can take half of the memory: add `size 1G`");
		lint_fix_append(lint, &rule->head, " size 1G");
	}
}

static void find_snapshots(struct lint *lint)
{
	for (size_t i = 0; i < lint->policy->fs.count; i++) {
		const struct fs_rule *rule = &lint->policy->fs.items[i];

		if ((rule->head.flags & SBX_F_SNAPSHOT) && rule->head.main_file)
			lint_find(lint, &rule->head, DIAG_L0105,
				  "a snapshot: names that match later are not covered");
	}
}

/* Nothing of the system can be read and run: not even the loader. */
static void find_nothing_to_run(struct lint *lint)
{
	static const char *const programs[] = { "/usr/bin/env", "/bin/sh",
						"/lib64/ld-linux-x86-64.so.2" };
	struct sbx_fs_verdict verdict;

	for (size_t i = 0; i < sizeof(programs) / sizeof(*programs); i++)
		if (lint_may(lint, programs[i], SBX_EXEC, &verdict) &&
		    lint_may(lint, programs[i], SBX_READ, &verdict))
			return;
	lint_find(lint, &lint->policy->head, DIAG_L0207,
		  "no program of the system can be read and run: import std/base");
}

void lint_files(struct lint *lint)
{
	find_home(lint);
	find_second_trees(lint);
	find_unsealed(lint);
	find_shared_tmp(lint);
	find_system(lint);
	find_run_later(lint);
	find_path(lint);
	find_readable_keys(lint);
	find_endless_tmp(lint);
	find_snapshots(lint);
	find_nothing_to_run(lint);
}
