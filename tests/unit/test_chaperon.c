#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chaperon/frame.h"
#include "chaperon/hours.h"
#include "chaperon/ids.h"
#include "chaperon/rebuild.h"

Test(chaperon, ids)
{
	static const struct {
		const char *text;
		size_t count;      /* 0: refused */
		const char *again; /* of the last one */
	} cases[] = {
		{ "12", 1, "12" },
		{ "12,14", 2, "14" },
		{ "0292", 1, "292" }, /* as scancel reads it */
		{ "293_4", 1, "293_4" },
		{ "293_[1-2,4]", 3, "293_4" }, /* each task is an id of its own */
		{ "293_[1,2],294", 3, "294" },
		{ "12_[0-2].batch", 3, "12_2.batch" },
		{ "12_[007]", 1, "12_7" },
		{ "293_[0-9999]", 10000, "293_9999" },
		{ "293_[0-10000]", 0, NULL },
		{ "12_[3-1]", 0, NULL },
		{ "12_[]", 0, NULL },
		{ "12_[1,]", 0, NULL },
		{ "12_[1-]", 0, NULL },
		{ "12_[1%2]", 0, NULL },
		{ "12_[1]x", 0, NULL },
		{ "12_[1,13_[2]]", 0, NULL },
		{ "12.0", 1, "12.0" },
		{ "12_3.batch", 1, "12_3.batch" },
		{ "67108863", 1, "67108863" },
		{ "67108864", 0, NULL }, /* no job has it */
		{ "99999999999999999999", 0, NULL },
		{ "", 0, NULL },
		{ ",", 0, NULL },
		{ "12,", 0, NULL },
		{ "+12", 0, NULL }, /* a part of a heterogeneous job */
		{ "12+1", 0, NULL },
		{ "-1", 0, NULL },
		{ "12_", 0, NULL },
		{ "12_[1", 0, NULL },
		{ "12 13", 0, NULL },
		{ "12_x", 0, NULL },
		{ "12.", 0, NULL },
		{ "12.BATCH", 0, NULL },
		{ "12_[11111111111111111111111111111111111111111111111111]", 0, NULL },
	};
	struct job_ids ids = { 0 };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *wrong;
		char again[64];

		ids.count = 0;
		wrong = ids_read(&ids, cases[i].text);
		cr_expect_eq(!wrong, cases[i].count != 0, "%s", cases[i].text);
		if (wrong || !cases[i].count)
			continue;
		cr_expect_eq(ids.count, cases[i].count, "%s", cases[i].text);
		snprintf(again, sizeof(again), "%u%s", ids.items[ids.count - 1].job,
			 ids.items[ids.count - 1].rest);
		cr_expect_str_eq(again, cases[i].again);
	}
	ids_free(&ids);
}

Test(chaperon, ids_that_a_job_waits_for)
{
	static const struct {
		const char *text, *ids; /* NULL: refused */
	} cases[] = {
		{ "singleton", "" },
		{ "afterok:12", "12" },
		{ "afterok:12_3+5:14,after:0016?singleton", "12,14,16" },
		{ "12", "12" },
		{ "afterok:+12", "12" }, /* as strtol(3) reads it */
		{ "afterok:_12", "12" },
		{ "afterok:67108864", NULL },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct job_ids ids = { 0 };
		const char *wrong = ids_read_dependency(&ids, cases[i].text);
		char *text = ids_write(&ids, "");

		cr_expect(!wrong == (cases[i].ids != NULL), "%s", cases[i].text);
		cr_expect(!cases[i].ids || !strcmp(text, cases[i].ids), "%s: %s", cases[i].text, text);
		free(text);
		ids_free(&ids);
	}
}

Test(chaperon, as_many_ids_as_there_is_room_for)
{
	struct job_ids ids = { 0 };
	static char text[JOB_IDS_MAX * 2 + 2];

	for (size_t i = 0; i <= JOB_IDS_MAX; i++)
		memcpy(text + 2 * i, "1,", 2);
	text[2 * JOB_IDS_MAX - 1] = '\0';
	cr_expect_null(ids_read(&ids, text));
	ids.count = 0;
	text[2 * JOB_IDS_MAX - 1] = ',';
	text[2 * JOB_IDS_MAX + 1] = '\0';
	cr_expect_str_eq(ids_read(&ids, text), "too many jobs");
	ids_free(&ids);
}

