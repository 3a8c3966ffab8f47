# explain and dump: questions and all that is answered.
CHECKS += check-explain
.PHONY: check-explain
check-explain: $(SAN_SBXC)
	$(Q)tests/explain/run $(abspath $(SAN_SBXC))
