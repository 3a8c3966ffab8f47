#!/usr/bin/python3
"""A registry of npm's and an index of Python's, with one package each, as static files.
usage: packages.py DIR"""
import base64
import hashlib
import io
import json
import pathlib
import sys
import tarfile
import zipfile


def npm(place):
    """https://npm.test/world-package and its archive."""
    place.mkdir()
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w:gz") as tar:
        for name, text in (("package.json", json.dumps({"name": "world-package", "version": "1.0.0"})),
                           ("index.js", "module.exports = 42;\n")):
            entry = tarfile.TarInfo("package/" + name)
            entry.size = len(text)
            tar.addfile(entry, io.BytesIO(text.encode()))
    data = archive.getvalue()
    (place / "world-package-1.0.0.tgz").write_bytes(data)
    version = {"name": "world-package", "version": "1.0.0", "dist": {
        "tarball": "https://npm.test/world-package-1.0.0.tgz", "shasum": hashlib.sha1(data).hexdigest(),
        "integrity": "sha512-" + base64.b64encode(hashlib.sha512(data).digest()).decode()}}
    (place / "world-package").write_text(json.dumps(
        {"name": "world-package", "dist-tags": {"latest": "1.0.0"}, "versions": {"1.0.0": version}}))


def python(place):
    """https://pypi.test/simple/world-package/ and its wheel."""
    index = place / "simple/world-package"
    index.mkdir(parents=True)
    info = "world_package-1.0.0.dist-info/"
    files = {"world_package.py": "answer = 42\n",
             info + "METADATA": "Metadata-Version: 2.1\nName: world-package\nVersion: 1.0.0\n",
             info + "WHEEL": "Wheel-Version: 1.0\nGenerator: hand\nRoot-Is-Purelib: true\nTag: py3-none-any\n"}
    record = "".join("{},sha256={},{}\n".format(name, base64.urlsafe_b64encode(
        hashlib.sha256(text.encode()).digest()).decode().rstrip("="), len(text)) for name, text in files.items())
    wheel = index / "world_package-1.0.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
        archive.writestr(info + "RECORD", record + info + "RECORD,,\n")
    (index / "index.html").write_text(f'<!DOCTYPE html><a href="{wheel.name}">{wheel.name}</a>\n')


def main():
    place = pathlib.Path(sys.argv[1])
    npm(place / "npm.test")
    python(place / "pypi.test")


main()
