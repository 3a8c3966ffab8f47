/*
 * prove/record.c - the record of proofs.
 */
#include "prove/record.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
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

#define HASH_FIELD  ", \"hash\": \""
#define TIME_FORMAT "%Y-%m-%dT%H:%M:%SZ"
#define ENTRY_END   "\"}"

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

/* Is the entry as it was written?  Its hash is its last field, of all before that. */
static bool is_unchanged(const char *entry, size_t length)
{
	const size_t tail = strlen(HASH_FIELD) + BASIS_HEX_SIZE - 1 + strlen(ENTRY_END);
	char hash[BASIS_HEX_SIZE];
	const char *at;

	if (length < tail)
		return false;
	at = entry + length - tail;
	basis_hash(entry, length - tail, hash);
	return !strncmp(at, HASH_FIELD, strlen(HASH_FIELD)) &&
	       !strncmp(at + strlen(HASH_FIELD), hash, BASIS_HEX_SIZE - 1) &&
	       !strcmp(at + tail - strlen(ENTRY_END), ENTRY_END);
}

/* NULL, or which line is not as it was written, or where. */
static const char *chain_check(struct arena *arena, struct chain *chain)
{
	const char *line = chain->text;

	memcpy(chain->last, first_hash, BASIS_HEX_SIZE);
	for (chain->count = 0; *line; chain->count++) {
		size_t length = strcspn(line, "\n");
		const char *entry = arena_copy(arena, line, length);
		const char *previous = field(arena, entry, "previous");

		if (line[length] != '\n')
			return arena_printf(arena, "entry %zu has no end of line: it was cut short",
					    chain->count + 1);
		if (!previous || strcmp(previous, chain->last))
			return arena_printf(arena, "entry %zu does not follow the one before it",
					    chain->count + 1);
		if (!is_unchanged(entry, length))
			return arena_printf(arena, "entry %zu is not as it was written",
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

static void write_fields(FILE *out, const struct chain *chain, const char *by,
			 const char *const bases[BASIS_COUNT], const struct prove *proves,
			 size_t count)
{
	char now[32];
	time_t seconds = time(NULL);

	strftime(now, sizeof(now), TIME_FORMAT, gmtime(&seconds));
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
}

/* False: there is no memory for it, or it cannot be written. */
static bool write_entry(FILE *out, const struct chain *chain, const char *by,
			const char *const bases[BASIS_COUNT], const struct prove *proves,
			size_t count)
{
	char *text = NULL, hash[BASIS_HEX_SIZE];
	size_t size = 0;
	FILE *fields = open_memstream(&text, &size);
	bool good;

	if (!fields)
		return false;
	write_fields(fields, chain, by, bases, proves, count);
	good = !fclose(fields);
	if (good) {
		basis_hash(text, size, hash);
		good = fprintf(out, "%s" HASH_FIELD "%s" ENTRY_END "\n", text, hash) > 0;
	}
	free(text);
	return good;
}

const char *record_add(struct arena *arena, const char *path, const char *by,
		       const struct proven *proven, const struct prove *proves, size_t count)
{
	int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY, 0644);
	const char *bases[BASIS_COUNT], *error;
	struct chain chain;
	struct stat st;
	FILE *out;

	if (fd < 0)
		return strerror(errno);
	/* One writer at a time, from reading the last line on. */
	if (flock(fd, LOCK_EX) || !(out = fdopen(fd, "a"))) {
		error = strerror(errno);
		close(fd);
		return error;
	}
	error = !fstat(fd, &st) && S_ISREG(st.st_mode) ? chain_read(arena, path, &chain)
						       : "it is no regular file";
	if (!error) {
		basis_here(arena, proven, bases);
		if (!write_entry(out, &chain, by, bases, proves, count) || fflush(out) || fsync(fd))
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

/* Does the result say what the verdicts do? */
static bool result_fits(const char *entry, const char *result)
{
	const char *at = strstr(entry, "\"verdicts\": {"), *end = at ? strchr(at, '}') : NULL;
	unsigned long held = 0, against = 0;

	while (at && at < end && (at = strchr(at, '[')) && at < end) {
		unsigned long holds, leaks, vacuous;

		if (sscanf(at++, "[%lu, %lu, %lu, ", &holds, &leaks, &vacuous) != 3)
			return false;
		held += holds;
		against += leaks + vacuous;
	}
	/* A session that failed holds nothing, whatever was counted. */
	return result && (strcmp(result, "holds") || (held && !against));
}

static bool is_to_come(const char *text)
{
	struct tm parts = { 0 };
	const char *end = text ? strptime(text, TIME_FORMAT, &parts) : NULL;

	return !end || *end || timegm(&parts) > time(NULL);
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
	    arena_printf(arena, "%zu entries, as they were written, each follows the one before it",
			 chain.count));
	basis_here(arena, proven, bases);
	entry = last_about(arena, &chain, bases[BASIS_POLICY]);
	if (!entry) {
		say(arena, false, "policy", "no entry is about this policy: sbxc prove --record");
		return SBXC_ERRORS;
	}
	say(arena, true, "policy", bases[BASIS_POLICY]);
	good = compare(arena, entry, bases);
	result = field(arena, entry, "result");
	if (!result_fits(entry, result))
		result = "not what the verdicts say";
	good &= say(arena, !strcmp(result, "holds"), "result", result);
	if (is_to_come(field(arena, entry, "time")))
		good = say(arena, false, "time", "it is none, or one to come");
	say(arena, good, "proof",
	    arena_printf(arena, "%s: by %s, %s", good ? "it covers this machine" : "prove it again",
			 field(arena, entry, "by"), field(arena, entry, "time")));
	return good ? SBXC_OK : SBXC_ERRORS;
}
