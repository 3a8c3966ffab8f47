/*
 * File rules of all files put together.
 *
 * Rules are chained by path in a hash table, so same-path questions look at
 * one chain and questions about what lies above a path look at one chain for
 * each of its parents: ten thousand rules stay linear.  Patterns are few; the
 * questions that involve them go through a list.
 *
 *	same      the same statement: twice in a file, or one rule of two files
 *	conflict  grant against deny of one right on one path in one file
 *	override  the main file lifts what another file denies on that path
 *	effect    a grant of the main file that a deny or seal leaves nothing of
 *	needless  a grant that its own file has given above already
 */
#include "blob/verdict.h"
#include "compiler/lower.h"

struct entry {
	struct fs_rule *rule;
	struct str key; /* tmpl_key() of the path */
	bool wild, dead;
	unsigned lifted;    /* rights that an override took off this deny */
	struct entry *next; /* same path */
};
struct merge_fs {
	struct lower *lower;
	struct entry *entries;
	size_t count;
	struct map literal, pattern; /* key -> first entry of its chain */
	struct {
		VEC_OF(struct entry *)
	} patterns; /* denies and seals */
};

static const char *show(struct merge_fs *m, const struct entry *entry)
{
	return tmpl_show(m->lower->arena, m->lower->program->units.items[0]->scope,
			 entry->rule->path);
}

static bool is_private(const struct fs_rule *rule)
{
	return rule->verb == SBX_FS_COPY || rule->verb == SBX_FS_TMP;
}

static const char *verb_words(const struct fs_rule *rule)
{
	switch (rule->verb) {
	case SBX_FS_GRANT:
		return rule->rights == SBX_READ                 ? "read"
		       : rule->rights == (SBX_READ | SBX_WRITE) ? "write"
		       : rule->rights == (SBX_READ | SBX_EXEC)  ? "exec"
								: "write exec";
	case SBX_FS_COPY:
		return "copy";
	case SBX_FS_TMP:
		return "tmp";
	case SBX_FS_DEVICE:
		return "device";
	case SBX_FS_DENY:
		return rule->rights == SBX_WRITE  ? "deny write"
		       : rule->rights == SBX_EXEC ? "deny exec"
						  : "deny";
	case SBX_FS_SEAL:
		return rule->rights == SBX_WRITE ? "seal write" : "seal";
	}
	BUG("no such verb");
}

static bool takes(const struct fs_rule *rule)
{
	return rule->verb == SBX_FS_DENY || rule->verb == SBX_FS_SEAL;
}

/* ---- same and conflict -------------------------------------------------------------- */

static bool same_excepts(struct merge_fs *m, const struct fs_rule *a, const struct fs_rule *b)
{
	if (a->excepts.count != b->excepts.count)
		return false;
	for (size_t i = 0; i < a->excepts.count; i++) {
		if (!str_equal(tmpl_key(m->lower->arena, a->excepts.items[i]),
			       tmpl_key(m->lower->arena, b->excepts.items[i])))
			return false;
	}
	return true;
}

/* Do two statements with the same verb on the same path mean one thing? */
static bool same_meaning(struct merge_fs *m, const struct fs_rule *a, const struct fs_rule *b)
{
	unsigned flags = SBX_F_OPTIONAL | SBX_F_CREATE;

	return (a->head.flags & flags) == (b->head.flags & flags) && a->size == b->size &&
	       a->placeholder == b->placeholder &&
	       str_equal(a->placeholder_text, b->placeholder_text) && same_excepts(m, a, b);
}

static void conflict(struct merge_fs *m, const struct entry *a, struct entry *b)
{
	struct diags *diags = m->lower->diags;

	b->dead = true; /* one message is enough */
	diag_error(diags, DIAG_C0302, b->rule->head.place.span,
		   "`%s` and `%s` of the same path in one file: %s", verb_words(a->rule),
		   verb_words(b->rule), show(m, b));
	diag_note(diags, a->rule->head.place.span, "the other one");
	if ((a->rule->rights | b->rule->rights) & SBX_WRITE &&
	    (a->rule->rights == SBX_WRITE || b->rule->rights == SBX_WRITE))
		diag_note(diags, NO_PLACE, "for reading alone write `read`");
}

