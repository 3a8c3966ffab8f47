# The launcher, run for real; see tests/e2e/run.
CHECKS += check-e2e

# The same launcher, told to take other programs for bubblewrap and firejail: the
# only way to give it one that lies.  Each run writes its own directory over the name.
FAKE_BACKENDS := /var/tmp/sbx-fake.XXXXXX
FAKE_OBJS := $(patsubst %.c,$(O)/tests/stub-fake/%.o,$(STUB) $(BLOB))
$(O)/tests/stub-fake/%.o: %.c tests/e2e/tests.mk
	@mkdir -p $(@D)
	$(Q)$(MUSL_CC) $(STUB_CFLAGS) -DSBX_START_SECONDS=2 -DSBX_BWRAP_PATH='"$(FAKE_BACKENDS)/bwrap"' \
		-DSBX_FIREJAIL_PATH='"$(FAKE_BACKENDS)/firejail"' -MMD -MP -c -o $@ $<
$(O)/tests/sbx-exec-fake: $(FAKE_OBJS)
	$(call say,LINK,$@)
	$(Q)$(call link_static_pie,$(FAKE_OBJS))

# The same on an older kernel, as far as Landlock goes: it admits no newer ABI than the
# environment's SBX_TEST_ABI.
ABI_OBJS := $(patsubst %.c,$(O)/tests/stub-abi/%.o,$(STUB) $(BLOB))
$(O)/tests/stub-abi/%.o: %.c
	@mkdir -p $(@D)
	$(Q)$(MUSL_CC) $(STUB_CFLAGS) -DSBX_TEST_ABI -MMD -MP -c -o $@ $<
$(O)/tests/sbx-exec-abi: $(ABI_OBJS)
	$(call say,LINK,$@)
	$(Q)$(call link_static_pie,$(ABI_OBJS))

# Probes, and the check of our constants against the system's headers.
E2E_PROBES := $(patsubst tests/e2e/%.c,$(O)/tests/e2e-%,$(wildcard tests/e2e/*.c))
$(O)/tests/e2e-%: tests/e2e/%.c stub/uapi.h
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)gcc -std=c11 -D_GNU_SOURCE -I. $(WARN) -O1 -static -o $@ $<

TEST_PROGRAMS += $(O)/tests/sbx-exec-fake $(O)/tests/sbx-exec-abi $(O)/tests/sbx-exec-without-pattern $(E2E_PROBES)
.PHONY: check-e2e
check-e2e: $(O)/sbxc $(O)/sbx-exec $(O)/tests/sbx-exec-fake $(O)/tests/sbx-exec-abi $(O)/tests/sbx-exec-without-pattern $(E2E_PROBES)
	$(Q)tests/e2e/run
