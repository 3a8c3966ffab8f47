# The launcher under other kernels: tests/kernels/run.
CHECKS += check-kernels

$(O)/tests/kernels-probe: tests/kernels/probe.c
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)gcc -std=c11 -D_GNU_SOURCE $(WARN) -O1 -static -o $@ $<

.PHONY: check-kernels
check-kernels: $(O)/sbxc $(O)/sbx-exec $(O)/tests/kernels-probe
	$(Q)tests/kernels/run
