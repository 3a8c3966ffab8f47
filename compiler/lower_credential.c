/*
 * A credential: where the real value is outside, and the one place it is put.
 */
#include <ctype.h>
#include <string.h>

#include "blob/verdict.h"
#include "compiler/lower.h"

#define HTTPS_PORT 443
#define HTTP_PORT  80
#define JSON_KEY   256 /* proxy/source.c: a name is shorter */

static bool is_word(const struct ast_word *word, const char *text)
{
	return word && word->kind == AST_NAME && str_is(word->text, text);
}

static bool fail_source(struct lower *lower, const struct ast_word *word, const char *what)
{
	diag_error(lower->diags, DIAG_C0504, word->span, "%s", what);
	return false;
}

/* `.KEY.KEY`: the proxy follows names alone, through objects, and splits at each dot. */
static bool check_way(struct lower *lower, const struct ast_word *word, struct str way)
{
	bool good = way.len && way.ptr[0] == '.';
	size_t begin = 0;

	for (size_t i = 0; good && i <= way.len; i++) {
		if (i < way.len && way.ptr[i] != '.')
			continue;
		good = i == 0 || (i > begin && i - begin < JSON_KEY);
		begin = i + 1;
	}
	if (!good)
		return fail_source(lower, word, "the way into the JSON is written .KEY.KEY");
	if (!memchr(way.ptr, '[', way.len))
		return true;
	fail_source(lower, word, "an element of an array cannot be named, only the fields of objects");
	diag_note(lower->diags, NO_PLACE,
		  "`source exec /usr/bin/jq -r \"%.*s\" $home/FILE` reads it",
		  STR_ARG(way));
	return false;
}

/* source file PATH [json .KEY.KEY] */
static bool read_file(struct lower *lower, const struct ast_word *word, struct tmpl_list *words,
		      struct str *json)
{
	if (!words_path(&lower->words, word, WORD_OUTSIDE, VEC_PUSH(lower->arena, words)))
		return false;
	if (!word->next)
		return true;
	if (!is_word(word->next, "json") || !word->next->next || word->next->next->next)
		return fail_source(lower, word->next,
				   "after the file stands nothing or `json .KEY.KEY`");
	if (!words_plain(&lower->words, word->next->next, json))
		return false;
	return check_way(lower, word->next->next, *json);
}

/*
 * A text that a shell or another interpreter reads names files in ways that nobody can
 * follow from outside; as a file of its own it is one name, which is checked.
 */
static bool is_program_text(const struct tmpl *word)
{
	bool is_path = false, is_text = false, is_pattern = false;

	for (size_t i = 0; i < word->count; i++) {
		const struct seg *seg = &word->segs[i];

		if (seg->kind != SBX_SEG_TEXT)
			continue;
		is_path |= memchr(seg->text.ptr, '/', seg->text.len) != NULL;
		for (size_t at = 0; at < seg->text.len; at++) {
			is_text |= strchr("\t\n\r$`!;&|<>(){}", seg->text.ptr[at]) != NULL;
			is_pattern |= strchr("*?[", seg->text.ptr[at]) != NULL;
		}
	}
	return is_text || (is_path && is_pattern);
}

static bool read_argument(struct lower *lower, const struct ast_word *word,
			  struct tmpl_list *words)
{
	size_t first = words->count;

	if (!words_texts(&lower->words, word, words))
		return false;
	for (size_t i = first; i < words->count; i++)
		if (is_program_text(&words->items[i]))
			return fail_source(
			    lower, word,
			    "this is a text for a shell, and what it reads cannot be checked: write "
			    "it into a program of your own, outside what the policy lets be written");
	return true;
}

static bool lower_source(struct lower *lower, const struct ast_stmt *stmt, struct credential *out)
{
	static const char *const kinds[] = { "file", "env", "exec", NULL };
	const struct ast_word *word = stmt->items->next;
	int kind = words_choice(&lower->words, stmt->items, "a source", kinds);
	struct tmpl_list words = { 0 };
	bool good = kind >= 0;

	out->source = (enum sbx_source)kind;
	if (good && out->source == SBX_SOURCE_FILE) {
		good = read_file(lower, word, &words, &out->json);
	} else if (good && out->source == SBX_SOURCE_ENV) {
		struct str_list names = { 0 };

		good = words_env_names(&lower->words, word, &names);
		if (good && (names.count != 1 ||
			     memchr(names.items[0].ptr, '*', names.items[0].len) || word->next))
			good =
			    fail_source(lower, word, "one variable of the environment is wanted");
		good = good && words_text(&lower->words, word, VEC_PUSH(lower->arena, &words));
	} else if (good) {
		good = words_path(&lower->words, word, WORD_OUTSIDE, VEC_PUSH(lower->arena, &words));
		for (word = word->next; good && word; word = word->next)
			good = read_argument(lower, word, &words);
	}
	out->source_words = (struct tmpls){ words.items, words.count };
	return good;
}

