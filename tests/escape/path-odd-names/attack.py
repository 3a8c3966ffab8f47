from attack import *

NAMES = {"blank": b"a b", "brackets": b"x[1]", "star": b"s*r", "option": b"-rf", "comma": b"c,d", "colon": b"c:d", "quote": b'q"q',
         "backslash": b"b\\s", "dollar": b"$HOME", "leading-blank": b" lead", "braces": b"{b,c}", "hash": b"hash#x",
         "utf-8": "日本".encode(), "newline": b"nl\nx", "no-utf-8": b"bad\xff", "tab": b"tab\tx"}


def write(name):
    with open(name, "w") as file:
        file.write("EVIL")
    os.rename(name, name + b".old")


for variant, name in NAMES.items():
    attempt(variant, lambda: write(name))
