/*
 * stub/report.c - the plan, for people.
 */
#include "stub/report.h"

#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "stub/backend.h"
#include "stub/launch.h"
#include "stub/out.h"

#define say(...) out_print(STDOUT_FILENO, __VA_ARGS__)

static const char *rights_text(unsigned rights)
{
	static const char names[][16] = { "none", "read",      "write",      "read write",
					  "exec", "read exec", "write exec", "read write exec" };

	return names[rights & 7];
}

static void report_variables(const struct launch *launch)
{
	say("policy\n  %s, blob %s\n  digest ",
	    sbx_string(&launch->blob, sbx_meta(&launch->blob)->name), launch->blob_path);
	for (size_t i = 0; i < 32; i++)
		say("%x%x", launch->blob.header->digest[i] >> 4,
		    launch->blob.header->digest[i] & 15u);
	say("\nvariables\n");
	for (uint32_t i = 0; i < SBX_VAR_PARAM + SBX_COUNT(&launch->blob, PARAMS); i++) {
		const char *value = launch->vars.value[i];

		if (i < SBX_VAR_COUNT || i >= SBX_VAR_PARAM)
			say("  $%s = %s\n", sbx_var_name(&launch->blob, i),
			    value ? value : "(unset)");
	}
}

static void report_mounts(const struct launch *launch)
{
	static const char kinds[][10] = { "bind",   "tmpfs", "proc",      "dev",
					  "device", "link",  "directory", "file" };
	const struct plan *plan = &launch->plan;

	say("mounts\n");
	for (size_t i = 0; i < plan->mounts.count; i++) {
		const struct plan_mount *mount = &plan->mounts.items[i];

		say("  %s %s%s%s: %s (%s)\n", kinds[mount->kind], mount->path,
		    mount->target ? " -> " : "", mount->target ? mount->target : "",
		    mount->kind == MOUNT_LINK ? "as on the host" : rights_text(mount->rights),
		    fsview_place(launch, mount->rule));
	}
}

/* A file that is mounted on its own cannot be exchanged. */
#define NO_RENAME "; to replace it by rename fails (EBUSY)"

static const char *mask_text(const struct plan_mask *mask)
{
	switch (mask->kind) {
	case MASK_HIDE:
		return "hidden";
	case MASK_SELF:
		return !mask->verify              ? "pinned: cannot be renamed"
		       : mask->rights & SBX_WRITE ? "not executable"
		       : mask->rights & SBX_EXEC  ? "read-only"
						  : "read-only, not executable";
	case MASK_OPEN:
		return "opened again";
	case MASK_TMP:
		return "an empty tmpfs";
	case MASK_COPY:
		return S_ISDIR(mask->mode) ? "a private copy" : "a private copy" NO_RENAME;
	case MASK_COVER:
		return "covered: only what is named below is in it";
	case MASK_LINK:
		return "a link, as on the host";
	}
	return "";
}

static const char *placeholder_text(const struct launch *launch,
				    const struct plan_placeholder *placeholder)
{
	const struct sbx_fs_rule *rule = fsview_rule(launch, placeholder->rule);

	if (rule && rule->head.flags & SBX_F_CREATE)
		return "a directory, which stays";
	return placeholder->text ? "a file" : "a directory";
}

static void report_masks(const struct launch *launch)
{
	const struct plan *plan = &launch->plan;

	say("masks\n");
	for (size_t i = 0; i < plan->masks.count; i++)
		say("  %s: %s (%s)\n", plan->masks.items[i].path, mask_text(&plan->masks.items[i]),
		    fsview_place(launch, plan->masks.items[i].rule));
	say("placeholders, on the host while the session runs\n");
	for (size_t i = 0; i < plan->placeholders.count; i++)
		say("  %s: %s (%s)\n", plan->placeholders.items[i].path,
		    placeholder_text(launch, &plan->placeholders.items[i]),
		    fsview_place(launch, plan->placeholders.items[i].rule));
}

static void report_landlock(const struct launch *launch)
{
	const struct plan *plan = &launch->plan;

	say("landlock\n  handled: fs %llx, net %llx, scoped %llx\n",
	    (unsigned long long)plan->landlock_fs, (unsigned long long)plan->landlock_net,
	    (unsigned long long)plan->landlock_scoped);
	for (size_t i = 0; i < plan->rules.count; i++)
		say("  %s: %s%s\n", plan->rules.items[i].path,
		    rights_text(plan->rules.items[i].rights),
		    plan->rules.items[i].path == launch->direct.tmp ? ", made for the session"
		    : !plan->rules.items[i].rights                  ? ", but its names"
		    : plan->rules.items[i].extra                    ? ", device or socket"
								    : "");
}

