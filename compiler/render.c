/*
 * compiler/render.c - records of a blob as a person would have written them.
 */
#include "compiler/render.h"

#include <inttypes.h>

#include "compiler/render_words.h"

const char *render_tmpl(struct arena *arena, const struct sbx_blob *blob, struct sbx_tmpl tmpl)
{
	struct text text = { .arena = arena };

	words_tmpl(&text, blob, tmpl);
	return text_end(&text);
}

static const char *grant_verb(unsigned rights)
{
	switch (rights) {
	case SBX_READ:
		return "read";
	case SBX_READ | SBX_EXEC:
		return "exec";
	case SBX_READ | SBX_WRITE:
		return "write";
	case SBX_READ | SBX_WRITE | SBX_EXEC:
		return "write exec";
	}
	return rights == SBX_EXEC ? "exec only" : "write only";
}

static void add_taken(struct text *text, const char *verb, unsigned rights)
{
	text_add(text, "%s", verb);
	if (rights == (SBX_READ | SBX_WRITE | SBX_EXEC))
		return;
	text_add(text, "%s%s%s", rights & SBX_READ ? " read" : "",
		 rights & SBX_WRITE ? " write" : "", rights & SBX_EXEC ? " exec" : "");
}

static void render_fs(struct text *text, const struct sbx_blob *blob, uint32_t index)
{
	static const char *const others[] = {
		[SBX_FS_COPY] = "copy", [SBX_FS_TMP] = "tmp", [SBX_FS_DEVICE] = "device"
	};
	const struct sbx_fs_rule *rule = SBX_AT(blob, FS, sbx_fs_rule, index);
	const struct sbx_fs_extra *extra = sbx_fs_extra(blob, rule);
	bool workspace = index == sbx_meta(blob)->workspace_rule;

	if (workspace)
		text_add(text, "workspace");
	else if (rule->head.verb == SBX_FS_GRANT)
		text_add(text, "%s", grant_verb(rule->rights));
	else if (rule->head.verb == SBX_FS_DENY || rule->head.verb == SBX_FS_SEAL)
		add_taken(text, rule->head.verb == SBX_FS_DENY ? "deny" : "seal", rule->rights);
	else
		text_add(text, "%s", WORD_OF(others, rule->head.verb));
	text_byte(text, ' ');
	words_tmpl(text, blob, workspace ? sbx_meta(blob)->workspace : rule->path);
	if (workspace && !(rule->rights & SBX_WRITE))
		text_add(text, " read");
	if (extra->except_count) {
		text_add(text, " except");
		words_tmpls(text, blob, extra->except_first, extra->except_count);
	}
	if (extra->size_kib) {
		text_add(text, " size ");
		text_size(text, (uint64_t)extra->size_kib * 1024);
	}
	if (extra->placeholder_text != SBX_NONE) {
		text_add(text, " placeholder ");
		text_quoted(text, sbx_string(blob, extra->placeholder_text));
	} else if (rule->placeholder) {
		text_add(text, " placeholder %s",
			 rule->placeholder == SBX_PLACEHOLDER_FILE ? "file" : "dir");
	}
	words_head(text, blob, &rule->head);
}

static void render_env(struct text *text, const struct sbx_blob *blob,
		       const struct sbx_env_rule *rule)
{
	static const char *const verbs[] = { "pass", "set", "deny", "seal" };

	text_add(text, "%s ", WORD_OF(verbs, rule->head.verb));
	words_name(text, sbx_string(blob, rule->name));
	if (rule->head.verb == SBX_ENV_SET) {
		text_byte(text, ' ');
		words_tmpl(text, blob, rule->value);
	}
	words_head(text, blob, &rule->head);
}

static void render_limit(struct text *text, const struct sbx_blob *blob,
			 const struct sbx_limit_rule *rule)
{
	static const char *const names[] = { "memory",     "processes", "cpus",      "cpu-time",
					     "open-files", "file-size", "core-size", "wall-time" };

	text_add(text, "%s ", WORD_OF(names, rule->limit));
	switch ((enum sbx_limit)rule->limit) {
	case SBX_LIMIT_MEMORY:
	case SBX_LIMIT_FILE_SIZE:
	case SBX_LIMIT_CORE_SIZE:
		text_size(text, rule->value);
		break;
	case SBX_LIMIT_CPU_TIME:
	case SBX_LIMIT_WALL_TIME:
		text_time(text, rule->value);
		break;
	default:
		text_add(text, "%" PRIu64, rule->value);
	}
	words_head(text, blob, &rule->head);
}

static void render_process(struct text *text, const struct sbx_blob *blob,
			   const struct sbx_process_rule *rule)
{
	static const char *const words[] = { "allow user-namespaces", "terminal none",
					     "terminal pty",          "pass fd",
					     "share processes",       "share signals",
					     "share terminals",       "share attributes" };

	text_add(text, "%s", WORD_OF(words, rule->what));
	if (rule->what == SBX_PROCESS_PASS_FD)
		text_add(text, " %u", rule->value);
	words_head(text, blob, &rule->head);
}

static void render_require(struct text *text, const struct sbx_blob *blob,
			   const struct sbx_require_rule *rule)
{
	static const char *const words[] = { "landlock", "kernel", "backend",
					     "limits",   "proof",  "signed" };

	text_add(text, "%s", WORD_OF(words, rule->what));
	if (rule->what == SBX_REQUIRE_LANDLOCK)
		text_add(text, " %u", rule->value);
	if (rule->what == SBX_REQUIRE_KERNEL)
		text_add(text, " %u.%u", rule->value >> 16, rule->value & 0xffff);
	if (rule->what == SBX_REQUIRE_PROOF) {
		text_byte(text, ' ');
		text_time(text, rule->value);
	}
	words_tmpls(text, blob, rule->first, rule->count);
	words_head(text, blob, &rule->head);
}