/* tmp and copy put something else there than what a write grant means. */
static void check_private(struct merge_fs *m, struct entry *first, struct entry *second)
{
	struct entry *tmp = is_private(first->rule) ? first : second;
	struct entry *grant = tmp == first ? second : first;
	bool both = is_private(grant->rule);

	if (!both && !(grant->rule->verb == SBX_FS_GRANT && grant->rule->rights & SBX_WRITE))
		return;
	unsigned a = lower_level(m->lower, &first->rule->head);
	unsigned b = lower_level(m->lower, &second->rule->head);
	if (both && a != b) { /* one-valued: the nearer file's stands */
		(a < b ? second : first)->dead = true;
		return;
	}
	if (a != b && (a < b ? first : second)->rule->head.flags & SBX_F_OVERRIDE) {
		(a < b ? second : first)->dead = true;
		return;
	}
	second->dead = true;
	diag_error(m->lower->diags, DIAG_C0307, second->rule->head.place.span,
		   "is %s the host's, or a private one?  `%s` here, `%s` there", show(m, second),
		   verb_words(second->rule), verb_words(first->rule));
	diag_note(m->lower->diags, first->rule->head.place.span, "there");
}

static void compare(struct merge_fs *m, struct entry *first, struct entry *second)
{
	struct fs_rule *a = first->rule, *b = second->rule;
	bool same_file = lower_same_file(&a->head, &b->head);

	if (first->dead || second->dead)
		return;
	if (lower_same_place(&a->head, &b->head) && a->verb == b->verb) {
		second->dead = true;
	} else if (a->verb == b->verb && a->rights == b->rights) {
		if (same_file || same_meaning(m, a, b)) {
			lower_merge_same(m->lower, &a->head, &b->head,
					 arena_printf(m->lower->arena, "`%s %s`", verb_words(b),
						      show(m, second)));
			second->dead = true;
		} else if (is_private(a)) {
			check_private(m, first, second);
		}
	} else if (is_private(a) || is_private(b)) {
		check_private(m, first, second);
	} else if (same_file && takes(a) != takes(b) && a->rights & b->rights) {
		conflict(m, first, second);
	}
}

/* ---- override -------------------------------------------------------------------------- */

static void lift(struct merge_fs *m, struct entry *entry, struct entry *chain)
{
	struct fs_rule *grant = entry->rule;
	bool lifted = false;

	for (struct entry *other = chain; other; other = other->next) {
		if (other->dead && !(is_private(other->rule)))
			continue;
		if (lower_level(m->lower, &other->rule->head) <=
		    lower_level(m->lower, &grant->head))
			continue;
		lifted |= other->dead; /* a module's tmp, see check_private() */
		if (other->rule->verb != SBX_FS_DENY || !(other->rule->rights & grant->rights))
			continue;
		other->lifted |= grant->rights;
		lifted = true;
	}
	if (!lifted) {
		diag_error(m->lower->diags, DIAG_C0305, grant->head.place.span,
			   "this overrides nothing: no other file denies %s", show(m, entry));
		diag_note(m->lower->diags, NO_PLACE,
			  "an override lifts a deny of the very same path, never a seal");
	}
}

/* ---- effect ----------------------------------------------------------------------------- */

static bool beneath(struct str path, struct str top)
{
	if (str_is(top, "/"))
		return true;
	return path.len >= top.len && memcmp(path.ptr, top.ptr, top.len) == 0 &&
	       (path.len == top.len || path.ptr[top.len] == '/');
}

/* The next parent: "/a/b" -> "/a" -> "/"; false after "/". */
static bool parent(struct str *key)
{
	if (key->len <= 1)
		return false;
	while (key->ptr[key->len - 1] != '/')
		key->len--;
	if (key->len > 1)
		key->len--;
	return true;
}

