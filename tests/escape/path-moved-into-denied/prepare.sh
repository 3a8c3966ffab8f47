mkdir -p .git/hooks
