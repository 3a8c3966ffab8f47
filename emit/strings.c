/*
 * emit/strings.c - the string table.
 *
 * Sorted by their bytes from the last to the first, a string stands right
 * before those that end in it; so going backwards each is either the end of
 * the one just placed or needs bytes of its own.  The table does not depend on
 * the order in which strings were added.
 */
#include "emit/strings.h"

#include <stdlib.h>
#include <string.h>

static uint64_t hash_text(struct str text)
{
	uint64_t hash = 0xcbf29ce484222325u; /* FNV-1a */

	for (size_t i = 0; i < text.len; i++)
		hash = (hash ^ (uint8_t)text.ptr[i]) * 0x100000001b3u;
	return hash ^ hash >> 32;
}

/* The slot of @text, or the free one where it belongs. */
static uint32_t *find_slot(const struct strings *strings, struct str text, uint64_t hash)
{
	size_t at = hash & (strings->slot_room - 1);

	for (; strings->slots[at]; at = (at + 1) & (strings->slot_room - 1)) {
		const struct strings_item *item = &strings->items.items[strings->slots[at] - 1];

		if (item->hash == hash && str_equal(item->text, text))
			break;
	}
	return &strings->slots[at];
}

static void grow_slots(struct strings *strings)
{
	strings->slot_room = strings->slot_room ? 2 * strings->slot_room : 256;
	strings->slots = arena_array(strings->arena, strings->slot_room, sizeof(*strings->slots));
	for (uint32_t i = 0; i < strings->items.count; i++) {
		const struct strings_item *item = &strings->items.items[i];

		*find_slot(strings, item->text, item->hash) = i + 1;
	}
}

size_t strings_place(struct strings *strings, struct str text)
{
	uint64_t hash = hash_text(text);
	uint32_t *slot;

	if (!strings->laid_out && 2 * (strings->items.count + 1) > strings->slot_room)
		grow_slots(strings);
	slot = find_slot(strings, text, hash);
	if (*slot)
		return strings->items.items[*slot - 1].offset;
	if (strings->laid_out)
		BUG("a string that was not there the first time");
	*VEC_PUSH(strings->arena, &strings->items) = (struct strings_item){ text, hash, 0 };
	*slot = (uint32_t)strings->items.count;
	return 0;
}

static int compare_from_end(const void *left, const void *right)
{
	struct str a = (*(struct strings_item *const *)left)->text;
	struct str b = (*(struct strings_item *const *)right)->text;

	while (a.len && b.len) {
		unsigned char x = (unsigned char)a.ptr[--a.len], y = (unsigned char)b.ptr[--b.len];

		if (x != y)
			return x < y ? -1 : 1;
	}
	return (a.len > b.len) - (a.len < b.len);
}

static bool ends_in(struct str text, struct str end)
{
	return text.len >= end.len && !memcmp(text.ptr + (text.len - end.len), end.ptr, end.len);
}

void strings_lay_out(struct strings *strings)
{
	size_t count = strings->items.count, room = 1;
	struct strings_item **order = arena_array(strings->arena, count, sizeof(*order));
	const struct strings_item *last = NULL;

	for (size_t i = 0; i < count; i++) {
		order[i] = &strings->items.items[i];
		room += order[i]->text.len + 1;
	}
	qsort(order, count, sizeof(*order), compare_from_end);
	strings->bytes = arena_alloc(strings->arena, room);
	strings->bytes[strings->size++] = '\0';
	for (size_t i = count; i-- > 0;) {
		struct strings_item *item = order[i];

		if (!item->text.len)
			continue; /* stands at 0 */
		if (last && ends_in(last->text, item->text)) {
			item->offset = last->offset + (last->text.len - item->text.len);
			continue;
		}
		item->offset = strings->size;
		memcpy(strings->bytes + strings->size, item->text.ptr, item->text.len);
		strings->size += item->text.len;
		strings->bytes[strings->size++] = '\0';
		last = item;
	}
	strings->laid_out = true;
}