static bool covers(const struct entry *pattern, struct str key)
{
	struct sbx_fs_point point = { .path = pattern->key.ptr, .wild = true };

	return sbx_fs_covers(&point, key.ptr) >= 0;
}

/* An exception at, above or beneath @key leaves something of it. */
static bool excepted(struct merge_fs *m, const struct fs_rule *seal, struct str key)
{
	for (size_t i = 0; i < seal->excepts.count; i++) {
		struct str except = tmpl_key(m->lower->arena, seal->excepts.items[i]);

		if (beneath(key, except) || beneath(except, key))
			return true;
	}
	return false;
}

static const struct entry *find_seal(struct merge_fs *m, const struct entry *entry)
{
	struct str key = entry->key;

	do {
		for (struct entry *other = map_get(&m->literal, key); other; other = other->next) {
			if (other->rule->verb == SBX_FS_SEAL &&
			    other->rule->rights & entry->rule->rights &&
			    !excepted(m, other->rule, entry->key))
				return other;
		}
	} while (parent(&key));
	for (size_t i = 0; i < m->patterns.count; i++) {
		const struct entry *other = m->patterns.items[i];

		if (other->rule->verb == SBX_FS_SEAL && other->rule->rights & entry->rule->rights &&
		    covers(other, entry->key) && !excepted(m, other->rule, entry->key))
			return other;
	}
	return NULL;
}

/* One in the same file is a conflict, and said already. */
static const struct entry *find_deny(const struct entry *entry, const struct entry *chain)
{
	for (; chain; chain = chain->next) {
		if (!chain->dead && chain->rule->verb == SBX_FS_DENY &&
		    !lower_same_file(&chain->rule->head, &entry->rule->head) &&
		    chain->rule->rights & ~chain->lifted & entry->rule->rights)
			return chain;
	}
	return NULL;
}

static void check_effect(struct merge_fs *m, const struct entry *entry, const struct entry *chain)
{
	const struct fs_rule *rule = entry->rule;
	const struct entry *winner = entry->wild ? NULL : find_seal(m, entry);

	if (!winner)
		winner = find_deny(entry, chain);
	if (!winner ||
	    lower_level(m->lower, &winner->rule->head) < lower_level(m->lower, &rule->head))
		return; /* none, or the extending file's will */
	diag_error(m->lower->diags, DIAG_C0303, rule->head.place.span,
		   "`%s %s` has no effect: `%s %s` wins", verb_words(rule), show(m, entry),
		   verb_words(winner->rule), show(m, winner));
	diag_note(m->lower->diags, winner->rule->head.place.span, "here");
	if (winner->rule->verb == SBX_FS_DENY)
		diag_note(m->lower->diags, NO_PLACE, "to lift it: `override compat \"why\"`");
	else
		diag_note(m->lower->diags, NO_PLACE,
			  "nothing overrides a seal: its exceptions stand in its own `except`");
}

/* ---- needless ----------------------------------------------------------------------------- */

/* Is @right of @entry given by its own file already, and by nothing taken in between? */
static const struct entry *given(struct merge_fs *m, const struct entry *entry, unsigned right)
{
	struct str key = entry->key;

	for (size_t i = 0; i < m->patterns.count; i++) {
		if (m->patterns.items[i]->rule->rights & right &&
		    covers(m->patterns.items[i], entry->key))
			return NULL;
	}
	do {
		const struct entry *giver = NULL;

		for (struct entry *other = map_get(&m->literal, key); other; other = other->next) {
			const struct fs_rule *rule = other->rule;

			if (other == entry || other->dead)
				continue;
			if (is_private(rule) && key.len != entry->key.len)
				return NULL; /* beneath a tmp the host's own file is something else
					      */
			if (!(rule->rights & ~other->lifted & right))
				continue;
			if (takes(rule))
				return NULL;
			if (lower_same_file(&rule->head, &entry->rule->head) &&
			    !(rule->head.flags & SBX_F_OPTIONAL))
				giver = other;
		}
		if (giver)
			return giver;
	} while (parent(&key));
	return NULL;
}

