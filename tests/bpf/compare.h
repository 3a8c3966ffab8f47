/*
 * tests/bpf/compare.h - the programs of a blob against its own tables.
 */
#ifndef SBX_TESTS_BPF_COMPARE_H
#define SBX_TESTS_BPF_COMPARE_H

#include "blob/verdict.h"

/*
 * Runs each program for every number up to 1023, x32 numbers, odd ones and the
 * main ones for foreign architectures, with arguments around every value a
 * condition mentions, and compares each answer with sbx_sys_decide() or
 * sbx_sys_decide_shared().  Prints the first differences; returns how many
 * there were and adds up the runs in *runs.
 */
unsigned compare_programs(const struct sbx_blob *blob, const char *name, unsigned long *runs);

/* The second programs of a policy without a network that imports std/syscalls and
 * allows what ordinary programs use; prints and counts what they answer wrong. */
unsigned check_shared(const struct sbx_blob *blob);

/* Prints how far the calls that programs make most are from their answer;
 * returns the most comparisons any of them took on its native architecture. */
unsigned print_depths(const struct sbx_blob *blob, const char *name);

#endif
