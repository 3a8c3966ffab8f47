from attack import *

AT_FDCWD, AT_EMPTY_PATH, AT_SYMLINK_FOLLOW = -100, 0x1000, 0x400


def by_descriptor(path, name, how):
    file = os.open(path, how)
    libcall("linkat", AT_FDCWD, b"/proc/self/fd/%d" % file, AT_FDCWD, name, AT_SYMLINK_FOLLOW)


attempt("link", lambda: os.link("settings.json", "a"))
attempt("link-by-descriptor", lambda: by_descriptor("settings.json", b"b", os.O_RDONLY))
attempt("link-by-path-descriptor", lambda: by_descriptor("settings.json", b"c", os.O_PATH))
attempt("hidden", lambda: os.link("secret", "d"))
attempt("hidden-by-path-descriptor", lambda: by_descriptor("secret", b"e", os.O_PATH))
attempt("hidden-moved", lambda: os.rename("secret", "f"))
found = "no"
for name in "abcdef":
    try:
        with open(name, "r+") as file:
            if "KEY" in file.read():
                found = "done"
            file.write("EVIL")
    except OSError:
        pass
print("read", found)
