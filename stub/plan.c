/*
 * stub/plan.c - the plan as bytes, for the inner stage.
 *
 * Both ends are this same program, so the structures go as they are: lists one
 * after another, and every pointer as an offset, 0 for NULL.  Which members
 * are lists, and which of their members strings, stands in one table for both
 * directions.  The reader still checks every offset and count, since its input
 * is a descriptor.
 */
#include "stub/plan.h"

#include <string.h>

#include "stub/out.h"

#define PLAN_MAGIC 0x33786273u /* "sbx3" */

struct packed {
	uint32_t magic, size;
	struct plan plan;
};
struct list { /* any VEC */
	void *items;
	size_t count, room;
};

#define NO_STRING UINT16_MAX
static const struct {
	uint16_t list, size;
	uint16_t strings[2]; /* members of an item */
} lists[] = {
#define LIST(name, ...)                                                                            \
	{                                                                                          \
		offsetof(struct plan, name), sizeof(*((struct plan *)0)->name.items), __VA_ARGS__  \
	}
	LIST(masks, { offsetof(struct plan_mask, path), offsetof(struct plan_mask, target) }),
	LIST(mounts, { offsetof(struct plan_mount, path), offsetof(struct plan_mount, target) }),
	LIST(rules, { offsetof(struct plan_rule, path), NO_STRING }),
	LIST(points, { offsetof(struct sbx_fs_point, path), NO_STRING }),
	LIST(excepts, { 0, NO_STRING }),
	LIST(limits, { NO_STRING, NO_STRING }),
	LIST(ports, { NO_STRING, NO_STRING }),
	LIST(pass_fds, { NO_STRING, NO_STRING }),
	LIST(environ, { 0, NO_STRING }),
	LIST(argv, { 0, NO_STRING }),
#undef LIST
};

/* ---- writing ------------------------------------------------------------------ */

struct writer {
	char *data;
	size_t size, room;
};

/* Where @bytes lie now, as a pointer's worth. */
static uintptr_t append(struct writer *w, const void *bytes, size_t size)
{
	size_t at = (w->size + 7) & ~(size_t)7;

	if (at + size > w->room) {
		size_t room = 2 * (at + size);
		char *more = mem_get(room);

		if (w->size)
			memcpy(more, w->data, w->size);
		w->data = more;
		w->room = room;
	}
	if (size)
		memcpy(w->data + at, bytes, size);
	w->size = at + size;
	if (w->size > UINT32_MAX / 2)
		refuse("the plan would be too large: narrow the policy's patterns");
	return at;
}

static void append_string(struct writer *w, void *member)
{
	const char *text;
	uintptr_t at;

	memcpy(&text, member, sizeof(text));
	at = text ? append(w, text, strlen(text) + 1) : 0;
	memcpy(member, &at, sizeof(at));
}

static void append_list(struct writer *w, size_t which, struct plan *plan)
{
	struct list list;
	size_t size = lists[which].size;
	char *items;

	memcpy(&list, (char *)plan + lists[which].list, sizeof(list));
	items = mem_get(list.count * size + 1);
	if (list.count)
		memcpy(items, list.items, list.count * size);
	for (size_t i = 0; i < list.count; i++)
		for (size_t k = 0; k < 2; k++)
			if (lists[which].strings[k] != NO_STRING)
				append_string(w, items + i * size + lists[which].strings[k]);
	list.items = (void *)append(w, items, list.count * size);
	memcpy((char *)plan + lists[which].list, &list, sizeof(list));
}

void plan_pack(const struct plan *plan, const void **data, size_t *size)
{
	struct packed head = { .magic = PLAN_MAGIC, .plan = *plan };
	struct writer w = { 0 };

	memset(&head.plan.placeholders, 0, sizeof(head.plan.placeholders)); /* the outer's */
	append(&w, &head, sizeof(head));
	for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++)
		append_list(&w, i, &head.plan);
	head.plan.filter = (void *)append(&w, plan->filter, 8ul * plan->filter_count);
	head.plan.shared_filter =
	    (void *)append(&w, plan->shared_filter, 8ul * plan->shared_filter_count);
	append_string(&w, &head.plan.cwd);
	append(&w, "", 1); /* so that the last string is ended whatever is in it */
	head.size = (uint32_t)w.size;
	memcpy(w.data, &head, sizeof(head));
	*data = w.data;
	*size = w.size;
}

/* ---- reading ------------------------------------------------------------------- */

struct reader {
	char *data;
	size_t size;
	bool good;
};

static void *list_at(struct reader *r, const void *offset, size_t count, size_t size)
{
	uintptr_t at = (uintptr_t)offset;

	if (at > r->size || at % 8 || count > (r->size - at) / size) {
		r->good = false;
		return NULL;
	}
	return r->data + at;
}

/* The bytes end in a NUL, so any offset inside them is a string. */
static void read_string(struct reader *r, void *member)
{
	uintptr_t at;
	const char *text;

	memcpy(&at, member, sizeof(at));
	text = at && at < r->size ? r->data + at : NULL;
	r->good &= at < r->size;
	memcpy(member, &text, sizeof(text));
}

static void read_list(struct reader *r, size_t which, struct plan *plan)
{
	struct list list;
	size_t size = lists[which].size;

	memcpy(&list, (char *)plan + lists[which].list, sizeof(list));
	list.items = list_at(r, list.items, list.count, size);
	for (size_t i = 0; r->good && i < list.count; i++)
		for (size_t k = 0; k < 2; k++)
			if (lists[which].strings[k] != NO_STRING)
				read_string(r, (char *)list.items + i * size +
						   lists[which].strings[k]);
	memcpy((char *)plan + lists[which].list, &list, sizeof(list));
}

bool plan_unpack(void *data, size_t size, struct plan *plan)
{
	const struct packed *head = data;
	struct reader r = { data, size, true };

	if (size < sizeof(*head) || head->magic != PLAN_MAGIC || head->size != size ||
	    r.data[size - 1])
		return false;
	*plan = head->plan;
	for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++)
		read_list(&r, i, plan);
	plan->filter = list_at(&r, plan->filter, plan->filter_count, 8);
	plan->shared_filter = list_at(&r, plan->shared_filter, plan->shared_filter_count, 8);
	read_string(&r, &plan->cwd);
	return r.good && plan->cwd;
}
