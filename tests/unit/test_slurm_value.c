#include <criterion/criterion.h>

#include "blob/verdict.h"

#define GIB (1024 * 1024ull) /* in KiB */

Test(slurm_value, amounts)
{
	static const struct {
		unsigned takes;
		const char *value;
		uint64_t amount; /* 0: none */
	} cases[] = {
		{ SBX_TAKES_TIME, "5", 300 },
		{ SBX_TAKES_TIME, "5:30", 330 },
		{ SBX_TAKES_TIME, "1:0:0", 3600 },
		{ SBX_TAKES_TIME, "1-0", 86400 },
		{ SBX_TAKES_TIME, "1-2:3", 86400 + 7200 + 180 },
		{ SBX_TAKES_TIME, "1-2:3:4", 86400 + 7200 + 184 },
		/* no limit at all, in sbatch(1) */
		{ SBX_TAKES_TIME, "0", 0 },
		{ SBX_TAKES_TIME, "0:0", 0 },
		{ SBX_TAKES_TIME, "UNLIMITED", 0 },
		{ SBX_TAKES_TIME, "INFINITE", 0 },
		{ SBX_TAKES_TIME, "-1", 0 },
		{ SBX_TAKES_TIME, "4h", 0 },
		{ SBX_TAKES_TIME, "1:2:3:4", 0 },
		{ SBX_TAKES_TIME, "1-", 0 },
		{ SBX_TAKES_TIME, "99999999999", 0 },
		{ SBX_TAKES_MEMORY, "1", 1024 },
		{ SBX_TAKES_MEMORY, "2G", 2 * GIB },
		{ SBX_TAKES_MEMORY, "2gb", 2 * GIB },
		{ SBX_TAKES_MEMORY, "512K", 512 },
		{ SBX_TAKES_MEMORY, "1T", 1024 * GIB },
		{ SBX_TAKES_MEMORY, "1P", 1024 * 1024 * GIB },
		{ SBX_TAKES_MEMORY, "0", 0 }, /* all of the node */
		{ SBX_TAKES_MEMORY, "1X", 0 },
		{ SBX_TAKES_MEMORY, "1GBx", 0 },
		{ SBX_TAKES_MEMORY, "9999999999P", 0 },
		{ SBX_TAKES_NODES, "3", 3 },
		{ SBX_TAKES_NODES, "1-4", 4 },
		{ SBX_TAKES_NODES, "1k", 1024 },
		{ SBX_TAKES_NODES, "1-2k", 2048 },
		{ SBX_TAKES_NODES, "1m", 1024 * 1024 },
		{ SBX_TAKES_NODES, "1-", 0 },
		{ SBX_TAKES_NODES, "2x", 0 },
		{ SBX_TAKES_ARRAY, "0-9", 10 },
		{ SBX_TAKES_ARRAY, "0-9%2", 10 },
		{ SBX_TAKES_ARRAY, "1,3,5-7", 5 },
		{ SBX_TAKES_ARRAY, "0-15:4", 4 },
		{ SBX_TAKES_ARRAY, "1-4,1-4", 8 },
		{ SBX_TAKES_ARRAY, "4-1", 0 },
		{ SBX_TAKES_ARRAY, "1-4:0", 0 },
		{ SBX_TAKES_ARRAY, "1,", 0 },
		{ SBX_TAKES_ARRAY, "1%", 0 },
		{ SBX_TAKES_GPUS, "2", 2 },
		{ SBX_TAKES_GPUS, "a100:2,v100:1", 3 },
		{ SBX_TAKES_GPUS, "a100", 0 },
		{ SBX_TAKES_GPUS, "2,", 0 },
		{ SBX_TAKES_NUMBER, "7", 7 },
		{ SBX_TAKES_NUMBER, " 7", 0 },
		{ SBX_TAKES_NUMBER, "0x7", 0 },
		{ SBX_TAKES_NUMBER, "1k", 0 },
		{ SBX_TAKES_NUMBER, "", 0 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t amount = 0;
		bool is = sbx_slurm_amount(cases[i].takes, cases[i].value, &amount);

		cr_expect_eq(is, cases[i].amount != 0, "%s of %u", cases[i].value, cases[i].takes);
		cr_expect(!is || amount == cases[i].amount, "%s of %u is %llu", cases[i].value,
			  cases[i].takes, (unsigned long long)amount);
	}
}

Test(slurm_value, limits)
{
	static const struct {
		unsigned takes;
		const char *value, *limit;
		bool within;
	} cases[] = {
		{ SBX_TAKES_TIME, "240", "4h", true },
		{ SBX_TAKES_TIME, "4:00:01", "4h", false },
		{ SBX_TAKES_TIME, "0", "4h", false },
		{ SBX_TAKES_TIME, "60", "60", true },
		{ SBX_TAKES_TIME, "61", "60", false },
		{ SBX_TAKES_TIME, "1-0", "1-0:0:0", true },
		{ SBX_TAKES_MEMORY, "4096", "4G", true },
		{ SBX_TAKES_MEMORY, "4097", "4G", false },
		{ SBX_TAKES_MEMORY, "0", "4G", false },
		{ SBX_TAKES_NODES, "1-2", "2", true },
		{ SBX_TAKES_NODES, "1-3", "2", false },
		{ SBX_TAKES_NODES, "1k", "2", false },
		{ SBX_TAKES_ARRAY, "5-9", "5", true },
		{ SBX_TAKES_ARRAY, "5-10", "5", false },
		{ SBX_TAKES_GPUS, "a100:2", "2", true },
		{ SBX_TAKES_GPUS, "a100:2,1", "2", false },
		{ SBX_TAKES_GRES, "gpu:2", "gpu:2", true },
		{ SBX_TAKES_GRES, "gpu", "gpu:2", true },
		{ SBX_TAKES_GRES, "gpu:a100:2", "gpu:2", true },
		{ SBX_TAKES_GRES, "gpu:a100:2", "gpu:v100:2", false },
		{ SBX_TAKES_GRES, "gpu:2,gpu:1", "gpu:2", false },
		{ SBX_TAKES_GRES, "gpu:1k", "gpu:2", false }, /* 1024 to Slurm, and all of them */
		{ SBX_TAKES_GRES, "gpu:1m", "gpu:2", false },
		{ SBX_TAKES_GRES, "gpu:-4", "gpu:2", false },
		{ SBX_TAKES_GRES, "gpu:a100:4K", "gpu:2", false },
		{ SBX_TAKES_GRES, "gpu:4.", "gpu:2", false },
		{ SBX_TAKES_GRES, "gpu:", "gpu:2", false },
		{ SBX_TAKES_GRES, "gpu:a100", "gpu:2", true },
		{ SBX_TAKES_GRES, "gpu:1g.5gb:2", "gpu:2", true }, /* a part of a gpu is a type */
		{ SBX_TAKES_GRES, "gpux:1", "gpu:2", false },
		{ SBX_TAKES_GRES, "gpu:1,shard:1", "gpu:2", false },
		{ SBX_TAKES_GRES, "", "gpu:2", false },
		/* told by the limit where the option does not say what it takes */
		{ SBX_TAKES_VALUE, "1:00:00", "4h", true },
		{ SBX_TAKES_VALUE, "2G", "4G", true },
		{ SBX_TAKES_VALUE, "3", "4", true },
		{ SBX_TAKES_VALUE, "1-2", "4", false },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		cr_expect(sbx_slurm_is_limit(cases[i].takes, cases[i].limit), "%s", cases[i].limit);
		cr_expect_eq(sbx_slurm_at_most(cases[i].takes, cases[i].value, cases[i].limit),
			     cases[i].within, "%s within %s", cases[i].value, cases[i].limit);
	}
	cr_expect_not(sbx_slurm_is_limit(SBX_TAKES_TIME, "4G"));
	cr_expect_not(sbx_slurm_is_limit(SBX_TAKES_MEMORY, "4h"));
	cr_expect_not(sbx_slurm_is_limit(SBX_TAKES_GRES, "gpu:1,shard:1"));
	cr_expect_not(sbx_slurm_is_limit(SBX_TAKES_HOSTS, "4"));
	cr_expect_not(sbx_slurm_is_limit(SBX_TAKES_VALUE, "many"));
}

Test(slurm_value, objections)
{
	static const struct {
		unsigned takes;
		const char *value;
		bool good;
	} cases[] = {
		{ SBX_TAKES_HOSTS, "n[1-2]", true },
		{ SBX_TAKES_HOSTS, "./n1", false },
		{ SBX_TAKES_HOSTS, "/etc/shadow", false },
		{ SBX_TAKES_JOBS, "12", true },
		{ SBX_TAKES_JOBS, "12_[1-3],14.batch", true },
		{ SBX_TAKES_JOBS, "+12", false },
		{ SBX_TAKES_JOBS, "", false },
		{ SBX_TAKES_NAME, "my-job_1.2", true },
		{ SBX_TAKES_NAME, "nf-foo_(1)", true },
		{ SBX_TAKES_NAME, "step 1, [a:b] @50%+#2=3", true },
		{ SBX_TAKES_NAME, " x", false },
		{ SBX_TAKES_NAME, "a;b", false },
		{ SBX_TAKES_NAME, "a$b", false },
		{ SBX_TAKES_NAME, "a`b", false },
		{ SBX_TAKES_NAME, "a'b", false },
		{ SBX_TAKES_NAME, "a\nb", false },
		{ SBX_TAKES_NAME, "../evil", false },
		{ SBX_TAKES_NAME, "a/b", false },
		{ SBX_TAKES_NAME, "", false },
		{ SBX_TAKES_NAME, "--uid=0", false },
		{ SBX_TAKES_NAME, "..", false },
		{ SBX_TAKES_ARRAY, "1-3", true },
		{ SBX_TAKES_ARRAY, "1-3;x", false },
		{ SBX_TAKES_OUTPUT, "out/%j.txt", true },
		{ SBX_TAKES_OUTPUT, "", false },
		{ SBX_TAKES_OUTPUT, "a\nb", false },
		{ SBX_TAKES_OUTPUT, "a\\%j", false },
		{ SBX_TAKES_VALUE, "", true },
		{ SBX_TAKES_COMMENT, "any: text", true },
		{ SBX_TAKES_ADDRESS, "a.b-c+d@example.org", true },
		{ SBX_TAKES_ADDRESS, "root,a_1@b", true },
		{ SBX_TAKES_ADDRESS, "-A/etc/passwd", false },
		{ SBX_TAKES_ADDRESS, "root,-A", false },
		{ SBX_TAKES_ADDRESS, "+folder", false },
		{ SBX_TAKES_ADDRESS, "/tmp/file", false },
		{ SBX_TAKES_ADDRESS, "a b", false },
		{ SBX_TAKES_ADDRESS, "a|b", false },
		{ SBX_TAKES_ADDRESS, "a$(b)", false },
		{ SBX_TAKES_ADDRESS, "a\nb", false },
		{ SBX_TAKES_ADDRESS, "", false },
		{ SBX_TAKES_CLUSTERS, "all", true },
		{ SBX_TAKES_CLUSTERS, "other", false },
		{ SBX_TAKES_CLUSTERS, "all,other", false },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		cr_expect_eq(!sbx_slurm_objection(cases[i].takes, cases[i].value), cases[i].good,
			     "%s of %u", cases[i].value, cases[i].takes);
}
