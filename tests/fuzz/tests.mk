# libFuzzer targets: fuzz_NAME.c, with a first corpus in corpus/NAME/ and, where
# there is one, a dictionary NAME.dict.  `make fuzz TIME=600` runs each so many
# seconds and keeps what it finds in build/fuzz-corpus/NAME/; check-fuzz is a
# short run of the same.
TIME ?= 60
FUZZERS := $(patsubst tests/fuzz/fuzz_%.c,%,$(wildcard tests/fuzz/fuzz_*.c))

$(O)/fuzz/fuzz_%: $(O)/fuzz/tests/fuzz/fuzz_%.o $(call fuzzed,$(SAN_LIB))
	$(call say,LINK,$@)
	$(Q)$(FUZZ_CC) $(SAN) -fsanitize=fuzzer -o $@ $^ -lseccomp
.PRECIOUS: $(O)/fuzz/tests/fuzz/%.o

.PHONY: fuzz
fuzz: $(FUZZERS:%=$(O)/fuzz/fuzz_%)
	$(Q)O=$(O) tests/fuzz/run $(TIME) $(FUZZERS)

CHECKS += check-fuzz
.PHONY: check-fuzz
check-fuzz: $(FUZZERS:%=$(O)/fuzz/fuzz_%)
	$(Q)O=$(O) tests/fuzz/run 10 $(FUZZERS)
