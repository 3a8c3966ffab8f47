# diff and check: pairs of policies with all that is said of them, and random pairs of
# which no difference may be missed.
CHECKS += check-diff
$(O)/tests/diff-random: $(call san,tests/diff/random.c tests/diff/random_pairs.c tests/lib/model.c) $(SAN_LIB)
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(SAN_CFLAGS) -o $@ $^ -lseccomp

.PHONY: check-diff
check-diff: $(O)/sbxc $(O)/tests/diff-random
	$(Q)O=$(abspath $(O)) tests/diff/run
