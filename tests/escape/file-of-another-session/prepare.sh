mkdir -p .git/hooks deep; echo good >.git/config; echo KEY >deep/secret
