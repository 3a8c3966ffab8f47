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
GENERATED := $(O)/grammar/parser.c $(O)/grammar/lexer.c

obj = $(patsubst %.c,$(O)/obj/%.o,$(1))
SBXC_LIB_OBJS := $(call obj,$(BASE) $(GRAMMAR) $(IR) $(EMIT) $(BLOB)) \
	$(O)/obj/grammar/parser.o $(O)/obj/grammar/lexer.o \
	$(call obj,$(filter-out compiler/main.c,$(COMPILER)))
SBXC_OBJS := $(SBXC_LIB_OBJS) $(O)/obj/compiler/main.o

.PHONY: all
all: $(O)/sbxc $(O)/sbx-exec

-include $(O)/config.mk

$(O)/sbxc: $(SBXC_OBJS)
	$(call say,LINK,$@)
	$(Q)$(CC) $(ALL_CFLAGS) $(HARDEN_LD) -o $@ $^ -lseccomp

$(O)/obj/emit/%.o $(O)/obj/blob/%.o: ALL_CFLAGS += $(NARROW)
$(O)/obj/%.o: %.c
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) $(HARDEN) -MMD -MP -c -o $@ $<

# Generated code does not keep our warnings.
$(O)/obj/grammar/parser.o $(O)/obj/grammar/lexer.o: $(O)/obj/grammar/%.o: $(O)/grammar/%.c
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) $(HARDEN) -Wno-error -w -MMD -MP -c -o $@ $<

$(O)/grammar/parser.c $(O)/grammar/parser.h: grammar/parser.y
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
# compile with musl-gcc and link by hand; build/sbx-exec is then checked.
MUSL_CC ?= musl-gcc
STUB_CFLAGS := -std=c11 -D_GNU_SOURCE -DSBX_VERSION='"$(VERSION)"' -I. $(WARN) $(NARROW) -Os -g \
	-fPIE -fstack-protector-strong -ffunction-sections -fdata-sections -fno-asynchronous-unwind-tables
MUSL_LIB = $(shell $(MUSL_CC) -print-file-name=libc.a | xargs dirname)
STUB_OBJS := $(patsubst %.c,$(O)/stub-obj/%.o,$(STUB) $(BLOB))
$(O)/stub-obj/%.o: %.c
	$(call say,MUSL,$<)
	@mkdir -p $(@D)
	$(Q)$(MUSL_CC) $(STUB_CFLAGS) -MMD -MP -c -o $@ $<
$(O)/sbx-exec: $(STUB_OBJS) tests/check-static-pie
	$(call say,LINK,$@)
	$(Q)gcc -static-pie -nostdlib -Wl,-z,relro,-z,now,-z,noexecstack,--gc-sections -o $@ \
		$(MUSL_LIB)/rcrt1.o $(MUSL_LIB)/crti.o $(STUB_OBJS) $(MUSL_LIB)/libc.a \
		$$(gcc -print-libgcc-file-name) $(MUSL_LIB)/crtn.o
	$(Q)cp $@ $@.debug && strip $@
	$(Q)tests/check-static-pie $@

include tests/tests.mk

.PHONY: clean
clean:
	rm -rf $(O)

-include $(shell find $(O) -name '*.d' 2>/dev/null)
