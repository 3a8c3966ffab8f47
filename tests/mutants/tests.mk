# `sbxc prove` against launchers that do not enforce one thing of the policy.
CHECKS += check-mutants
$(O)/tests/mutant: $(call obj,tests/mutants/mutant.c tests/mutants/calls.c tests/lib/sim.c) $(SBXC_LIB_OBJS)
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) $(HARDEN_LD) -o $@ $^ -lseccomp
TEST_PROGRAMS += $(O)/tests/mutant

.PHONY: check-mutants
check-mutants: $(O)/sbxc $(O)/sbx-exec $(O)/sbx-probe $(O)/sbx-proxy $(O)/tests/mutant
	$(Q)tests/mutants/run --seed $(or $(SEED),21)
