mkdir -m 700 ~/.gnupg
