#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "chaperon/record.h"

/* Two sessions of one project, with a directory of state of their own. */
static char state[] = "/tmp/sbx-record-XXXXXX";
static struct session sessions[2];
static struct record records[2];

static void begin(void)
{
	static const char *const ids[] = { "first", "second" };

	cr_assert(mkdtemp(state));
	for (size_t i = 0; i < 2; i++) {
		sessions[i].id = ids[i];
		sessions[i].state = state;
		sessions[i].workspace = "/w";
		cr_assert_null(record_open(&records[i], &sessions[i]));
	}
}

static void let_go(struct record *record)
{
	for (size_t i = 0; i < record->count; i++) {
		free(record->jobs[i].session);
		free(record->jobs[i].comment);
	}
	free(record->jobs);
	free(record->index);
	if (record->fd >= 0)
		close(record->fd);
}

static void end(void)
{
	char old[4300];

	snprintf(old, sizeof(old), "%s.old", records[0].path);
	unlink(old);
	unlink(records[0].path);
	rmdir(state);
	let_go(&records[0]);
	let_go(&records[1]);
}

static void move_away(void)
{
	char old[4300];

	snprintf(old, sizeof(old), "%s.old", records[0].path);
	cr_assert_eq(rename(records[0].path, old), 0);
}

/* As one that begins now reads it. */
static struct job read_again(const char *tag)
{
	struct record record;
	struct job job = { 0 };

	cr_assert_null(record_open(&record, &sessions[1]));
	cr_assert_str_empty(record.wrong);
	if (record_tagged(&record, tag))
		job = *record_tagged(&record, tag);
	cr_assert(!job.session || !strcmp(job.session, "first"));
	job.session = job.comment = NULL;
	let_go(&record);
	return job;
}

TestSuite(record, .init = begin, .fini = end);

Test(record, moved_away_while_a_job_is_submitted)
{
	struct job job;

	cr_assert(record_begin(&records[0], "sbx-1", 3, "kept"));
	move_away();
	record_refresh(&records[0]); /* for another client */
	record_refresh(&records[0]);
	cr_expect_eq(records[0].count, 1, "it counts meanwhile");
	cr_expect(record_submitted(&records[0], "sbx-1", 7));
	job = read_again("sbx-1");
	cr_expect_eq(job.id, 7);
	cr_expect_eq(job.tasks, 3);
	cr_expect(job.submitted);
	cr_expect(record_hours(&records[0], "sbx-1", 60, 1));
	cr_expect_eq(read_again("sbx-1").cpu_s, 60);
}

Test(record, moved_away_between)
{
	cr_assert(record_begin(&records[0], "sbx-1", 3, NULL));
	move_away();
	cr_expect(record_submitted(&records[0], "sbx-1", 7), "under the lock it is seen, too");
	cr_expect_eq(read_again("sbx-1").id, 7);
}

Test(record, moved_away_before_its_hours)
{
	cr_assert(record_begin(&records[0], "sbx-1", 1, NULL));
	cr_assert(record_submitted(&records[0], "sbx-1", 7));
	move_away();
	record_refresh(&records[0]);
	cr_expect_eq(records[0].count, 0, "its budgets begin anew");
	cr_expect_not(record_hours(&records[0], "sbx-1", 60, 1));
	cr_expect_str_eq(record_trouble(&records[0]), "No such file or directory");
	cr_expect_eq(read_again("sbx-1").submitted, 0);
}

Test(record, failed_and_in_the_queue_all_the_same)
{
	struct job job;

	cr_assert(record_begin(&records[0], "sbx-1", 1, NULL));
	record_failed(&records[0], "sbx-1");
	record_refresh(&records[1]);
	cr_assert(record_tagged(&records[1], "sbx-1")->failed);
	move_away(); /* as when it is written anew, without what failed */
	record_refresh(&records[0]);
	cr_expect_eq(records[0].count, 0);
	cr_expect(record_submitted(&records[1], "sbx-1", 7));
	job = read_again("sbx-1");
	cr_expect_eq(job.id, 7);
	cr_expect_not(job.failed);
}

Test(record, an_srun_that_ends_after_it)
{
	cr_assert(record_begin(&records[0], "sbx-1", 1, NULL));
	move_away();
	record_ended(&records[0], "sbx-1");
	cr_expect(read_again("sbx-1").ended);
}

/* ---- how large it grows ---- */

/* Of srun, @count that ended: what a session can do at no cost. */
static void put_ended(unsigned first, unsigned count, const char *session, long when)
{
	FILE *file = fopen(records[0].path, "a");

	cr_assert(file);
	for (unsigned i = first; i < first + count; i++)
		fprintf(file,
			"{\"tag\":\"sbx-e%u\",\"session\":\"%s\",\"time\":%ld,\"tasks\":1,"
			"\"comment\":\"c\"}\n{\"tag\":\"sbx-e%u\",\"job\":%u}\n"
			"{\"tag\":\"sbx-e%u\",\"ended\":true}\n",
			i, session, when + i % 60, i, i + 1, i);
	cr_assert_eq(fclose(file), 0);
}

static uint64_t tasks_of(const struct record *record, const char *session)
{
	uint64_t tasks = 0;

	for (size_t i = 0; i < record->count; i++)
		if (!record->jobs[i].failed && record->jobs[i].session &&
		    !strcmp(record->jobs[i].session, session))
			tasks += record->jobs[i].tasks;
	return tasks;
}

static ino_t lock_once(struct record *record)
{
	record_lock(record);
	record_unlock(record);
	cr_assert_str_empty(record->wrong);
	return record->inode;
}

Test(record, of_sruns_that_ended_only_the_newest_are_kept)
{
	const struct job *sum;
	ino_t inode;

	cr_assert(record_begin(&records[0], "sbx-batch", 2, "kept"));
	cr_assert(record_submitted(&records[0], "sbx-batch", 90000));
	cr_assert(record_begin(&records[0], "sbx-runs", 1, "kept"));
	put_ended(0, 3000, "s", 7200);
	put_ended(3000, 1000, "t", 7200);
	put_ended(4000, 2000, "s", 10800);
	inode = lock_once(&records[0]);
	cr_expect_eq(records[0].count, 2 + 1000 + 3, "one for each session and hour");
	cr_expect_eq(records[0].at_line, records[0].count);
	cr_expect_eq(tasks_of(&records[0], "s"), 5000);
	cr_expect_eq(tasks_of(&records[0], "t"), 1000);
	sum = record_tagged(&records[0], "sbx-e0");
	cr_assert(sum);
	cr_expect_eq(sum->submitted, 7200 + 59, "the newest of them");
	cr_expect_eq(sum->tasks, 3000);
	cr_expect(sum->ended && sum->sum && !sum->id && !sum->comment);
	cr_expect_null(record_find(&records[0], 2, "project"));
	cr_expect_str_eq(record_find(&records[0], 6000, "project")->comment, "c");
	cr_expect_str_eq(record_find(&records[0], 90000, "project")->comment, "kept");
	cr_expect_str_eq(record_tagged(&records[0], "sbx-runs")->comment, "kept");
	cr_expect_eq(lock_once(&records[0]), inode, "that is worth it once");

	put_ended(6000, 3000, "s", 10800);
	cr_expect_neq(lock_once(&records[1]), inode);
	cr_expect_eq(records[1].count, 2 + 1000 + 3, "what is a sum already grows");
	cr_expect_eq(tasks_of(&records[1], "s"), 8000);
	record_refresh(&records[0]);
	cr_expect_eq(tasks_of(&records[0], "s"), 8000);
}
