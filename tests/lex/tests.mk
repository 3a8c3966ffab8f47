# Texts that are no policy, and all that is said of them.
CHECKS += check-lex
.PHONY: check-lex
check-lex: $(PARSE_DUMP)
	$(Q)O=$(O) COVERS=P tests/golden lex err 1 $(CURDIR)/$(PARSE_DUMP)
