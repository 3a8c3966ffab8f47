# Attacks on each backend; see tests/escape/README.md.
CHECKS += check-escape
ATTACKS := $(patsubst tests/escape/%/attack.c,$(O)/tests/escape-%,$(wildcard tests/escape/*/attack.c))
$(O)/tests/escape-%: tests/escape/%/attack.c $(wildcard tests/escape/*.h)
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)gcc -std=c11 -D_GNU_SOURCE -I. $(WARN) -O1 -static -pthread -o $@ $<

# The launcher without one of its layers each: the files that differ, with what they
# leave out.  With the masks left out it starts nothing, since it verifies them; so
# there is one more that does not even look.
WITHOUT_landlock := landlock
WITHOUT_seccomp := program
WITHOUT_broker := broker_filter
WITHOUT_mask := masks firejail_profile
WITHOUT_pattern := patterns
WITHOUT_mask-unverified := $(WITHOUT_mask) verify firejail_verify
LAYERS := landlock seccomp broker mask mask-unverified
DEFINE_mask-unverified := -DSBX_TEST_WITHOUT_MASK -DSBX_TEST_UNVERIFIED
define launcher_without
$(O)/tests/without-$(1)/%.o: stub/%.c
	@mkdir -p $$(@D)
	$$(Q)$$(MUSL_CC) $$(STUB_CFLAGS) -Wno-unused $(2) -MMD -MP -c -o $$@ $$<
$(O)/tests/sbx-exec-without-$(1): $(WITHOUT_$(1):%=$(O)/tests/without-$(1)/%.o) \
		$(filter-out $(WITHOUT_$(1):%=$(O)/stub-obj/stub/%.o),$(STUB_OBJS))
	$$(call say,LINK,$$@)
	$$(Q)$$(call link_static_pie,$$^)
endef
$(foreach layer,$(LAYERS) pattern,$(eval $(call launcher_without,$(layer),$(or $(DEFINE_$(layer)), \
	-DSBX_TEST_WITHOUT_$(shell echo $(layer) | tr a-z A-Z)))))

# Which layer refuses what: all that a cell says of it, tried without that layer.
.PHONY: escape-layers
escape-layers: $(O)/sbxc $(O)/sbx-exec $(ATTACKS) $(LAYERS:%=$(O)/tests/sbx-exec-without-%)
	$(Q)for layer in $(LAYERS); do tests/escape/run --without $$layer || status=1; done; exit $$status

# BLESS=1: docs/attacks.md anew.
TEST_PROGRAMS += $(O)/sbxc $(O)/sbx-exec $(ATTACKS)
.PHONY: check-escape
check-escape: $(O)/sbxc $(O)/sbx-exec $(ATTACKS)
	$(Q)$(if $(BLESS),tests/escape/run --markdown >docs/attacks.md)
	$(Q)tests/escape/run
