/*
 * Names of system calls, their groups, arguments and constants.
 *
 * Groups, signatures and numbers are global: two files that define one
 * differently are an error that shows both.  A constant is looked up in the
 * file that uses it first, so a file can have its own; only a use of a name
 * that several other files give different values is an error.
 */
#include "compiler/lower_calls.h"

#define FIRST_COMMON_NUMBER 424 /* pidfd_send_signal: from here on alike everywhere */

struct constant {
	int64_t value;
	struct span span;
	const struct constant *rival; /* another file's, of another value */
};
struct group {
	const struct ast_word *name, *members;
	const struct unit *unit;
	enum { GROUP_NEW, GROUP_OPEN, GROUP_DONE } state;
	struct call_list calls;
};
struct number {
	struct span span;
	uint32_t nr;
};
struct call_names {
	struct map constants;     /* by name: the first file's */
	struct map own_constants; /* by file and name */
	struct map groups, signatures, numbers, calls;
	struct {
		VEC_OF(struct group *)
	} group_list;
	struct {
		VEC_OF(const char *)
	} known; /* every name, for did-you-mean */
};

struct call_names *calls_new(struct arena *arena)
{
	return ARENA_NEW(arena, struct call_names);
}

static bool same_span(struct span a, struct span b)
{
	return a.source == b.source && a.start == b.start;
}

/* ---- collecting --------------------------------------------------------------------- */

static struct str own_key(struct lower *lower, struct str name)
{
	return str_from(
	    arena_printf(lower->arena, "%u %.*s", lower->unit->parsed->file, STR_ARG(name)));
}

static void collect_const(struct lower *lower, const struct ast_stmt *stmt)
{
	struct call_names *names = lower->calls;
	struct constant *constant = ARENA_NEW(lower->arena, struct constant);

	constant->span = stmt->items->span;
	if (!words_constant(&lower->words, stmt->value, &constant->value))
		return;
	*map_put(lower->arena, &names->own_constants, own_key(lower, stmt->items->text)) = constant;

	void **slot = map_put(lower->arena, &names->constants, stmt->items->text);
	struct constant *first = *slot;
	if (!first)
		*slot = constant;
	else if (first->value != constant->value)
		first->rival = constant;
}

static bool read_type(struct lower *lower, const struct ast_word *word, struct str type,
		      unsigned *width, bool *is_signed)
{
	static const struct {
		const char *name;
		unsigned width;
		bool is_signed;
	} types[] = {
		{ "int", 4, true },    { "uint", 4, false },    { "long", 8, true },
		{ "ulong", 8, false }, { "size", 8, false },    { "fd", 4, true },
		{ "mode", 4, false },  { "pointer", 0, false },
	};

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		if (!str_is(type, types[i].name))
			continue;
		*width = types[i].width;
		*is_signed = types[i].is_signed;
		return true;
	}
	diag_error(
	    lower->diags, DIAG_C0412, word->span,
	    "an argument is NAME:TYPE, and a type one of int, uint, long, ulong, size, fd, mode "
	    "or pointer");
	return false;
}

static bool same_signature(const struct signature *a, const struct signature *b)
{
	if (a->count != b->count)
		return false;
	for (size_t i = 0; i < a->count; i++) {
		if (!str_equal(a->args[i].name, b->args[i].name) ||
		    a->args[i].width != b->args[i].width ||
		    a->args[i].is_signed != b->args[i].is_signed)
			return false;
	}
	return true;
}

