grep -qs EVIL a/b/c/secret && echo rewritten done || echo rewritten no
