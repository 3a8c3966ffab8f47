#include <criterion/criterion.h>
#include <stdio.h>
#include <unistd.h>

#include "blob/match.h"
#include "compiler/compiler.h"

struct policy_blob {
	struct compilation compilation;
	struct sbx_blob blob;
	struct sbx_vars vars;
};

/* The blob of a policy with these lines, in mode proxy. */
static void make(struct policy_blob *out, const char *net, const char *credentials)
{
	struct compile_options options = { 0 };
	char path[64];
	FILE *file;

	memset(out, 0, sizeof(*out));
	snprintf(path, sizeof(path), "/tmp/request.%d.pol", getpid());
	file = fopen(path, "w");
	fprintf(file,
		"language 1\npolicy \"t\"\nworkspace $cwd\nsyscalls { allow read }\n"
		"net { mode proxy; %s }\n%s\n",
		net, credentials);
	fclose(file);
	compilation_init(&out->compilation, &options);
	if (!compile_path(&out->compilation, path)) {
		diag_flush(out->compilation.diags, stderr, false);
		cr_assert_fail("the policy does not compile");
	}
	cr_assert_null(
	    sbx_blob_open(out->compilation.blob.data, out->compilation.blob.size, &out->blob));
	remove(path);
}

static struct sbx_request_verdict ask_at(struct policy_blob *policy, const char *host,
					 unsigned port, const char *address, const char *method,
					 const char *path)
{
	struct sbx_request_verdict verdict;
	uint8_t bytes[16];

	if (address)
		cr_assert_eq(sbx_host_kind(address, bytes), SBX_HOST_ADDRESS);
	sbx_net_decide_request(&policy->blob, host, port, address ? bytes : NULL, method, path,
			       &verdict);
	cr_expect_eq(verdict.allowed, verdict.why == SBX_REQUEST_ALLOWED);
	return verdict;
}

static enum sbx_request_why ask(struct policy_blob *policy, const char *host, const char *method,
				const char *path)
{
	return ask_at(policy, host, 443, NULL, method, path).why;
}

Test(request, methods_and_prefixes_add_up)
{
	static const struct {
		const char *host, *method, *path;
		enum sbx_request_why why;
	} cases[] = {
		{ "git.test", "GET", "/repos", SBX_REQUEST_ALLOWED },
		{ "git.test", "GET", "/repos/", SBX_REQUEST_ALLOWED },
		{ "GIT.test.", "GET", "/repos/a?x=/../%2e", SBX_REQUEST_ALLOWED },
		{ "git.test", "HEAD", "/repos?q", SBX_REQUEST_ALLOWED },
		{ "git.test", "get", "/repos", SBX_REQUEST_METHOD },
		{ "git.test", "GET", "/repository", SBX_REQUEST_PATH },
		{ "git.test", "GET", "/Repos", SBX_REQUEST_PATH },
		{ "git.test", "GET", "/%72epos", SBX_REQUEST_PATH },
		{ "git.test", "GET", "/", SBX_REQUEST_PATH },
		{ "git.test", "GET", "*", SBX_REQUEST_PATH },
		{ "git.test", "POST", "/repos/mine/x", SBX_REQUEST_ALLOWED },
		{ "git.test", "POST", "/repos/a", SBX_REQUEST_PATH },
		{ "git.test", "DELETE", "/repos/mine", SBX_REQUEST_METHOD },
		{ "tree.test", "GET", "/api/v1", SBX_REQUEST_ALLOWED },
		{ "tree.test", "GET", "/api", SBX_REQUEST_PATH }, /* the prefix is /api/ */
		{ "plain.test", "DELETE", "/any//../thing\\", SBX_REQUEST_ALLOWED },
		{ "methods.test", "PUT", "/a/../b", SBX_REQUEST_ALLOWED },
		{ "methods.test", "GET", "/", SBX_REQUEST_METHOD },
		{ "sub.wide.test", "GET", "/a", SBX_REQUEST_ALLOWED },
		{ "near.wide.test", "GET", "/a", SBX_REQUEST_PATH }, /* the nearer rule alone */
		{ "other.test", "GET", "/", SBX_REQUEST_NAME },
		{ "bad host", "GET", "/", SBX_REQUEST_NAME },
		{ "127.1", "GET", "/", SBX_REQUEST_NAME },
	};
	struct policy_blob policy;

	make(&policy,
	     "allow git.test method GET HEAD prefix /repos; allow git.test method POST prefix "
	     "/repos/mine; allow tree.test prefix /api/; allow plain.test; allow methods.test "
	     "method "
	     "PUT; allow *.wide.test prefix /a; allow near.wide.test prefix /b",
	     "");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		cr_expect_eq(ask(&policy, cases[i].host, cases[i].method, cases[i].path),
			     cases[i].why, "case %zu", i);
	cr_expect_eq(ask_at(&policy, "git.test", 8443, NULL, "GET", "/repos").why,
		     SBX_REQUEST_NAME);
	compilation_free(&policy.compilation);
}

