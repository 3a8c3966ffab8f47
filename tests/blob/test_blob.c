/*
 * tests/blob/test_blob.c - the format: what is refused, what is skipped, what
 * does not change.
 *
 *	test_blob [BLOB ...]	those too, beside the one made here
 *	test_blob --write FILE	the one made here, for the fuzzer's corpus
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "blob/check.h"
#include "blob/verdict.h"
#include "tests/lib/model.h"
#include "tests/lib/sweep.h"

static unsigned passed, failed;

static void check(bool good, const char *what, const char *why)
{
	if (good) {
		passed++;
		return;
	}
	failed++;
	printf("failed: %s (%s)\n", what, why ? why : "accepted");
}

/* A copy of exactly @size bytes, so that a sanitizer sees a read behind them. */
static const char *open_copy(const void *data, size_t size)
{
	void *copy = malloc(size ? size : 1);
	struct sbx_blob blob;
	const char *error;

	memcpy(copy, data, size);
	error = sbx_blob_open(copy, size, &blob);
	free(copy);
	return error;
}

static void check_damage(const uint8_t *data, size_t size, const char *name)
{
	uint8_t *copy = malloc(size);
	unsigned accepted = 0;

	for (size_t end = 0; end < size; end++)
		accepted += !open_copy(data, end);
	check(!accepted, "every truncation is refused", name);
	memcpy(copy, data, size);
	accepted = 0;
	for (size_t bit = 0; bit < size * 8; bit++) {
		struct sbx_blob blob;

		copy[bit / 8] ^= (uint8_t)(1u << bit % 8);
		accepted += !sbx_blob_open(copy, size, &blob);
		copy[bit / 8] ^= (uint8_t)(1u << bit % 8);
	}
	check(!accepted, "every flipped bit is refused", name);
	free(copy);
}

/* Each byte changed and the digest made right again: whatever is accepted must
 * be safe to ask.  Says how much of a blob the checks alone hold in place. */
static void check_forgeries(const uint8_t *data, size_t size, const char *name)
{
	static const uint8_t changes[] = { 0x01, 0x80, 0xff };
	uint8_t *copy = malloc(size);
	unsigned accepted = 0, tried = 0;

	memcpy(copy, data, size);
	for (size_t at = 0; at < size; at++)
		for (size_t i = 0; i < sizeof(changes); i++) {
			struct sbx_blob blob;

			copy[at] ^= changes[i];
			sweep_fix_digest(copy, size);
			tried++;
			if (!sbx_blob_open(copy, size, &blob)) {
				accepted++;
				sweep_blob(&blob);
			}
			copy[at] ^= changes[i];
		}
	free(copy);
	printf("%s: %u of %u forged bytes are still a blob\n", name, accepted, tried);
	check(true, "forgeries are safe to ask", NULL);
}

/* ---- sections -------------------------------------------------------------- */

static uint8_t *with_section(const uint8_t *data, size_t size, uint32_t flags, size_t *new_size)
{
	const size_t entry = sizeof(struct sbx_section);
	struct sbx_header header;
	struct sbx_section *table,
	    extra = { .id = 4000, .flags = flags, .count = 4, .record_size = 2, .size = 8 };
	size_t table_end;
	uint8_t *out;

	memcpy(&header, data, sizeof(header));
	table_end = sizeof(header) + header.section_count * entry;
	*new_size = size + entry + 8;
	out = calloc(1, *new_size);
	memcpy(out, data, table_end);
	memcpy(out + table_end + entry, data + table_end, size - table_end);
	table = (struct sbx_section *)(void *)(out + sizeof(header));
	for (uint32_t i = 0; i < header.section_count; i++)
		table[i].offset += (uint32_t)entry;
	extra.offset = (uint32_t)(size + entry);
	table[header.section_count] = extra;
	header.section_count++;
	header.size = (uint32_t)*new_size;
	memcpy(out, &header, sizeof(header));
	sweep_fix_digest(out, *new_size);
	return out;
}

