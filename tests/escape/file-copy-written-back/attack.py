from attack import *

home = os.environ["HOME"]


def write(path):
    try:
        os.chmod(path, 0o600)
        with open(path, "a") as file:
            file.write("EVIL\n")
    except OSError as error:
        print(path, error)


def replace(path):
    try:
        with open(path + ".new", "w") as file:
            file.write("EVIL\n")
        os.rename(path + ".new", path)
    except OSError as error:
        print(path, error)


for name in ".gitconfig", "empty", "readonly", "linked", ".config/app/sub/f":
    write(f"{home}/{name}")
replace(f"{home}/.config/app/sub/g")
write(f"/proc/self/root{home}/.gitconfig")
