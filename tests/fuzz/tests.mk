# libFuzzer targets: fuzz_NAME.c, with a first corpus in corpus/NAME/ and, where
# there is one, a dictionary NAME.dict.  `make fuzz TIME=600` runs each so many
# seconds and keeps what it finds in build/fuzz-corpus/NAME/; check-fuzz is a
# short run of the same.
TIME ?= 60
FUZZERS := $(patsubst tests/fuzz/fuzz_%.c,%,$(wildcard tests/fuzz/fuzz_*.c))

# The launcher is made for musl, and ends where it refuses: see launcher.h.  In an
# archive, so that a target may include a file of it, or take the place of one.
FUZZ_STUB := $(patsubst %.c,$(O)/fuzz/%.o,$(filter-out stub/main.c stub/mem.c,$(STUB)))
$(O)/fuzz/stub/%.o: FUZZ_CFLAGS += -include tests/fuzz/launcher.h
$(O)/fuzz/launcher.a: $(O)/fuzz/tests/fuzz/launcher.o $(FUZZ_STUB) $(call fuzzed,$(call san,$(BLOB)))
	$(call say,AR,$@)
	$(Q)rm -f $@ && ar rc $@ $^
$(O)/fuzz/compiler.a: $(call fuzzed,$(SAN_LIB))
	$(call say,AR,$@)
	$(Q)rm -f $@ && ar rc $@ $^
$(O)/fuzz/proxy.a: $(call fuzzed,$(call san,$(filter-out proxy/main.c,$(PROXY))))
	$(call say,AR,$@)
	$(Q)rm -f $@ && ar rc $@ $^
$(O)/fuzz/chaperon.a: $(call fuzzed,$(call san,$(CHAPERON_PURE)))
	$(call say,AR,$@)
	$(Q)rm -f $@ && ar rc $@ $^
$(O)/fuzz/fuzz_%: $(O)/fuzz/tests/fuzz/fuzz_%.o $(O)/fuzz/chaperon.a $(O)/fuzz/proxy.a $(O)/fuzz/launcher.a $(O)/fuzz/compiler.a
	$(call say,LINK,$@)
	$(Q)$(FUZZ_CC) $(SAN) -fsanitize=fuzzer -o $@ $(filter %.o,$^) $(filter %.a,$^) $(PROXY_LIBS) -lhttp_parser
$(O)/fuzz/fuzz_slurm: | $(O)/sbxc
.PRECIOUS: $(O)/fuzz/%.o

.PHONY: fuzz
fuzz: $(FUZZERS:%=$(O)/fuzz/fuzz_%)
	$(Q)O=$(O) tests/fuzz/run $(TIME) $(FUZZERS)

CHECKS += check-fuzz
.PHONY: check-fuzz
check-fuzz: $(FUZZERS:%=$(O)/fuzz/fuzz_%)
	$(Q)O=$(O) tests/fuzz/run 3 $(FUZZERS)
