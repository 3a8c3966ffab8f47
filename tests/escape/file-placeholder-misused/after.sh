# Nothing of it is left on the host.
if [ -e .mcp.json ] || [ -e config ] || [ -e p/q/.envrc ]; then echo left done; else echo left no; fi
