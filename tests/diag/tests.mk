# Policies that do not compile, and all that is said of them; tests/lex has
# those that cannot even be read.  lib/ holds the modules they import.
CHECKS += check-diag
.PHONY: check-diag
check-diag: $(O)/sbxc-san
	$(Q)O=$(O) COVERS=CIAE tests/golden diag err 1 $(CURDIR)/tests/diag/sbxc $(CURDIR)/$(O)/sbxc-san
