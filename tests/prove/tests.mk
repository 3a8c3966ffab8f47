# `sbxc prove` against the kernel: what is shipped holds, what is broken on purpose
# is found, and nothing is left behind.
CHECKS += check-prove
BROKEN := landlock seccomp broker mask-unverified
.PHONY: check-prove
check-prove: $(O)/sbxc $(O)/sbx-exec $(O)/sbx-probe $(O)/sbx-proxy $(BROKEN:%=$(O)/tests/sbx-exec-without-%)
	$(Q)tests/prove/run