static void collect_signature(struct lower *lower, const struct ast_stmt *stmt)
{
	struct signature *signature = ARENA_NEW(lower->arena, struct signature);

	signature->name = stmt->items->text;
	signature->span = stmt->items->span;
	for (const struct ast_word *word = stmt->items->next; word; word = word->next) {
		size_t i = signature->count++;
		const char *colon = memchr(word->text.ptr, ':', word->text.len);
		struct str type = { colon ? colon + 1 : word->text.ptr, 0 };

		if (colon)
			type.len = (size_t)(word->text.ptr + word->text.len - type.ptr);
		signature->args[i].name =
		    (struct str){ word->text.ptr, colon ? (size_t)(colon - word->text.ptr) : 0 };
		if (!read_type(lower, word, type, &signature->args[i].width,
			       &signature->args[i].is_signed))
			return;
	}

	void **slot = map_put(lower->arena, &lower->calls->signatures, signature->name);
	const struct signature *first = *slot;
	if (!first) {
		*slot = signature;
	} else if (!same_span(first->span, signature->span) && !same_signature(first, signature)) {
		diag_error(lower->diags, DIAG_C0412, signature->span,
			   "`%.*s` has another signature elsewhere", STR_ARG(signature->name));
		diag_note(lower->diags, first->span, "there");
	}
}

static void collect_number(struct lower *lower, const struct ast_stmt *stmt)
{
	struct number *number = ARENA_NEW(lower->arena, struct number);
	struct str name = stmt->items->text;
	uint16_t nr[SBX_ARCH_COUNT];
	uint64_t value;

	number->span = stmt->items->span;
	if (!words_number(&lower->words, stmt->value, SBX_SYS_ABSENT - 1, &value))
		return;
	number->nr = (uint32_t)value;
	if (value < FIRST_COMMON_NUMBER) {
		diag_error(
		    lower->diags, DIAG_C0413, stmt->value->span,
		    "numbers are the same on every machine from %d on: older calls have names",
		    FIRST_COMMON_NUMBER);
		return;
	}
	if (emit_syscall_numbers(str_cstr(lower->arena, name), nr) && nr[SBX_X86_64] != value) {
		diag_error(lower->diags, DIAG_C0413, stmt->value->span, "`%.*s` is number %u",
			   STR_ARG(name), nr[SBX_X86_64]);
		return;
	}
	void **slot = map_put(lower->arena, &lower->calls->numbers, name);
	const struct number *first = *slot;
	if (!first) {
		*slot = number;
		*VEC_PUSH(lower->arena, &lower->policy->sys_names) =
		    (struct sys_name){ .name = name, .nr = number->nr };
	} else if (first->nr != number->nr) {
		diag_error(lower->diags, DIAG_C0413, number->span,
			   "`%.*s` has another number elsewhere", STR_ARG(name));
		diag_note(lower->diags, first->span, "there");
	}
}

static void collect_group(struct lower *lower, const struct ast_stmt *stmt)
{
	struct group *group = ARENA_NEW(lower->arena, struct group);

	if (stmt->items->kind != AST_GROUP) {
		diag_error(lower->diags, DIAG_C0402, stmt->items->span,
			   "a group's name starts with `@`");
		return;
	}
	*group = (struct group){
		.name = stmt->items,
		.members = stmt->items->next,
		.unit = lower->unit,
	};
	void **slot = map_put(lower->arena, &lower->calls->groups, stmt->items->text);
	const struct group *first = *slot;
	if (!first) {
		*slot = group;
		*VEC_PUSH(lower->arena, &lower->calls->group_list) = group;
	} else if (!same_span(first->name->span, group->name->span)) {
		diag_error(lower->diags, DIAG_C0404, group->name->span, "`%.*s` is there already",
			   STR_ARG(group->name->text));
		diag_note(lower->diags, first->name->span, "the other one");
	}
}

void calls_collect(struct lower *lower, const struct ast_stmt *stmts)
{
	for (const struct ast_stmt *stmt = stmts; stmt; stmt = stmt->next) {
		if (str_is(stmt->verb->text, "const"))
			collect_const(lower, stmt);
		else if (str_is(stmt->verb->text, "signature"))
			collect_signature(lower, stmt);
		else if (str_is(stmt->verb->text, "number"))
			collect_number(lower, stmt);
		else if (str_is(stmt->verb->text, "group"))
			collect_group(lower, stmt);
	}
}

