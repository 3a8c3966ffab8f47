/*
 * The syscalls section.  Each name or group that a statement lists becomes a
 * statement of its own in the model, so that a report can point at the word;
 * with a `where` it is one for each system call, since the arguments are.
 */
#include <errno.h>

#include "compiler/lower_calls.h"

struct sys_line { /* a statement being lowered */
	struct lower *lower;
	const struct ast_stmt *stmt;
	struct sys_stmt model;
	const struct ast_mod *where;
};

/* ---- where ------------------------------------------------------------------------------ */

static bool fail_pointer(struct lower *lower, const struct ast_cond *cond,
			 const struct signature *signature)
{
	static const struct {
		const char *call, *section;
	} sections[] = { { "connect", "net" },    { "bind", "net" },   { "sendto", "net" },
			 { "sendmsg", "net" },    { "accept", "net" }, { "accept4", "net" },
			 { "clone3", "process" }, { "execve", "fs" } };
	const char *section = "fs";

	for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++) {
		if (str_is(signature->name, sections[i].call))
			section = sections[i].section;
	}
	diag_error(lower->diags, DIAG_C0407, cond->name->span,
		   "`%.*s` of `%.*s` is a pointer: what it points to can change after the check",
		   STR_ARG(cond->name->text), STR_ARG(signature->name));
	diag_note(lower->diags, NO_PLACE, "say what is meant in `%s { }`", section);
	return false;
}

static int find_argument(struct lower *lower, const struct ast_cond *cond,
			 const struct signature *signature)
{
	const char *names[CALL_ARGS];

	for (size_t i = 0; i < signature->count; i++) {
		names[i] = str_cstr(lower->arena, signature->args[i].name);
		if (str_equal(signature->args[i].name, cond->name->text))
			return (int)i;
	}
	diag_error(lower->diags, DIAG_C0406, cond->name->span, "`%.*s` has no argument `%.*s`",
		   STR_ARG(signature->name), STR_ARG(cond->name->text));
	const char *near = suggest(cond->name->text, names, signature->count);
	if (near)
		diag_note(lower->diags, NO_PLACE, "did you mean `%s`?", near);
	diag_note(lower->diags, signature->span, "its arguments are named here");
	return -1;
}

/* @value as the kernel compares it; an error where the argument cannot hold it. */
static bool fit_value(struct lower *lower, const struct ast_word *word, const struct sys_cond *cond,
		      int64_t value, uint64_t *out)
{
	bool fits = cond->width == 8 || (value >= INT32_MIN && value <= UINT32_MAX);

	if (value < 0 && !cond->is_signed && word->text.ptr[0] == '-')
		fits = false;
	if (!fits) {
		diag_error(lower->diags, DIAG_C0411, word->span,
			   "this argument has %u bits and %s sign: it is never %.*s",
			   cond->width * 8, cond->is_signed ? "a" : "no", STR_ARG(word->text));
		return false;
	}
	*out = cond->width == 8 ? (uint64_t)value : (uint32_t)value;
	return true;
}

static bool read_mask(struct lower *lower, const struct ast_cond *cond, struct sys_cond *out)
{
	int64_t mask;

	out->mask = out->width == 8 ? UINT64_MAX : UINT32_MAX;
	if (!cond->mask)
		return true;
	if (cond->op != AST_EQ && cond->op != AST_NE) {
		diag_error(lower->diags, DIAG_C0406, cond->span,
			   "after a mask stands `==` or `!=`");
		return false;
	}
	return calls_value(lower, cond->mask, &mask) &&
	       fit_value(lower, cond->mask, out, mask, &out->mask);
}

static bool lower_cond(struct lower *lower, const struct ast_cond *cond,
		       const struct signature *signature, struct sys_cond *out)
{
	static const enum sbx_cond_op ops[] = {
		[AST_EQ] = SBX_EQ, [AST_NE] = SBX_NE, [AST_LT] = SBX_LT, [AST_LE] = SBX_LE,
		[AST_GT] = SBX_GT, [AST_GE] = SBX_GE, [AST_IN] = SBX_IN,
	};
	struct {
		VEC_OF(uint64_t)
	} values = { 0 };
	int arg = find_argument(lower, cond, signature);

	if (arg < 0)
		return false;
	*out = (struct sys_cond){
		.arg = (unsigned)arg,
		.width = signature->args[arg].width,
		.is_signed = signature->args[arg].is_signed,
		.name = signature->args[arg].name,
		.op = ops[cond->op],
	};
	if (!out->width)
		return fail_pointer(lower, cond, signature);
	if (!read_mask(lower, cond, out))
		return false;
	for (const struct ast_word *word = cond->values; word; word = word->next) {
		uint64_t *value = VEC_PUSH(lower->arena, &values);
		int64_t number;

		if (!calls_value(lower, word, &number) ||
		    !fit_value(lower, word, out, number, value))
			return false;
		if (*value & ~out->mask) {
			diag_error(lower->diags, DIAG_C0411, word->span,
				   "this has bits that the mask takes off: it is never equal");
			return false;
		}
	}
	out->values = values.items;
	out->value_count = values.count;
	return true;
}

static bool lower_conds(struct sys_line *line, const struct ast_word *word, const struct call *call,
			struct sys_stmt *out)
{
	struct lower *lower = line->lower;
	const struct signature *signature = calls_signature(lower, call->name);
	struct {
		VEC_OF(struct sys_cond)
	} conds = { 0 };

