/*
 * tests/lib/sim.h - a seccomp program run by hand.
 */
#ifndef SBX_TESTS_LIB_SIM_H
#define SBX_TESTS_LIB_SIM_H

#include "blob/blob.h"
#include "blob/bpf.h"

struct sim_data { /* struct seccomp_data of linux/seccomp.h */
	uint32_t nr, arch;
	uint64_t ip, args[6];
};
struct sim_result {
	uint32_t answer;
	unsigned steps, branches; /* executed; branches are conditional jumps */
};
/* Ends the program where the kernel's interpreter could not go on. */
struct sim_result sim_run(const struct sbx_bpf *insns, uint32_t count, const struct sim_data *data);

#endif
