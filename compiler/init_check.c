/*
 * What this machine makes of a policy: the launcher is asked, with the policy
 * itself, since only a start shows what starts.
 */
#include <errno.h>
#include <fcntl.h>
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

static void look_for_secrets(struct init *init, const struct sbx_blob *blob)
{
	struct text names = { .arena = init->arena };
	const char *home = home_dir(init->arena);
	struct sbx_vars vars;
	struct sbx_fs_set set;
	size_t length;

	model_vars(init->arena, blob, &vars);
	model_fs_set(init->arena, blob, &vars, &set);
	length = strlen(vars.value[SBX_VAR_HOME]);
	for (size_t i = 0; home && i < set.count; i++) {
		const char *path = set.points[i].path;
		struct stat st;

		if (set.points[i].verb == SBX_FS_SEAL && !set.points[i].wild &&
		    !strncmp(path, vars.value[SBX_VAR_HOME], length) && path[length] == '/' &&
		    lstat(arena_printf(init->arena, "%s%s", home, path + length), &st) == 0)
			text_add(&names, " ~%s", path + length);
	}
	FOUND(init, "Sealed, and there:%s", names.bytes.count ? text_end(&names) : " nothing");
}

bool init_check(struct init *init, struct text policy)
{
	struct compile_options options = { 0 };
	struct compilation c;
	struct sbx_blob blob;
	struct utsname kernel;
	bool good;

	compilation_init(&c, &options);
	c.text = (struct str){ policy.bytes.items, policy.bytes.count };
	good = compile_path(&c, "-");
	if (!good)
		diag_flush(c.diags, stderr, colour_on(stderr));
	good = good && !sbx_blob_open(c.blob.data, c.blob.size, &blob);
	if (good) {
		if (uname(&kernel) == 0)
			FOUND(init, "This machine: %s %s, %s", kernel.sysname, kernel.release,
			      landlock_here(init));
		ask_backends(init, &c.blob);
		look_for_secrets(init, &blob);
	}
	compilation_free(&c);
	return good;
}
