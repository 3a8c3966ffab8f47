# A policy and its syntax tree; tests/lex has those that do not parse.
PARSE_DUMP := $(O)/tests/parse-dump
$(PARSE_DUMP): $(call san,tests/parse/parse-dump.c) $(SAN_BASE) $(SAN_GRAMMAR)
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(SAN_CFLAGS) -o $@ $^

CHECKS += check-parse
.PHONY: check-parse
check-parse: $(PARSE_DUMP)
	$(Q)O=$(O) tests/golden parse ast 0 $(CURDIR)/$(PARSE_DUMP)
