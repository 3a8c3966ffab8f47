#include <criterion/criterion.h>
#include <string.h>

#include "blob/match.h"

Test(verdict_host, what_a_host_is)
{
	static const struct {
		const char *host;
		enum sbx_host kind;
	} cases[] = {
		{ "example.com", SBX_HOST_NAME },
		{ "EXAMPLE.com.", SBX_HOST_NAME },
		{ "a_b-c.example", SBX_HOST_NAME },
		{ "-example.com", SBX_HOST_NAME },
		{ "xn--bcher-kva.example", SBX_HOST_NAME },
		{ "1.2.3.4", SBX_HOST_ADDRESS },
		{ "::1", SBX_HOST_ADDRESS },
		{ "[::1]", SBX_HOST_ADDRESS },
		{ "::", SBX_HOST_ADDRESS },
		{ "::ffff:1.2.3.4", SBX_HOST_ADDRESS },
		/* what some resolvers take for 127.0.0.1 */
		{ "127.1", SBX_HOST_BAD },
		{ "2130706433", SBX_HOST_BAD },
		{ "0x7f.1", SBX_HOST_BAD },
		{ "0x7f000001", SBX_HOST_BAD },
		{ "0177.0.0.1", SBX_HOST_BAD },
		{ "1.2.3.4.", SBX_HOST_BAD },
		{ "1.2.3.4.5", SBX_HOST_BAD },
		{ "fe80::1%eth0", SBX_HOST_BAD },
		{ "", SBX_HOST_BAD },
		{ ".", SBX_HOST_BAD },
		{ "a..b", SBX_HOST_BAD },
		{ ".example.com", SBX_HOST_BAD },
		{ "evil.test\t.example.com", SBX_HOST_BAD },
		{ "evil.test\x7f", SBX_HOST_BAD },
		{ "evil.test .example.com", SBX_HOST_BAD },
		{ "b\xc3\xbc"
		  "cher.example",
		  SBX_HOST_BAD },
		{ "[::1", SBX_HOST_BAD },
		{ "[]", SBX_HOST_BAD },
		{ "example.com:80", SBX_HOST_BAD },
	};
	char name[300];
	uint8_t address[16];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		cr_expect_eq(sbx_host_kind(cases[i].host, address), cases[i].kind, "%s",
			     cases[i].host);
	memset(name, 'a', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	cr_expect_eq(sbx_host_kind(name, address), SBX_HOST_BAD);
}

Test(verdict_host, labels_are_whole)
{
	static const struct {
		const char *host;
		bool exact, suffix;
	} cases[] = {
		{ "example.com", true, false },     { "Example.COM.", true, false },
		{ "a.example.com", false, true },   { "a.b.example.com", false, true },
		{ "notexample.com", false, false }, { "example.com.evil.net", false, false },
		{ "example.comx", false, false },   { "-example.com", false, false },
		{ ".example.com", false, false },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		cr_expect_eq(sbx_host_matches(SBX_NETK_HOST, "example.com", cases[i].host) >= 0,
			     cases[i].exact, "%s", cases[i].host);
		cr_expect_eq(sbx_host_matches(SBX_NETK_SUFFIX, "example.com", cases[i].host) >= 0,
			     cases[i].suffix, "*.example.com %s", cases[i].host);
	}
	cr_expect_gt(sbx_host_matches(SBX_NETK_SUFFIX, "b.example.com", "a.b.example.com"),
		     sbx_host_matches(SBX_NETK_SUFFIX, "example.com", "a.b.example.com"));
}

Test(verdict_host, prefixes)
{
	const struct sbx_cidr ten = { { [10] = 0xff, 0xff, 10, 0, 0, 0 }, 104 };
	const struct sbx_cidr odd = { { [10] = 0xff, 0xff, 172, 16, 0, 0 }, 108 };
	const struct sbx_cidr all = { { 0 }, 0 };
	uint8_t address[16];

	cr_assert_eq(sbx_host_kind("10.255.0.1", address), SBX_HOST_ADDRESS);
	cr_expect(sbx_cidr_has(&ten, address) && sbx_cidr_has(&all, address));
	cr_expect_not(sbx_cidr_has(&odd, address));
	sbx_host_kind("172.31.0.1", address);
	cr_expect(sbx_cidr_has(&odd, address));
	sbx_host_kind("172.32.0.1", address);
	cr_expect_not(sbx_cidr_has(&odd, address));
	sbx_host_kind("::ffff:10.1.1.1", address);
	cr_expect(sbx_cidr_has(&ten, address));
}
