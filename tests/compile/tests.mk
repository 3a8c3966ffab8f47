# The command itself: where the blob goes, what it is made of, exit statuses.
CHECKS += check-compile
.PHONY: check-compile
check-compile: $(O)/sbxc $(O)/sbxc-san
	$(Q)tests/compile/run $(CURDIR)/$(O)/sbxc $(CURDIR)/$(O)/sbxc-san
