# Texts that are no policy, and all that is said of them.
CHECKS += check-lex
.PHONY: check-lex
check-lex: $(O)/tests/parse-dump
	$(Q)O=$(O) COVERS=P tests/golden lex err 1 $(CURDIR)/$(O)/tests/parse-dump
