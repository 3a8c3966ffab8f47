/*
 * stub/slurm.c - Slurm for one session.
 *
 * Outside works sbx-chaperon; inside there is a directory of clients, first in PATH,
 * which is one program under many names and at the same place on every backend, and one
 * socket.  It lies beside the sessions' records (sessions.c), where every backend can
 * show it, no program can write and the connect broker lets it alone be reached.  Homes
 * are often shared by machines, so it is a lock that tells whether its session lives.
 *
 * The real clients, the configuration and munge are std/slurm's to seal.
 */
#include "stub/slurm.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "blob/chaperon_wire.h"
#include "stub/backend.h"
#include "stub/clients.h"
#include "stub/job.h"
#include "stub/launch.h"
#include "stub/out.h"
#include "stub/prepare.h"

#define BACKLOG 128
#define CONF    "SLURM_CONF="

/* ---- before the launch ------------------------------------------------------------ */

/* The rule that allows something; NULL: Slurm stays shut. */
static const struct sbx_head *find_allow(const struct launch *launch)
{
	for (uint32_t i = 0; i < SBX_COUNT(&launch->blob, SLURM); i++) {
		const struct sbx_slurm_rule *rule = SBX_AT(&launch->blob, SLURM, sbx_slurm_rule, i);

		if (rule->head.verb == SBX_SLURM_ALLOW)
			return &rule->head;
	}
	return NULL;
}

static void choose_names(struct launch *launch)
{
	struct slurm *slurm = &launch->slurm;
	uint64_t number = 0;

	/* Without random numbers there is one session at a time. */
	syscall(SYS_getrandom, &number, sizeof(number), 0);
	slurm->lock = out_string("%s/" SLURM_PREFIX "%llx", sessions_place(launch, "slurm"),
				 (unsigned long long)number);
	slurm->socket = mem_join(slurm->lock, SLURM_SOCKET);
	slurm->state = path_join(launch->vars.value[SBX_VAR_HOME], ".local/state/sbx/slurm");
	slurm->jobs = path_join(launch->vars.value[SBX_VAR_HOME], ".local/share/sbx/jobs");
}

/* Ours inside are of an installation.  The real ones need not be there: the session then
 * begins without Slurm, as sbx-chaperon says. */
static void find_clients(struct launch *launch, const struct sbx_head *allow)
{
	const char *command = sbx_string(
		       &launch->blob, ((const struct sbx_slurm_rule *)(const void *)allow)->command),
		   *ours = path_join(launch->slurm.clients, "sbatch"), *real;

	if (access(ours, X_OK)) {
		helper_missing(launch, ours, "slurm", allow);
		launch->slurm.clients = NULL; /* for --check, that it is said once */
	}
	real = out_string("/usr/bin/%.*s", (int)strcspn(command, "-"), command);
	if (launch->options.check && access(real, X_OK))
		launch_remark(launch, "no Slurm: %s: %s (%s)", real, out_error(errno),
			      launch_place(launch, allow->loc));
}

void slurm_find(struct launch *launch)
{
	const struct sbx_head *allow = find_allow(launch);
	struct slurm *slurm = &launch->slurm;

	slurm->helper = (struct helper){ .name = "sbx-chaperon",
					 .without = "no Slurm",
					 .hangs = "`squeue --help` hangs",
					 .log_option = "--slurm-log",
					 .socket = -1,
					 .listener = -1 };
	if (!allow)
		return;
	if (!launch->uid)
		launch_obstacle(launch, "slurm (%s): not for root: start as an ordinary user",
				launch_place(launch, allow->loc));
	choose_names(launch);
	slurm->clients = clients_directory(launch);
	find_clients(launch, allow);
	/* Tasks may be many. */
	if (!launch->envelope || job_has_slurm(launch))
		helper_find(launch, &slurm->helper, "sbx-chaperon", "slurm", allow);
}

/* It names libraries that each of Slurm's own clients loads, outside. */
void slurm_check(struct launch *launch)
{
	for (char **at = environ; *at && launch->slurm.helper.path; at++) {
		const char *conf;

		if (strncmp(*at, CONF, strlen(CONF)) != 0)
			continue;
		conf = *at + strlen(CONF);
		/* sbx-chaperon's directory is /. */
		if (helper_may_be_written(launch, *conf == '/' ? conf : path_join("/", conf)))
			launch_obstacle(
			    launch, "%s: the policy lets it be written inside: keep it elsewhere",
			    *at);
	}
}

/* ---- the launch ------------------------------------------------------------------- */

static int listen_at(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	errno = ENAMETOOLONG;
	if (strlen(path) >= sizeof(address.sun_path))
		return -1;
	strcpy(address.sun_path, path);
	if (fd >= 0 && !bind(fd, (const struct sockaddr *)&address, sizeof(address)) &&
	    !listen(fd, BACKLOG))
		return fd;
	return -1;
}

void slurm_prepare(struct launch *launch)
{
	struct slurm *slurm = &launch->slurm;
	struct stat st;

	if (!slurm->helper.path)
		return;
	helper_open_log(launch, &slurm->helper);
	slurm->lock_fd = sessions_own_file(launch, slurm->lock, &slurm->dir);
	slurm->helper.listener = listen_at(slurm->socket);
	if (slurm->helper.listener < 0 || lstat(slurm->socket, &st))
		refuse("%s: no socket can be made: %s: Slurm needs another home directory",
		       slurm->socket, out_error(errno));
	plan_note_made(launch, slurm->socket, &st);
}

/* Of the environment as it came: in a job, what the client exports is put over it. */
static void add_environment(const struct launch *launch, struct backend *words)
{
	static const char job[] = "SLURM_JOB_ID=";

	for (char **at = environ; *at; at++) {
		if (launch->options.job && !strncmp(*at, job, strlen(job)))
			helper_add(words, "job ", "", *at + strlen(job));
		if (!strncmp(*at, "LANG=", 5) || !strncmp(*at, "SLURM_", 6))
			helper_add(words, "env ", "", *at);
	}
}

static int values(const struct launch *launch)
{
	const struct slurm *slurm = &launch->slurm;
	struct backend words = { 0 }; /* for its list */

	helper_add(&words, "session ", "",
		   launch->envelope ? job_session(launch)
				    : strrchr(slurm->lock, '/') + sizeof(SLURM_PREFIX));
	helper_add(&words, "backend ", "", sbx_backend_name(launch->plan.backend));
	helper_add(&words, "home ", "", launch->vars.value[SBX_VAR_HOME]);
	helper_add(&words, "user ", "", launch->vars.value[SBX_VAR_USER]);
	helper_add(&words, "state ", "", slurm->state);
	helper_add(&words, "jobs ", "", slurm->jobs);
	helper_add_variables(launch, &words);
	add_environment(launch, &words);
	return backend_args_file(&words, '\0');
}

void slurm_start(struct launch *launch)
{
	if (launch->slurm.helper.path)
		helper_tell_session(launch, &launch->slurm.helper, SBX_CHAPERON_WIRE_VERSION,
				    values(launch), -1);
}

void slurm_remove(const struct launch *launch)
{
	const struct slurm *slurm = &launch->slurm;

	if (!slurm->helper.path)
		return;
	unlinkat(slurm->dir, strrchr(slurm->socket, '/') + 1, 0);
	unlinkat(slurm->dir, strrchr(slurm->lock, '/') + 1, 0);
}
