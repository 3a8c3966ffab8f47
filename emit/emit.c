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

		record.head = writer_head(writer, &param->head, 0);
		record.name = writer_string(writer, param->name);
		record.value = writer_tmpl(writer, param->value);
		record.under = writer_tmpl(writer, param->under);
		record.choice_first = writer_tmpls(writer, param->choices);
		record.choice_count = writer_u32(writer, param->choices.count, "choices");
		WRITER_ADD_RULE(writer, PARAMS, &record, &param->head);
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
		.net_mode_head = writer_head(writer, &policy->net_mode_head, 0),
		.sys_default = sys_default,
		.unbounded = policy->unbounded,
		.compiler = writer_string(writer, STR_LIT("sbxc " SBX_VERSION)),
	};

	WRITER_ADD(writer, META, &meta);
}

static void emit_sections(struct writer *writer, const struct policy *policy,
			  const struct programs *programs)
{
	uint32_t workspace, sys_default;

	emit_params(writer, policy);
	workspace = emit_files(writer, policy);
	emit_environment(writer, policy);
	sys_default = emit_syscalls(writer, policy, programs);
	emit_landlock(writer, policy);
	emit_network(writer, policy);
	emit_credentials(writer, policy);
	emit_limits(writer, policy);
	emit_slurm(writer, policy);
	emit_assertions(writer, policy);
	emit_meta(writer, policy, workspace, sys_default);
}

/* Twice: where a string goes depends on which others there are. */
const char *emit_policy(struct arena *arena, const struct policy *policy, bool strip,
			struct emitted *out)
{
	struct programs programs;
	struct strings strings = { .arena = arena };
	struct writer writer;

	for (unsigned arch = 0; arch < SBX_ARCH_COUNT; arch++) {
		const char *error =
		    emit_seccomp(arena, policy, (enum sbx_arch)arch, &programs.main[arch]);

		if (!error)
			error = emit_seccomp_shared(arena, policy, (enum sbx_arch)arch,
						    &programs.shared[arch]);
		if (error)
			return error;
	}
	writer_init(&writer, &strings, strip);
	emit_sections(&writer, policy, &programs);
	strings_lay_out(&strings);
	writer_init(&writer, &strings, strip);
	emit_sections(&writer, policy, &programs);
	return writer_finish(&writer, policy->kind, out);
}