static void check_unknown_sections(const uint8_t *data, size_t size)
{
	size_t new_size;
	uint8_t *blob = with_section(data, size, 0, &new_size);
	const char *error = open_copy(blob, new_size);

	check(!error, "an unknown section that may be ignored is", error);
	free(blob);
	blob = with_section(data, size, SBX_SECTION_CRITICAL, &new_size);
	error = open_copy(blob, new_size);
	check(error && strstr(error, "4000") && strstr(error, "newer"),
	      "an unknown critical section is refused", error);
	free(blob);
	blob = with_section(data, size, 2, &new_size);
	error = open_copy(blob, new_size);
	check(error != NULL, "an unknown flag is refused", error);
	free(blob);
}

static void check_versions(const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(size);
	struct sbx_header *header = (void *)copy;

	for (uint32_t version = 0; version < 4; version++) {
		char both[64];
		const char *error;

		if (version == SBX_FORMAT_VERSION)
			continue;
		memcpy(copy, data, size);
		header->version = version;
		sweep_fix_digest(copy, size);
		snprintf(both, sizeof(both), "version %u, this program reads version %d", version,
			 SBX_FORMAT_VERSION);
		error = open_copy(copy, size);
		check(error && strstr(error, both) && strstr(error, "recompile with sbxc"),
		      "another version names both", error);
	}
	free(copy);
	check(open_copy("#!/bin/sh\necho hello there\n", 27) != NULL, "a script is no blob", NULL);
	check(open_copy("", 0) != NULL, "nothing is no blob", NULL);
}

/* ---- what emit promises ------------------------------------------------------- */

static void check_deterministic(void)
{
	struct arena one = { 0 }, other = { 0 };
	struct emitted first, second;
	struct sbx_blob blob;

	arena_alloc(&other, 12345); /* other addresses */
	model_open(&one, model_full(&one), false, &first, &blob);
	model_open(&other, model_full(&other), false, &second, &blob);
	check(first.size == second.size && !memcmp(first.data, second.data, first.size),
	      "the same policy, the same bytes", NULL);
	model_open(&other, model_full(&other), true, &second, &blob);
	check(second.size < first.size && !SBX_COUNT(&blob, LOCS), "--strip leaves places out",
	      NULL);
	arena_free(&one);
	arena_free(&other);
}

/* The order of statements: all 120 orders of five rules are one blob. */
static void permute(struct arena *arena, struct policy *policy, size_t fixed,
		    const struct emitted *want, unsigned *differ)
{
	struct fs_rule *rules = policy->fs.items;
	struct emitted out;
	struct sbx_blob blob;

	if (fixed + 1 == policy->fs.count) {
		model_open(arena, policy, true, &out, &blob);
		*differ += out.size != want->size || memcmp(out.data, want->data, out.size);
		return;
	}
	for (size_t i = fixed; i < policy->fs.count; i++) {
		struct fs_rule rule = rules[fixed];

		rules[fixed] = rules[i];
		rules[i] = rule;
		permute(arena, policy, fixed + 1, want, differ);
		rule = rules[fixed];
		rules[fixed] = rules[i];
		rules[i] = rule;
	}
}

static void check_order_free(void)
{
	static const struct {
		enum sbx_fs_verb verb;
		unsigned rights;
		const char *path;
	} rules[] = {
		{ SBX_FS_GRANT, SBX_READ, "/w/a" },
		{ SBX_FS_DENY, 7, "/w/a/b" },
		{ SBX_FS_GRANT, SBX_READ | SBX_WRITE, "/w/a/b/c" },
		{ SBX_FS_GRANT, SBX_READ, "/usr" },
		{ SBX_FS_DENY, SBX_WRITE, "/w/a" },
	};
	struct arena arena = { 0 };
	struct policy *policy = model_new(&arena);
	struct emitted want;
	struct sbx_blob blob;
	unsigned differ = 0;

	policy->fs.count = 0;
	policy->kind = SBX_SITE; /* no workspace rule whose place would matter */
	policy->workspace_rule = SIZE_MAX;
	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
		model_fs(&arena, policy, rules[i].verb, rules[i].rights,
			 model_text(&arena, rules[i].path));
	model_open(&arena, policy, true, &want, &blob);
	permute(&arena, policy, 0, &want, &differ);
	check(!differ, "120 orders of five rules are one blob", NULL);
	arena_free(&arena);
}

static struct tmpl join(struct arena *arena, const struct seg *segs, size_t count)
{
	struct seg *copy = arena_array(arena, count, sizeof(*copy));

	for (size_t i = 0; i < count; i++)
		copy[i] = segs[i];
	return (struct tmpl){ copy, count };
}

