# Policies that do not compile, and all that is said of them; tests/lex has
# those that cannot even be read.  lib/ holds the modules they import.
SAN_SBXC := $(O)/sbxc-san
$(SAN_SBXC): $(SAN_LIB) $(call san,compiler/main.c)
	$(call say,LINK,$@)
	$(Q)$(CC) $(SAN_CFLAGS) -o $@ $^ -lseccomp

CHECKS += check-diag
.PHONY: check-diag
check-diag: $(SAN_SBXC)
	$(Q)O=$(O) COVERS=CIAE tests/golden diag err 1 $(CURDIR)/tests/diag/sbxc $(CURDIR)/$(SAN_SBXC)
