# `sbxc explain` and the kernel: random policies, and random things tried inside of them.
CHECKS += check-agree
$(O)/tests/agree-ask: $(call san,tests/agree/ask.c) $(SAN_LIB)
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(SAN_CFLAGS) -o $@ $^ -lseccomp
TEST_PROGRAMS += $(O)/sbxc $(O)/sbx-exec $(O)/sbx-probe $(O)/tests/agree-ask

.PHONY: check-agree
check-agree: $(O)/sbxc $(O)/sbx-exec $(O)/sbx-probe $(O)/tests/agree-ask
	$(Q)tests/agree/run --seed $(or $(SEED),31337)