static void render_slot(struct text *text, const struct sbx_blob *blob, const struct sbx_slot *slot)
{
	text_add(text, "slot ");
	words_name(text, sbx_string(blob, slot->name));
	text_add(text, " %s", grant_verb(slot->rights));
	if (sbx_present(slot->under)) {
		text_add(text, " under ");
		words_tmpl(text, blob, slot->under);
	}
	if (slot->for_s) {
		text_add(text, " for ");
		text_time(text, slot->for_s);
	}
	if (slot->count)
		text_add(text, " count %u", slot->count);
	words_head(text, blob, &slot->head);
}

static void render_param(struct text *text, const struct sbx_blob *blob,
			 const struct sbx_param *param)
{
	static const char *const types[] = { "path", "string", "int", "size", "time" };

	text_add(text, "param %s %s = ", sbx_string(blob, param->name),
		 WORD_OF(types, param->type));
	words_tmpl(text, blob, param->value);
	if (sbx_present(param->under)) {
		text_add(text, " under ");
		words_tmpl(text, blob, param->under);
	}
	if (param->choice_count) {
		text_add(text, " in");
		words_tmpls(text, blob, param->choice_first, param->choice_count);
	}
	if (param->max != UINT64_MAX)
		text_add(text, " max %" PRIu64, param->max);
	words_head(text, blob, &param->head);
}

static void render_assert(struct text *text, const struct sbx_blob *blob,
			  const struct sbx_assert *claim)
{
	static const char *const polarities[] = { "can", "cannot", "never" };
	static const char *const actions[] = { "read", "write", "exec",   "connect",
					       "call", "see",   "submit", "use" };

	text_add(text, "%s %s ", WORD_OF(polarities, claim->head.verb),
		 WORD_OF(actions, claim->action));
	if (claim->is_path && claim->action == SBX_DO_CONNECT)
		text_add(text, "unix:");
	if (claim->is_path)
		words_tmpl(text, blob, claim->object);
	else
		words_name(text, sbx_string(blob, claim->object.text));
	if (claim->port)
		text_add(text, ":%u", claim->port);
	words_head(text, blob, &claim->head);
}

#define HEAD_OF(id, type)                                                                          \
	case SBX_SEC_##id:                                                                         \
		return &SBX_AT(blob, id, type, index)->head

const struct sbx_head *render_head(const struct sbx_blob *blob, enum sbx_section_id section,
				   uint32_t index)
{
	switch (section) {
		HEAD_OF(PARAMS, sbx_param);
		HEAD_OF(FS, sbx_fs_rule);
		HEAD_OF(ENV, sbx_env_rule);
		HEAD_OF(SYS_STMTS, sbx_sys_stmt);
		HEAD_OF(NET, sbx_net_rule);
		HEAD_OF(CREDENTIALS, sbx_credential);
		HEAD_OF(LIMITS, sbx_limit_rule);
		HEAD_OF(PROCESS, sbx_process_rule);
		HEAD_OF(REQUIRE, sbx_require_rule);
		HEAD_OF(SLOTS, sbx_slot);
		HEAD_OF(SLURM, sbx_slurm_rule);
		HEAD_OF(ASSERTS, sbx_assert);
	default:
		return NULL;
	}
}

#define RENDER(id, type, function)                                                                 \
	case SBX_SEC_##id:                                                                         \
		function(&text, blob, SBX_AT(blob, id, type, index));                              \
		break

const char *render_rule(struct arena *arena, const struct sbx_blob *blob,
			enum sbx_section_id section, uint32_t index, unsigned calls)
{
	struct text text = { .arena = arena };

	switch (section) {
	case SBX_SEC_FS:
		render_fs(&text, blob, index);
		break;
	case SBX_SEC_SYS_STMTS:
		render_statement(&text, blob, index, calls);
		break;
		RENDER(PARAMS, sbx_param, render_param);
		RENDER(ENV, sbx_env_rule, render_env);
		RENDER(NET, sbx_net_rule, render_net);
		RENDER(CREDENTIALS, sbx_credential, render_credential);
		RENDER(LIMITS, sbx_limit_rule, render_limit);
		RENDER(PROCESS, sbx_process_rule, render_process);
		RENDER(REQUIRE, sbx_require_rule, render_require);
		RENDER(SLOTS, sbx_slot, render_slot);
		RENDER(SLURM, sbx_slurm_rule, render_slurm);
		RENDER(ASSERTS, sbx_assert, render_assert);
	default:
		BUG("not a section of rules");
	}
	return text_end(&text);
}

const char *render_digest(struct arena *arena, const struct sbx_blob *blob)
{
	struct text text = { .arena = arena };

	for (size_t i = 0; i < sizeof(blob->header->digest); i++)
		text_add(&text, "%02x", blob->header->digest[i]);
	return text_end(&text);
}

const char *render_places(struct arena *arena, const struct sbx_blob *blob, uint32_t loc)
{
	struct text text = { .arena = arena };
	char place[256];
	bool more = true;

	for (; more; loc++) {
		sbx_place(blob, loc, place, sizeof(place));
		text_add(&text, "%s%s", text.bytes.count ? ", " : "", place);
		more = loc != SBX_NONE && SBX_AT(blob, LOCS, sbx_loc, loc)->more;
	}
	return text_end(&text);
}
