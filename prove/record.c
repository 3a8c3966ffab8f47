/*
 * prove/record.c - the record of proofs.
 *
 * What a proof rests on is written as text that can be made again: an entry covers
 * the present where each of these is the same.
 */
#include "prove/record.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/source.h"
#include "compiler/json.h"
#include "compiler/stages.h"
#include "compiler/targets.h"
#include "prove/report.h"

#define HEX_SIZE       (2 * 32 + 1)
#define ERRATA_VERSION 2 /* LANDLOCK_CREATE_RULESET_ERRATA, from 6.15 on */

/* ---- what a proof rests on ---------------------------------------------------------------- */

static void hex(const uint8_t digest[32], char out[HEX_SIZE])
{
	for (int i = 0; i < 32; i++)
		snprintf(out + 2 * i, 3, "%02x", digest[i]);
}

static void hash(const char *text, size_t size, char out[HEX_SIZE])
{
	struct sbx_sha256 sum;
	uint8_t digest[32];

	sbx_sha256_init(&sum);
	sbx_sha256_add(&sum, text, size);
	sbx_sha256_end(&sum, digest);
	hex(digest, out);
}

static const char *hash_of_file(struct arena *arena, const char *path)
{
	int error;
	char *out = arena_alloc(arena, HEX_SIZE);
	const struct source *source = source_read(arena, path, path, &error);

	if (!source)
		return strerror(error);
	hash(source->text.ptr, source->text.len, out);
	return out;
}

/* Where the launcher takes its program from: the first of these that is there. */
static const char *backend_program(struct arena *arena, const char *name)
{
	static const char *const places[] = { "/usr/bin", "/usr/local/bin" };

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		const char *path = arena_printf(arena, "%s/%s", places[i], name);

		if (access(path, F_OK) == 0)
			return path;
	}
	return NULL;
}

/* "/usr/bin/bwrap SHA-256 bubblewrap 0.8.0", the first line of what it says: a version
 * says what changed, only a hash that nothing did. */
static const char *backend_here(struct arena *arena, const char *name)
{
	const char *path = backend_program(arena, name);
	char line[128] = "";
	FILE *out;

	if (!path)
		return "not installed";
	out = popen(arena_printf(arena, "%s --version 2>/dev/null", path), "re");
	if (out && !fgets(line, sizeof(line), out))
		*line = '\0';
	if (out)
		pclose(out);
	line[strcspn(line, "\n")] = '\0';
	return arena_printf(arena, "%s %s %s", path, hash_of_file(arena, path), line);
}

/* "NAME=VALUE NAME=VALUE", in the order of the blob's params. */
static const char *defines_here(struct arena *arena, const struct sbx_blob *blob,
				const struct define *defines, size_t count)
{
	const char *text = "";

	for (uint32_t i = 0; i < SBX_COUNT(blob, PARAMS); i++) {
		const char *name = sbx_string(blob, SBX_AT(blob, PARAMS, sbx_param, i)->name);

		for (size_t n = 0; n < count; n++)
			if (!strcmp(defines[n].name, name))
				text = arena_printf(arena, "%s%s%s=%s", text, *text ? " " : "",
						    name, defines[n].value);
	}
	return text;
}

static const char *landlock_here(struct arena *arena)
{
	long errata = syscall(SYS_landlock_create_ruleset, NULL, 0, ERRATA_VERSION);

	return arena_printf(arena, "ABI %u, errata %#lx", targets_abi_here(),
			    errata < 0 ? 0 : errata);
}

/* What proof-status compares, beside the policy that an entry is about. */
enum { POLICY, DEFINES, KERNEL, LANDLOCK, LAUNCHER, BWRAP, FIREJAIL, BASES };
static const char *const base_names[BASES] = { "policy",   "defines", "kernel",  "landlock",
					       "launcher", "bwrap",   "firejail" };

static void bases_here(struct arena *arena, const struct proven *proven, const char *bases[BASES])
{
	char *digest = arena_alloc(arena, HEX_SIZE);
	struct utsname machine = { 0 };

	uname(&machine);
	hex(proven->blob->header->digest, digest);
	bases[POLICY] = digest;
	bases[DEFINES] = defines_here(arena, proven->blob, proven->defines, proven->define_count);
	bases[KERNEL] =
	    arena_printf(arena, "%s %s %s", machine.release, machine.version, machine.machine);
	bases[LANDLOCK] = landlock_here(arena);
	bases[LAUNCHER] = hash_of_file(arena, proven->launcher);
	bases[BWRAP] = backend_here(arena, "bwrap");
	bases[FIREJAIL] = backend_here(arena, "firejail");
}

/* ---- the file ------------------------------------------------------------------------------- */

struct chain {
	const char *text; /* all of the file */
	size_t count;
	char last[HEX_SIZE]; /* hash of the last line */
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

	memcpy(chain->last, first_hash, HEX_SIZE);
	for (chain->count = 0; *line; chain->count++) {
		size_t length = strcspn(line, "\n");
		const char *entry = arena_copy(arena, line, length);
		const char *previous = field(arena, entry, "previous");

		if (line[length] != '\n' || !previous || strcmp(previous, chain->last))
			return arena_printf(arena, "entry %zu does not follow the one before it",
					    chain->count + 1);
		hash(line, length, chain->last);
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
			const char *const bases[BASES], const struct prove *proves, size_t count)
{
	char now[32];
	time_t seconds = time(NULL);

	strftime(now, sizeof(now), "%Y-%m-%dT%H:%M:%SZ", gmtime(&seconds));
	fprintf(out, "{\"previous\": \"%s\"", chain->last);
	for (size_t i = 0; i < BASES; i++)
		write_text(out, base_names[i], bases[i]);
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
	const char *bases[BASES], *error;
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
		bases_here(arena, proven, bases);
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
		const char *policy = field(arena, entry, base_names[POLICY]);

		if (policy && !strcmp(policy, digest))
			found = entry;
	}
	return found;
}

static bool compare(struct arena *arena, const char *entry, const char *const bases[BASES])
{
	bool same = true;

	for (size_t i = POLICY + 1; i < BASES; i++) {
		const char *then = field(arena, entry, base_names[i]);
		bool equal = then && !strcmp(then, bases[i]);

		same &= say(arena, equal, base_names[i],
			    equal ? bases[i]
				  : arena_printf(arena, "proven with `%s`, here it is `%s`",
						 then ? then : "", bases[i]));
	}
	return same;
}

int record_status(struct arena *arena, const char *path, const struct proven *proven)
{
	const char *bases[BASES], *error, *entry, *result;
	struct chain chain = { 0 };
	bool good;

	error = chain_read(arena, path, &chain);
	if (error) {
		say(arena, false, "record", error);
		return SBXC_ERRORS;
	}
	say(arena, true, "record",
	    arena_printf(arena, "%zu entries, each follows the one before it", chain.count));
	bases_here(arena, proven, bases);
	entry = last_about(arena, &chain, bases[POLICY]);
	if (!entry) {
		say(arena, false, "policy", "no entry is about this policy: sbxc prove --record");
		return SBXC_ERRORS;
	}
	say(arena, true, "policy", bases[POLICY]);
	good = compare(arena, entry, bases);
	result = field(arena, entry, "result");
	good &= say(arena, result && !strcmp(result, "holds"), "result", result ? result : "");
	say(arena, good, "proof",
	    arena_printf(arena, "%s: by %s, %s", good ? "it covers this machine" : "prove it again",
			 field(arena, entry, "by"), field(arena, entry, "time")));
	return good ? SBXC_OK : SBXC_ERRORS;
}
