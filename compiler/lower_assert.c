/*
 * The assert section: one assertion for each object.
 */
#include "compiler/lower_calls.h"

#define HTTPS_PORT 443

struct claim {
	struct lower *lower;
	struct assertion model;
};

static void add(struct claim *claim, const struct ast_word *word, struct assertion assertion)
{
	assertion.head.place.span = word->span;
	*VEC_PUSH(claim->lower->arena, &claim->lower->policy->asserts) = assertion;
}

static bool add_paths(struct claim *claim, const struct ast_word *word)
{
	struct lower *lower = claim->lower;
	struct tmpl_list paths = { 0 };

	if (!words_paths(&lower->words, word, WORD_ASSERT, &paths))
		return false;
	for (size_t i = 0; i < paths.count; i++) {
		struct assertion assertion = claim->model;

		assertion.path = paths.items[i];
		assertion.text =
		    str_from(tmpl_show(lower->arena, lower->words.scope, paths.items[i]));
		add(claim, word, assertion);
	}
	return true;
}

/* The path of "unix:/run/x" as a word of its own. */
static bool add_socket(struct claim *claim, const struct ast_word *word)
{
	struct lower *lower = claim->lower;
	struct ast_word path = *word;
	struct assertion assertion = claim->model;
	size_t skip = strlen("unix:");

	path.text = (struct str){ word->text.ptr + skip, word->text.len - skip };
	path.kind = word->kind == AST_STRING ? AST_STRING : AST_PATH;
	if (!words_path(&lower->words, &path, WORD_ASSERT, &assertion.path))
		return false;
	assertion.text = str_from(arena_printf(
	    lower->arena, "unix:%s", tmpl_show(lower->arena, lower->words.scope, assertion.path)));
	add(claim, word, assertion);
	return true;
}

static bool add_connects(struct claim *claim, const struct ast_word *word)
{
	struct lower *lower = claim->lower;
	struct host_list hosts = { 0 };

	if (str_starts(word->text, "unix:"))
		return add_socket(claim, word);
	if (str_starts(word->text, "abstract:")) {
		struct assertion assertion = claim->model;

		if (!words_plain(&lower->words, word, &assertion.text))
			return false;
		add(claim, word, assertion);
		return true;
	}
	if (!words_hosts(&lower->words, word, &hosts))
		return false;
	for (size_t i = 0; i < hosts.count; i++) {
		struct assertion assertion = claim->model;
		const struct host *host = &hosts.items[i];

		if (host->kind == SBX_NETK_ANY || host->kind == SBX_NETK_SUFFIX ||
		    memchr(host->name.ptr, '/', host->name.len)) {
			diag_error(lower->diags, DIAG_A0102, word->span,
				   "an assertion is about one host or address");
			return false;
		}
		assertion.text = host->name;
		assertion.port = host->port_said ? host->port : HTTPS_PORT;
		add(claim, word, assertion);
	}
	return true;
}

static bool add_calls(struct claim *claim, const struct ast_word *word)
{
	struct str_list names = { 0 };

	if (!words_plains(&claim->lower->words, word, &names))
		return false;
	for (size_t i = 0; i < names.count; i++) {
		struct assertion assertion = claim->model;
		const struct call *call = calls_find(claim->lower, word, names.items[i]);

		if (!call)
			return false;
		assertion.text = call->name;
		for (unsigned arch = 0; arch < SBX_ARCH_COUNT; arch++)
			assertion.nr[arch] = call->nr[arch];
		add(claim, word, assertion);
	}
	return true;
}

static bool add_names(struct claim *claim, const struct ast_word *word)
{
	struct str_list names = { 0 };

	if (!words_env_names(&claim->lower->words, word, &names))
		return false;
	for (size_t i = 0; i < names.count; i++) {
		struct assertion assertion = claim->model;

		if (memchr(names.items[i].ptr, '*', names.items[i].len)) {
			diag_error(claim->lower->diags, DIAG_A0102, word->span,
				   "an assertion is about one variable");
			return false;
		}
		assertion.text = names.items[i];
		add(claim, word, assertion);
	}
	return true;
}

static bool add_text(struct claim *claim, const struct ast_word *word)
{
	struct assertion assertion = claim->model;

	if (!words_plain(&claim->lower->words, word, &assertion.text))
		return false;
	add(claim, word, assertion);
	return true;
}

static bool add_use(struct claim *claim, const struct ast_word *word)
{
	static const char *const things[] = { "pty", "terminal", "user-namespaces", NULL };

	return words_choice(&claim->lower->words, word, "what can be used", things) >= 0 &&
	       add_text(claim, word);
}

static void lower_claim(struct lower *lower, const struct ast_stmt *stmt)
{
	static const char *const actions[] = { "read", "write",  "exec", "connect", "call",
					       "see",  "submit", "use",  NULL };
	static bool (*const adds[])(struct claim *, const struct ast_word *) = {
		[SBX_DO_READ] = add_paths,  [SBX_DO_WRITE] = add_paths,
		[SBX_DO_EXEC] = add_paths,  [SBX_DO_CONNECT] = add_connects,
		[SBX_DO_CALL] = add_calls,  [SBX_DO_SEE] = add_names,
		[SBX_DO_SUBMIT] = add_text, [SBX_DO_USE] = add_use,
	};
	struct claim claim = { .lower = lower };
	int action =
	    words_choice(&lower->words, stmt->items, "what an assertion is about", actions);

	if (action < 0 || !lower_head(lower, stmt, stmt->span, &claim.model.head))
		return;
	claim.model.action = (enum sbx_action)action;
	claim.model.polarity = str_is(stmt->verb->text, "can")      ? SBX_CAN
			       : str_is(stmt->verb->text, "cannot") ? SBX_CANNOT
								    : SBX_NEVER;
	if (claim.model.polarity == SBX_NEVER && action == SBX_DO_USE) {
		diag_error(lower->diags, DIAG_A0102, stmt->items->span,
			   "no seal speaks of this: write `cannot use`");
		return;
	}
	for (size_t arch = 0; arch < SBX_ARCH_COUNT; arch++)
		claim.model.nr[arch] = SBX_SYS_ABSENT;
	for (const struct ast_word *word = stmt->items->next; word; word = word->next) {
		if (!adds[action](&claim, word))
			return;
	}
}

void lower_assert(struct lower *lower, const struct ast_stmt *block)
{
	for (const struct ast_stmt *stmt = block; stmt; stmt = stmt->next)
		lower_claim(lower, stmt);
}

static struct str make_key(struct arena *arena, const struct assertion *assertion)
{
	struct str path = tmpl_key(arena, assertion->path);

	return str_from(arena_printf(arena, "%d %d %u %.*s %.*s", (int)assertion->polarity,
				     (int)assertion->action, assertion->port,
				     STR_ARG(assertion->text), STR_ARG(path)));
}

void merge_asserts(struct lower *lower)
{
	struct policy *policy = lower->policy;
	struct map seen = { 0 };
	size_t kept = 0;

	for (size_t i = 0; i < policy->asserts.count; i++) {
		struct assertion *assertion = &policy->asserts.items[i];
		void **slot = map_put(lower->arena, &seen, make_key(lower->arena, assertion));
		struct assertion *first = *slot;

		if (first && lower_merge_same(lower, &first->head, &assertion->head,
					      "this assertion") == MERGE_DROP)
			continue;
		policy->asserts.items[kept] = *assertion;
		if (!first)
			*slot = &policy->asserts.items[kept];
		kept++;
	}
	policy->asserts.count = kept;
}