static void check_needless(struct merge_fs *m, const struct entry *entry)
{
	static const unsigned all[] = { SBX_READ, SBX_WRITE, SBX_EXEC };
	const struct entry *giver = NULL;

	if (entry->rule->head.flags & SBX_F_CREATE)
		return;
	for (size_t i = 0; i < 3; i++) {
		if (!(entry->rule->rights & all[i]))
			continue;
		const struct entry *found = given(m, entry, all[i]);
		if (!found)
			return;
		if (!giver || all[i] != SBX_READ)
			giver = found;
	}
	diag_error(m->lower->diags, DIAG_C0304, entry->rule->head.place.span,
		   "`%s %s` adds nothing: `%s %s` gives it already", verb_words(entry->rule),
		   show(m, entry), verb_words(giver->rule), show(m, giver));
	diag_note(m->lower->diags, giver->rule->head.place.span, "here");
	if (entry->rule->rights == SBX_READ && giver->rule->rights & SBX_WRITE)
		diag_note(m->lower->diags, NO_PLACE,
			  "a grant never takes: for reading alone write `deny write`");
}

/* ---- all of it ------------------------------------------------------------------------------ */

static struct entry *chain_of(struct merge_fs *m, const struct entry *entry)
{
	return map_get(entry->wild ? &m->pattern : &m->literal, entry->key);
}

static void add_entry(struct merge_fs *m, struct entry *entry, struct fs_rule *rule)
{
	*entry = (struct entry){
		.rule = rule,
		.key = tmpl_key(m->lower->arena, rule->path),
		.wild = tmpl_has_wild(rule->path),
	};

	void **slot = map_put(m->lower->arena, entry->wild ? &m->pattern : &m->literal, entry->key);
	struct entry *last = NULL;
	for (struct entry *other = *slot; other; last = other, other = other->next)
		compare(m, other, entry);
	if (last)
		last->next = entry;
	else
		*slot = entry;
	if (entry->wild && takes(rule) && !entry->dead)
		*VEC_PUSH(m->lower->arena, &m->patterns) = entry;
}

/* Drops what is dead, takes what is lifted off, and keeps track of the workspace. */
static void compact(struct merge_fs *m)
{
	struct policy *policy = m->lower->policy;
	size_t kept = 0, workspace = policy->workspace_rule;

	for (size_t i = 0; i < m->count; i++) {
		struct fs_rule rule = *m->entries[i].rule;

		if (i == workspace)
			policy->workspace_rule = kept;
		rule.rights &= ~m->entries[i].lifted;
		if (!m->entries[i].dead && rule.rights)
			policy->fs.items[kept++] = rule;
	}
	policy->fs.count = kept;
}

void merge_fs(struct lower *lower)
{
	struct policy *policy = lower->policy;
	struct merge_fs m = { .lower = lower, .count = policy->fs.count };

	m.entries = arena_array(lower->arena, m.count, sizeof(*m.entries));
	for (size_t i = 0; i < m.count; i++)
		add_entry(&m, &m.entries[i], &policy->fs.items[i]);
	for (size_t i = 0; i < m.count; i++) {
		if (m.entries[i].rule->head.flags & SBX_F_OVERRIDE && !m.entries[i].dead)
			lift(&m, &m.entries[i], chain_of(&m, &m.entries[i]));
	}
	for (size_t i = 0; i < m.count; i++) {
		struct entry *entry = &m.entries[i];

		if (entry->dead || takes(entry->rule))
			continue;
		if (entry->rule->head.main_file)
			check_effect(&m, entry, chain_of(&m, entry));
		if (!entry->wild && entry->rule->verb == SBX_FS_GRANT &&
		    i != policy->workspace_rule)
			check_needless(&m, entry);
	}
	compact(&m);
}
