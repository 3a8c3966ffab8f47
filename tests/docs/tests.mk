# The manual pages are well formed, and each option of --help is in its page.
# That the policies in documents compile, tests/check sees.
CHECKS += check-docs
.PHONY: check-docs
check-docs: $(O)/sbxc $(O)/sbx-exec
	$(Q)O=$(O) tests/docs/run