static void expect_text(const struct sbx_blob *blob, uint32_t rule, const char *want,
			bool want_wild)
{
	struct sbx_vars vars = { .value = { [SBX_VAR_HOME] = "/h*" } };
	uint32_t unset;
	char text[64];
	bool wild;

	sbx_expand(blob, SBX_AT(blob, FS, sbx_fs_rule, rule)->path, &vars, text, sizeof(text),
		   &wild, &unset);
	check(wild == want_wild && !strcmp(text, want), want, text);
}

/* Templates with marks, bytes like marks, and ends that are shared. */
static void check_templates(void)
{
	const struct seg home = { .kind = SBX_SEG_VAR, .var = SBX_VAR_HOME };
	const struct seg literal[] = { home, { .text = STR_LIT("/a\1\2\3*") } };
	const struct seg pattern[] = { home,
				       { .text = STR_LIT("/[1]") },
				       { .kind = SBX_SEG_GLOB, .text = STR_LIT("/[ab]\\**") } };
	struct arena arena = { 0 };
	struct policy *policy = model_new(&arena);
	size_t with, without;
	struct emitted out;
	struct sbx_blob blob;

	policy->fs.count = 0;
	policy->kind = SBX_SITE;
	policy->workspace_rule = SIZE_MAX;
	model_fs(&arena, policy, SBX_FS_GRANT, 1, join(&arena, literal, 2));
	model_fs(&arena, policy, SBX_FS_DENY, 1, join(&arena, pattern, 3));
	model_open(&arena, policy, true, &out, &blob);
	without = SBX_COUNT(&blob, STRINGS);
	expect_text(&blob, 1, "/h*/a\1\2\3*", false);
	expect_text(&blob, 0, "/h\\*/\\[1\\]/[ab]\\**", true);
	model_fs(&arena, policy, SBX_FS_GRANT, 2, model_text(&arena, "/shared/end"));
	model_fs(&arena, policy, SBX_FS_GRANT, 2, model_text(&arena, "/end"));
	model_open(&arena, policy, true, &out, &blob);
	with = SBX_COUNT(&blob, STRINGS);
	check(with == without + sizeof("/shared/end"), "the end of a string shares its bytes",
	      NULL);
	arena_free(&arena);
}

/* A mark that stands for nothing, in a blob that is right otherwise. */
static void check_marks(const uint8_t *data, size_t size)
{
	static const struct {
		uint8_t mark, value;
	} bad[] = { { 1, SBX_MARK_BASE + SBX_VAR_COUNT },
		    { 1, 0xff },
		    { 1, 1 },
		    { 2, 'a' },
		    { 2, 1 },
		    { 3, SBX_MARK_BASE },
		    { 3, SBX_MARK_BASE + 4 },
		    { 3, 0 } };
	uint8_t *copy = malloc(size);
	size_t at = 0;

	while (memcmp(data + at, "api.test", 8))
		at++;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		const char *error;

		memcpy(copy, data, size);
		copy[at] = bad[i].mark;
		copy[at + 1] = bad[i].value;
		sweep_fix_digest(copy, size);
		error = open_copy(copy, size);
		check(error && strstr(error, "stands for nothing"),
		      "a mark that stands for nothing is refused", error);
	}
	free(copy);
}

/* ---- the policy of jobs --------------------------------------------------------- */

/* @policy with @inner as its policy of jobs, and so many rules that name one. */
static const char *open_with_jobs(struct policy *policy, struct str inner, unsigned rules)
{
	static const struct slurm_rule rule = { .verb = SBX_SLURM_JOBS };
	struct arena arena = { 0 };
	struct emitted out;
	const char *error;

	policy->jobs = inner;
	policy->slurm.count = 0;
	for (unsigned i = 0; i < rules; i++)
		*VEC_PUSH(&arena, &policy->slurm) = rule;
	error = emit_policy(&arena, policy, true, &out);
	if (!error)
		error = open_copy(out.data, out.size);
	memset(&policy->slurm, 0, sizeof(policy->slurm));
	arena_free(&arena);
	return error;
}

static void expect_jobs(const char *error, const char *want, const char *what)
{
	check(want ? error && strstr(error, want) : !error, what, error);
}

