/*
 * tests/mutants/calls.c - a mutant that answers every call alike is none.
 *
 * A filter compares words of a call's number and arguments, after a mask, with
 * constants.  Two values of a word that all these comparisons see alike get the same
 * answer, so that one value of each kind stands for the rest: for each comparison the
 * constant, what lies beside it, and each of these under every other mask.  All
 * combinations of them are run through the programs of both blobs.
 */
#include "tests/mutants/calls.h"

#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "blob/bpf.h"
#include "tests/lib/sim.h"

#define WORDS      (SBX_DATA_SIZE / 4)
#define PROGRAMS   4
#define VALUES_MAX 400 /* of a word */
#define RUNS_MAX   20000000

struct words {
	VEC_OF(uint32_t)
};
struct program {
	const struct sbx_bpf *insns;
	uint32_t count;
};
struct calls {
	struct arena *arena;
	struct program programs[PROGRAMS]; /* first and second of one blob, then of the other */
	struct words values[WORDS], masks[WORDS];
	unsigned long runs;
	uint8_t *seen; /* by instruction and word */
};

static void add(struct calls *c, struct words *words, uint32_t value)
{
	for (size_t i = 0; i < words->count; i++)
		if (words->items[i] == value)
			return;
	*VEC_PUSH(c->arena, words) = value;
}

/* Values of @word for which (value & mask) ^ turned is at and beside @k. */
static void add_border(struct calls *c, unsigned word, uint32_t mask, uint32_t turned, uint32_t k)
{
	add(c, &c->masks[word], mask);
	for (int beside = -1; beside <= 1; beside++)
		add(c, &c->values[word], ((k + (uint32_t)beside) ^ turned) & mask);
	add(c, &c->values[word], ~(k ^ turned) & mask);
}

/* All that may be compared from @pc on, where the number is @nr; @word is loaded. */
static void collect(struct calls *c, const struct program *program, uint32_t pc, unsigned word,
		    uint32_t mask, uint32_t turned, const struct sim_data *call)
{
	for (; pc < program->count; pc++) {
		const struct sbx_bpf *insn = &program->insns[pc];

		switch (insn->code) {
		case SBX_BPF_LOAD:
			word = insn->k / 4;
			mask = UINT32_MAX;
			turned = 0;
			continue;
		case SBX_BPF_AND:
			mask &= insn->k;
			continue;
		case SBX_BPF_XOR:
			turned ^= insn->k;
			continue;
		case SBX_BPF_JA:
			pc += insn->k;
			continue;
		case SBX_BPF_RET:
			return;
		}
		if (word < SBX_DATA_ARG(0) / 4) { /* the number or the architecture: known */
			uint32_t a = (word ? call->arch : call->nr) & mask;
			bool taken = insn->code == SBX_BPF_JEQ   ? a == insn->k
				     : insn->code == SBX_BPF_JGT ? a > insn->k
				     : insn->code == SBX_BPF_JGE ? a >= insn->k
								 : (a & insn->k) != 0;

			pc += taken ? insn->jt : insn->jf;
			continue;
		}
		if (c->seen[pc * WORDS + word]++)
			return;
		add_border(c, word, mask, turned, insn->k);
		collect(c, program, pc + 1 + insn->jt, word, mask, turned, call);
		pc += insn->jf;
	}
}

/* Each value under each mask, and another one beside it. */
static bool cross(struct calls *c, unsigned word)
{
	const size_t count = c->values[word].count;

	for (size_t m = 0; m < c->masks[word].count; m++)
		for (size_t i = 0; i < count; i++)
			for (size_t n = 0; n < count; n++)
				add(c, &c->values[word],
				    (c->values[word].items[i] & c->masks[word].items[m]) |
					(c->values[word].items[n] & ~c->masks[word].items[m]));
	return c->values[word].count <= VALUES_MAX;
}

/* What the kernel makes of one blob's programs: the stricter action, and of two errors
 * either, so these stand in no order. */
struct outcome {
	int32_t action;
	uint32_t least, most;
};

static struct outcome outcome_of(const struct program programs[2], const struct sim_data *call)
{
	struct outcome out = { INT32_MAX, UINT32_MAX, 0 };

	for (unsigned i = 0; i < 2; i++) {
		uint32_t answer = programs[i].count
				      ? sim_run(programs[i].insns, programs[i].count, call).answer
				      : SBX_RET_ALLOW;
		int32_t action = (int32_t)(answer & SBX_RET_ACTION);
		uint32_t error = answer & SBX_RET_DATA;

		if (action < out.action)
			out = (struct outcome){ action, error, error };
		else if (action == out.action)
			out = (struct outcome){ action, error < out.least ? error : out.least,
						error > out.most ? error : out.most };
	}
	return out;
}

static bool answers_alike(struct calls *c, const struct sim_data *call)
{
	struct outcome one = outcome_of(c->programs, call), two = outcome_of(c->programs + 2, call);

	c->runs++;
	return one.action == two.action && one.least == two.least && one.most == two.most;
}

/* With every combination of the values from @word on. */
static bool same_from(struct calls *c, struct sim_data *call, unsigned word)
{
	uint32_t *at = (uint32_t *)(void *)call + word;

	while (word < WORDS && !c->values[word].count)
		word++, at++;
	if (word == WORDS)
		return answers_alike(c, call);
	for (size_t i = 0; i < c->values[word].count; i++) {
		*at = c->values[word].items[i];
		if (c->runs > RUNS_MAX || !same_from(c, call, word + 1))
			return false;
	}
	*at = 0;
	return true;
}

static bool same_call(struct calls *c, uint32_t nr, uint32_t arch)
{
	struct sim_data call = { .nr = nr, .arch = arch };

	memset(c->values, 0, sizeof(c->values));
	memset(c->masks, 0, sizeof(c->masks));
	for (unsigned i = 0; i < PROGRAMS; i++) {
		const struct program *program = &c->programs[i];

		c->seen = arena_array(c->arena, (size_t)(program->count + 1) * WORDS, 1);
		collect(c, program, 0, 0, UINT32_MAX, 0, &call);
	}
	for (unsigned word = 0; word < WORDS; word++)
		if (!cross(c, word))
			return false;
	return same_from(c, &call, SBX_DATA_ARG(0) / 4);
}

bool same_calls(struct arena *arena, const struct sbx_blob blobs[2], bool both)
{
	static const uint32_t arches[] = { SBX_AUDIT_X86_64, SBX_AUDIT_AARCH64 };
	struct calls c = { .arena = arena };
	struct words numbers = { 0 };
	bool same = true;

	for (unsigned i = 0; i < PROGRAMS; i++) {
		const struct sbx_blob *blob = &blobs[i / 2];
		unsigned id = i % 2 ? SBX_SEC_BPF_SHARED_X86_64 : SBX_SEC_BPF_X86_64;

		if (!(i % 2) || both)
			c.programs[i] =
			    (struct program){ blob->section[id].records, blob->section[id].count };
	}
	/* Whatever a number is compared with stands among the constants. */
	for (unsigned i = 0; i < PROGRAMS; i++)
		for (uint32_t n = 0; n < c.programs[i].count; n++)
			for (int beside = -1; beside <= 1; beside++)
				add(&c, &numbers, c.programs[i].insns[n].k + (uint32_t)beside);
	for (size_t i = 0; same && i < numbers.count; i++)
		for (size_t n = 0; same && n < 2; n++)
			same = same_call(&c, numbers.items[i], arches[n]);
	return same;
}
