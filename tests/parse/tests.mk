PARSE_DUMP := $(O)/tests/parse-dump
$(PARSE_DUMP): $(call san,tests/parse/parse-dump.c) $(SAN_BASE) $(SAN_GRAMMAR)
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(SAN_CFLAGS) -o $@ $^