/* Cut anywhere, the last number would be another job's. */
Test(chaperon, all_ids_are_written_or_none)
{
	struct job_ids ids = { 0 };
	char *text;

	cr_assert_null(ids_read(&ids, "12_[1-2],7.batch"));
	text = ids_write(&ids, "--jobs=");
	cr_expect_str_eq(text, "--jobs=12_1,12_2,7.batch");
	free(text);
	ids.count = 0;
	for (uint32_t i = 0; i < JOB_IDS_SIZE / 9; i++)
		cr_assert(ids_add(&ids, 10000000 + i));
	text = ids_write(&ids, "1234567"); /* JOB_IDS_SIZE is 9 * 14563 + 5 */
	cr_assert_null(text);
	text = ids_write(&ids, "12345");
	cr_assert_not_null(text);
	cr_expect_eq(strlen(text), JOB_IDS_SIZE - 1);
	cr_expect_str_eq(text + JOB_IDS_SIZE - 9, "10014562");
	free(text);
	ids_free(&ids);
}

static struct chaperon_frame head_of(unsigned kind, size_t size)
{
	return (struct chaperon_frame){ CHAPERON_FRAME_MAGIC, SBX_CHAPERON_WIRE_VERSION,
					(uint8_t)kind, 0, (uint32_t)size };
}

static const char *take(struct intake *intake, unsigned kind, const void *body, size_t size)
{
	struct chaperon_frame head = head_of(kind, size);

	return intake_take(intake, &head, body);
}

static void greet(struct intake *intake)
{
	struct chaperon_hello hello = { 7, 24, 80 };

	cr_assert_null(take(intake, CHAPERON_HELLO, &hello, sizeof(hello)));
}

Test(chaperon, a_request_and_its_script)
{
	struct intake intake = { 0 };

	greet(&intake);
	cr_expect_null(take(&intake, CHAPERON_ARGUMENT, "sbatch", 6));
	cr_expect_null(take(&intake, CHAPERON_ARGUMENT, "", 0));
	cr_expect_null(take(&intake, CHAPERON_ENV, "A=1", 3));
	cr_expect_null(take(&intake, CHAPERON_CWD, "/w", 2));
	cr_expect_null(take(&intake, CHAPERON_RUN, "", 0));
	cr_expect_eq(intake.stage, INTAKE_RUNNING);
	cr_expect_eq(intake.arguments.count, 2);
	cr_expect_str_eq(intake.arguments.items[1], "");
	cr_expect_str_eq(intake.cwd, "/w");
	cr_expect(take(&intake, CHAPERON_SCRIPT, "x", 1), "nobody asked for it");
	intake_want_script(&intake);
	cr_expect_null(take(&intake, CHAPERON_SCRIPT, "#!/bin/sh\n", 10));
	cr_expect_null(take(&intake, CHAPERON_SCRIPT, "a\0b", 3));
	cr_expect_null(take(&intake, CHAPERON_SCRIPT, "", 0));
	cr_expect(intake.script_whole && intake.script_size == 13);
	cr_expect_eq(intake.stage, INTAKE_RUNNING);
	intake_free(&intake);
}

Test(chaperon, what_is_no_request)
{
	static const struct {
		unsigned kind;
		const char *body;
		size_t size;
	} after_greeting[] = {
		{ CHAPERON_HELLO, "12345678", 8 }, /* twice */
		{ CHAPERON_ARGUMENT, "a\0b", 3 },  { CHAPERON_ENV, "A", 1 },
		{ CHAPERON_CWD, "", 0 },           { CHAPERON_CWD, "w", 1 },
		{ CHAPERON_CWD, "/w\0x", 4 },      { CHAPERON_RUN, "", 0 }, /* nothing to run */
		{ CHAPERON_SCRIPT, "x", 1 },       { CHAPERON_INPUT, "x", 1 },
		{ CHAPERON_EXIT, "1234", 4 },      { 0, "", 0 },
	};
	struct intake intake = { 0 };

	cr_expect(take(&intake, CHAPERON_ARGUMENT, "sbatch", 6), "before the greeting");
	cr_expect(take(&intake, CHAPERON_HELLO, "1234", 4), "a short one");
	for (size_t i = 0; i < sizeof(after_greeting) / sizeof(after_greeting[0]); i++) {
		greet(&intake);
		cr_expect(take(&intake, after_greeting[i].kind, after_greeting[i].body,
			       after_greeting[i].size),
			  "case %zu", i);
		intake_free(&intake);
	}
}

