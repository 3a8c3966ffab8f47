# explain and dump: questions and all that is answered.
CHECKS += check-explain
.PHONY: check-explain
check-explain: $(SAN_SBXC)
	$(Q)O=$(abspath $(O)) tests/explain/run $(abspath $(SAN_SBXC))
