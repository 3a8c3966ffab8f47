git init -q .; echo good >.git/hooks/pre-commit; ln .git/hooks/pre-commit x