Test(chaperon, bounds_of_a_request)
{
	struct intake intake = { 0 };
	char *long_one = calloc(1, CHAPERON_FRAME_MAX);
	const char *wrong = NULL;
	size_t count = 0;

	memset(long_one, 'x', CHAPERON_FRAME_MAX);
	greet(&intake);
	cr_expect_null(take(&intake, CHAPERON_ARGUMENT, long_one, CHAPERON_FRAME_MAX));
	cr_expect(take(&intake, CHAPERON_ARGUMENT, long_one, CHAPERON_FRAME_MAX));
	intake_free(&intake);
	greet(&intake);
	while (!wrong && count <= CHAPERON_STRINGS_MAX) {
		wrong = take(&intake, CHAPERON_ARGUMENT, "x", 1);
		count += !wrong;
	}
	cr_expect_eq(count, CHAPERON_STRINGS_MAX);
	intake_free(&intake);
	greet(&intake);
	intake_want_script(&intake);
	for (count = 0, wrong = NULL; !wrong && count < 100; count += !wrong)
		wrong = take(&intake, CHAPERON_SCRIPT, long_one, CHAPERON_FRAME_MAX);
	cr_expect_eq(count, CHAPERON_SCRIPT_MAX / CHAPERON_FRAME_MAX);
	intake_free(&intake);
	free(long_one);
}

Test(chaperon, heads_of_frames)
{
	struct chaperon_frame good = head_of(CHAPERON_ARGUMENT, 1), out, bad;
	char whole[sizeof(good) + 1];
	const char *wrong;

	memcpy(whole, &good, sizeof(good));
	whole[sizeof(good)] = 'x';
	for (size_t size = 0; size < sizeof(whole); size++)
		cr_expect_eq(frame_read(whole, size, &out, &wrong), FRAME_MORE, "%zu", size);
	cr_expect_eq(frame_read(whole, sizeof(whole), &out, &wrong), FRAME_WHOLE);
	cr_expect_eq(out.size, 1);
	cr_expect_eq(frame_read("GET", 3, &out, &wrong), FRAME_BROKEN, "at its first bytes");
	for (unsigned field = 0; field < 5; field++) {
		bad = good;
		if (field == 0)
			bad.magic++;
		if (field == 1)
			bad.version++;
		if (field == 2)
			bad.kind = CHAPERON_EXIT;
		if (field == 3)
			bad.zero = 1;
		if (field == 4)
			bad.size = CHAPERON_FRAME_MAX + 1;
		cr_expect_eq(frame_read(&bad, sizeof(bad), &out, &wrong), FRAME_BROKEN, "field %u",
			     field);
		cr_expect(wrong);
	}
}

Test(chaperon, names_that_a_script_can_hold)
{
	static const char *const good[] = { "/home/u/.local/share/sbx/jobs", "/data/a+b@c=d_e-f" };
	static const char *const bad[] = { "/home/a b", "/home/$u",   "/home/`id`",
					   "/home/a;b", "/home/a\nb", "/home/'a'",
					   "relative",  "",           "/home/\303\274" };
	char text[2048];

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		cr_expect(job_path_is_plain(good[i]) &&
			  rebuild_wrapper(good[i], "ab", text, sizeof(text)));
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		cr_expect(!job_path_is_plain(bad[i]) &&
			      !rebuild_wrapper(bad[i], "ab", text, sizeof(text)),
			  "%s", bad[i]);
	cr_expect_not(rebuild_wrapper(good[0], "ab", text, 100), "too little room");
	rebuild_wrapper(good[0], "ab", text, sizeof(text));
	/* Behind a command sbatch reads no directive any more. */
	cr_expect_eq(strncmp(text, "#!/bin/sh\n:\n", 12), 0);
}

