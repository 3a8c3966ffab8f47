# sbx-proxy alone, driven over its wire: see proxy/run.
CHECKS += check-proxy
.PHONY: check-proxy
check-proxy: $(O)/sbxc $(O)/sbx-proxy
	$(Q)O=$(abspath $(O)) tests/egress/proxy/run