/* The outer digest is right in each of these: what is refused is what is inside. */
static void check_jobs(void)
{
	struct arena arena = { 0 };
	struct policy *policy = model_new(&arena);
	struct sbx_blob blob, jobs;
	struct emitted out;
	struct str inner;
	uint8_t *copy;

	model_open(&arena, policy, true, &out, &blob);
	inner = (struct str){ (const char *)out.data, out.size };
	check(!sbx_blob_jobs(&blob, &jobs), "most have no policy of jobs", NULL);
	expect_jobs(open_with_jobs(policy, inner, 1), NULL, "one rule and its policy");
	expect_jobs(open_with_jobs(policy, inner, 0), "jobs: 0, such policies: 1", "no rule names it");
	expect_jobs(open_with_jobs(policy, inner, 2), "jobs: 2, such policies: 1", "two rules");
	expect_jobs(open_with_jobs(policy, (struct str){ 0 }, 1), "jobs: 1, such policies: 0",
		    "a rule without its policy");
	for (size_t size = 1; size < inner.len; size += 8 - size % 8)
		expect_jobs(open_with_jobs(policy, (struct str){ inner.ptr, size }, 1),
			    "the policy of jobs: ", "one that is cut off");
	expect_jobs(open_with_jobs(policy, STR_LIT("#!/bin/sh\n"), 1), "not a policy blob",
		    "one that is no blob");
	copy = arena_alloc(&arena, inner.len + 8);
	memset(copy, 0, inner.len + 8);
	memcpy(copy, inner.ptr, inner.len);
	expect_jobs(open_with_jobs(policy, (struct str){ (char *)copy, inner.len + 8 }, 1),
		    "bytes behind the end", "one with bytes behind it");
	copy[inner.len - 9] ^= 1;
	expect_jobs(open_with_jobs(policy, (struct str){ (char *)copy, inner.len }, 1),
		    "the policy of jobs: damaged", "one with another digest");
	arena_free(&arena);
}

/* A site cannot be run, none has one, and one in one has none. */
static void check_jobs_kinds(void)
{
	static const struct slurm_rule rule = { .verb = SBX_SLURM_JOBS };
	struct arena arena = { 0 };
	struct policy *policy = model_new(&arena), *site = model_new(&arena);
	struct emitted out;
	struct sbx_blob blob, jobs, none;
	struct str inner;

	site->kind = SBX_SITE;
	site->fs.count = 0;
	site->workspace_rule = SIZE_MAX;
	model_open(&arena, site, true, &out, &blob);
	inner = (struct str){ (const char *)out.data, out.size };
	expect_jobs(open_with_jobs(policy, inner, 1), "a site policy cannot be run", "a site");
	policy->jobs = (struct str){ 0 };
	model_open(&arena, policy, true, &out, &blob);
	inner = (struct str){ (const char *)out.data, out.size };
	expect_jobs(open_with_jobs(site, inner, 1), "a site policy with", "a site's");
	*VEC_PUSH(&arena, &policy->slurm) = rule;
	policy->jobs = inner;
	model_open(&arena, policy, true, &out, &blob);
	check(sbx_blob_jobs(&blob, &jobs) && !sbx_blob_jobs(&jobs, &none) &&
		  jobs.size == inner.len &&
		  !memcmp(jobs.header->digest, ((const struct sbx_header *)(const void *)inner.ptr)
						   ->digest, 32),
	      "it is found as it was made", NULL);
	inner = (struct str){ (const char *)out.data, out.size };
	expect_jobs(open_with_jobs(policy, inner, 1), "it has a policy of jobs of its own",
		    "one in one in one");
	arena_free(&arena);
}

static double seconds_for(size_t rules)
{
	struct arena arena = { 0 };
	struct policy *policy = model_new(&arena);
	struct timespec began, ended;
	struct emitted out;
	struct sbx_blob blob;

	for (size_t i = 0; i < rules; i++)
		model_fs(
		    &arena, policy, i % 2 ? SBX_FS_DENY : SBX_FS_GRANT, SBX_READ,
		    model_text(&arena, arena_printf(&arena, "/srv/data/%zu/deep/%zu", i, i % 7)));
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &began);
	model_open(&arena, policy, true, &out, &blob);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ended);
	arena_free(&arena);
	return (double)(ended.tv_sec - began.tv_sec) +
	       (double)(ended.tv_nsec - began.tv_nsec) / 1e9;
}

