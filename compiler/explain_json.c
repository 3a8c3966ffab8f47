/*
 * compiler/explain_json.c - sbxc explain --format json: for programs, one object on a line.
 */
#include <stdio.h>

#include "compiler/explain.h"
#include "compiler/json.h"
#include "compiler/render.h"

static void print_member(const char *name, const char *text)
{
	printf(",\"%s\":", name);
	json_string(stdout, str_from(text));
}

static void print_list(const char *name, const char *const *items, size_t count)
{
	printf(",\"%s\":[", name);
	for (size_t i = 0; i < count; i++) {
		if (i)
			putchar(',');
		json_string(stdout, str_from(items[i]));
	}
	putchar(']');
}

static void print_rule(const struct question *question, const struct answer *answer)
{
	const struct sbx_head *head;

	if (answer->rule == SBX_NONE) {
		if (answer->nobody)
			print_member("because", answer->nobody);
		return;
	}
	if (answer->rule == SBX_RULE_SELF && answer->section == SBX_SEC_FS) {
		print_member("because", "sbx itself");
		return;
	}
	head = render_head(question->blob, answer->section, answer->rule);
	print_member("rule", answer->by ? answer->by
					: render_rule(question->arena, question->blob,
						      answer->section, answer->rule, 0));
	if (head->loc != SBX_NONE)
		print_member("place", render_places(question->arena, question->blob, head->loc));
}

void explain_print_json(const struct question *question, const struct answer *answer,
			const struct remedy *remedy)
{
	printf("{\"action\":");
	json_string(stdout, str_from(question->action));
	print_member("object", answer->object);
	print_member("verdict", answer->says      ? answer->says
				: answer->allowed ? "allowed"
						  : "refused");
	if (answer->how)
		print_member("how", answer->how);
	print_rule(question, answer);
	print_list("if", answer->conditions.items, answer->conditions.count);
	print_list("notes", answer->notes.items, answer->notes.count);
	print_list("heldBy", answer->held.items, answer->held.count);
	if (remedy) {
		print_list("add", remedy->add.items, remedy->add.count);
		if (remedy->add.count)
			print_member("section", remedy->section);
		print_list("seals", remedy->seals.items, remedy->seals.count);
		print_list("remarks", remedy->notes.items, remedy->notes.count);
	}
	puts("}");
}
