from attack import *

HOME = os.path.expanduser("~")


def write(path):
    try:
        with open(f"{HOME}/{path}", "a") as file:
            file.write("EVIL\n")
    except OSError as error:
        print(path, error)


for top in "empty", "kept":
    for name in "shown/file", "kept/except", "kept/free/file":
        write(f"{top}/{name}")
