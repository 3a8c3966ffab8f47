# Twins: a policy that compiles and says what it decides, and one that does not.
# sbxc with sanitizers; in build/ itself, so that it knows this checkout's library.
SAN_SBXC := $(O)/sbxc-san
$(SAN_SBXC): $(SAN_LIB) $(call san,compiler/main.c)
	$(call say,LINK,$@)
	$(Q)$(CC) $(SAN_CFLAGS) -o $@ $^ -lseccomp

CHECKS += check-check
.PHONY: check-check
check-check: $(SAN_SBXC)
	$(Q)tests/check/run $(CURDIR)/$(SAN_SBXC)
