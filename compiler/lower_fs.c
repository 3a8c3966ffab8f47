/*
 * The fs section, and the workspace, which is a grant too.  One rule for each
 * path that a statement names.
 */
#include "compiler/lower.h"
#include "grammar/verbs.h"

#define ALL_RIGHTS (SBX_READ | SBX_WRITE | SBX_EXEC)

static const struct fs_verb {
	const char *word;
	enum sbx_fs_verb verb;
	unsigned rights;
	bool wild;
	/* A right named after the verb: what the statement speaks of then. */
	const char *more[2];
	unsigned more_rights[2];
} fs_verbs[] = {
	{ "read", SBX_FS_GRANT, SBX_READ, true, { NULL, NULL }, { 0, 0 } },
	{ "exec", SBX_FS_GRANT, SBX_READ | SBX_EXEC, true, { NULL, NULL }, { 0, 0 } },
	{ "write", SBX_FS_GRANT, SBX_READ | SBX_WRITE, true, { "exec", NULL }, { ALL_RIGHTS, 0 } },
	{ "deny", SBX_FS_DENY, ALL_RIGHTS, true, { "write", "exec" }, { SBX_WRITE, SBX_EXEC } },
	{ "seal", SBX_FS_SEAL, ALL_RIGHTS, true, { "write", NULL }, { SBX_WRITE, 0 } },
	{ "copy", SBX_FS_COPY, SBX_READ | SBX_WRITE, false, { NULL, NULL }, { 0, 0 } },
	{ "tmp", SBX_FS_TMP, SBX_READ | SBX_WRITE, false, { NULL, NULL }, { 0, 0 } },
	{ "device", SBX_FS_DEVICE, SBX_READ | SBX_WRITE, true, { NULL, NULL }, { 0, 0 } },
};

static bool is_right(const struct ast_word *word)
{
	return word->kind == AST_NAME &&
	       (str_is(word->text, "read") || str_is(word->text, "write") ||
		str_is(word->text, "exec"));
}

/* Takes the right after the verb, if there is one, off *words. */
static bool read_right(struct lower *lower, const struct ast_stmt *stmt, const struct fs_verb *verb,
		       const struct ast_word **words, unsigned *rights)
{
	const struct ast_word *word = *words;

	*rights = verb->rights;
	if (!is_right(word))
		return true;
	for (size_t i = 0; i < 2; i++) {
		if (!verb->more[i] || !str_is(word->text, verb->more[i]))
			continue;
		*rights = verb->more_rights[i];
		*words = word->next;
		if (*words && !is_right(*words))
			return true;
	}
	diag_error(lower->diags, DIAG_C0103, word->span, "`%s %.*s` does not go together here",
		   verb->word, STR_ARG(word->text));
	diag_note(lower->diags, NO_PLACE, "usage: %s",
		  verb_find(SECTION_FS, stmt->verb->text)->usage);
	return false;
}

static bool read_size(struct lower *lower, const struct ast_stmt *stmt, uint64_t *size)
{
	const struct ast_mod *mod = ast_mod_find(stmt, AST_MOD_SIZE);

	if (!mod)
		return true;
	if (!words_size(&lower->words, mod->words, size))
		return false;
	if (*size == 0 || *size >> 10 > UINT32_MAX) {
		diag_error(lower->diags, DIAG_C0216, mod->words->span,
			   "a file system in memory has 1K to %uK", UINT32_MAX);
		return false;
	}
	return true;
}

