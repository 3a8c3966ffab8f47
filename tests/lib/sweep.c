/*
 * tests/lib/sweep.c - everything that can be asked of a blob, asked.
 */
#include "tests/lib/sweep.h"

#include <string.h>

#include "blob/verdict.h"

static const struct sbx_assert_means means = { .submit = sbx_slurm_decide };

#define POINTS 64

static volatile size_t sink;

static void sweep_files(const struct sbx_blob *blob, const struct sbx_vars *vars)
{
	static char text[POINTS][512];
	struct sbx_fs_point points[POINTS];
	struct sbx_fs_set set = { points, 0, NULL };
	struct sbx_assert_result result;

	for (uint32_t i = 0; i < SBX_COUNT(blob, FS) && set.count < POINTS; i++) {
		const struct sbx_fs_rule *rule = SBX_AT(blob, FS, sbx_fs_rule, i);
		const struct sbx_fs_extra *extra = sbx_fs_extra(blob, rule);
		uint32_t unset;
		bool wild;

		sink += strlen(sbx_string(blob, extra->placeholder_text));
		if (sbx_expand(blob, rule->path, vars, text[set.count], sizeof(text[0]), &wild,
			       &unset) < 0)
			continue;
		points[set.count] = (struct sbx_fs_point){ .path = text[set.count],
							   .rule = i,
							   .verb = rule->head.verb,
							   .rights = rule->rights,
							   .wild = wild };
		set.count++;
	}
	for (size_t i = 0; i < set.count; i++) {
		struct sbx_fs_verdict verdict;

		sbx_fs_decide(&set, points[i].path, SBX_WRITE, &verdict);
		sink += verdict.point;
	}
	for (uint32_t i = 0; i < SBX_COUNT(blob, ASSERTS); i++) {
		sbx_assert_check(blob, i, vars, &set, &means, &result);
		sink += strlen(result.reason) + strlen(result.object);
	}
}

/* Every string read as a template, as a reference to anywhere in it does. */
static void sweep_templates(const struct sbx_blob *blob, const struct sbx_vars *vars)
{
	char text[512];

	for (uint32_t i = 0; i < SBX_COUNT(blob, STRINGS); i++) {
		uint32_t unset;
		bool wild;

		sink += (size_t)sbx_expand(blob, (struct sbx_tmpl){ i }, vars, text, sizeof(text),
					   &wild, &unset);
		sink += strlen(sbx_var_name(blob, unset));
	}
}

static void sweep_calls(const struct sbx_blob *blob)
{
	static const uint64_t args[6] = { 1, 0x5412, UINT64_MAX, 0, 1ull << 32, 7 };

	for (unsigned arch = 0; arch < SBX_ARCH_COUNT; arch++)
		for (uint32_t nr = 0; nr < 700; nr++) {
			struct sbx_sys_verdict verdict;
			bool depends;

			sbx_sys_decide(blob, (enum sbx_arch)arch, nr, args, &verdict);
			sink += verdict.stmt;
			sbx_sys_decide_shared(blob, (enum sbx_arch)arch, nr, args, &verdict);
			sink += verdict.stmt;
			sbx_sys_decide_name(blob, (enum sbx_arch)arch, nr, &verdict, &depends);
			sink += verdict.stmt + depends;
		}
}

static void sweep_names(const struct sbx_blob *blob, const struct sbx_vars *vars)
{
	static const char *const names[] = { "api.test", "1.2.3.4", "::1",
					     "a.b.c",    "HOME",    "sbatch -t 1" };
	static const uint8_t address[16] = { [10] = 0xff, 0xff, 10, 1, 2, 3 };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct sbx_net_verdict net;
		struct sbx_env_verdict env;
		struct sbx_slurm_verdict slurm;

		sbx_net_decide(blob, names[i], 443, &net);
		sbx_net_decide_address(blob, names[i], address, 443, &net);
		sbx_net_decide_abstract(blob, names[i], &net);
		sbx_net_decide_unix(blob, vars, "/run/x/y", &net);
		sbx_env_decide(blob, names[i], &env);
		sbx_slurm_decide(blob, vars, names[i], &slurm);
		sink += net.rule + env.rule + slurm.rule;
	}
}

void sweep_blob(const struct sbx_blob *blob)
{
	struct sbx_vars vars;
	struct sbx_blob jobs;
	char place[64];

	for (size_t i = 0; i < sizeof(vars.value) / sizeof(vars.value[0]); i++)
		vars.value[i] = i % 5 == 4 ? NULL : "/home/u/[w]";
	for (uint32_t i = 0; i < SBX_COUNT(blob, STRINGS); i++)
		sink += strlen(sbx_string(blob, i));
	for (uint32_t i = 0; i < SBX_COUNT(blob, LOCS); i++)
		sbx_place(blob, i, place, sizeof(place));
	for (uint32_t i = 0; i < SBX_COUNT(blob, PARAMS); i++)
		sink += strlen(sbx_var_name(blob, SBX_VAR_PARAM + i));
	sweep_templates(blob, &vars);
	sweep_files(blob, &vars);
	sweep_calls(blob);
	sweep_names(blob, &vars);
	if (sbx_blob_jobs(blob, &jobs))
		sweep_blob(&jobs);
}

/* The policy of jobs, as far as it can be found in what may be no blob at all. */
static void fix_jobs(uint8_t *data, size_t size)
{
	const struct sbx_header *header = (const void *)data;
	const struct sbx_section *section = (const void *)(data + sizeof(*header));
	size_t room = (size - sizeof(*header)) / sizeof(*section);

	for (size_t i = 0; i < room && i < header->section_count; i++)
		if (section[i].id == SBX_SEC_JOBS && section[i].offset % 8 == 0 &&
		    section[i].size < size && section[i].offset <= size - section[i].size)
			sweep_fix_digest(data + section[i].offset, section[i].size);
}

void sweep_fix_digest(void *data, size_t size)
{
	uint8_t digest[32];

	if (size < sizeof(struct sbx_header))
		return;
	fix_jobs(data, size);
	sbx_blob_digest(data, size, digest);
	memcpy((char *)data + offsetof(struct sbx_header, digest), digest, sizeof(digest));
}
