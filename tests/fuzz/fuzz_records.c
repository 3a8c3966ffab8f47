/*
 * Any bytes as what another session has left in its file: a program of this user that
 * is in no sandbox can write there.  What is taken of it lies within it; and what is
 * written is read as it was.
 */
#include "tests/fuzz/launcher.h"

#include "stub/sessions.c"

struct input {
	const uint8_t *data;
	size_t size;
};

static void check_text(const struct input *in, const char *text, const char *end)
{
	const char *start = end - in->size;

	if (text < start || text >= end || !memchr(text, '\0', (size_t)(end - text)))
		fuzz_fault("a record's text lies outside the file");
}

/* The same as a session of ours. */
static void check_again(const struct others *found)
{
	struct session session = { .file = -1 };
	struct others again = { .stray = NULL };
	size_t size;
	char *all;

	for (size_t i = 0; i < found->live.count; i++)
		*vec_add(&session.used) = found->live.items[i];
	for (size_t i = 0; i < found->masked.count; i++)
		*vec_add(&session.masked) = found->masked.items[i];
	size = put_all(&session, NULL);
	all = mem_get(size + 1);
	size = put_all(&session, all);
	take_records(all, size, "again", true, &again);
	if (again.live.count != found->live.count || again.masked.count != found->masked.count)
		fuzz_fault("%zu and %zu records were written, %zu and %zu read", found->live.count,
			   found->masked.count, again.live.count, again.masked.count);
	for (size_t i = 0; i < again.live.count; i++) {
		const struct placeholder *a = &found->live.items[i], *b = &again.live.items[i];

		if (strcmp(a->path, b->path) || a->dev != b->dev || a->ino != b->ino ||
		    !a->text != !b->text || (a->text && strcmp(a->text, b->text)))
			fuzz_fault("'%s' is another one when read again", a->path);
	}
	for (size_t i = 0; i < again.masked.count; i++)
		if (strcmp(found->masked.items[i].path, again.masked.items[i].path) ||
		    found->masked.items[i].hidden != again.masked.items[i].hidden)
			fuzz_fault("'%s' is another one when read again",
				   found->masked.items[i].path);
}

static void take(void *data)
{
	const struct input *in = data;
	char *bytes = mem_get(in->size + 1); /* as read_other() does */
	struct others alive = { .stray = NULL }, dead = { .stray = NULL };

	memcpy(bytes, in->data, in->size);
	take_records(bytes, in->size, "alive", true, &alive);
	take_records(bytes, in->size, "dead", false, &dead);
	if (alive.dead.count || dead.live.count || dead.masked.count ||
	    alive.live.count != dead.dead.count)
		fuzz_fault("the living and the dead were mixed up");
	for (size_t i = 0; i < alive.live.count; i++) {
		const struct placeholder *one = &alive.live.items[i];

		check_text(in, one->path, bytes + in->size);
		if (one->text)
			check_text(in, one->text, bytes + in->size);
		if (*one->path != '/' || strlen(one->path) >= PATH_MAX)
			fuzz_fault("'%s' is no path", one->path);
	}
	for (size_t i = 0; i < alive.masked.count; i++)
		check_text(in, alive.masked.items[i].path, bytes + in->size);
	check_again(&alive);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, size };

	if (launcher_run(take, &in) > 0)
		fuzz_fault("it refused");
	return 0;
}
