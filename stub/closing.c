/*
 * stub/closing.c - the end of a session: what to look at.
 *
 * What a policy lets be read and not written is mostly what the host runs later:
 * hooks, configuration, tasks of an editor.  Each is looked at before the session
 * and after it, and a symbolic link on the way to it for itself: who can put a
 * file in its place need not touch what it leads to.  Where the rule was held,
 * only the host can have changed it, and the times of the name tell.  Where it was
 * not, the program can have, and has had time to put things back: there all
 * beneath it counts (closing_compare.c).
 */
#include "stub/closing.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "stub/launch.h"
#include "stub/out.h"
#include "stub/supervise.h"

#define NAMED_MAX 8u

struct looks { /* of a name at one time */
	bool there, sticky;
	dev_t dev;
	ino_t ino;
	off_t size;
	struct timespec modified, changed;
};
struct guarded {
	const char *path;
	bool held; /* the rule that guards it */
	struct looks before;
	struct insides insides; /* if not held, and there */
};
/* A switch writes HEAD, what is added the index, and a commit what HEAD names. */
struct position {
	struct looks head, index, branch;
};
static struct {
	VEC(struct guarded) files;
	struct position position;
} closing;

static struct looks look_at(const char *path)
{
	struct looks looks = { 0 };
	struct stat st;

	if (lstat(path, &st))
		return looks;
	looks.there = true;
	looks.sticky = st.st_mode & S_ISVTX;
	looks.dev = st.st_dev;
	looks.ino = st.st_ino;
	looks.size = st.st_size;
	looks.modified = st.st_mtim;
	looks.changed = st.st_ctim;
	return looks;
}

/* The sticky bit: a placeholder, of ours or another session's.  What the program
 * could make has to be empty besides: it can set that bit, too. */
static struct looks look_into(const struct guarded *guarded, struct insides *insides)
{
	struct looks looks = look_at(guarded->path);

	if (looks.there && !guarded->held)
		closing_look_through(guarded->path, insides);
	if (looks.sticky && (guarded->held || insides->empty))
		memset(&looks, 0, sizeof(looks));
	return looks;
}

/* ---- before ------------------------------------------------------------------------ */

/* To be read and not written, by a rule; and links that lead to what a rule names. */
static bool is_guarded(const struct plan_mask *mask)
{
	return mask->rule != SBX_NONE && mask->kind == MASK_SELF && mask_lies_on_host(mask) &&
	       (S_ISLNK(mask->mode) || (mask->verify && !(mask->rights & SBX_WRITE)));
}

static struct position position_of(const struct launch *launch)
{
	const char *dir = launch->vars.value[SBX_VAR_GITDIR];
	struct position position = { 0 };
	char text[512] = "";
	int fd;

	if (!dir)
		return position;
	position.head = look_at(path_join(dir, "HEAD"));
	position.index = look_at(path_join(dir, "index"));
	fd = open(path_join(dir, "HEAD"), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd >= 0 && read(fd, text, sizeof(text) - 1) > 0)
		text[strcspn(text, "\n")] = '\0';
	if (fd >= 0)
		close(fd);
	if (!strncmp(text, "ref: ", 5))
		position.branch =
		    look_at(path_join(launch->vars.value[SBX_VAR_GITCOMMON], text + 5));
	return position;
}

void closing_remember(struct launch *launch)
{
	const struct plan *plan = &launch->plan;
	const struct sbx_machine none = { 0 };

	if (launch->options.quiet)
		return;
	for (size_t i = 0; i < plan->masks.count; i++) {
		const struct plan_mask *mask = &plan->masks.items[i];
		struct guarded *guarded;

		if (!is_guarded(mask))
			continue;
		guarded = vec_add(&closing.files);
		guarded->path = mask->path;
		guarded->held =
		    sbx_enforcer(S_ISLNK(mask->mode) ? SBX_DUTY_DENY_LINK : SBX_DUTY_DENY_BENEATH,
				 plan->backend, &none);
		guarded->before = look_into(guarded, &guarded->insides);
	}
	closing_note_repository(launch);
	closing.position = position_of(launch);
}

