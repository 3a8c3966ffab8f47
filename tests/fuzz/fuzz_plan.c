/*
 * Any bytes as the plan that the inner stage reads from a descriptor: what is taken for
 * one can be read as one.  And what was packed is unpacked as it was.
 */
#include "tests/fuzz/launcher.h"

#include <string.h>

#include "stub/plan.h"

#define TEXTS_MAX 256 /* bytes of them */

struct input {
	const uint8_t *data;
	size_t size;
};
static volatile size_t sink;

static void read_text(const char *text)
{
	sink += text ? strlen(text) : 0;
}

static void read_all(const struct plan *plan)
{
	const unsigned char *filters[] = { plan->filter, plan->shared_filter };
	const uint32_t counts[] = { plan->filter_count, plan->shared_filter_count };

	for (size_t i = 0; i < plan->mounts.count; i++) {
		read_text(plan->mounts.items[i].path);
		read_text(plan->mounts.items[i].target);
	}
	for (size_t i = 0; i < plan->masks.count; i++) {
		read_text(plan->masks.items[i].path);
		read_text(plan->masks.items[i].target);
	}
	for (size_t i = 0; i < plan->rules.count; i++)
		read_text(plan->rules.items[i].path);
	for (size_t i = 0; i < plan->limits.count; i++)
		sink += plan->limits.items[i].hard;
	for (size_t i = 0; i < plan->ports.count; i++)
		sink += plan->ports.items[i];
	for (size_t i = 0; i < plan->pass_fds.count; i++)
		sink += plan->pass_fds.items[i];
	for (size_t i = 0; i < plan->environ.count; i++)
		read_text(plan->environ.items[i]);
	for (size_t i = 0; i < plan->argv.count; i++)
		read_text(plan->argv.items[i]);
	read_text(plan->cwd);
	for (size_t i = 0; i < 2; i++)
		for (size_t at = 0; at < 8ul * counts[i]; at++)
			sink += filters[i][at];
}

static void same(const char *a, const char *b)
{
	if (!a != !b || (a && strcmp(a, b)))
		fuzz_fault("'%s' was packed, '%s' unpacked", a ? a : "", b ? b : "");
}

/* A plan of texts from the input: packed, unpacked, compared. */
static void pack_again(const struct input *in)
{
	struct plan plan = { .cwd = "/" }, again;
	const uint8_t *at = in->data;
	size_t left = in->size < TEXTS_MAX ? in->size : TEXTS_MAX, size;
	const void *data;
	void *copy;

	while (left) {
		size_t length = strnlen((const char *)at, left);
		const char *text = mem_copy((const char *)at, length);

		*vec_add(&plan.argv) = text;
		*vec_add(&plan.ports) = (uint16_t)length;
		vec_add(&plan.masks)->path = text;
		vec_add(&plan.mounts)->target = text;
		length += length < left;
		at += length;
		left -= length;
	}
	plan_pack(&plan, &data, &size);
	copy = mem_get(size);
	memcpy(copy, data, size);
	if (!plan_unpack(copy, size, &again))
		fuzz_fault("what was packed is no plan");
	if (again.argv.count != plan.argv.count || again.masks.count != plan.masks.count ||
	    again.mounts.count != plan.mounts.count || again.ports.count != plan.ports.count)
		fuzz_fault("a list was lost");
	for (size_t i = 0; i < plan.argv.count; i++) {
		same(plan.argv.items[i], again.argv.items[i]);
		same(plan.masks.items[i].path, again.masks.items[i].path);
		same(plan.mounts.items[i].target, again.mounts.items[i].target);
		same(plan.mounts.items[i].path, again.mounts.items[i].path);
		if (plan.ports.items[i] != again.ports.items[i])
			fuzz_fault("a port was lost");
	}
}

static void unpack(void *data)
{
	const struct input *in = data;
	struct plan plan;
	/* The head has a magic and the size, which no mutation finds. */
	struct {
		uint32_t magic, size;
	} head = { 0x33786273u, (uint32_t)in->size };
	char *bytes = mem_get(in->size ? in->size : 1);

	memcpy(bytes, in->data, in->size);
	if (in->size >= sizeof(head))
		memcpy(bytes, &head, sizeof(head));
	if (in->size)
		bytes[in->size - 1] = '\0';
	if (plan_unpack(bytes, in->size, &plan))
		read_all(&plan);
	pack_again(in);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, size };

	if (launcher_run(unpack, &in) >= 0)
		fuzz_fault("it refused");
	return 0;
}
