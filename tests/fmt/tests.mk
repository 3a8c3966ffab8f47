# `sbxc fmt`: exact layouts, what -w and --check do to a file, and all policies of the
# tree, as they are and with other blanks: the same blob, the same layout.
CHECKS += check-fmt
.PHONY: check-fmt
check-fmt: $(O)/sbxc
	$(Q)O=$(abspath $(O)) tests/fmt/run
