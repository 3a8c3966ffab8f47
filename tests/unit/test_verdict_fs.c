#include <criterion/criterion.h>
#include <string.h>

#include "blob/contest.h"

#define R SBX_READ
#define W SBX_WRITE
#define X SBX_EXEC

struct rule {
	enum sbx_fs_verb verb;
	unsigned rights;
	const char *path;
	const char *except;
};

static const struct {
	struct rule rules[4];
	const char *path;
	unsigned right;
	bool allowed;
} cases[] = {
	{ { { SBX_FS_GRANT, R | W | X, "/w", 0 }, { SBX_FS_DENY, W, "/w/.git/hooks", 0 } },
	  "/w/.git/hooks/x",
	  W,
	  false },
	{ { { SBX_FS_GRANT, R | W | X, "/w", 0 }, { SBX_FS_DENY, W, "/w/.git/hooks", 0 } },
	  "/w/.git/hooks/x",
	  R,
	  true },
	/* a grant never narrows */
	{ { { SBX_FS_GRANT, R | W | X, "/w", 0 }, { SBX_FS_GRANT, R, "/w/vendor", 0 } },
	  "/w/vendor/x",
	  W,
	  true },
	{ { { SBX_FS_GRANT, R | W | X, "/w", 0 },
	    { SBX_FS_DENY, W, "/w/a", 0 },
	    { SBX_FS_DENY, R | W | X, "/w/a/b", 0 },
	    { SBX_FS_GRANT, R | W, "/w/a/b/c", 0 } },
	  "/w/a/b/c/d",
	  W,
	  true },
	{ { { SBX_FS_GRANT, R | W | X, "/w", 0 },
	    { SBX_FS_DENY, R | W | X, "/w/**/.env", 0 },
	    { SBX_FS_GRANT, R, "/w/ex/.env", 0 } },
	  "/w/ex/.env",
	  R,
	  true },
	{ { { SBX_FS_GRANT, R | W | X, "/w", 0 },
	    { SBX_FS_DENY, R | W | X, "/w/**/.env", 0 },
	    { SBX_FS_GRANT, R, "/w/ex/.env", 0 } },
	  "/w/src/.env",
	  R,
	  false },
	{ { { SBX_FS_GRANT, R | W | X, "/w", 0 },
	    { SBX_FS_DENY, R | W | X, "/w/**/*.key", 0 },
	    { SBX_FS_GRANT, R | W, "/w/keys", 0 } },
	  "/w/keys/a.key",
	  R,
	  false },
	/* a pattern grant never pierces */
	{ { { SBX_FS_GRANT, R, "/h/**/*.md", 0 }, { SBX_FS_DENY, R | W | X, "/h/secret", 0 } },
	  "/h/secret/a.md",
	  R,
	  false },
	{ { { SBX_FS_GRANT, R, "/h", 0 },
	    { SBX_FS_DENY, R | W | X, "/h/*", 0 },
	    { SBX_FS_GRANT, R | W | X, "/h/p", 0 } },
	  "/h/p/x",
	  W,
	  true },
	{ { { SBX_FS_GRANT, R | W | X, "/h", 0 },
	    { SBX_FS_SEAL, R | W | X, "/h/.ssh", "/h/.ssh/known_hosts" },
	    { SBX_FS_GRANT, R, "/h/.ssh/id", 0 } },
	  "/h/.ssh/id",
	  R,
	  false },
	{ { { SBX_FS_GRANT, R | W | X, "/h", 0 },
	    { SBX_FS_SEAL, R | W | X, "/h/.ssh", "/h/.ssh/known_hosts" } },
	  "/h/.ssh/known_hosts",
	  R,
	  true },
	{ { { SBX_FS_GRANT, R, "/a", 0 } }, "/ab", R, false },
	{ { { SBX_FS_GRANT, R | W, "/w/x", 0 }, { SBX_FS_DENY, W, "/w/x", 0 } },
	  "/w/x/y",
	  W,
	  false },
	{ { { SBX_FS_GRANT, R | W, "/w/x", 0 }, { SBX_FS_DENY, W, "/w/x", 0 } },
	  "/w/x/y",
	  R,
	  true },
	/* beyond the reference's own: the root, equal weights, two seals */
	{ { { SBX_FS_GRANT, R, "/", 0 } }, "/etc/passwd", R, true },
	{ { { SBX_FS_GRANT, R, "/", 0 }, { SBX_FS_DENY, R, "/", 0 } }, "/", R, false },
	{ { { SBX_FS_GRANT, R, "/a/b", 0 }, { SBX_FS_DENY, R, "/a/*", 0 } }, "/a/b", R, true },
	{ { { SBX_FS_GRANT, R, "/a/*", 0 }, { SBX_FS_DENY, R, "/a", 0 } }, "/a/b", R, false },
	{ { { SBX_FS_GRANT, R, "/a", 0 },
	    { SBX_FS_SEAL, R, "/a/s", "/a/s/x" },
	    { SBX_FS_SEAL, R, "/a/s/x", 0 } },
	  "/a/s/x",
	  R,
	  false },
	{ { { SBX_FS_COPY, R | W, "/h/.gitconfig", 0 }, { SBX_FS_GRANT, R, "/h", 0 } },
	  "/h/.gitconfig",
	  W,
	  true },
};

