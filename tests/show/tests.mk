# sbxc show: the picture on a terminal, the page, and what both do with hostile names.
CHECKS += check-show
.PHONY: check-show
check-show: $(SAN_SBXC)
	$(Q)tests/show/run $(abspath $(SAN_SBXC))
