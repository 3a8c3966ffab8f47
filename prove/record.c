/*
 * prove/record.c - the record of proofs.
 */
#include "prove/record.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/source.h"
#include "compiler/json.h"
#include "compiler/stages.h"
#include "prove/report.h"

/* ---- the file ------------------------------------------------------------------------------- */

struct chain {
	const char *text; /* all of the file */
	size_t count;
	char last[BASIS_HEX_SIZE]; /* hash of the last line */
};

static const char first_hash[] = "0000000000000000000000000000000000000000000000000000000000000000";

/* The value of a text field of an entry, as JSON wrote it; NULL: it has none.  A quote
 * within a value is escaped, so that no value can look like a field. */
static const char *field(struct arena *arena, const char *line, const char *name)
{
	const char *key = arena_printf(arena, "\"%s\": \"", name), *at = strstr(line, key), *end;

	if (!at)
		return NULL;
	at += strlen(key);
	for (end = at; *end && *end != '"'; end++)
		if (*end == '\\' && end[1])
			end++;
	return arena_copy(arena, at, (size_t)(end - at));
}

/* NULL, or which line does not follow the one before. */
static const char *chain_check(struct arena *arena, struct chain *chain)
{
	const char *line = chain->text;

	memcpy(chain->last, first_hash, BASIS_HEX_SIZE);
	for (chain->count = 0; *line; chain->count++) {
		size_t length = strcspn(line, "\n");
		const char *entry = arena_copy(arena, line, length);
		const char *previous = field(arena, entry, "previous");

		if (line[length] != '\n' || !previous || strcmp(previous, chain->last))
			return arena_printf(arena, "entry %zu does not follow the one before it",
					    chain->count + 1);
		basis_hash(line, length, chain->last);
		line += length + 1;
	}
	return NULL;
}

static const char *chain_read(struct arena *arena, const char *path, struct chain *chain)
{
	int error;
	const struct source *source = source_read(arena, path, path, &error);

	if (!source && error != ENOENT)
		return strerror(error);
	chain->text = source ? arena_copy(arena, source->text.ptr, source->text.len) : "";
	if (source && strlen(chain->text) != source->text.len)
		return "it is no text";
	return chain_check(arena, chain);
}

/* ---- adding --------------------------------------------------------------------------------- */

static void write_text(FILE *out, const char *name, const char *text)
{
	fprintf(out, ", \"%s\": ", name);
	json_string(out, str_from(text));
}

static void write_entry(FILE *out, const struct chain *chain, const char *by,
			const char *const bases[BASIS_COUNT], const struct prove *proves,
			size_t count)
{
	char now[32];
	time_t seconds = time(NULL);

	strftime(now, sizeof(now), "%Y-%m-%dT%H:%M:%SZ", gmtime(&seconds));
	fprintf(out, "{\"previous\": \"%s\"", chain->last);
	for (size_t i = 0; i < BASIS_COUNT; i++)
		write_text(out, basis_names[i], bases[i]);
	write_text(out, "sbx", SBX_VERSION);
	write_text(out, "time", now);
	write_text(out, "by", by);
	fputs(", \"verdicts\": {", out);
	for (size_t i = 0; i < count; i++) {
		size_t counts[VERDICT_COUNT];

		count_verdicts(&proves[i], counts);
		fprintf(out, "%s\"%s\": [%zu, %zu, %zu, %zu]", i ? ", " : "",
			sbx_backend_name(proves[i].target.backend), counts[HOLDS], counts[LEAKS],
			counts[VACUOUS], counts[NOT_MEASURABLE]);
	}
	/* At one glance: is it a proof at all? */
	fputs("}", out);
	write_text(out, "result", proofs_hold(proves, count) ? "holds" : "does not hold");
	fputs("}\n", out);
}

const char *record_add(struct arena *arena, const char *path, const char *by,
		       const struct proven *proven, const struct prove *proves, size_t count)
{
	int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY, 0644);
	const char *bases[BASIS_COUNT], *error;
	struct chain chain;
	FILE *out;

	if (fd < 0)
		return strerror(errno);
	/* One writer at a time, from reading the last line on. */
	if (flock(fd, LOCK_EX) || !(out = fdopen(fd, "a"))) {
		error = strerror(errno);
		close(fd);
		return error;
	}
	error = chain_read(arena, path, &chain);
	if (!error) {
		basis_here(arena, proven, bases);
		write_entry(out, &chain, by, bases, proves, count);
		if (fflush(out) || fsync(fd))
			error = strerror(errno);
	}
	fclose(out);
	return error;
}

/* ---- asking --------------------------------------------------------------------------------- */

static bool say(struct arena *arena, bool good, const char *what, const char *text)
{
	printf("%-4s %-9s %s\n", good ? "yes" : "no", what, diag_escape(arena, str_from(text)));
	return good;
}

/* The last entry about the policy with that digest, or NULL. */
static const char *last_about(struct arena *arena, const struct chain *chain, const char *digest)
{
	const char *found = NULL;

	for (const char *line = chain->text; *line; line += strcspn(line, "\n") + 1) {
		const char *entry = arena_copy(arena, line, strcspn(line, "\n"));
		const char *policy = field(arena, entry, basis_names[BASIS_POLICY]);

		if (policy && !strcmp(policy, digest))
			found = entry;
	}
	return found;
}

static bool compare(struct arena *arena, const char *entry, const char *const bases[BASIS_COUNT])
{
	bool same = true;

	for (size_t i = BASIS_POLICY + 1; i < BASIS_COUNT; i++) {
		const char *then = field(arena, entry, basis_names[i]);
		bool equal = then && !strcmp(then, bases[i]);

		same &= say(arena, equal, basis_names[i],
			    equal ? bases[i]
				  : arena_printf(arena, "proven with `%s`, here it is `%s`",
						 then ? then : "", bases[i]));
	}
	return same;
}

int record_status(struct arena *arena, const char *path, const struct proven *proven)
{
	const char *bases[BASIS_COUNT], *error, *entry, *result;
	struct chain chain = { 0 };
	bool good;

	error = chain_read(arena, path, &chain);
	if (error) {
		say(arena, false, "record", error);
		return SBXC_ERRORS;
	}
	say(arena, true, "record",
	    arena_printf(arena, "%zu entries, each follows the one before it", chain.count));
	basis_here(arena, proven, bases);
	entry = last_about(arena, &chain, bases[BASIS_POLICY]);
	if (!entry) {
		say(arena, false, "policy", "no entry is about this policy: sbxc prove --record");
		return SBXC_ERRORS;
	}
	say(arena, true, "policy", bases[BASIS_POLICY]);
	good = compare(arena, entry, bases);
	result = field(arena, entry, "result");
	good &= say(arena, result && !strcmp(result, "holds"), "result", result ? result : "");
	say(arena, good, "proof",
	    arena_printf(arena, "%s: by %s, %s", good ? "it covers this machine" : "prove it again",
			 field(arena, entry, "by"), field(arena, entry, "time")));
	return good ? SBXC_OK : SBXC_ERRORS;
}
