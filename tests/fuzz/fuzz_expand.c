/*
 * Templates and values of variables: is the path what was written, with every value
 * in its place as it is?  Where there is a wildcard, that is asked of the matcher:
 * the pattern must match the text that it stands for, and no value may be a
 * wildcard, however it is written.
 */
#include "tests/fuzz/launcher.h"

#include <string.h>

#include "blob/verdict.h"
#include "stub/fsview.h"

#define SIZE       512
#define VALUES_MAX 3

struct input {
	struct sbx_vars vars;
	char text[SIZE];  /* the template, as in a blob's strings */
	char plain[SIZE]; /* what it comes to, with "w" for each * */
	size_t stars;
	bool wild, unset;
	bool at_root; /* begins with a variable whose value is "/" */
	bool slashes; /* comes to an empty name */
};

/* A byte at a time: a variable, a wildcard, or itself. */
static void take(struct input *in, const char *const *values, const uint8_t *data, size_t size)
{
	size_t text = 0, plain = 0;

	for (size_t i = 0; i < size; i++) {
		unsigned char c = data[i];
		const char *value = NULL;

		if (c >= 0x80 && c < 0x80 + VALUES_MAX + 1) {
			in->text[text++] = SBX_MARK_VAR;
			in->text[text++] = (char)(SBX_MARK_BASE + SBX_VAR_HOME + (c - 0x80));
			value = c == 0x80 + VALUES_MAX ? NULL : values[c - 0x80];
			in->unset |= !value;
		} else if (c == 0x90) {
			in->text[text++] = SBX_MARK_WILD;
			in->text[text++] = '*';
			in->wild = true;
			in->stars++;
			value = "w";
		} else if (c <= SBX_MARK_BYTE) {
			in->text[text++] = SBX_MARK_BYTE;
			in->text[text++] = (char)(SBX_MARK_BASE + (c ? c : 1));
			in->plain[plain++] = (char)(c ? c : 1);
		} else {
			in->text[text++] = (char)c;
			in->plain[plain++] = (char)c;
		}
		if (value) {
			strcpy(in->plain + plain, value);
			plain += strlen(value);
		}
	}
	in->plain[plain] = '\0';
	in->at_root = size && data[0] >= 0x80 && data[0] < 0x80 + VALUES_MAX &&
		      !strcmp(values[data[0] - 0x80], "/");
	in->slashes = in->plain[0] != '/' || strstr(in->plain, "//") || in->plain[plain - 1] == '/';
}

/* The first component with a wildcard, and all behind it, are no part of it; what is
 * before it is the plain text. */
static void check_beginning(const char *pattern, const char *plain)
{
	size_t length;
	const char *beginning = pattern_beginning(pattern, &length);

	if (strcmp(beginning, "/") != 0 &&
	    (strncmp(beginning, plain, strlen(beginning)) || plain[strlen(beginning)] != '/'))
		fuzz_fault("'%s' begins with '%s', not as '%s'", pattern, beginning, plain);
	if (pattern[length] && pattern[length] != '/')
		fuzz_fault("'%s': its beginning ends at %zu", pattern, length);
}

/* With another byte in the place of one that is special in a pattern, the text is
 * another, and must not match: else a value would have been read as a pattern. */
static void check_values(const char *pattern, const char *plain)
{
	char other[SIZE];

	strcpy(other, plain);
	for (char *at = other; *at; at++) {
		char was = *at;

		if (!strchr("*?[]\\", was))
			continue;
		*at = 'Q';
		if (sbx_glob_match(pattern, other) && !strchr(pattern, 'Q'))
			fuzz_fault("'%s' matches '%s' and '%s'", pattern, plain, other);
		*at = was;
	}
}

static void expand(void *data)
{
	const struct input *in = data;
	struct sbx_blob blob = { .section[SBX_SEC_STRINGS] = { in->text, SIZE } };
	size_t size = strlen(in->plain) * 2 + 1;
	bool wild;
	uint32_t unset;
	char *out = malloc(size);
	int length = sbx_expand(&blob, (struct sbx_tmpl){ 0 }, &in->vars, out, size, &wild, &unset);

	if (wild != in->wild || (unset != SBX_NONE) != in->unset)
		fuzz_fault("'%s': a wildcard or a variable was taken for something else",
			   in->plain);
	if (in->unset ? length != -1 : length != (int)strlen(out))
		fuzz_fault("'%s': %d is not its length", out, length);
	if (in->unset)
		goto done;
	/* What is the root takes no second slash. */
	if (!wild && strcmp(out, in->plain) && (!in->at_root || strcmp(out, in->plain + 1)))
		fuzz_fault("'%s' instead of '%s'", out, in->plain);
	if (!wild || in->slashes)
		goto done;
	if (!sbx_glob_match(out, in->plain))
		fuzz_fault("the pattern '%s' does not match '%s'", out, in->plain);
	check_beginning(out, in->plain);
	/* A star may stand for what was changed. */
	if (!strstr(in->plain, "w"))
		fuzz_fault("'%s' has a star, and no w", in->plain);
	if (in->stars == 1 && strchr(strchr(in->plain, 'w'), '/'))
		check_values(out, in->plain);
	/* One byte less than it takes is refused, not cut. */
	if (sbx_expand(&blob, (struct sbx_tmpl){ 0 }, &in->vars, out, (size_t)length, &wild,
		       &unset) != -1 ||
	    *out)
		fuzz_fault("'%s' was cut", in->plain);
done:
	free(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input *in = calloc(1, sizeof(*in));
	char values[VALUES_MAX][32] = { "" };
	const char *pointers[VALUES_MAX];

	for (size_t i = 0; i < VALUES_MAX; i++) {
		size_t length = strnlen((const char *)data, size);

		memcpy(values[i], data, length < 31 ? length : 31);
		pointers[i] = in->vars.value[SBX_VAR_HOME + i] = values[i];
		length += length < size;
		data += length;
		size -= length;
	}
	if (size <= SIZE / 40) {
		take(in, pointers, data, size);
		launcher_run(expand, in);
	}
	free(in);
	return 0;
}
