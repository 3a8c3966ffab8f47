# The real agent, from npm, against a model API of our own.  Not part of
# `make check`: it downloads some 240 MB.
CLAUDE_VERSION := 2.1.197
CLAUDE := $(O)/agents/node_modules/@anthropic-ai/claude-code/bin/claude.exe

.PHONY: check-agents
check-agents: deps-agents
	$(Q)$(MAKE) --no-print-directory all $(CLAUDE)
	$(Q)tests/agents/run $(CLAUDE)

.PHONY: deps-agents
deps-agents:
	$(Q)scripts/install-deps agents

$(CLAUDE):
	@echo '  NPM     @anthropic-ai/claude-code@$(CLAUDE_VERSION)'
	@mkdir -p $(O)/agents
	$(Q)cd $(O)/agents && npm install --no-audit --no-fund --loglevel=error \
		@anthropic-ai/claude-code@$(CLAUDE_VERSION) >npm.log 2>&1 || { tail npm.log; exit 1; }
	$(Q)$@ --version >/dev/null || node $(O)/agents/node_modules/@anthropic-ai/claude-code/install.cjs
	$(Q)touch $@
