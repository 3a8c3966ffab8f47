# Attacks on each backend; see tests/escape/README.md.
CHECKS += check-escape
ATTACKS := $(patsubst tests/escape/%/attack.c,$(O)/tests/escape-%,$(wildcard tests/escape/*/attack.c))
$(O)/tests/escape-%: tests/escape/%/attack.c $(wildcard tests/escape/*.h)
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)gcc -std=c11 -D_GNU_SOURCE -I. $(WARN) -O1 -static -pthread -o $@ $<

# BLESS=1: docs/attacks.md anew.
.PHONY: check-escape
check-escape: $(O)/sbxc $(O)/sbx-exec $(ATTACKS)
	$(Q)$(if $(BLESS),tests/escape/run --markdown >docs/attacks.md)
	$(Q)tests/escape/run
