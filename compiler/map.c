/*
 * A hash table for names and paths: FNV-1a, linear probing, at most half full.
 * Policies with ten thousand rules must stay linear; hostile keys only slow
 * down the compiler of whoever wrote them.
 */
#include "compiler/map.h"

#include <stdint.h>

static uint64_t hash(struct str key)
{
	uint64_t sum = 0xcbf29ce484222325u;

	for (size_t i = 0; i < key.len; i++)
		sum = (sum ^ (unsigned char)key.ptr[i]) * 0x100000001b3u;
	return sum ^ sum >> 32;
}

static struct map_slot *find(const struct map *map, struct str key)
{
	size_t i = (size_t)hash(key) & (map->room - 1);

	while (map->slots[i].key.ptr && !str_equal(map->slots[i].key, key))
		i = (i + 1) & (map->room - 1);
	return &map->slots[i];
}

static void grow(struct arena *arena, struct map *map)
{
	struct map old = *map;

	map->room = old.room ? old.room * 2 : 64;
	map->slots = arena_array(arena, map->room, sizeof(*map->slots));
	for (size_t i = 0; i < old.room; i++) {
		if (old.slots[i].key.ptr)
			*find(map, old.slots[i].key) = old.slots[i];
	}
}

void *map_get(const struct map *map, struct str key)
{
	return map->count ? find(map, key)->value : NULL;
}

void **map_put(struct arena *arena, struct map *map, struct str key)
{
	if (map->count * 2 >= map->room)
		grow(arena, map);

	struct map_slot *slot = find(map, key);
	if (!slot->key.ptr) {
		slot->key = (struct str){ key.ptr ? key.ptr : "", key.len };
		map->count++;
	}
	return &slot->value;
}
