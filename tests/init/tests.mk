# sbxc install: what is written and refused, an old blob.
CHECKS += check-install
.PHONY: check-install
check-install: $(SAN_SBXC)
	$(Q)tests/init/install $(abspath $(SAN_SBXC))

# sbxc init: what is found, and that what is written starts.
CHECKS += check-init
.PHONY: check-init
check-init: $(SAN_SBXC) $(O)/sbx-exec
	$(Q)tests/init/run $(abspath $(SAN_SBXC))
