/*
 * What this machine makes of a policy: the launcher is asked, with the policy
 * itself, since only a start shows what starts.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "blob/enforce.h"
#include "compiler/init.h"
#include "compiler/library.h"
#include "compiler/stages.h"
#include "compiler/targets.h"

#define FINDINGS (SBX_BACKEND_COUNT + 3) /* of init_check, where the backends are asked */
#define FOUND(init, ...)                                                                           \
	(*VEC_PUSH((init)->arena, &(init)->findings) = arena_printf((init)->arena, __VA_ARGS__))

/* Standard output of `sbx-exec --backend NAME --check BLOB` in the project; NULL: not
 * started. */
static FILE *start_check(const struct init *init, const char *backend, const char *blob, pid_t *pid)
{
	const char *launcher = library_program(init->arena, "sbx-exec");
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) != 0)
		return NULL;
	*pid = fork();
	if (*pid == 0) {
		int null = open("/dev/null", O_RDWR | O_CLOEXEC);

		dup2(null, STDIN_FILENO);
		dup2(ends[1], STDOUT_FILENO);
		dup2(ends[1], STDERR_FILENO);
		if (chdir(init->project) == 0)
			execl(launcher, launcher, "--backend", backend, "--check", blob,
			      (char *)NULL);
		_exit(127);
	}
	close(ends[1]);
	if (*pid < 0) {
		close(ends[0]);
		return NULL;
	}
	return fdopen(ends[0], "r");
}

/* Does it start there?  *why: the first obstacle, or the last words. */
static bool ask(struct init *init, const char *backend, const char *blob, const char **why)
{
	char line[1024];
	bool obstacle = false;
	int status = -1;
	pid_t pid = -1;
	FILE *words = start_check(init, backend, blob, &pid);

	*why = "sbx-exec cannot be started";
	while (words && fgets(line, sizeof(line), words)) {
		line[strcspn(line, "\n")] = '\0';
		if (obstacle || !*line)
			continue;
		obstacle = !strncmp(line, "no   ", 5);
		*why = arena_printf(init->arena, "%s", obstacle ? line + 5 : line);
	}
	if (words)
		fclose(words);
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return status == 0;
}

static void ask_backends(struct init *init, const struct emitted *blob)
{
	char dir[] = "/var/tmp/sbxc-init.XXXXXX"; /* not /tmp, over which the policy puts another */
	const char *path;
	bool any = false;

	if (!mkdtemp(dir)) {
		FOUND(init, "No backend was asked: %s: %s", dir, strerror(errno));
		return;
	}
	path = arena_printf(init->arena, "%s/%s.sbx", dir, init->name);
	if (output_write(path, blob->data, blob->size)) {
		FOUND(init, "Backends, each asked to start this very policy:");
		for (unsigned i = 0; i < SBX_BACKEND_COUNT; i++) {
			const char *name = sbx_backend_name((enum sbx_backend)i), *why;
			bool good = ask(init, name, path, &why);

			FOUND(init, "  %-9s %s%s", name,
			      good ? "starts it" : "no: ", good ? "" : why);
			any |= good;
		}
	}
	unlink(path);
	rmdir(dir);
	if (!any)
		fputs("sbxc: no backend here starts it: the head of the policy says why\n", stderr);
}

static const char *landlock_here(struct init *init)
{
	unsigned abi = targets_abi_here();

	return abi ? arena_printf(init->arena, "Landlock ABI %u", abi)
		   : "no Landlock, without which no policy starts";
}

/* `~/...` for what is there in the model's home; NULL for what is elsewhere. */
static const char *in_home(const struct sbx_vars *vars, const char *path)
{
	size_t length = strlen(vars->value[SBX_VAR_HOME]);

	return !strncmp(path, vars->value[SBX_VAR_HOME], length) && path[length] == '/'
		   ? path + length
		   : NULL;
}

static void look_for_secrets(struct init *init, const struct sbx_blob *blob)
{
	struct text names = { .arena = init->arena };
	const char *home = home_dir(init->arena);
	struct sbx_vars vars;
	struct sbx_fs_set set;

	model_vars(init->arena, blob, &vars);
	model_fs_set(init->arena, blob, &vars, &set);
	for (size_t i = 0; home && i < set.count; i++) {
		const char *below = in_home(&vars, set.points[i].path);
		struct stat st;

		if (set.points[i].verb == SBX_FS_SEAL && !set.points[i].wild && below &&
		    lstat(arena_printf(init->arena, "%s%s", home, below), &st) == 0)
			text_add(&names, " ~%s", below);
	}
	FOUND(init, "Sealed, and there:%s", names.bytes.count ? text_end(&names) : " nothing");
}

/* What a person does to have this key, or NULL: it is there, or no file. */
static const char *to_do_for(struct init *init, const struct sbx_blob *blob,
			     const struct sbx_vars *vars, const struct sbx_credential *credential)
{
	struct sbx_tmpl tmpl = *SBX_AT(blob, TMPLS, sbx_tmpl, credential->source_first);
	char path[PATH_MAX];
	const char *home = home_dir(init->arena), *below;
	uint32_t unset;
	struct stat st;
	bool wild;

	if (credential->source != SBX_SOURCE_FILE ||
	    sbx_expand(blob, tmpl, vars, path, sizeof(path), &wild, &unset) < 0)
		return NULL;
	below = in_home(vars, path);
	if (!below || !home || lstat(arena_printf(init->arena, "%s%s", home, below), &st) == 0)
		return NULL;
	return credential->json == SBX_NONE
		   ? arena_printf(init->arena, "install -D -m 600 /dev/stdin ~%s", below)
		   : arena_printf(init->arena, "log in outside, which leaves ~%s", below);
}

/* A launch needs those that are not optional, and one at least. */
static void look_for_keys(struct init *init, const struct sbx_blob *blob)
{
	struct init_names needed = { 0 }, optional = { 0 };
	struct sbx_vars vars;
	uint32_t count = SBX_COUNT(blob, CREDENTIALS);

	model_vars(init->arena, blob, &vars);
	for (uint32_t i = 0; i < count; i++) {
		const struct sbx_credential *credential =
		    SBX_AT(blob, CREDENTIALS, sbx_credential, i);
		const char *to_do = to_do_for(init, blob, &vars, credential);

		if (to_do && credential->head.flags & SBX_F_OPTIONAL)
			*VEC_PUSH(init->arena, &optional) = to_do;
		else if (to_do)
			*VEC_PUSH(init->arena, &needed) = to_do;
	}
	init->any_key = optional.count == count;
	init->keys = init->any_key ? optional : needed;
}

struct str init_draft(struct init *init)
{
	struct str text;

	for (unsigned i = 0; i < FINDINGS; i++)
		FOUND(init, "%s", "");
	text = init_lay_out(init, init_policy(init));
	init->findings.count = 0;
	return text;
}

bool init_check(struct init *init, struct str policy, const char *path)
{
	struct compile_options options = { 0 };
	struct compilation c;
	struct sbx_blob blob;
	struct utsname kernel;
	bool good;

	compilation_init(&c, &options);
	c.text = policy;
	good = compile_path(&c, path);
	if (!good)
		diag_flush(c.diags, stderr, colour_on(stderr));
	good = good && !sbx_blob_open(c.blob.data, c.blob.size, &blob);
	if (good) {
		if (uname(&kernel) == 0)
			FOUND(init, "This machine: %s %s, %s", kernel.sysname, kernel.release,
			      landlock_here(init));
		ask_backends(init, &c.blob);
		look_for_secrets(init, &blob);
		look_for_keys(init, &blob);
	}
	compilation_free(&c);
	return good;
}