/* ---- calls --------------------------------------------------------------------------- */

/* The call of that name, or NULL with no message: no machine at all has it. */
static struct call *intern(struct lower *lower, struct str name)
{
	void **slot = map_put(lower->arena, &lower->calls->calls, name);
	struct call call = { .name = name };

	if (*slot)
		return *slot;
	const struct number *number = map_get(&lower->calls->numbers, name);
	if (number)
		call.nr[SBX_X86_64] = call.nr[SBX_AARCH64] = (uint16_t)number->nr;
	else if (!emit_syscall_numbers(str_cstr(lower->arena, name), call.nr))
		return NULL;
	struct call *new = ARENA_NEW(lower->arena, struct call);
	*new = call;
	*slot = new;
	return new;
}

static bool is_absent(const struct call *call)
{
	return call->nr[SBX_X86_64] == SBX_SYS_ABSENT && call->nr[SBX_AARCH64] == SBX_SYS_ABSENT;
}

static const char *suggest_call(struct lower *lower, struct str name)
{
	static const struct {
		const char *wrong, *right;
	} aliases[] = { { "umount", "umount2" },
			{ "pread", "pread64" },
			{ "pwrite", "pwrite64" },
			{ "fadvise", "fadvise64" },
			{ "fstatat", "newfstatat" },
			{ "sigaction", "rt_sigaction" },
			{ "sigprocmask", "rt_sigprocmask" } };
	struct call_names *names = lower->calls;

	for (size_t i = 0; i < sizeof(aliases) / sizeof(aliases[0]); i++) {
		if (str_is(name, aliases[i].wrong))
			return aliases[i].right;
	}
	if (!names->known.count) {
		const char *known;

		for (size_t i = 0; (known = emit_syscall_name_at(i)) != NULL; i++)
			*VEC_PUSH(lower->arena, &names->known) = known;
		for (size_t i = 0; i < lower->policy->sys_names.count; i++)
			*VEC_PUSH(lower->arena, &names->known) =
			    str_cstr(lower->arena, lower->policy->sys_names.items[i].name);
	}
	return suggest(name, names->known.items, names->known.count);
}

static struct call *find_call(struct lower *lower, const struct ast_word *word, struct str name,
			      bool in_group)
{
	struct call *call = intern(lower, name);
	const char *near;

	if (call && (in_group || !is_absent(call)))
		return call;
	diag_error(lower->diags, DIAG_C0401, word->span,
		   call ? "`%.*s` is a system call of neither x86_64 nor aarch64"
			: "no system call is named `%.*s`",
		   STR_ARG(name));
	near = suggest_call(lower, name);
	if (near && !str_is(name, near))
		diag_note(lower->diags, NO_PLACE, "did you mean `%s`?", near);
	else if (!call)
		diag_note(lower->diags, NO_PLACE,
			  "a call newer than this sbxc gets its number with `number NAME = N`");
	return NULL;
}

struct call *calls_find(struct lower *lower, const struct ast_word *word, struct str name)
{
	return find_call(lower, word, name, false);
}

/* ---- groups -------------------------------------------------------------------------- */

static struct group *find_group(struct lower *lower, const struct ast_word *word, struct str name)
{
	struct call_names *names = lower->calls;
	struct group *group = map_get(&names->groups, name);

	if (group)
		return group;
	const char **known = arena_array(lower->arena, names->group_list.count, sizeof(*known));
	for (size_t i = 0; i < names->group_list.count; i++)
		known[i] = str_cstr(lower->arena, names->group_list.items[i]->name->text);
	diag_error(lower->diags, DIAG_C0402, word->span, "there is no group `%.*s`", STR_ARG(name));
	const char *near = suggest(name, known, names->group_list.count);
	if (near)
		diag_note(lower->diags, NO_PLACE, "did you mean `%s`?", near);
	else if (!names->group_list.count)
		diag_note(lower->diags, NO_PLACE,
			  "the usual groups come with `import std/syscalls`");
	return NULL;
}

