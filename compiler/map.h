/*
 * compiler/map.h - byte strings to pointers.
 *
 * Open addressing in the arena; keys are copied by reference and must live as
 * long as the map.  Nothing is ever removed.
 */
#ifndef SBX_COMPILER_MAP_H
#define SBX_COMPILER_MAP_H

#include "base/arena.h"
#include "base/str.h"

struct map_slot {
	struct str key; /* ptr NULL: free */
	void *value;
};
struct map {
	struct map_slot *slots;
	size_t room; /* a power of two, or 0 */
	size_t count;
};

/* The value, or NULL. */
void *map_get(const struct map *map, struct str key);
/*
 * Where @key's value stands; NULL in it when the key is new.  Valid until the
 * next call.
 */
void **map_put(struct arena *arena, struct map *map, struct str key);

#endif
