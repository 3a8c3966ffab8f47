/*
 * stub/proof.c - `require { proof TIME }`: was this proven, here, and lately?
 *
 * What sbxc prove leaves lies where no sandbox can write, one file a policy and backend
 * (blob/proof.h).  Nothing in it is believed but the time: every other line is made
 * here once more from what is so now, and has to be the same.
 */
#include "blob/proof.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "stub/backend.h"
#include "stub/launch.h"
#include "stub/load.h"
#include "stub/out.h"
#include "stub/sys.h"

static const char *end(struct sbx_sha256 *sum)
{
	uint8_t digest[32];

	sbx_sha256_end(sum, digest);
	return out_hex(digest);
}

/* Of nothing where it cannot be read: that is no program's. */
static const char *hash_of(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct sbx_sha256 sum;
	char buffer[8192];
	ssize_t got;

	sbx_sha256_init(&sum);
	while ((got = read(fd, buffer, sizeof(buffer))) > 0)
		sbx_sha256_add(&sum, buffer, (size_t)got);
	close(fd);
	return end(&sum);
}

static const char *hash_of_values(const struct launch *launch)
{
	const struct options *options = &launch->options;
	struct sbx_sha256 sum;

	sbx_sha256_init(&sum);
	for (uint32_t i = 0; i < SBX_COUNT(&launch->blob, PARAMS); i++) {
		const char *name =
		    sbx_string(&launch->blob, SBX_AT(&launch->blob, PARAMS, sbx_param, i)->name);
		size_t length = strlen(name);

		for (unsigned n = 0; n < options->define_count; n++) {
			const char *given = options->defines[n].name;

			if (!strncmp(given, name, length) && given[length] == '=')
				sbx_sha256_add(&sum, given, strlen(given) + 1);
		}
	}
	return end(&sum);
}

/* In @dir, which is closed: what only the user or root can write, a directory or a file
 * with one name.  Whoever may put another in its place need not write it, so both count. */
static int open_trusted(int dir, const char *name)
{
	int fd;
	struct stat st;

	if (dir < 0)
		return -1;
	fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	close(dir);
	if (fd < 0 || (!fstat(fd, &st) && owner_trusted(&st, fd, true) &&
		       (S_ISDIR(st.st_mode) || (S_ISREG(st.st_mode) && st.st_nlink == 1))))
		return fd;
	close(fd);
	errno = EPERM;
	return -1;
}

/* The text of the proof called @name; NULL, by errno: there is none. */
static const char *read_proof(const struct launch *launch, const char *name)
{
	const char *home = launch->vars.value[SBX_VAR_HOME];
	char *text = mem_get(SBX_PROOF_MAX + 1);
	int fd;

	/* The links on the way to the first are protected like it (fsview.c). */
	fd =
	    open(path_join(home ? home : "", ".local/share/sbx"), O_PATH | O_DIRECTORY | O_CLOEXEC);
	fd = open_trusted(open_trusted(fd, SBX_PROOF_DIRECTORY), name);
	if (fd < 0 || read(fd, text, SBX_PROOF_MAX) < 0)
		return NULL;
	close(fd);
	return text;
}

/* Behind the line; NULL: it is another. */
static const char *skip_line(const char *text, const char *name, const char *value)
{
	const char *line = out_string("%s %s\n", name, value);
	size_t length = strlen(line);

	return strncmp(text, line, length) ? NULL : text + length;
}

static const char *compare_time(const char *text, uint32_t most)
{
	struct timespec now = { 0 };
	unsigned long long then;
	const char *rest;

	if (strncmp(text, "time ", 5))
		return "has no time";
	then = out_read_number(text + 5, &rest);
	if (rest == text + 5 || strcmp(rest, "\n"))
		return "has no time";
	sys_clock(CLOCK_REALTIME, &now);
	if (then > (unsigned long long)now.tv_sec)
		return "is of a time to come";
	return (unsigned long long)now.tv_sec - then > most ? "is too old" : NULL;
}

/* To follow "the proof"; NULL: it covers a launch by @kind, whose program is @path. */
static const char *compare(const struct launch *launch, enum sbx_backend kind, const char *path,
			   uint32_t most)
{
	const char *policy = out_hex(launch->blob.header->digest), *name = SBX_PROOF_NAMES, *text;
	long errata =
	    syscall(SYS_landlock_create_ruleset, NULL, 0, UAPI_LANDLOCK_CREATE_RULESET_ERRATA);
	int abi = sys_landlock_abi();
	struct utsname machine = { 0 };

	uname(&machine);
	const char *const now[SBX_PROOF_LINES] = {
		SBX_PROOF_FORMAT,
		policy,
		hash_of_values(launch),
		out_string("%s %s %s", machine.release, machine.version, machine.machine),
		out_string("%d %x", abi < 0 ? 0 : abi, errata < 0 ? 0 : (unsigned)errata),
		hash_of("/proc/self/exe"),
		hash_of(path),
	};
	text = read_proof(launch, out_string("%s.%s", policy, sbx_backend_name(kind)));
	if (!text)
		return errno == ENOENT
			   ? "is missing for the policy as it is now"
			   : "is not a file of yours or root's that nobody else can write";
	for (size_t i = 0; i < SBX_PROOF_LINES; i++, name += strlen(name) + 1)
		if (!(text = skip_line(text, name, now[i])))
			return out_string("differs in its %s", name);
	return compare_time(text, most);
}

static const char *given_values(const struct launch *launch)
{
	const char *words = "";

	for (unsigned i = 0; i < launch->options.define_count; i++)
		words = out_string("%s-D %s ", words, launch->options.defines[i].name);
	return words;
}

const char *proof_objection(const struct launch *launch, enum sbx_backend kind, const char *path)
{
	for (uint32_t i = 0; i < SBX_COUNT(&launch->blob, REQUIRE); i++) {
		const struct sbx_require_rule *rule =
		    SBX_AT(&launch->blob, REQUIRE, sbx_require_rule, i);
		const char *why = rule->what == SBX_REQUIRE_PROOF
				      ? compare(launch, kind, path, rule->value)
				      : NULL;

		if (why && rule->head.flags & SBX_F_BEST_EFFORT)
			launch_remark(launch, "not insisted on (%s): the proof %s",
				      launch_place(launch, rule->head.loc), why);
		else if (why)
			return out_string("the policy wants a proof (%s), and it %s: sbxc prove "
					  "--backend %s --record FILE --by NAME %s%s",
					  launch_place(launch, rule->head.loc), why,
					  sbx_backend_name(kind), given_values(launch),
					  launch->blob_path);
	}
	return NULL;
}
