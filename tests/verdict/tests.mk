# What decides: cases, and random rule sets against a second implementation.
CHECKS += check-verdict
VERDICT_OBJS := $(call san,tests/lib/model.c) $(SAN_BASE) $(call san,$(EMIT) $(BLOB))

$(O)/tests/verdict-cases: $(call san,tests/verdict/test_verdict.c) $(VERDICT_OBJS)
$(O)/tests/verdict-driver: $(call san,tests/verdict/driver.c) $(VERDICT_OBJS)
$(O)/tests/verdict-cases $(O)/tests/verdict-driver:
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(SAN_CFLAGS) -o $@ $^ -lseccomp

.PHONY: check-verdict
check-verdict: $(O)/tests/verdict-cases $(O)/tests/verdict-driver
	$(Q)tests/verdict/run $^
