#include <criterion/criterion.h>
#include <string.h>
#include <time.h>

#include "blob/match.h"

Test(glob, whole_paths)
{
	static const struct {
		const char *pattern, *path;
		bool match;
	} cases[] = {
		{ "/a/*", "/a/b", true },
		{ "/a/*", "/a/b/c", false },
		{ "/a/*", "/a", false },
		{ "/a/**/c", "/a/c", true },
		{ "/a/**/c", "/a/b/b/c", true },
		{ "/a/**/c", "/a/b/cc", false },
		{ "/**/x/**/y", "/x/y", true },
		{ "/**/x/**/y", "/a/x/b/y/y", true },
		{ "/**/x/**/y", "/a/y/b/x", false },
		{ "/**/*.key", "/k/a.key", true },
		{ "/**/*.key", "/.key", true },
		{ "/**/a/b/**/c", "/a/a/b/b/c", true },
		{ "/a**b", "/axxb", true },
		{ "/a**b", "/a/b", false },
		{ "/*", "/.hidden", true },
		{ "/a?c", "/abc", true },
		{ "/a?c", "/ac", false },
		{ "/a?c", "/a/c", false },
		{ "/[a-c]x", "/bx", true },
		{ "/[!a-c]x", "/bx", false },
		{ "/[^a-c]x", "/dx", true },
		{ "/[]]x", "/]x", true },
		{ "/[a-]x", "/-x", true },
		{ "/[a", "/[a", true }, /* no set: a bracket */
		{ "/[a/b]", "/[a/b]", true },
		{ "/\\*", "/*", true },
		{ "/\\*", "/a", false },
		{ "/[\\]]", "/]", true },
		{ "/a\\[1\\]", "/a[1]", true },
		{ "/a\\[1\\]", "/a1", false },
		{ "/\xc3\xa9?", "/\xc3\xa9\xc3\xa9", true },   /* one character, two bytes */
		{ "/[\xc3\xa0-\xc3\xbf]", "/\xc3\xa9", true }, /* a range of characters */
		{ "/?", "/\xff", true },                       /* a stray byte is one */
		{ "/?", "/\xc3\xa9", true },
		{ "/e\xcc\x81", "/\xc3\xa9", false }, /* NFD is another name than NFC */
		{ "/*a*b*c", "/xaxbxc", true },
		{ "/*a*b*c", "/xaxbxcx", false },
		{ "/", "/", true },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		cr_expect_eq(sbx_glob_match(cases[i].pattern, cases[i].path), cases[i].match,
			     "%s against %s", cases[i].pattern, cases[i].path);
}

Test(glob, longest_part_and_literal_beginning)
{
	static const struct {
		const char *pattern, *path;
		int longest, literal;
	} cases[] = {
		{ "/w/**/.env", "/w/.env", 2, 1 },    { "/w/**/.env", "/w/a/.env/b/.env/c", 5, 1 },
		{ "/w/*", "/w/a/b", 2, 1 },           { "/*/*", "/a", -1, 0 },
		{ "/w/a\\*/x*", "/w/a*/xy/z", 3, 2 }, { "/w/**", "/w/a/b", 3, 1 },
		{ "/w/x/y", "/w/x/y/z", 3, 3 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		cr_expect_eq(sbx_glob_longest(cases[i].pattern, cases[i].path), cases[i].longest,
			     "%s in %s", cases[i].pattern, cases[i].path);
		cr_expect_eq(sbx_glob_literal_depth(cases[i].pattern), cases[i].literal, "%s",
			     cases[i].pattern);
	}
}

/* Patterns that make a backtracking matcher run for years. */
Test(glob, hostile_patterns_are_quick, .timeout = 10)
{
	char pattern[4096], path[4096];
	size_t at = 0;

	for (; at + 6 < sizeof(pattern); at += 5)
		memcpy(pattern + at, "/**/a", 5);
	memcpy(pattern + at, "/b", 3);
	for (at = 0; at + 3 < sizeof(path); at += 2)
		memcpy(path + at, "/a", 2);
	path[at] = '\0';
	cr_expect_not(sbx_glob_match(pattern, path));
	cr_expect_eq(sbx_glob_longest(pattern, path), -1);

	memset(path, 'a', 250);
	path[0] = '/';
	path[250] = '\0';
	for (at = 1; at + 2 < 250; at += 2)
		memcpy(pattern + at, "*a", 2);
	memcpy(pattern + at, "b", 2);
	cr_expect_not(sbx_glob_match(pattern, path));
	memset(pattern + 1, '[', 4000);
	pattern[4001] = '\0';
	memset(path + 1, '[', 4000);
	path[4001] = '\0';
	cr_expect(sbx_glob_match(pattern, path));
}

Test(glob, names_of_variables)
{
	cr_expect(sbx_star_match("*_TOKEN", "A/B_TOKEN"));
	cr_expect(sbx_star_match("LC_*", "LC_"));
	cr_expect(sbx_star_match("*A*B", "xAyAzB"));
	cr_expect_not(sbx_star_match("*_TOKEN", "TOKEN"));
	cr_expect_not(sbx_star_match("A[1]", "A1"));
	cr_expect_not(sbx_star_match("A?", "AB"));
}
