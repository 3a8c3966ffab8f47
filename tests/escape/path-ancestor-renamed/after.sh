if [ -e .git/hooks/pre-commit ]; then echo hook-planted done; else echo hook-planted no; fi
