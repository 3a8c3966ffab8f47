# Which folder may include which: the pipeline points one way.
CHECKS += check-layout
.PHONY: check-layout
check-layout:
	$(Q)tests/layout/run