	if (!signature) {
		diag_error(lower->diags, DIAG_C0405, word->span,
			   "the arguments of `%.*s` have no names", STR_ARG(call->name));
		diag_note(lower->diags, NO_PLACE,
			  "write `signature %.*s ARGUMENT:TYPE ...` or `import std/syscalls`",
			  STR_ARG(call->name));
		return false;
	}
	for (const struct ast_cond *cond = line->where->conds; cond; cond = cond->next) {
		if (!lower_cond(lower, cond, signature, VEC_PUSH(lower->arena, &conds)))
			return false;
	}
	out->conds = conds.items;
	out->cond_count = conds.count;
	return true;
}

/* ---- statements --------------------------------------------------------------------------- */

static bool read_action(struct lower *lower, const struct ast_word *word, struct sys_stmt *out)
{
	if (word->kind == AST_NAME && str_is(word->text, "kill")) {
		out->action = SBX_ACT_KILL;
		return true;
	}
	out->action = SBX_ACT_ERRNO;
	return calls_errno(lower, word, &out->error);
}

static bool read_without(struct lower *lower, const struct ast_mod *mod, struct sys_stmt *out)
{
	static const char *const words[] = { "namespaces", "network", "tcp", NULL };
	int which =
	    mod ? words_choice(&lower->words, mod->words, "what a backend is without", words) : -1;

	out->without = (enum without)(which + 1);
	if (out->without)
		out->head.flags |= SBX_F_SHARED;
	return !mod || which >= 0;
}

static enum sbx_sys_rank rank_of(const struct sys_stmt *stmt, bool group)
{
	if (stmt->verb == SBX_SYS_SEAL)
		return SBX_RANK_SEAL;
	if (stmt->cond_count)
		return SBX_RANK_WHERE;
	return group ? SBX_RANK_GROUP : SBX_RANK_NAME;
}

static void add_use(struct lower *lower, struct sys_stmt *stmt, const struct call *call, bool group)
{
	struct sys_use *use = VEC_PUSH(lower->arena, &stmt->uses);

	use->name = call->name;
	for (unsigned arch = 0; arch < SBX_ARCH_COUNT; arch++)
		use->nr[arch] = call->nr[arch];
	use->rank = rank_of(stmt, group);
}

static void lower_calls(struct sys_line *line, const struct ast_word *word,
			struct call *const *calls, size_t count, bool group)
{
	struct lower *lower = line->lower;
	struct sys_stmt stmt = line->model;

	for (size_t i = 0; i < count; i++) {
		if (line->where) {
			stmt = line->model;
			if (!lower_conds(line, word, calls[i], &stmt))
				return;
		}
		if (!line->where && calls[i]->stamp == lower->policy->sys.count + 1)
			continue; /* in two of the groups that this one is made of */
		calls[i]->stamp = (unsigned)lower->policy->sys.count + 1;
		add_use(lower, &stmt, calls[i], group);
		if (line->where)
			*VEC_PUSH(lower->arena, &lower->policy->sys) = stmt;
	}
	if (!line->where)
		*VEC_PUSH(lower->arena, &lower->policy->sys) = stmt;
}

static bool lower_object(struct sys_line *line, const struct ast_word *word, struct str name)
{
	struct lower *lower = line->lower;

	line->model.head.place.span = word->span;
	if (name.len && name.ptr[0] == '@') {
		const struct call_list *list = calls_group(lower, word, name);

		if (list)
			lower_calls(line, word, list->items, list->count, true);
		return list;
	}
	struct call *call = calls_find(lower, word, name);
	if (call)
		lower_calls(line, word, &call, 1, false);
	return call;
}

static void lower_default(struct lower *lower, const struct ast_stmt *stmt)
{
	struct policy *policy = lower->policy;
	struct sys_stmt fallback = { .verb = SBX_SYS_DEFAULT };

	if (str_is(stmt->items->text, "allow")) {
		diag_error(lower->diags, DIAG_C0409, stmt->items->span,
			   "what is not listed is refused: `default` takes an error or `kill`");
		return;
	}
	if (!lower_head(lower, stmt, stmt->span, &fallback.head) ||
	    !read_action(lower, stmt->items, &fallback))
		return;
	if (policy->sys_default_said) /* the extending file's stands */
		return;
	policy->sys_default = fallback;
	policy->sys_default_said = true;
}

static void lower_line(struct lower *lower, const struct ast_stmt *stmt)
{
	const struct ast_mod *with = ast_mod_find(stmt, AST_MOD_WITH);
	struct sys_line line = {
		.lower = lower,
		.stmt = stmt,
		.where = ast_mod_find(stmt, AST_MOD_WHERE),
	};

	if (!lower_head(lower, stmt, stmt->span, &line.model.head))
		return;
	if (str_is(stmt->verb->text, "allow")) {
		line.model.verb = SBX_SYS_ALLOW;
	} else {
		line.model.verb = str_is(stmt->verb->text, "deny") ? SBX_SYS_DENY : SBX_SYS_SEAL;
		line.model.action = SBX_ACT_ERRNO;
		line.model.error = EPERM;
	}
	if (with && with->binds) {
		diag_error(lower->diags, DIAG_C0409, with->span,
			   "`with` is followed by an error or `kill`");
		return;
	}
	if (with && !read_action(lower, with->words, &line.model))
		return;
	if (!read_without(lower, ast_mod_find(stmt, AST_MOD_WITHOUT), &line.model))
		return;
	for (const struct ast_word *word = stmt->items; word; word = word->next) {
		struct str_list names = { 0 };

		if (!words_plains(&lower->words, word, &names))
			return;
		for (size_t i = 0; i < names.count; i++) {
			if (!lower_object(&line, word, names.items[i]))
				return;
		}
	}
}

void lower_syscalls(struct lower *lower, const struct ast_stmt *block)
{
	for (const struct ast_stmt *stmt = block; stmt; stmt = stmt->next) {
		if (str_is(stmt->verb->text, "default"))
			lower_default(lower, stmt);
		else
			lower_line(lower, stmt);
	}
}
