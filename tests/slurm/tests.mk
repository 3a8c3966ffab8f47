# Slurm: what sbx-chaperon makes of a command line and a script, beside what the real
# clients make of them, on a cluster of this machine's own.
SLURM_READER := $(O)/tests/slurm/reader
$(SLURM_READER): $(call san,tests/slurm/reader.c $(CHAPERON_PURE) $(BLOB))
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(SAN_CFLAGS) -o $@ $^

CHECKS += check-slurm
.PHONY: check-slurm
check-slurm: all $(SLURM_READER)
	$(Q)O=$(O) tests/slurm/run
