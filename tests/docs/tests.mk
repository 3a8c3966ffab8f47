# The documents say what is true: every policy in them compiles, the manual
# pages are well formed, and each option of --help is in its page.
CHECKS += check-docs
.PHONY: check-docs
check-docs: $(O)/sbxc $(O)/sbx-exec
	$(Q)O=$(O) tests/docs/run
