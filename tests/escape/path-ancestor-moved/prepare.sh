mkdir -p a/b/c; echo good >a/b/c/secret
