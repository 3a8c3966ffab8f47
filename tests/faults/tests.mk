# System calls of a launch made to fail; see tests/faults/README.md.
CHECKS += check-faults

$(O)/tests/faults-%: tests/faults/%.c stub/uapi.h
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)gcc -std=c11 -D_GNU_SOURCE -I. $(WARN) -O1 -static -o $@ $<

# The launcher, less patient: a start that hangs shall end before the test says so.
$(O)/tests/stub-faults/supervise.o: stub/supervise.c
	@mkdir -p $(@D)
	$(Q)$(MUSL_CC) $(STUB_CFLAGS) -DSBX_START_SECONDS=2 -MMD -MP -c -o $@ $<
FAULTS_OBJS := $(filter-out %/stub/supervise.o,$(STUB_OBJS)) $(O)/tests/stub-faults/supervise.o
$(O)/tests/sbx-exec-faults: $(FAULTS_OBJS)
	$(call say,LINK,$@)
	$(Q)$(call link_static_pie,$(FAULTS_OBJS))

# One that goes on where the domain or a limit was refused: the test must find it.
CARELESS_landlock := s/(syscall(SYS_landlock_restrict_self, ruleset, 0))/(syscall(SYS_landlock_restrict_self, ruleset, 0) == -2)/; s/is_inside(plan) ?/is_inside(plan) || plan ?/
CARELESS_program := s/inner_fail(inner, "a limit (/note("a limit (/
$(O)/tests/stub-careless/%.c: stub/%.c
	@mkdir -p $(@D)
	$(Q)sed '$(CARELESS_$*)' $< >$@ && ! cmp -s $< $@ || { rm -f $@; echo '$<: nothing to be careless about'; false; }
$(O)/tests/stub-careless/%.o: $(O)/tests/stub-careless/%.c
	$(Q)$(MUSL_CC) $(STUB_CFLAGS) -MMD -MP -c -o $@ $<
.PRECIOUS: $(O)/tests/stub-careless/%.c
CARELESS_OBJS := $(filter-out %/stub/landlock.o %/stub/program.o,$(STUB_OBJS)) \
	$(O)/tests/stub-careless/landlock.o $(O)/tests/stub-careless/program.o
$(O)/tests/sbx-exec-careless: $(CARELESS_OBJS)
	$(call say,LINK,$@)
	$(Q)$(call link_static_pie,$(CARELESS_OBJS))

FAULTS_PROGRAMS := $(O)/sbxc $(O)/sbx-proxy $(O)/tests/sbx-exec-faults $(O)/tests/sbx-exec-careless \
	$(O)/tests/faults-trace $(O)/tests/faults-probe

TEST_PROGRAMS += $(FAULTS_PROGRAMS)

.PHONY: check-faults check-faults-all
check-faults: $(FAULTS_PROGRAMS)
	$(Q)tests/faults/run
# Every failure of every call: some ten thousand launches.
check-faults-all: $(FAULTS_PROGRAMS)
	$(Q)tests/faults/run --all
