# Each check of `sbxc lint`: a bad twin with its exact findings, a good twin
# without any, and the shipped policies.
CHECKS += check-lint
.PHONY: check-lint
check-lint: $(O)/sbxc
	$(Q)O=$(abspath $(O)) tests/lint/run