static bool read_placeholder(struct lower *lower, const struct ast_stmt *stmt, struct fs_rule *rule)
{
	static const char *const kinds[] = { "dir", "file", NULL };
	const struct ast_mod *mod = ast_mod_find(stmt, AST_MOD_PLACEHOLDER);

	if (!mod)
		return true;
	if (rule->head.flags & SBX_F_CREATE) {
		diag_error(lower->diags, DIAG_C0106, mod->span,
			   "`create` makes a directory that stays, a `placeholder` goes with the "
			   "session: say one of them");
		return false;
	}
	if (mod->words->kind == AST_STRING) {
		rule->placeholder = SBX_PLACEHOLDER_FILE;
		return words_plain(&lower->words, mod->words, &rule->placeholder_text);
	}
	int kind = words_choice(&lower->words, mod->words,
				"a placeholder (but for a text in quotes)", kinds);
	rule->placeholder = kind == 1 ? SBX_PLACEHOLDER_FILE : SBX_PLACEHOLDER_DIR;
	return kind >= 0;
}

static bool read_excepts(struct lower *lower, const struct ast_stmt *stmt, struct tmpls *out)
{
	const struct ast_mod *mod = ast_mod_find(stmt, AST_MOD_EXCEPT);
	struct tmpl_list list = { 0 };

	for (const struct ast_word *word = mod ? mod->words : NULL; word; word = word->next) {
		if (!words_paths(&lower->words, word, 0, &list))
			return false;
	}
	*out = (struct tmpls){ list.items, list.count };
	return true;
}

/* What a wildcard takes is what is there at launch; the line must say so. */
static bool check_wild(struct lower *lower, const struct ast_stmt *stmt,
		       const struct ast_word *word, struct fs_rule *rule)
{
	bool takes = rule->verb == SBX_FS_DENY || rule->verb == SBX_FS_SEAL;
	bool wild = tmpl_has_wild(rule->path);

	if (wild && rule->head.flags & SBX_F_CREATE) {
		diag_error(lower->diags, DIAG_C0209, word->span,
			   "`create` makes one directory, not a pattern");
		return false;
	}
	if (wild && takes && !(rule->head.flags & SBX_F_SNAPSHOT)) {
		diag_error(lower->diags, DIAG_C0114, word->span,
			   "a `%.*s` with a wildcard holds for the names that are there at launch: "
			   "say so with `snapshot`",
			   STR_ARG(stmt->verb->text));
		return false;
	}
	if (!wild)
		rule->head.flags &= ~SBX_F_SNAPSHOT;
	return true;
}

static bool lower_path(struct lower *lower, const struct ast_stmt *stmt, const struct fs_verb *verb,
		       const struct ast_word *word, const struct fs_rule *model, bool *wild)
{
	struct tmpl_list paths = { 0 };

	if (!words_paths(&lower->words, word, verb->wild ? WORD_WILD : 0, &paths))
		return false;
	for (size_t i = 0; i < paths.count; i++) {
		struct fs_rule rule = *model;

		rule.path = paths.items[i];
		rule.head.place.span = word->span;
		*wild |= tmpl_has_wild(rule.path);
		if (!check_wild(lower, stmt, word, &rule))
			return false;
		*VEC_PUSH(lower->arena, &lower->policy->fs) = rule;
	}
	return true;
}

static void lower_rule(struct lower *lower, const struct ast_stmt *stmt, const struct fs_verb *verb)
{
	const struct ast_mod *snapshot = ast_mod_find(stmt, AST_MOD_SNAPSHOT);
	const struct ast_word *words = stmt->items;
	struct fs_rule rule = { .verb = verb->verb };
	bool wild = false;

	if (!lower_head(lower, stmt, stmt->span, &rule.head) ||
	    !read_right(lower, stmt, verb, &words, &rule.rights) ||
	    !read_size(lower, stmt, &rule.size) || !read_placeholder(lower, stmt, &rule) ||
	    !read_excepts(lower, stmt, &rule.excepts))
		return;
	if (rule.verb == SBX_FS_DENY || rule.verb == SBX_FS_COPY || rule.verb == SBX_FS_TMP)
		rule.head.flags |= lower_softness(lower);
	for (const struct ast_word *word = words; word; word = word->next) {
		if (!lower_path(lower, stmt, verb, word, &rule, &wild))
			return;
	}
	if (snapshot && !wild)
		diag_error(lower->diags, DIAG_C0114, snapshot->span,
			   "no wildcard here: this holds at all times, leave `snapshot` out");
}