/* ---- after ------------------------------------------------------------------------- */

static bool is_changed(const struct guarded *guarded, bool *partial)
{
	struct insides insides = { 0 };
	struct looks now = look_into(guarded, &insides);

	*partial = guarded->insides.partial || insides.partial;
	if (guarded->held || !now.there || !guarded->before.there)
		return memcmp(&now, &guarded->before, sizeof(now));
	return !closing_is_same(&guarded->insides, &insides);
}

/* "a, b and 3 more", as seen from the workspace. */
struct names {
	const char *text;
	unsigned count;
};

static const char *short_name(const struct launch *launch, const char *path)
{
	const char *workspace = launch->vars.value[SBX_VAR_WORKSPACE];
	size_t length = strlen(workspace);

	return path_within(path, workspace) && path[length] == '/' ? path + length + 1 : path;
}

static void add_name(struct names *names, const char *name)
{
	if (names->count++ < NAMED_MAX)
		names->text = out_string("%s%s%s", names->text, *names->text ? ", " : "", name);
}

static void end_names(struct names *names)
{
	if (names->count > NAMED_MAX)
		names->text = out_string("%s and %u more", names->text, names->count - NAMED_MAX);
}

static void find_changed(const struct launch *launch, struct names *changed, struct names *partial)
{
	for (size_t i = 0; i < closing.files.count; i++) {
		const struct guarded *guarded = &closing.files.items[i];
		bool left_out;

		if (is_changed(guarded, &left_out))
			add_name(changed, short_name(launch, guarded->path));
		else if (left_out)
			add_name(partial, short_name(launch, guarded->path));
	}
	end_names(changed);
	end_names(partial);
}

/* Nothing is asked, and nobody executed, where no commit and no switch was made. */
static struct names find_differing(const struct launch *launch)
{
	const char *workspace = launch->vars.value[SBX_VAR_WORKSPACE];
	struct position now = position_of(launch);
	struct names names = { "", 0 };
	VEC(const char *) asked = { 0 };
	bool *differs;

	if (!memcmp(&now, &closing.position, sizeof(now)))
		return names;
	for (size_t i = 0; i < closing.files.count; i++) {
		const char *path = closing.files.items[i].path;

		if (path_within(path, workspace) &&
		    !path_within(path, launch->vars.value[SBX_VAR_GITDIR]))
			*vec_add(&asked) = path;
	}
	differs = mem_get(asked.count + 1);
	if (asked.count)
		closing_ask_head(launch, asked.items, asked.count, differs);
	for (size_t i = 0; i < asked.count; i++)
		if (differs[i])
			add_name(&names, short_name(launch, asked.items[i]));
	end_names(&names);
	return names;
}

void closing_report(struct launch *launch, const struct outcome *outcome)
{
	struct names changed = { "", 0 }, partial = { "", 0 }, differ;
	const char *line = "";

	if (launch->options.quiet || !outcome->started)
		return;
	find_changed(launch, &changed, &partial);
	differ = find_differing(launch);
	if (outcome->refused)
		line = out_string("; %u connection%s refused%s", outcome->refused,
				  outcome->refused == 1 ? "" : "s",
				  launch->options.verbose ? "" : " (-v names them)");
	if (outcome->lifted)
		line = out_string("%s; protection lifted while it ran: %u", line, outcome->lifted);
	if (changed.count)
		line = out_string("%s; changed while it ran: %s (the host runs these)", line,
				  changed.text);
	if (partial.count)
		line =
		    out_string("%s; not compared in full (too many names in it, or too deep): %s",
			       line, partial.text);
	if (differ.count)
		line = out_string("%s; differ from HEAD: %s", line, differ.text);
	if (*line)
		note("%s", line + 2);
}
