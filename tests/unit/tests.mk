# Criterion tests of single functions, all in one program.
UNIT := $(O)/tests/unit/unit
$(UNIT): $(call san,$(wildcard tests/unit/test_*.c) $(filter-out proxy/main.c,$(PROXY)) $(CHAPERON_PURE)) $(SAN_LIB)
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(SAN_CFLAGS) -o $@ $^ -lcriterion -lseccomp $(PROXY_LIBS)

CHECKS += check-unit
.PHONY: check-unit
check-unit: $(UNIT)
	$(Q)tests/unit/run $<