/* False: the policy needs none. */
static bool report_helper(const struct helper *helper, const char *what, const char *place)
{
	if (!helper->path)
		return false;
	say("%s\n  %s, inside at %s\n", what, helper->path, place);
	if (helper->log)
		say("  log %s\n", helper->log);
	return true;
}

/* Names only: nothing that leads to a secret, and no placeholder, which is one inside. */
static void report_proxy(const struct launch *launch)
{
	const struct proxy *proxy = &launch->proxy;

	if (!report_helper(&proxy->helper, "proxy", out_string("127.0.0.1:%u", SBX_PROXY_PORT)))
		return;
	for (uint32_t i = 0; i < SBX_COUNT(&launch->blob, CREDENTIALS); i++)
		say("  credential %s%s\n",
		    sbx_string(&launch->blob,
			       SBX_AT(&launch->blob, CREDENTIALS, sbx_credential, i)->name),
		    proxy->placeholder[i] ? "" : ": left out");
}

static const char *limit_name(int resource)
{
	switch (resource) {
	case RLIMIT_DATA:
		return "memory, per process";
	case RLIMIT_NPROC:
		return "processes";
	case RLIMIT_CPU:
		return "cpu-time, per process";
	case RLIMIT_NOFILE:
		return "open-files, per process";
	case RLIMIT_FSIZE:
		return "file-size";
	default:
		return "core-size";
	}
}

/* The caller's own limit on open files comes first. */
static bool is_set_again(const struct plan *plan, size_t at)
{
	for (size_t i = at + 1; i < plan->limits.count; i++)
		if (plan->limits.items[i].resource == plan->limits.items[at].resource)
			return true;
	return false;
}

static void report_process(const struct launch *launch)
{
	const struct plan *plan = &launch->plan;

	say("limits\n");
	for (size_t i = 0; i < plan->limits.count; i++)
		if (!is_set_again(plan, i))
			say("  %s: %llu\n", limit_name(plan->limits.items[i].resource),
			    (unsigned long long)plan->limits.items[i].soft);
	if (plan->cpus)
		say("  cpus, by affinity: %u\n", plan->cpus);
	if (plan->wall_time)
		say("  wall-time: %llu s\n", (unsigned long long)plan->wall_time);
	say("namespaces\n  %s%s\n",
	    plan->backend == SBX_LANDLOCK   ? "none"
	    : plan->backend == SBX_FIREJAIL ? "mount pid ipc uts"
					    : "user mount pid ipc uts cgroup",
	    plan->backend == SBX_LANDLOCK || plan->share_net ? "" : " net");
	say("filter\n  %u instructions%s\n", plan->filter_count + plan->shared_filter_count,
	    plan->filter_init ? ", process 1 too" : "");
	say("environment\n");
	for (size_t i = 0; i < plan->environ.count; i++) {
		const char *entry = plan->environ.items[i];
		int length = (int)strcspn(entry, "=");
		struct sbx_env_verdict verdict;

		sbx_env_decide(&launch->blob, mem_copy(entry, (size_t)length), &verdict);
		if (verdict.credential != SBX_NONE)
			say("  %.*s (a placeholder)\n", length, entry);
		else if (verdict.set || (launch->direct.tmp && out_find(entry, launch->direct.tmp)))
			say("  %s\n", entry);
		else
			say("  %.*s (passed)\n", length, entry);
	}
	say("directory\n  %s\ncommand\n ", plan->cwd);
	for (size_t i = 0; i < plan->argv.count; i++)
		say(" %s", plan->argv.items[i]);
	say("\n");
}

void report_plan(const struct launch *launch, const struct backend *backend)
{
	report_variables(launch);
	if (backend->kind != SBX_LANDLOCK) {
		report_mounts(launch);
		report_masks(launch);
	}
	report_landlock(launch);
	report_proxy(launch);
	report_helper(&launch->slurm.helper, "slurm", launch->slurm.socket);
	report_process(launch);
	say("backend\n  %s %s", sbx_backend_name(backend->kind), backend->path);
	for (size_t i = 0; i < backend->args.count; i++)
		say(" %s", backend->args.items[i]);
	say("\n");
}
