# The format: damage, versions, unknown sections, determinism, size.
CHECKS += check-blob

$(O)/tests/blob: $(call san,tests/blob/test_blob.c tests/lib/model.c tests/lib/sweep.c) \
		$(SAN_BASE) $(call san,$(EMIT) $(BLOB))
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(SAN_CFLAGS) -o $@ $^ -lseccomp

# The fuzzer asks a blob everything as well.
$(O)/fuzz/fuzz_blob $(O)/fuzz/fuzz_launch: $(O)/fuzz/tests/lib/sweep.o

.PHONY: check-blob
check-blob: $(O)/tests/blob $(O)/sbxc
	$(Q)tests/blob/run $^
