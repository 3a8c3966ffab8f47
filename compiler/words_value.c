/*
 * Words as numbers, sizes, times and names of variables.
 *
 * One spelling each: no leading zeros (nobody agrees whether 010 is eight),
 * no fractions, units with the case they have; what is nearly right is an
 * error that says the right one.
 */
#include <ctype.h>
#include <stdio.h>

#include "compiler/words_read.h"

static bool fail_value(const struct words *words, const struct ast_word *word, enum diag_code code,
		       const char *what)
{
	diag_error(words->diags, code, word->span, "%s", what);
	return false;
}

/* The digits at the start of @text; false: overflow.  @digits 0: none. */
static bool read_digits(struct str text, uint64_t *value, size_t *digits)
{
	*value = 0;
	for (*digits = 0; *digits < text.len && isdigit((unsigned char)text.ptr[*digits]);
	     ++*digits) {
		if (__builtin_mul_overflow(*value, 10, value) ||
		    __builtin_add_overflow(*value, text.ptr[*digits] - '0', value))
			return false;
	}
	return true;
}

/* Digits without a leading zero; an error where there are none. */
static bool read_number(const struct words *words, const struct ast_word *word, struct str text,
			enum diag_code code, const char *like, uint64_t *value, size_t *digits)
{
	if (!read_digits(text, value, digits))
		return fail_value(words, word, DIAG_C0216, "this number is too large for 64 bits");
	if (!*digits) {
		diag_error(words->diags, code, word->span, "%s", like);
		return false;
	}
	if (*digits > 1 && text.ptr[0] == '0')
		return fail_value(words, word, code, "a number has no leading zeros");
	return true;
}

bool words_number(const struct words *words, const struct ast_word *word, uint64_t max,
		  uint64_t *out)
{
	static const char like[] = "a whole number is wanted, in plain digits";
	struct str text;
	size_t digits;

	if (!words_plain(words, word, &text) ||
	    !read_number(words, word, text, DIAG_C0213, like, out, &digits))
		return false;
	if (digits != text.len)
		return fail_value(words, word, DIAG_C0213, like);
	if (*out > max) {
		diag_error(words->diags, DIAG_C0216, word->span, "at most %llu is possible here",
			   (unsigned long long)max);
		return false;
	}
	return true;
}

static bool read_hex(struct str text, uint64_t *value)
{
	*value = 0;
	if (text.len < 3)
		return false;
	for (size_t i = 2; i < text.len; i++) {
		unsigned char c = (unsigned char)text.ptr[i];

		if (!isxdigit(c) || *value >> 60)
			return false;
		*value = *value << 4 | (unsigned)(isdigit(c) ? c - '0' : (c | 0x20) - 'a' + 10);
	}
	return true;
}

bool words_constant(const struct words *words, const struct ast_word *word, int64_t *out)
{
	static const char like[] = "a number is wanted, decimal or like 0x1f";
	struct str text;
	uint64_t value;
	size_t digits;

	if (!words_plain(words, word, &text))
		return false;
	if (str_starts(text, "0x")) {
		if (!read_hex(text, &value))
			return fail_value(words, word, DIAG_C0213,
					  "after 0x stand one to sixteen hexadecimal digits");
		*out = (int64_t)value;
		return true;
	}
	bool minus = text.len && text.ptr[0] == '-';
	struct str rest = { text.ptr + minus, text.len - minus };
	if (!read_number(words, word, rest, DIAG_C0213, like, &value, &digits))
		return false;
	if (digits != rest.len)
		return fail_value(words, word, DIAG_C0213, like);
	if (minus && value > (uint64_t)INT64_MAX + 1)
		return fail_value(words, word, DIAG_C0216, "this number is too small for 64 bits");
	*out = (int64_t)(minus ? -value : value);
	return true;
}

/* The right spelling of a unit written in the wrong case or at length. */
static bool fail_unit(const struct words *words, const struct ast_word *word, enum diag_code code,
		      struct str text, size_t digits, const char *units, bool upper)
{
	char unit = digits < text.len ? text.ptr[digits] : '\0';
	char right = (char)(upper ? toupper((unsigned char)unit) : tolower((unsigned char)unit));
	char list[32];
	size_t used = 0;

	for (const char *c = units; *c; c++)
		used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%c",
					 c == units ? "" : (c[1] ? ", " : " or "), *c);
	diag_error(words->diags, code, word->span, "a %s is a whole number and %s",
		   upper ? "size" : "time", list);
	if (right && strchr(units, right))
		diag_note(words->diags, NO_PLACE, "write `%.*s%c`", (int)digits, text.ptr, right);
	return false;
}

static bool scale(const struct words *words, const struct ast_word *word, uint64_t value,
		  uint64_t unit, uint64_t max, uint64_t *out)
{
	if (__builtin_mul_overflow(value, unit, out) || *out > max)
		return fail_value(words, word, DIAG_C0216, "this is more than can be counted");
	return true;
}