/* ---- slots and the workspace ----------------------------------------------------------- */

static bool slot_rights(struct lower *lower, const struct ast_word *word, unsigned *rights)
{
	static const char *const names[] = { "read", "write", "exec", NULL };
	static const unsigned values[] = { SBX_READ, SBX_READ | SBX_WRITE, SBX_READ | SBX_EXEC };

	for (; word; word = word->next) {
		int right = words_choice(&lower->words, word, "a slot's right", names);
		if (right < 0)
			return false;
		*rights |= values[right];
	}
	return true;
}

static void lower_slot(struct lower *lower, const struct ast_stmt *stmt)
{
	const struct ast_mod *under = ast_mod_find(stmt, AST_MOD_UNDER);
	const struct ast_mod *time = ast_mod_find(stmt, AST_MOD_FOR);
	const struct ast_mod *number = ast_mod_find(stmt, AST_MOD_COUNT);
	struct slot slot = { .name = stmt->items->text, .count = 1 };
	uint64_t count = 1;

	if (!under) {
		diag_error(lower->diags, DIAG_C0103, stmt->span, "a slot says what it is `under`");
		return;
	}
	if (!lower_head(lower, stmt, stmt->items->span, &slot.head) ||
	    !slot_rights(lower, stmt->items->next, &slot.rights) ||
	    !words_path(&lower->words, under->words, 0, &slot.under) ||
	    (time && !words_some_time(&lower->words, time->words, &slot.for_s)) ||
	    (number && !words_number(&lower->words, number->words, 1000, &count)))
		return;
	slot.count = (uint32_t)count;
	for (size_t i = 0; i < lower->policy->slots.count; i++) {
		const struct slot *other = &lower->policy->slots.items[i];

		if (!str_equal(other->name, slot.name))
			continue;
		if (lower_same_file(&other->head, &slot.head))
			lower_fail_twice(lower, &slot.head, &other->head, "this slot");
		return; /* the extending file's stands */
	}
	*VEC_PUSH(lower->arena, &lower->policy->slots) = slot;
}

void lower_workspace(struct lower *lower, const struct ast_stmt *stmt)
{
	static const char *const words[] = { "read", NULL };
	static const struct seg workspace[] = { { .kind = SBX_SEG_VAR, .var = SBX_VAR_WORKSPACE } };
	const struct ast_word *read = stmt->items->next;
	struct policy *policy = lower->policy;
	struct fs_rule rule = { .verb = SBX_FS_GRANT, .path = { workspace, 1 } };
	struct tmpl path;

	if (!words_path(&lower->words, stmt->items, WORD_CWD, &path) ||
	    (read && words_choice(&lower->words, read, "what may follow a workspace", words) < 0) ||
	    !lower_head(lower, stmt, stmt->items->span, &rule.head))
		return;
	if (policy->workspace.count) /* the extending file's stands */
		return;
	rule.rights = read ? SBX_READ : ALL_RIGHTS;
	policy->workspace = path;
	policy->workspace_rights = rule.rights;
	policy->workspace_rule = policy->fs.count;
	*VEC_PUSH(lower->arena, &policy->fs) = rule;
}

void lower_fs(struct lower *lower, const struct ast_stmt *block)
{
	for (const struct ast_stmt *stmt = block; stmt; stmt = stmt->next) {
		if (str_is(stmt->verb->text, "slot")) {
			lower_slot(lower, stmt);
			continue;
		}
		for (size_t i = 0; i < sizeof(fs_verbs) / sizeof(fs_verbs[0]); i++) {
			if (str_is(stmt->verb->text, fs_verbs[i].word))
				lower_rule(lower, stmt, &fs_verbs[i]);
		}
	}
}