/* The proxy puts a value into TLS alone, and there is none at port 80: such a credential
 * would never go out. */
static bool check_bound(struct lower *lower, const struct ast_word *word, const struct host *host)
{
	if (host->kind != SBX_NETK_HOST)
		return fail_source(lower, word,
				   "a credential is bound to hosts by their exact names");
	if (!host->port_said || host->port != HTTP_PORT)
		return true;
	diag_error(lower->diags, DIAG_C0504, word->span,
		   "a credential goes out in TLS alone, and port 80 is plain HTTP");
	diag_note(lower->diags, NO_PLACE, "write `host %.*s`, which is port 443",
		  STR_ARG(host->name));
	return false;
}

/* Hosts are kept as "host:port" texts, exact names only. */
static bool lower_hosts(struct lower *lower, const struct ast_stmt *stmt, struct tmpl_list *out)
{
	for (const struct ast_word *word = stmt->items; word; word = word->next) {
		struct host_list hosts = { 0 };

		if (!words_hosts(&lower->words, word, &hosts))
			return false;
		for (size_t i = 0; i < hosts.count; i++) {
			const struct host *host = &hosts.items[i];
			struct seg *seg = ARENA_NEW(lower->arena, struct seg);

			if (!check_bound(lower, word, host))
				return false;
			seg->kind = SBX_SEG_TEXT;
			seg->text = str_from(
			    arena_printf(lower->arena, "%.*s:%u", STR_ARG(host->name),
					 host->port_said ? host->port : HTTPS_PORT));
			*VEC_PUSH(lower->arena, out) = (struct tmpl){ seg, 1 };
		}
	}
	return true;
}

/* Is it the proxy's own business (blob/fields.def)?  What is put in there is lost, or
 * makes the request one that no server reads. */