/* The one that a refusal names: it has the method, where one has.  (In their order.) */
Test(request, the_nearest_rule)
{
	static const struct {
		const char *method, *path;
		uint32_t rule;
	} cases[] = {
		{ "GET", "/other", 0 },    { "GET", "/repos/../x", 0 }, { "POST", "/repos", 2 },
		{ "POST", "/mine//x", 2 }, { "PUT", "/mine", 0 },       { "PUT", "/mine/./x", 0 },
	};
	struct policy_blob policy;

	make(&policy,
	     "allow git.test method GET prefix /repos; allow git.test method HEAD; allow git.test "
	     "method POST prefix /mine",
	     "");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		cr_expect_eq(ask_at(&policy, "git.test", 443, NULL, cases[i].method, cases[i].path)
				 .rule,
			     cases[i].rule, "case %zu", i);
	compilation_free(&policy.compilation);
}

Test(request, a_path_with_two_readings)
{
	static const char *const unclear[] = {
		"/repos/..",
		"/repos/../x",
		"/repos/./x",
		"/repos/.",
		"/repos/..;a/x",
		"/repos/%2e",
		"/repos/%2E%2e",
		"/repos/a%2fb",
		"/repos/a%5Cb",
		"/repos/a\\b",
		"/repos//x",
		"//repos/x",
		"/repos/x//",
		"/repos/%00",
		"/repos/a%0d%0ab",
		"/repos/%7f",
		"/repos/a\tb",
		"/repos/a b",
		"/repos/\x7f",
		"/repos/\xc3\xa9",
		"/repos/%",
		"/repos/%2",
		"/repos/%zz",
		"/repos/%252e",
		"/repos/%c0%ae",
		"/repos/a#b",
		"/x/..?q",
		"/repos/..?q=1",
		"/repos/.;",
		"/repos/..%3b/x",
		"/repos/..%20/x",
		"/repos/..%3fx",
		"/repos/.%23",
		"/repos/a%3Bb",
		"/repos/%e0%80%ae%e0%80%ae/x",
		"/repos/%E0%9f%bf",
		"/repos/%f0%80%80%ae/x",
		"/repos/%F0%8f%bf%bf",
	};
	static const char *const clear[] = {
		"/repos/...",       "/repos/..a",          "/repos/.git",  "/repos/a..",
		"/repos/%41%c3%a9", "/repos/a;b",          "/repos/~x",    "/repos/a.b/c",
		"/repos/%e0%a4%85", "/repos/%f0%9f%98%80", "/repos/a%20b", "/repos/..a%20",
		"/repos/%e0",
	};
	struct policy_blob policy;

	make(&policy, "allow git.test method POST; allow git.test method GET prefix /repos", "");
	for (size_t i = 0; i < sizeof(unclear) / sizeof(unclear[0]); i++) {
		cr_expect_eq(ask(&policy, "git.test", "GET", unclear[i]), SBX_REQUEST_UNCLEAR, "%s",
			     unclear[i]);
		/* also where the other rule would do: the server may read another path */
		cr_expect_eq(ask(&policy, "git.test", "POST", unclear[i]), SBX_REQUEST_UNCLEAR);
	}
	for (size_t i = 0; i < sizeof(clear) / sizeof(clear[0]); i++)
		cr_expect_eq(ask(&policy, "git.test", "GET", clear[i]), SBX_REQUEST_ALLOWED, "%s",
			     clear[i]);
	compilation_free(&policy.compilation);
}

