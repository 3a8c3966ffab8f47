# sbx: see README.md.  `make help` lists the targets.
VERSION := 0.1.0
PREFIX ?= /usr/local
DESTDIR ?=

CC ?= cc
O := build
Q := $(if $(filter 1,$(V)),,@)
say = @$(if $(filter 1,$(V)),:,printf '  %-8s%s\n' '$(1)' '$(2)')

WARN := -Wall -Wextra -Werror -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith \
	-Wcast-qual -Wwrite-strings -Wvla -Wformat=2
NARROW := -Wconversion -Wno-sign-conversion
CFLAGS ?= -O2 -g
ALL_CFLAGS := -std=c11 -D_GNU_SOURCE -DSBX_VERSION='"$(VERSION)"' -I. -I$(O) $(WARN) $(CFLAGS) $(SANITIZE)
HARDEN := -fstack-protector-strong -D_FORTIFY_SOURCE=2 -fPIE
HARDEN_LD := -pie -Wl,-z,relro,-z,now

# --- what is built from what --------------------------------------------------
BASE := $(wildcard base/*.c)
GRAMMAR := $(wildcard grammar/*.c)
IR := $(wildcard ir/*.c)
EMIT := $(wildcard emit/*.c)
BLOB := $(wildcard blob/*.c)
COMPILER := $(wildcard compiler/*.c)
STUB := $(wildcard stub/*.c)
PROBE := $(wildcard probe/*.c)
PROVE := $(wildcard prove/*.c)
HELPER := $(wildcard helper/*.c)
PROXY := $(wildcard proxy/*.c) $(HELPER)
CHAPERON := $(wildcard chaperon/*.c) $(HELPER)
# What neither opens a file nor waits: tried alone, and under fuzzers.
CHAPERON_PURE := $(patsubst %,chaperon/%.c,ask directives frame hours ids judge rebuild refuse text)
CHAPERON_LIBS := -levent_core -ljansson
PROXY_LIBS := -levent_core -lssl -lcrypto -lcares -ljansson -lseccomp -lz
GENERATED := $(O)/grammar/parser.c $(O)/grammar/lexer.c

obj = $(patsubst %.c,$(O)/obj/%.o,$(1))
SBXC_LIB_OBJS := $(call obj,$(BASE) $(GRAMMAR) $(IR) $(EMIT) $(BLOB) $(CHAPERON_PURE)) \
	$(O)/obj/grammar/parser.o $(O)/obj/grammar/lexer.o \
	$(call obj,$(filter-out compiler/main.c,$(COMPILER)) $(PROVE))
SBXC_OBJS := $(SBXC_LIB_OBJS) $(O)/obj/compiler/main.o

.PHONY: all
all: $(O)/sbxc $(O)/sbx-exec $(O)/sbx-probe $(O)/sbx-proxy $(O)/sbx-chaperon $(O)/slurm/sbx-slurm

-include $(O)/config.mk

$(O)/sbxc: $(SBXC_OBJS)
	$(call say,LINK,$@)
	$(Q)$(CC) $(ALL_CFLAGS) $(HARDEN_LD) -o $@ $^ -lseccomp

$(O)/obj/emit/%.o $(O)/obj/blob/%.o $(O)/obj/proxy/%.o $(O)/obj/chaperon/%.o: ALL_CFLAGS += $(NARROW)
$(O)/obj/%.o: %.c
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) $(HARDEN) -MMD -MP -c -o $@ $<

# Generated code does not keep our warnings.
$(O)/obj/grammar/parser.o $(O)/obj/grammar/lexer.o: $(O)/obj/grammar/%.o: $(O)/grammar/%.c
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) $(HARDEN) -Wno-error -w -MMD -MP -c -o $@ $<

$(O)/grammar/parser.c $(O)/grammar/parser.h &: grammar/parser.y
	$(call say,BISON,$<)
	@mkdir -p $(@D)
	$(Q)bison -Wall -Werror -Wno-yacc --defines=$(O)/grammar/parser.h -o $(O)/grammar/parser.c $<
$(O)/grammar/lexer.c: grammar/lexer.l $(O)/grammar/parser.h
	$(call say,FLEX,$<)
	@mkdir -p $(@D)
	$(Q)flex -o $@ $<
$(call obj,$(GRAMMAR)): $(O)/grammar/parser.h

# --- sbx-exec: static-pie, no library but musl, no loader -----------------------
# musl-gcc's own -static-pie quietly makes a dynamic program on Debian 12, so
# compile with musl-gcc and link by hand; build/sbx-exec is then checked.  Nobody
# applies RELRO in a static program of musl's, so no page is padded for it.
MUSL_CC ?= musl-gcc
STUB_CFLAGS := -std=c11 -D_GNU_SOURCE -DSBX_VERSION='"$(VERSION)"' -I. $(WARN) $(NARROW) -Oz -g \
	-fPIE -fstack-protector-strong -ffunction-sections -fdata-sections -fno-asynchronous-unwind-tables
# (musl-gcc -print-file-name answers with glibc's.)
MUSL_LIB := $(patsubst %/,%,$(dir $(firstword $(wildcard /usr/lib/$(shell uname -m)-linux-musl/rcrt1.o \
	/usr/lib/musl/lib/rcrt1.o /usr/local/musl/lib/rcrt1.o))))
STUB_OBJS := $(patsubst %.c,$(O)/stub-obj/%.o,$(STUB) $(BLOB))
$(O)/stub-obj/%.o: %.c
	$(call say,MUSL,$<)
	@mkdir -p $(@D)
	$(Q)$(MUSL_CC) $(STUB_CFLAGS) -MMD -MP -c -o $@ $<
link_static_pie = gcc -static-pie -nostdlib \
	-Wl,-z,norelro,-z,common-page-size=64,-z,noexecstack,-z,noseparate-code,--gc-sections,--build-id=none -o $@ \
	$(MUSL_LIB)/rcrt1.o $(MUSL_LIB)/crti.o $(1) $(MUSL_LIB)/libc.a \
	$$(gcc -print-libgcc-file-name) $(MUSL_LIB)/crtn.o
$(O)/sbx-exec: $(STUB_OBJS) tests/check-static-pie
	$(call say,LINK,$@)
	$(Q)$(call link_static_pie,$(STUB_OBJS))
	$(Q)cp $@ $@.debug && strip --remove-section=.comment $@
	$(Q)tests/check-static-pie $@

# --- sbx-probe: made like it, since it has to start in any sandbox ----------------
PROBE_OBJS := $(patsubst %.c,$(O)/stub-obj/%.o,$(PROBE))
$(O)/sbx-probe: $(PROBE_OBJS) tests/check-static-pie
	$(call say,LINK,$@)
	$(Q)$(call link_static_pie,$(PROBE_OBJS))
	$(Q)strip --remove-section=.comment $@
	$(Q)tests/check-static-pie $@

# --- sbx-proxy: outside the sandbox, so it may stand on libraries ------------------
$(O)/sbx-proxy: $(call obj,$(PROXY) $(BLOB))
	$(call say,LINK,$@)
	$(Q)$(CC) $(ALL_CFLAGS) $(HARDEN_LD) -o $@ $^ $(PROXY_LIBS)

# --- sbx-chaperon: outside as well, beside the real clients of Slurm ----------------
$(O)/sbx-chaperon: $(call obj,$(CHAPERON) $(BLOB))
	$(call say,LINK,$@)
	$(Q)$(CC) $(ALL_CFLAGS) $(HARDEN_LD) -o $@ $^ $(CHAPERON_LIBS)

# --- sbx-slurm: what stands for the clients inside, made like sbx-probe -------------
SLURM_OBJS := $(patsubst %.c,$(O)/stub-obj/%.o,$(wildcard chaperon/inside/*.c))
$(O)/sbx-slurm: $(SLURM_OBJS) tests/check-static-pie
	$(call say,LINK,$@)
	$(Q)$(call link_static_pie,$(SLURM_OBJS))
	$(Q)strip --remove-section=.comment $@
	$(Q)tests/check-static-pie $@
# All that it is called by; sbx-exec finds the directory.
SLURM_NAMES := sbatch srun squeue scancel scontrol sacct sinfo sstat sprio sshare sdiag \
	salloc sattach sbcast scrontab strigger sreport sacctmgr sbx-job sbx-budget
$(O)/slurm/sbx-slurm: $(O)/sbx-slurm Makefile
	$(call say,LINKS,$(@D))
	@mkdir -p $(@D)
	$(Q)cp $< $@
	$(Q)for name in $(SLURM_NAMES); do ln -sfn sbx-slurm $(@D)/$$name; done

# --- sbx_spank.so: for who runs a cluster, where Slurm's headers are ------------------
# It is a part of slurmstepd, whose own library it finds there.
SPANK := $(if $(wildcard /usr/include/slurm/spank.h),$(O)/sbx_spank.so)
$(O)/sbx_spank.so: $(patsubst %.c,$(O)/spank/%.o,$(wildcard spank/*.c) blob/sha256.c)
	$(call say,LINK,$@)
	$(Q)$(CC) -shared -Wl,-z,relro,-z,now -o $@ $^
$(O)/spank/%.o: %.c
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(filter-out -fPIE,$(ALL_CFLAGS) $(HARDEN)) -fPIC -MMD -MP -c -o $@ $<
all: $(SPANK)

include tests/tests.mk

# --- the two commands ---------------------------------------------------------
.PHONY: demo check deps-build deps-check
demo: deps-build
	$(Q)$(MAKE) --no-print-directory all
	$(Q)demo/run

# Every kind of test that this machine can run; the last line has the counts.  Built
# first, by all processors; what does not build is its own kind's failure.
check: deps-check
	$(Q)$(MAKE) --no-print-directory -j$(shell nproc) all
	-$(Q)$(MAKE) --no-print-directory -j$(shell nproc) -k BUILD_ONLY=1 $(CHECKS)
	$(Q)tests/run-checks $(filter-out $(SLOW_CHECKS) $(ALONE_CHECKS),$(CHECKS)) $(SLOW_CHECKS) -- $(ALONE_CHECKS)

deps-build deps-check: deps-%:
	$(Q)scripts/install-deps $*

# --- measuring: never part of the tests -----------------------------------------
.PHONY: bench
bench: all
	$(Q)tests/bench/run
	$(Q)tests/bench/egress
	$(Q)tests/bench/slurm

# --- installing -----------------------------------------------------------------
.PHONY: install uninstall
install: all
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/share/sbx \
		$(DESTDIR)$(PREFIX)/share/man/man1 $(DESTDIR)$(PREFIX)/share/man/man5 \
		$(DESTDIR)$(PREFIX)/share/bash-completion/completions
	install -m 755 $(O)/sbxc $(O)/sbx-exec $(O)/sbx-probe $(O)/sbx-proxy $(O)/sbx-chaperon \
		$(DESTDIR)$(PREFIX)/bin
	install -d $(DESTDIR)$(PREFIX)/lib/sbx/slurm
	cp -P $(O)/slurm/* $(DESTDIR)$(PREFIX)/lib/sbx/slurm
	$(if $(SPANK),install -m 644 $(SPANK) $(DESTDIR)$(PREFIX)/lib/sbx)
	cp -r stdlib policies $(DESTDIR)$(PREFIX)/share/sbx
	chmod -R a+rX,go-w $(DESTDIR)$(PREFIX)/share/sbx
	install -m 644 docs/man/sbxc.1 docs/man/sbx-exec.1 docs/man/sbx-proxy.1 \
		docs/man/sbx-chaperon.1 \
		$(DESTDIR)$(PREFIX)/share/man/man1
	install -m 644 docs/man/sbx-policy.5 $(DESTDIR)$(PREFIX)/share/man/man5
	install -m 644 completions/sbxc completions/sbx-exec \
		$(DESTDIR)$(PREFIX)/share/bash-completion/completions
uninstall:
	rm -f $(DESTDIR)$(PREFIX)/bin/sbxc $(DESTDIR)$(PREFIX)/bin/sbx-exec $(DESTDIR)$(PREFIX)/bin/sbx-probe \
		$(DESTDIR)$(PREFIX)/bin/sbx-proxy $(DESTDIR)$(PREFIX)/bin/sbx-chaperon
	rm -rf $(DESTDIR)$(PREFIX)/share/sbx $(DESTDIR)$(PREFIX)/lib/sbx
	rm -f $(DESTDIR)$(PREFIX)/share/man/man1/sbxc.1 $(DESTDIR)$(PREFIX)/share/man/man1/sbx-exec.1 \
		$(DESTDIR)$(PREFIX)/share/man/man1/sbx-proxy.1 \
		$(DESTDIR)$(PREFIX)/share/man/man1/sbx-chaperon.1 $(DESTDIR)$(PREFIX)/share/man/man5/sbx-policy.5 \
		$(DESTDIR)$(PREFIX)/share/bash-completion/completions/sbxc \
		$(DESTDIR)$(PREFIX)/share/bash-completion/completions/sbx-exec

.PHONY: help
help:
	@echo 'make              sbxc, sbx-exec and sbx-probe, in build/'
	@echo 'make demo         install what is needed, build, show a sandbox at work'
	@echo 'make check        install what is needed, build, run the tests'
	@echo 'make check-agents the same with the real agents, from npm'
	@echo 'make check-KIND   one kind: $(CHECKS:check-%=%)'
	@echo 'make bench        speed and size, side by side with other launchers'
	@echo 'make fuzz TIME=60 each fuzz target for so many seconds'
	@echo 'make install      into PREFIX=$(PREFIX), below DESTDIR'
	@echo 'V=1 shows the commands, BLESS=1 rewrites expected outputs'

.PHONY: clean
clean:
	rm -rf $(O)

-include $(shell find $(O) -name '*.d' 2>/dev/null)