static void flatten(struct lower *lower, struct group *group);

static void add_member(struct lower *lower, struct group *group, const struct ast_word *word,
		       struct str name)
{
	if (name.ptr[0] != '@') {
		struct call *call = find_call(lower, word, name, true);

		if (call)
			*VEC_PUSH(lower->arena, &group->calls) = call;
		return;
	}
	struct group *inner = find_group(lower, word, name);
	if (!inner)
		return;
	if (inner->state == GROUP_OPEN) {
		diag_error(lower->diags, DIAG_C0403, word->span, "`%.*s` holds itself",
			   STR_ARG(name));
		diag_note(lower->diags, inner->name->span, "declared here");
		return;
	}
	flatten(lower, inner);
	for (size_t i = 0; i < inner->calls.count; i++)
		*VEC_PUSH(lower->arena, &group->calls) = inner->calls.items[i];
}

static void flatten(struct lower *lower, struct group *group)
{
	if (group->state == GROUP_DONE)
		return;
	group->state = GROUP_OPEN;
	for (const struct ast_word *word = group->members; word; word = word->next) {
		struct str_list names = { 0 };

		if (!words_plains(&lower->words, word, &names))
			break;
		for (size_t i = 0; i < names.count; i++)
			add_member(lower, group, word, names.items[i]);
	}
	group->state = GROUP_DONE;
}

void calls_finish(struct lower *lower)
{
	for (size_t i = 0; i < lower->calls->group_list.count; i++) {
		struct group *group = lower->calls->group_list.items[i];
		unsigned before = diag_errors(lower->diags);

		lower->words.scope = group->unit->scope;
		flatten(lower, group);
		if (diag_errors(lower->diags) != before)
			unit_note_chain(lower->diags, group->unit);
	}
}

const struct call_list *calls_group(struct lower *lower, const struct ast_word *word,
				    struct str name)
{
	const struct group *group = find_group(lower, word, name);

	return group ? &group->calls : NULL;
}

/* ---- values and errors ----------------------------------------------------------------- */

const struct signature *calls_signature(struct lower *lower, struct str name)
{
	return map_get(&lower->calls->signatures, name);
}

static bool is_name(struct str text)
{
	char c = text.len ? text.ptr[0] : '0';

	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

bool calls_value(struct lower *lower, const struct ast_word *word, int64_t *out)
{
	struct call_names *names = lower->calls;

	if (word->kind != AST_NAME || !is_name(word->text))
		return words_constant(&lower->words, word, out);
	const struct constant *constant =
	    map_get(&names->own_constants, own_key(lower, word->text));
	if (!constant) {
		constant = map_get(&names->constants, word->text);
		if (constant && constant->rival) {
			diag_error(lower->diags, DIAG_C0410, word->span,
				   "`%.*s` has two values: give it one in this file",
				   STR_ARG(word->text));
			diag_note(lower->diags, constant->span, "one");
			diag_note(lower->diags, constant->rival->span, "the other");
			return false;
		}
	}
	if (!constant) {
		diag_error(lower->diags, DIAG_C0410, word->span, "no constant is named `%.*s`",
			   STR_ARG(word->text));
		diag_note(lower->diags, NO_PLACE, "write its number, or `const %.*s = NUMBER`",
			  STR_ARG(word->text));
		return false;
	}
	*out = constant->value;
	return true;
}

bool calls_errno(struct lower *lower, const struct ast_word *word, unsigned *out)
{
	*out = word->kind == AST_NAME ? errno_by_name(word->text) : 0;
	if (*out)
		return true;
	diag_error(lower->diags, DIAG_C0409, word->span,
		   "`kill` or the name of an error, like EPERM, "
		   "is wanted here");
	const char *near = errno_suggest(word->text);
	if (near)
		diag_note(lower->diags, NO_PLACE, "did you mean `%s`?", near);
	return false;
}
