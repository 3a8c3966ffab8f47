/*
 * emit/emit.c - the model as bytes: which sections, in which order.
 *
 * Nothing here depends on the machine, the time, or the order of statements
 * in the source but for the line numbers in LOCS.
 */
#include "emit/emit.h"

#include "emit/parts.h"

/* In the order of declaration: it is the index that templates refer to. */
static void emit_params(struct writer *writer, const struct policy *policy)
{
	for (size_t i = 0; i < policy->params.count; i++) {
		const struct param *param = &policy->params.items[i];
		struct sbx_param record = { .type = param->type, .max = param->max };

		record.head = writer_head(writer, &param->head);
		record.name = writer_string(writer, param->name);
		record.value = writer_tmpl(writer, param->value);
		record.under = writer_tmpl(writer, param->under);
		record.choice_first = writer_tmpls(writer, param->choices);
		record.choice_count = writer_u32(writer, param->choices.count, "choices");
		WRITER_ADD(writer, PARAMS, &record);
	}
	if (policy->params.count > SBX_PARAM_MAX && !writer->error)
		writer->error = arena_printf(writer->arena, "more than %d params", SBX_PARAM_MAX);
}

static void emit_meta(struct writer *writer, const struct policy *policy, uint32_t workspace,
		      uint32_t sys_default)
{
	struct sbx_meta meta = {
		.name = writer_string(writer, policy->name),
		.summary = writer_string_opt(writer, policy->summary),
		.workspace = writer_tmpl(writer, policy->workspace),
		.workspace_rule = workspace,
		.command_first = writer_tmpls(writer, policy->command),
		.command_count = writer_u32(writer, policy->command.count, "command"),
		.net_mode = policy->net_mode,
		.net_mode_head = writer_head(writer, &policy->net_mode_head),
		.sys_default = sys_default,
		.unbounded = policy->unbounded,
		.compiler = writer_string(writer, STR_LIT("sbxc " SBX_VERSION)),
	};

	WRITER_ADD(writer, META, &meta);
}

const char *emit_policy(struct arena *arena, const struct policy *policy, bool strip,
			struct emitted *out)
{
	struct writer writer;
	uint32_t workspace, sys_default;

	writer_init(&writer, arena, strip);
	emit_params(&writer, policy);
	workspace = emit_files(&writer, policy);
	emit_environment(&writer, policy);
	sys_default = emit_syscalls(&writer, policy);
	emit_landlock(&writer, policy);
	emit_network(&writer, policy);
	emit_credentials(&writer, policy);
	emit_limits(&writer, policy);
	emit_slurm(&writer, policy);
	emit_assertions(&writer, policy);
	emit_meta(&writer, policy, workspace, sys_default);
	return writer_finish(&writer, policy->kind, out);
}