bool words_size(const struct words *words, const struct ast_word *word, uint64_t *out)
{
	static const char units[] = "KMGT";
	static const char like[] = "a size is wanted, as in 512M or 8G";
	struct str text;
	uint64_t value;
	size_t digits;

	if (!words_plain(words, word, &text) ||
	    !read_number(words, word, text, DIAG_C0214, like, &value, &digits))
		return false;
	if (digits == text.len) { /* bytes */
		*out = value;
		return true;
	}
	const char *unit = strchr(units, text.ptr[digits]);
	if (!unit || digits + 1 != text.len)
		return fail_unit(words, word, DIAG_C0214, text, digits, units, true);
	return scale(words, word, value, (uint64_t)1 << (10 * (unit - units + 1)), UINT64_MAX, out);
}

/* 2-12:30:00, as Slurm writes it; false with no message where it is not. */
static bool read_slurm_time(struct str text, uint64_t *out)
{
	unsigned long long days;
	unsigned hours, minutes, seconds;
	int end = 0;
	char copy[32];

	if (text.len >= sizeof(copy) || !memchr(text.ptr, '-', text.len))
		return false;
	memcpy(copy, text.ptr, text.len);
	copy[text.len] = '\0';
	if (sscanf(copy, "%6llu-%2u:%2u:%2u%n", &days, &hours, &minutes, &seconds, &end) != 4 ||
	    (size_t)end != text.len || hours > 23 || minutes > 59 || seconds > 59 ||
	    !isdigit((unsigned char)copy[0]))
		return false;
	*out = ((days * 24 + hours) * 60 + minutes) * 60 + seconds;
	return true;
}

bool words_time(const struct words *words, const struct ast_word *word, uint32_t *out)
{
	static const char units[] = "smhd";
	static const uint32_t seconds[] = { 1, 60, 3600, 86400 };
	static const char like[] = "a time is wanted, as in 30s, 15m, 12h, 7d or 2-00:00:00";
	struct str text;
	uint64_t value;
	size_t digits;

	if (!words_plain(words, word, &text))
		return false;
	if (read_slurm_time(text, &value)) {
		if (!scale(words, word, value, 1, UINT32_MAX, &value))
			return false;
		*out = (uint32_t)value;
		return true;
	}
	if (!read_number(words, word, text, DIAG_C0215, like, &value, &digits))
		return false;
	if (digits == text.len || strchr("-:.", text.ptr[digits]))
		return fail_value(words, word, DIAG_C0215, like);
	const char *unit = strchr(units, text.ptr[digits]);
	if (!unit || digits + 1 != text.len)
		return fail_unit(words, word, DIAG_C0215, text, digits, units, false);
	if (!scale(words, word, value, seconds[unit - units], UINT32_MAX, &value))
		return false;
	*out = (uint32_t)value;
	return true;
}

bool words_some_time(const struct words *words, const struct ast_word *word, uint32_t *out)
{
	if (!words_time(words, word, out))
		return false;
	return *out || fail_value(words, word, DIAG_C0215,
				  "no time at all: leave it out, or say more than 0");
}

bool words_check_type(const struct words *words, const struct ast_word *word,
		      enum sbx_param_type type, struct tmpl *out, uint64_t *number)
{
	uint32_t seconds;

	*number = 0;
	switch (type) {
	case SBX_PARAM_PATH:
		return words_path(words, word, 0, out);
	case SBX_PARAM_STRING:
		return words_text(words, word, out);
	case SBX_PARAM_INT:
		return words_number(words, word, UINT64_MAX, number) &&
		       words_text(words, word, out);
	case SBX_PARAM_SIZE:
		return words_size(words, word, number) && words_text(words, word, out);
	case SBX_PARAM_TIME:
		if (!words_time(words, word, &seconds))
			return false;
		*number = seconds;
		return words_text(words, word, out);
	}
	BUG("no such type");
}

bool words_env_names(const struct words *words, const struct ast_word *word, struct str_list *out)
{
	size_t first = out->count;

	if (!words_plains(words, word, out))
		return false;
	for (size_t i = first; i < out->count; i++) {
		struct str name = out->items[i];
		bool good = name.len > 0 && !isdigit((unsigned char)name.ptr[0]);

		for (size_t j = 0; j < name.len; j++)
			good = good && (isalnum((unsigned char)name.ptr[j]) ||
					(name.ptr[j] && strchr("_*", name.ptr[j])));
		if (!good) {
			diag_error(words->diags, DIAG_C0217, word->span,
				   "a variable's name is of letters, digits and `_`; "
				   "in a pattern `*` stands for any text");
			return false;
		}
	}
	return true;
}

int words_choice(const struct words *words, const struct ast_word *word, const char *what,
		 const char *const *choices)
{
	struct str list = STR_LIT("");
	size_t count = 0;

	for (; choices[count]; count++) {
		if (str_is(word->text, choices[count]))
			return (int)count;
		list = str_from(arena_printf(words->arena, "%s%s%s", list.ptr,
					     count ? (choices[count + 1] ? ", " : " or ") : "",
					     choices[count]));
	}
	diag_error(words->diags, DIAG_C0221, word->span, count > 1 ? "%s is one of %s" : "%s is %s",
		   what, list.ptr);
	const char *near = suggest(word->text, choices, count);
	if (near)
		diag_note(words->diags, NO_PLACE, "did you mean `%s`?", near);
	return -1;
}
