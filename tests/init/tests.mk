# sbxc install: what is written and refused, an old blob.
CHECKS += check-install
.PHONY: check-install
check-install: $(SAN_SBXC)
	$(Q)tests/init/install $(abspath $(SAN_SBXC))
