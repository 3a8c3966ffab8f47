import os

from attack import attempt
from attack_socket import reach


def exchange(name, act):
    """Whoever answers at the name is then the other."""
    os.rename(name, name + ".old")
    act()
    reach(name)


def directory():
    os.rename("dir", "old")
    os.rename("other", "dir")
    reach("dir/four")


attempt("rename", lambda: exchange("one", lambda: os.rename("secret", "one")))
attempt("symlink", lambda: exchange("two", lambda: os.symlink("secret2", "two")))
attempt("hard-link", lambda: exchange("three", lambda: os.link("secret3", "three")))
attempt("directory", directory)