static bool decide(const struct rule *const rules[4], size_t count, const char *path,
		   unsigned right)
{
	struct sbx_fs_point points[4] = { 0 };
	const char *excepts[4];
	struct sbx_fs_set set = { points, count, excepts };
	struct sbx_fs_verdict verdict;

	for (size_t i = 0; i < count; i++) {
		excepts[i] = rules[i]->except;
		points[i] = (struct sbx_fs_point){ .path = rules[i]->path,
						   .verb = (uint8_t)rules[i]->verb,
						   .rights = (uint8_t)rules[i]->rights,
						   .wild = strpbrk(rules[i]->path, "*?[") != NULL,
						   .except_first = (uint32_t)i,
						   .except_count = rules[i]->except != NULL };
	}
	sbx_fs_decide(&set, path, right, &verdict);
	cr_assert_eq(verdict.allowed, verdict.why == SBX_WHY_GRANT);
	cr_assert(verdict.point == SBX_NONE || verdict.point < count);
	return verdict.allowed;
}

/* Every order of @rules from @fixed on; all must give @want. */
static void in_all_orders(const struct rule *rules[4], size_t fixed, size_t count, size_t index)
{
	if (fixed == count) {
		cr_assert_eq(decide(rules, count, cases[index].path, cases[index].right),
			     cases[index].allowed, "case %zu: %s", index, cases[index].path);
		return;
	}
	for (size_t i = fixed; i < count; i++) {
		const struct rule *other = rules[fixed];

		rules[fixed] = rules[i];
		rules[i] = other;
		in_all_orders(rules, fixed + 1, count, index);
		rules[i] = rules[fixed];
		rules[fixed] = other;
	}
}

Test(verdict_fs, decided_cases_in_every_order)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct rule *rules[4];
		size_t count = 0;

		for (; count < 4 && cases[i].rules[count].path; count++)
			rules[count] = &cases[i].rules[count];
		in_all_orders(rules, 0, count, i);
	}
}

Test(verdict_fs, names_winner_and_strongest_loser)
{
	const struct sbx_fs_point points[] = {
		{ .path = "/h", .verb = SBX_FS_GRANT, .rights = R },
		{ .path = "/h/w", .verb = SBX_FS_GRANT, .rights = R },
		{ .path = "/h/w/x", .verb = SBX_FS_DENY, .rights = R | W },
		{ .path = "/h/w/x/s", .verb = SBX_FS_SEAL, .rights = R },
	};
	struct sbx_fs_set set = { points, 4, NULL };
	struct sbx_fs_verdict verdict;

	sbx_fs_decide(&set, "/h/w/a", R, &verdict);
	cr_expect(verdict.why == SBX_WHY_GRANT && verdict.point == 1 && verdict.loser == SBX_NONE);
	sbx_fs_decide(&set, "/h/w/x", R, &verdict);
	cr_expect(verdict.why == SBX_WHY_DENY && verdict.point == 2 && verdict.loser == 1);
	sbx_fs_decide(&set, "/h/w/x/s/t", R, &verdict);
	cr_expect(verdict.why == SBX_WHY_SEAL && verdict.point == 3 && verdict.loser == 1);
	sbx_fs_decide(&set, "/etc", R, &verdict);
	cr_expect(verdict.why == SBX_WHY_NOTHING && verdict.point == SBX_NONE);
}

Test(verdict_fs, odd_names_are_only_themselves)
{
	static const char *const names[] = { "a b",          "a[1]",      "a*b",      "-rf",
					     "a,b",          "a:b",       "a\nb",     "a\"b",
					     "\xe6\x97\xa5", "e\xcc\x81", "\xc3\xa9", "\xff",
					     "$HOME",        "~",         "a\\b" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		for (size_t n = 0; n < sizeof(names) / sizeof(names[0]); n++) {
			char rule[64] = "/w/", path[64] = "/w/";

			strcat(rule, names[i]);
			strcat(path, names[n]);
			cr_expect_eq(sbx_path_beneath(rule, path) >= 0, i == n, "%s %s", rule,
				     path);
			strcat(path, "x");
			cr_expect_lt(sbx_path_beneath(rule, path), 0);
		}
}
