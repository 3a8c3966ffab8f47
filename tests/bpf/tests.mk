# The seccomp programs against the verdict function, and the shipped policies'.
CHECKS += check-bpf
TEST_LIB := $(call san,tests/lib/model.c tests/lib/sim.c)
SAN_EMIT := $(SAN_BASE) $(call san,$(EMIT) $(BLOB))

$(O)/tests/bpf: $(call san,tests/bpf/test_bpf.c tests/bpf/compare.c tests/bpf/shared.c) $(TEST_LIB) $(SAN_EMIT)
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(SAN_CFLAGS) -o $@ $^ -lseccomp

.PHONY: check-bpf
check-bpf: $(O)/tests/bpf $(O)/sbxc
	@mkdir -p $(O)/bpf
	$(Q)for policy in policies/*/*.pol; do \
		$(O)/sbxc $$policy -o $(O)/bpf/$$(basename $$policy .pol).sbx || exit 1; \
	done
	$(Q)$(O)/tests/bpf $(O)/bpf/*.sbx