/* A rule opens requests for the addresses it opens, and no others. */
Test(request, where_it_goes_counts)
{
	struct policy_blob policy;

	make(&policy,
	     "deny 10.0.0.0/8; allow a.test at 10.1.0.0/16 method GET; allow a.test method POST; "
	     "allow 192.0.2.1 method GET",
	     "");
	cr_expect(ask_at(&policy, "a.test", 443, "10.1.2.3", "GET", "/").allowed);
	cr_expect_not(ask_at(&policy, "a.test", 443, "10.1.2.3", "POST", "/").allowed);
	cr_expect(ask_at(&policy, "a.test", 443, "192.0.2.9", "POST", "/").allowed);
	cr_expect_not(ask_at(&policy, "a.test", 443, "192.0.2.9", "GET", "/").allowed);
	cr_expect(ask_at(&policy, "a.test", 443, NULL, "GET", "/").allowed);
	cr_expect(ask_at(&policy, "192.0.2.1", 443, "192.0.2.1", "GET", "/").allowed);
	cr_expect_not(ask_at(&policy, "192.0.2.1", 443, "192.0.2.1", "POST", "/").allowed);
	compilation_free(&policy.compilation);
}

Test(request, where_tls_ends)
{
	static const struct {
		const char *host;
		unsigned port;
		bool ends;
	} cases[] = {
		{ "plain.test", 443, false }, { "narrow.test", 443, true },
		{ "api.test", 443, true },    { "API.test.", 443, true },
		{ "api.test", 8443, false },  { "other.test", 443, false },
		{ "mixed.test", 443, true },  { "192.0.2.1", 443, true },
		{ "192.0.2.2", 443, false },
	};
	struct policy_blob policy;

	make(&policy,
	     "allow plain.test; allow narrow.test method GET; allow api.test api.test:8443; "
	     "allow mixed.test; allow mixed.test prefix /x; allow 192.0.2.1 method GET; allow "
	     "192.0.2.2",
	     "credential KEY { source env REAL; host api.test; header x-api-key }");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		cr_expect_eq(
		    sbx_net_ends_tls(&policy.blob, &policy.vars, cases[i].host, cases[i].port),
		    cases[i].ends, "case %zu", i);
	compilation_free(&policy.compilation);
}

Test(request, credentials_of_a_host)
{
	struct policy_blob policy;
	uint32_t first, second;

	make(
	    &policy, "allow api.test api.test:8443 other.test",
	    "credential KEY { source env REAL; host api.test other.test; header x-api-key }\n"
	    "credential TOKEN { source env REAL; host api.test api.test:8443; header authorization "
	    "bearer }");
	first = sbx_credential_for(&policy.blob, &policy.vars, "Api.Test.", 443, 0);
	cr_assert_neq(first, SBX_NONE);
	second = sbx_credential_for(&policy.blob, &policy.vars, "api.test", 443, first + 1);
	cr_expect_eq(second, 1);
	cr_expect_eq(first, 0);
	cr_expect_eq(sbx_credential_for(&policy.blob, &policy.vars, "api.test", 443, 2), SBX_NONE);
	cr_expect_eq(sbx_credential_for(&policy.blob, &policy.vars, "api.test", 8443, 0), 1);
	cr_expect_eq(sbx_credential_for(&policy.blob, &policy.vars, "other.test", 443, 0), 0);
	cr_expect_eq(sbx_credential_for(&policy.blob, &policy.vars, "x.api.test", 443, 0),
		     SBX_NONE);
	cr_expect_eq(sbx_credential_for(&policy.blob, &policy.vars, "api.test", 80, 0), SBX_NONE);
	compilation_free(&policy.compilation);
}
