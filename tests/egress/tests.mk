# sbx-proxy alone, driven over its wire: see proxy/run.  As it is built, and with
# sanitizers: those change what it takes of memory and time, so they run what asks for
# neither.
SAN_PROXY := $(O)/san/sbx-proxy
$(SAN_PROXY): $(call san,$(PROXY) $(BLOB))
	$(call say,LINK,$@)
	$(Q)$(CC) $(SAN_CFLAGS) -o $@ $^ $(PROXY_LIBS)

CHECKS += check-proxy
.PHONY: check-proxy
check-proxy: $(O)/sbxc $(O)/sbx-proxy $(SAN_PROXY)
	$(Q)O=$(abspath $(O)) tests/egress/proxy/run --sanitized $(abspath $(SAN_PROXY))

# All of it, in a world with real servers and real clients: see run.
CHECKS += check-egress
TEST_PROGRAMS += $(O)/sbx-proxy
.PHONY: check-egress
check-egress: $(O)/sbxc $(O)/sbx-exec $(O)/sbx-proxy
	$(Q)tests/egress/run
