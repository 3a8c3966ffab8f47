# sbxc install: what is written, what is refused, an old blob.
CHECKS += check-init
.PHONY: check-init
check-init: $(SAN_SBXC)
	$(Q)tests/init/install $(abspath $(SAN_SBXC))