static void check_linear(void)
{
	double small = seconds_for(10000), large = seconds_for(40000);

	printf("10000 file rules: %.3f s, 40000: %.3f s\n", small, large);
	check(large < 8 * small + 0.05, "time grows with the rules, not their square", NULL);
}

/* A statement that only the second program holds takes something, and has one. */
static void check_shared(const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(size);
	struct sbx_blob blob;
	struct sbx_sys_stmt *stmts;
	const char *error;

	memcpy(copy, data, size);
	sbx_blob_open(copy, size, &blob);
	stmts = (void *)(copy + ((const uint8_t *)blob.section[SBX_SEC_SYS_STMTS].records - copy));
	for (uint32_t i = 0; i < SBX_COUNT(&blob, SYS_STMTS); i++)
		if (stmts[i].head.verb == SBX_SYS_ALLOW)
			stmts[i].head.flags = SBX_F_SHARED;
	sweep_fix_digest(copy, size);
	error = open_copy(copy, size);
	check(error && strstr(error, "shared and takes nothing"), "nothing is allowed by sharing",
	      error);
	free(copy);
}

static void check_shared_program(void)
{
	struct arena arena = { 0 };
	struct policy *policy = model_new(&arena);
	struct sys_stmt *stmt = model_sys(&arena, policy, SBX_SYS_DENY, SBX_ACT_ERRNO, 1);
	struct emitted out;
	struct sbx_blob blob;
	struct sbx_sys_stmt *stmts;
	const char *error;

	model_use(&arena, stmt, "read", SBX_RANK_NAME);
	model_open(&arena, policy, true, &out, &blob);
	check(!SBX_COUNT(&blob, BPF_SHARED_X86_64), "no second program where nothing needs it",
	      NULL);
	stmts = (void *)(out.data +
			 ((const uint8_t *)blob.section[SBX_SEC_SYS_STMTS].records - out.data));
	for (uint32_t i = 0; i < SBX_COUNT(&blob, SYS_STMTS); i++)
		if (stmts[i].head.verb == SBX_SYS_DENY)
			stmts[i].head.flags = SBX_F_SHARED;
	sweep_fix_digest(out.data, out.size);
	error = open_copy(out.data, out.size);
	check(error && strstr(error, "without its program"), "a second program is not forgotten",
	      error);
	arena_free(&arena);
}

/* ---- files ------------------------------------------------------------------------ */

static void check_file(const char *path)
{
	FILE *file = fopen(path, "rb");
	static uint8_t data[1 << 20] __attribute__((aligned(8)));
	size_t size;
	const char *error;

	if (!file) {
		perror(path);
		exit(2);
	}
	size = fread(data, 1, sizeof(data), file);
	fclose(file);
	error = open_copy(data, size);
	check(!error, path, error);
	if (!error)
		check_damage(data, size, path);
}

static int write_file(const char *path, const struct emitted *blob)
{
	FILE *file = fopen(path, "wb");

	if (!file || fwrite(blob->data, 1, blob->size, file) != blob->size || fclose(file)) {
		perror(path);
		return 2;
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct arena arena = { 0 };
	struct emitted blob;
	struct sbx_blob opened;

	model_open(&arena, model_full(&arena), false, &blob, &opened);
	if (argc == 3 && !strcmp(argv[1], "--write"))
		return write_file(argv[2], &blob);
	sweep_blob(&opened);
	for (uint32_t id = 1; id < SBX_SEC_COUNT; id++)
		check(opened.section[id].count > 0, sbx_section_spec(id)->name,
		      "not in the sample");
	check_damage(blob.data, blob.size, "sample");
	check_forgeries(blob.data, blob.size, "sample");
	check_unknown_sections(blob.data, blob.size);
	check_versions(blob.data, blob.size);
	check_marks(blob.data, blob.size);
	check_shared(blob.data, blob.size);
	check_shared_program();
	check_jobs();
	check_jobs_kinds();
	check_deterministic();
	check_templates();
	check_order_free();
	check_linear();
	for (int i = 1; i < argc; i++)
		check_file(argv[i]);
	arena_free(&arena);
	printf("%u %u\n", passed, failed);
	return failed ? 1 : 0;
}