static bool is_proxys(struct str header)
{
	static const char *const names[] = {
#define HOP_FIELD(name)	   name,
#define OWN_FIELD(name)	   name,
#define HIDING_FIELD(name) name,
#include "blob/fields.def"
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (sbx_field_is(names[i], header.ptr, header.len))
			return true;
	return false;
}

static bool check_header(struct lower *lower, const struct ast_word *word, struct str header)
{
	bool good = header.len != 0;

	for (size_t i = 0; i < header.len; i++)
		good &= isalnum((unsigned char)header.ptr[i]) || header.ptr[i] == '-';
	if (!good)
		return fail_source(lower, word,
				   "the name of an HTTP header is wanted, as in x-api-key");
	if (!is_proxys(header))
		return true;
	diag_error(lower->diags, DIAG_C0504, word->span,
		   "the proxy itself makes the header `%.*s`: a credential cannot go there",
		   STR_ARG(header));
	diag_note(lower->diags, NO_PLACE,
		  "write the one that the server reads it from, as in authorization or x-api-key");
	return false;
}

static bool lower_header_line(struct lower *lower, const struct ast_stmt *stmt,
			      struct credential *out)
{
	static const char *const schemes[] = { "bearer", "basic", NULL };
	const struct ast_word *name = stmt->items, *scheme = name->next;

	if (!words_plain(&lower->words, name, &out->header) ||
	    !check_header(lower, name, out->header))
		return false;
	if (!scheme)
		return true;
	int kind = words_choice(&lower->words, scheme, "how a header carries it", schemes);
	if (kind < 0)
		return false;
	out->scheme = kind ? SBX_SCHEME_BASIC : SBX_SCHEME_BEARER;
	if (!kind && scheme->next)
		return fail_source(lower, scheme->next, "after `bearer` stands nothing");
	if (kind && !scheme->next)
		return fail_source(lower, scheme, "`basic` needs the name of a user");
	if (!kind)
		return true;
	if (!words_plain(&lower->words, scheme->next, &out->basic_user))
		return false;
	return !memchr(out->basic_user.ptr, ':', out->basic_user.len) ||
	       fail_source(lower, scheme->next,
			   "a user's name has no colon: behind it HTTP reads the password");
}

static bool lower_line(struct lower *lower, const struct ast_stmt *stmt, struct credential *out,
		       struct tmpl_list *hosts)
{
	struct rule_head head;

	if (!lower_head(lower, stmt, stmt->span, &head))
		return false;
	if (head.flags & SBX_F_COMPAT && !(out->head.flags & SBX_F_COMPAT)) {
		out->head.flags |= SBX_F_COMPAT; /* the record has one reason for all its lines */
		out->head.compat = head.compat;
	}
	struct waiver **end = &out->head.waivers;
	while (*end && *end != head.waivers)
		end = &(*end)->next;
	*end = head.waivers;
	if (str_is(stmt->verb->text, "source"))
		return lower_source(lower, stmt, out);
	if (str_is(stmt->verb->text, "host"))
		return lower_hosts(lower, stmt, hosts);
	if (str_is(stmt->verb->text, "header"))
		return lower_header_line(lower, stmt, out);
	return words_some_time(&lower->words, stmt->items,
			  str_is(stmt->verb->text, "refresh") ? &out->refresh_s : &out->lifetime_s);
}

void lower_credential(struct lower *lower, const struct ast_stmt *stmt)
{
	struct credential credential = { 0 };
	struct tmpl_list hosts = { 0 };
	struct str_list names = { 0 };

	if (!words_env_names(&lower->words, stmt->items, &names) ||
	    !lower_head(lower, stmt, stmt->items->span, &credential.head))
		return;
	if (names.count != 1 || memchr(names.items[0].ptr, '*', names.items[0].len)) {
		diag_error(lower->diags, DIAG_C0217, stmt->items->span,
			   "a credential has one name");
		return;
	}
	credential.name = names.items[0];
	for (const struct ast_stmt *line = stmt->block; line; line = line->next) {
		if (!lower_line(lower, line, &credential, &hosts))
			return;
	}
	credential.hosts = (struct tmpls){ hosts.items, hosts.count };
	*VEC_PUSH(lower->arena, &lower->policy->credentials) = credential;
}

/* ---- merging --------------------------------------------------------------------------- */

static bool matches(struct str pattern, struct str name)
{
	const char *star = memchr(pattern.ptr, '*', pattern.len);

	if (!star)
		return str_equal(pattern, name);
	size_t head = (size_t)(star - pattern.ptr), tail = pattern.len - head - 1;
	return !memchr(star + 1, '*', tail) && name.len >= head + tail &&
	       memcmp(name.ptr, pattern.ptr, head) == 0 &&
	       memcmp(name.ptr + name.len - tail, star + 1, tail) == 0;
}

/*
 * The placeholder is an exact `set`.  A module that denies or passes the name
 * means the real value, which no longer enters: its line is lifted.  A seal,
 * or a line of the policy itself, contradicts it.
 */
static void settle_name(struct lower *lower, const struct credential *credential)
{
	struct policy *policy = lower->policy;
	size_t kept = 0;

	for (size_t i = 0; i < policy->env.count; i++) {
		const struct env_rule rule = policy->env.items[i];
		bool seal = rule.verb == SBX_ENV_SEAL;
		bool meets = seal ? matches(rule.name, credential->name)
				  : str_equal(rule.name, credential->name);

		if (meets && !seal && lower_level(lower, &rule.head) == LEVEL_MODULE)
			continue;
		policy->env.items[kept++] = rule;
		if (!meets)
			continue;
		diag_error(
		    lower->diags, DIAG_C0505, credential->head.place.span,
		    "`%.*s` holds this credential's placeholder, and an `env` line speaks of it",
		    STR_ARG(credential->name));
		diag_note(lower->diags, rule.head.place.span, "here");
	}
	policy->env.count = kept;
}

void merge_credentials(struct lower *lower)
{
	struct policy *policy = lower->policy;
	size_t kept = 0;

	for (size_t i = 0; i < policy->credentials.count; i++) {
		const struct credential credential = policy->credentials.items[i];
		const struct credential *same = NULL;

		for (size_t j = 0; j < kept; j++) {
			if (str_equal(policy->credentials.items[j].name, credential.name))
				same = &policy->credentials.items[j];
		}
		if (same) {
			if (lower_same_file(&same->head, &credential.head))
				lower_fail_twice(lower, &credential.head, &same->head,
						 "this credential");
			continue; /* the extending file's stands */
		}
		settle_name(lower, &credential);
		if (policy->net_mode != SBX_NET_PROXY && policy->kind == SBX_POLICY &&
		    !lower->mode_missed) {
			lower->mode_missed = !policy->net_mode_said;
			diag_error(lower->diags, DIAG_C0506, credential.head.place.span,
				   "a credential is put in by the proxy: it needs `mode proxy`");
		}
		policy->credentials.items[kept++] = credential;
	}
	policy->credentials.count = kept;
}