Test(chaperon, tags)
{
	char one[JOB_TAG_SIZE], two[JOB_TAG_SIZE];

	cr_expect(job_tag(one) && job_tag(two));
	cr_expect_eq(strlen(one), 36);
	cr_expect_eq(strspn(one + 4, "0123456789abcdef"), 32);
	cr_expect_str_neq(one, two);
}

#define JOB(limit, cpus, more)                                                                     \
	"JobId=3 Nice=0 TimeLimit=" limit " Partition=x NumNodes=1 NumCPUs=" cpus                  \
	" NumTasks=1 CPUs/Task=1 NtasksPerN:B:S:C=0:0:*:* MinCPUsNode=1 OverSubscribe=OK " more    \
	" \n"
#define SHAPE(nodes, cpus, tasks, share, each, least, more)                                        \
	" TimeLimit=00:01:00 Partition=x NumNodes=" nodes " NumCPUs=" cpus " NumTasks=" tasks       \
	" CPUs/Task=" share " NtasksPerN:B:S:C=" each ":0:*:* MinCPUsNode=" least                  \
	" OverSubscribe=OK " more " \n"
#define NO_TIME  "the job no time limit: give --time"
#define NOT_SAID "Slurm does not say how much the job may take"

Test(chaperon, hours_of_a_job)
{
	static const char partitions[] = "y|NO|1\nx|NO|1\nx|NO|1\nwhole|EXCLUSIVE|1\nht|FORCE:4|2\n"
					 "ht|FORCE:4|1\nodd|NO|1+\n";
	static const struct {
		const char *text;
		uint64_t tasks, cpu_s, gpu_s;
		const char *wrong;
	} cases[] = {
		{ JOB("01:30:00", "2", "TRES=cpu=2,mem=8G"), 1, 10800, 0, NULL },
		{ JOB("01:30:00", "2", "TRES=cpu=2,mem=8G"), 3, 32400, 0, NULL },
		{ JOB("1-00:00:00", "1", "TRES=cpu=1,gres/gpu=2,gres/gpu:a100=2"), 1, 86400, 172800,
		  NULL },
		{ JOB("00:01:00", "1", "ReqTRES=cpu=1,gres/gpu=2"), 1, 60, 120, NULL },
		{ JOB("00:10:00", "2-4", "TRES=cpu=2"), 1, 2400, 0, NULL },
		{ JOB("UNLIMITED", "1", ""), 1, 0, 0, NO_TIME },
		{ JOB("Partition_Limit", "1", ""), 1, 0, 0, NO_TIME },
		{ JOB("00:00:00", "1", ""), 1, 0, 0, NO_TIME },
		{ JOB("00:10:00", "0", ""), 1, 0, 0, NOT_SAID },
		{ JOB("00:10:00", "x", ""), 1, 0, 0, NOT_SAID },
		{ JOB("00:10:00", "1", ""), 0, 0, 0, NOT_SAID },
		{ JOB("00:10:00", "1", ""), 1ull << 40, 0, 0, NOT_SAID },
		/* an account's name, say, that looks like it */
		{ "Account=a TimeLimit=00:01:00 " JOB("10:00:00", "1", ""), 1, 0, 0, NOT_SAID },
		{ JOB("10:00:00", "1", "WorkDir=/ NumCPUs=1 "), 1, 0, 0, NOT_SAID },
		{ JOB("10:00:00", "1", "WorkDir=/ CPUs/Task=1 "), 1, 0, 0, NOT_SAID },
		{ "", 1, 0, 0, NO_TIME },
		/* nodes, tasks and processors */
		{ SHAPE("1-2", "1", "1", "1", "0", "1", ""), 1, 120, 0, NULL },
		{ SHAPE("2-3", "6", "6", "1", "3", "3", ""), 1, 540, 0, NULL },
		{ SHAPE("2-2", "6", "6", "1", "3", "3", ""), 1, 360, 0, NULL },
		{ SHAPE("2", "9", "9", "1", "0", "1", ""), 1, 540, 0, NULL },
		{ SHAPE("1", "1", "1", "1", "0", "6", ""), 1, 360, 0, NULL },
		{ SHAPE("2-2", "2", "2", "1", "0", "6", ""), 1, 720, 0, NULL },
		{ SHAPE("1", "1", "1", "N/A", "0", "1", ""), 1, 60, 0, NULL },
		{ SHAPE("0", "1", "1", "1", "0", "1", ""), 1, 0, 0, NOT_SAID },
		{ SHAPE("2-1", "1", "1", "1", "0", "1", ""), 1, 0, 0, NOT_SAID },
		/* gpus */
		{ SHAPE("1", "1", "1", "1", "0", "1", "TresPerNode=gres:gpu:3"), 1, 60, 180, NULL },
		{ SHAPE("1", "1", "1", "1", "0", "1", "TresPerNode=gres/gpu:a100:3,gpu"), 1, 60,
		  240, NULL },
		{ SHAPE("1", "1", "1", "1", "0", "1", "Gres=gpu:a100"), 1, 60, 60, NULL },
		{ SHAPE("1-2", "1", "1", "1", "0", "1", "TresPerNode=gres:gpu:3"), 1, 120, 360,
		  NULL },
		{ SHAPE("2", "9", "9", "1", "0", "1", "TresPerNode=gres:gpu:3"), 1, 0, 0,
		  "its gpus are asked for by the node: give --nodes" },
		{ SHAPE("2", "9", "9", "1", "0", "1", "TresPerNode=gres:shard:3"), 1, 540, 0,
		  NULL },
		{ SHAPE("2", "9", "9", "1", "0", "1", "TresPerTask=gres:gpu:2"), 1, 540, 1080,
		  NULL },
		{ SHAPE("2", "9", "9", "1", "0", "1", "TresPerJob=gres:gpu:4"), 1, 540, 240, NULL },
		{ SHAPE("1", "1", "1", "1", "0", "1", "TresPerJob=gres:gpu:1k"), 1, 0, 0,
		  NOT_SAID },
		{ SHAPE("1", "1", "1", "1", "0", "1", "TresPerJob=gres:gpu:-4"), 1, 0, 0,
		  NOT_SAID },
		{ SHAPE("1", "1", "1", "1", "0", "1", "TresPerSocket=gres:gpu:1"), 1, 0, 0,
		  NOT_SAID },
		{ SHAPE("1", "1", "1", "1", "0", "1",
			"TresPerJob=gpu:4 WorkDir=/ TresPerJob=gpu:1"),
		  1, 0, 0, NOT_SAID },
		/* partitions, without --time */
		{ " TimeLimit=00:01:00 Partition=x,y ", 1, 0, 0, NO_TIME },
		{ " TimeLimit=00:01:00 Partition=whole ", 1, 0, 0,
		  "its partition hands out whole nodes" },
		{ " TimeLimit=00:01:00 Partition=none ", 1, 0, 0, NOT_SAID },
		{ " TimeLimit=00:01:00 Partition=odd ", 1, 0, 0, NOT_SAID },
		{ " TimeLimit=00:01:00 Partition=ht NumNodes=1 NumCPUs=1 NumTasks=1 MinCPUsNode=1 "
		  "OverSubscribe=YES ",
		  1, 120, 0, NULL },
		{ " TimeLimit=00:01:00 Partition=ht NumNodes=1-1 NumCPUs=6 NumTasks=2 CPUs/Task=3 "
		  "MinCPUsNode=3 "
		  "OverSubscribe=OK ",
		  1, 540, 0, NULL },
		{ " TimeLimit=00:01:00 Partition=x NumNodes=1 NumCPUs=1 NumTasks=1 MinCPUsNode=1 "
		  "OverSubscribe=NO ",
		  1, 0, 0, "the job takes whole nodes" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct hours hours = { 0 };
		const char *wrong =
		    hours_read(cases[i].text, partitions, cases[i].tasks, false, &hours);

		cr_expect(wrong == cases[i].wrong ||
			      (wrong && cases[i].wrong && !strcmp(wrong, cases[i].wrong)),
			  "case %zu: %s", i, wrong);
		cr_expect(hours.cpu_s == cases[i].cpu_s && hours.gpu_s == cases[i].gpu_s,
			  "case %zu: %llu %llu", i, (unsigned long long)hours.cpu_s,
			  (unsigned long long)hours.gpu_s);
	}
	cr_expect(hours_bears("--ntasks") && !hours_bears("--exclusive") &&
		  !hours_bears("--mincpus"));
}
