# The tests: see tests/README.md.  One fragment a kind, so that each names its
# own parts.
-include $(wildcard tests/*/tests.mk)
