"""For a test that is run by itself: what it needs of `make`."""
import pathlib

BUILD = pathlib.Path(__file__).resolve().parent.parent.parent / "build"


def need(*names):
    """Ends with a line where one of them is not there."""
    for name in names:
        if not (BUILD / name).exists():
            raise SystemExit(f"build/{name} is not there: run `make test-programs` first")
