# Slurm: what sbx-chaperon makes of a command line and a script, beside what the real
# clients make of them, on a cluster of this machine's own.
SLURM_READER := $(O)/tests/slurm/reader
$(SLURM_READER): $(call san,tests/slurm/reader.c $(CHAPERON_PURE) $(BLOB))
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(SAN_CFLAGS) -o $@ $^
SLURM_CHAPERON := $(O)/tests/slurm/sbx-chaperon
$(SLURM_CHAPERON): $(call san,tests/slurm/sanitized.c $(CHAPERON) $(BLOB))
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(SAN_CFLAGS) -o $@ $^ $(CHAPERON_LIBS) -lutil

CHECKS += check-slurm
.PHONY: check-slurm
check-slurm: all $(SLURM_READER) $(SLURM_CHAPERON)
	$(Q)O=$(O) tests/slurm/run
