#include <criterion/criterion.h>
#include <stdint.h>
#include <string.h>

#include "base/arena.h"
#include "base/str.h"

static bool all_zero(const char *bytes, size_t count)
{
	while (count)
		if (bytes[--count])
			return false;
	return true;
}

Test(arena, memory_is_zero_and_aligned)
{
	struct arena arena = { 0 };

	for (size_t size = 0; size < 5000; size = size * 3 / 2 + 1) {
		char *memory = arena_alloc(&arena, size);

		cr_assert_eq((uintptr_t)memory % _Alignof(max_align_t), 0);
		cr_assert(all_zero(memory, size));
		memset(memory, 0xff, size);
	}
	arena_free(&arena);
	cr_assert_null(arena.head);
}

Test(arena, a_large_allocation_gets_its_block)
{
	struct arena arena = { 0 };
	char *small = arena_copy(&arena, "kept", 4);
	char *large = arena_array(&arena, 5 << 20, 2);

	cr_assert(all_zero(large, 10 << 20));
	memset(large, 0xff, 10 << 20);
	cr_assert_str_eq(small, "kept");
	arena_free(&arena);
}

Test(arena, an_overflow_ends_the_program, .exit_code = 1)
{
	struct arena arena = { 0 };

	arena_array(&arena, SIZE_MAX / 2, 3);
}

Test(arena, copies_are_terminated)
{
	struct arena arena = { 0 };

	cr_assert_str_eq(arena_copy(&arena, "abcdef", 3), "abc");
	cr_assert_str_eq(arena_copy(&arena, NULL, 0), "");
	cr_assert_str_eq(arena_printf(&arena, "%s-%d", "x", 42), "x-42");
	arena_free(&arena);
}

Test(str, compares_bytes)
{
	cr_assert(str_equal(STR_LIT("a\0b"), STR_LIT("a\0b")));
	cr_assert_not(str_equal(STR_LIT("a\0b"), STR_LIT("a\0c")));
	cr_assert(str_equal((struct str){ 0 }, STR_LIT("")));
	cr_assert(str_is(STR_LIT("abc"), "abc"));
	cr_assert_not(str_is(STR_LIT("abc"), "ab"));
	cr_assert(str_starts(STR_LIT("abc"), "ab"));
	cr_assert(str_starts(STR_LIT("abc"), ""));
	cr_assert_not(str_starts(STR_LIT("ab"), "abc"));
}

Test(vec, keeps_what_was_pushed)
{
	struct arena arena = { 0 };
	struct {
		VEC_OF(size_t)
	} numbers = { 0 };

	for (size_t i = 0; i < 1000; i++)
		*VEC_PUSH(&arena, &numbers) = i * i;
	cr_assert_eq(numbers.count, 1000);
	for (size_t i = 0; i < 1000; i++)
		cr_assert_eq(numbers.items[i], i * i);
	arena_free(&arena);
}
