# Criterion tests of single functions, nearly all in one program.
UNIT := $(O)/tests/unit/unit

# What a secret is looked for by: each block of it calls test_redact_paths.c.
TRACED := $(addprefix proxy/,redact.c redact_beginnings.c redact_start.c detect.c escape.c)
UNTRACED := $(filter-out proxy/main.c $(TRACED),$(PROXY)) $(CHAPERON_PURE)
$(O)/traced/%.o: %.c
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(SAN_CFLAGS) -fsanitize-coverage=trace-pc -MMD -MP -c -o $@ $<

$(UNIT): $(call san,$(wildcard tests/unit/test_*.c) tests/lib/model.c $(UNTRACED)) $(TRACED:%.c=$(O)/traced/%.o) $(SAN_LIB)
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(SAN_CFLAGS) -o $@ $^ -lcriterion -lseccomp $(PROXY_LIBS)

# By itself: the names of jansson and of compiler/json.c are the same.
UNIT_RECORD := $(O)/tests/unit/record
$(UNIT_RECORD): $(call san,tests/unit/record.c chaperon/record.c chaperon/record_jobs.c $(BLOB))
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(SAN_CFLAGS) -o $@ $^ -lcriterion $(CHAPERON_LIBS)

CHECKS += check-unit
.PHONY: check-unit
check-unit: $(UNIT) $(UNIT_RECORD)
	$(Q)tests/unit/run $^
