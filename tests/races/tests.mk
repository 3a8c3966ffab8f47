# Races and kills; see tests/races/run.
CHECKS += check-races
RACERS := $(patsubst %,$(O)/tests/races-%,swap probe hold)
$(O)/tests/races-%: tests/races/%.c
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)gcc -std=c11 -D_GNU_SOURCE $(WARN) -O1 -static -o $@ $<

TEST_PROGRAMS += $(O)/sbxc $(O)/sbx-exec $(RACERS)
.PHONY: check-races
check-races: $(O)/sbxc $(O)/sbx-exec $(RACERS)
	$(Q)tests/races/run
