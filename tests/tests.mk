# The tests: see tests/README.md.  One fragment a kind, so that each names its
# own parts.  Test programs are built from objects with sanitizers, under
# build/san/ (gcc) and build/fuzz/ (clang).
SAN := -fsanitize=address,undefined -fno-sanitize-recover=all
SAN_CFLAGS := -std=c11 -D_GNU_SOURCE -DSBX_VERSION='"$(VERSION)"' -I. -I$(O) $(WARN) -O1 -g $(SAN)
FUZZ_CC ?= clang
FUZZ_CFLAGS := $(SAN_CFLAGS) -fsanitize=fuzzer-no-link

san = $(patsubst %.c,$(O)/san/%.o,$(1))
SAN_BASE := $(call san,$(BASE))
SAN_GRAMMAR := $(call san,$(GRAMMAR)) $(O)/san/grammar/parser.o $(O)/san/grammar/lexer.o
SAN_LIB := $(SAN_BASE) $(SAN_GRAMMAR) $(call san,$(IR) $(EMIT) $(BLOB) $(CHAPERON_PURE)) \
	$(call san,$(filter-out compiler/main.c,$(COMPILER)) $(PROVE))
fuzzed = $(patsubst $(O)/san/%,$(O)/fuzz/%,$(1))

$(SAN_GRAMMAR) $(call fuzzed,$(SAN_GRAMMAR)): $(O)/grammar/parser.h
$(O)/san/%.o: %.c
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(SAN_CFLAGS) -MMD -MP -c -o $@ $<
$(O)/san/grammar/%.o: $(O)/grammar/%.c
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(SAN_CFLAGS) -Wno-error -w -MMD -MP -c -o $@ $<
$(O)/fuzz/%.o: %.c
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(FUZZ_CC) $(FUZZ_CFLAGS) -MMD -MP -c -o $@ $<
$(O)/fuzz/grammar/%.o: $(O)/grammar/%.c
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(FUZZ_CC) $(FUZZ_CFLAGS) -Wno-error -w -MMD -MP -c -o $@ $<

-include $(wildcard tests/*/tests.mk)

# `make check` runs several kinds at a time (run-checks).  These take longest, the last of
# them most: one of the lanes begins with it.
SLOW_CHECKS := check-slurm check-races check-egress check-agree check-proxy check-faults check-fuzz check-e2e
# These have the machine to themselves: escape compares it with what it was, and kernels
# boots as many as there are at the same time.
ALONE_CHECKS := check-kernels check-escape

# `make BUILD_ONLY=1 check-KIND` builds what that kind runs, and runs nothing.
ifdef BUILD_ONLY
$(CHECKS): private SHELL := /bin/true
endif

# What tests/KIND/run starts, for who runs it by itself.
.PHONY: test-programs
test-programs: $(TEST_PROGRAMS)
