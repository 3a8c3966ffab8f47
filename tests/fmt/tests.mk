# `sbxc fmt`: exact layouts, what -w and --check do to a file, and all policies of the
# tree, as they are and with other blanks: the same blob, the same layout.
CHECKS += check-fmt
.PHONY: check-fmt
check-fmt: $(O)/sbxc
	$(Q)O=$(abspath $(O)) tests/fmt/run

# What is no policy, and random ones; `SEED=... CASES=1000` draws others, and more.
CHECKS += check-fmt-hostile
.PHONY: check-fmt-hostile
check-fmt-hostile: $(O)/sbxc $(O)/sbxc-san
	$(Q)tests/fmt/hostile $(O)/sbxc $(O)/sbxc-san
