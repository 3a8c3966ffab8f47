"""A random tree of files, directories, links and sockets, in places of the test's own.

    TOP/w       the workspace          TOP/o       a tree beside it
    ~/NAME      one in the home

Every file is a copy of sbx-probe, so that it can be executed; some cannot be read,
written or executed, some directories are closed, some links lead nowhere.
"""
import os
import pathlib
import shutil
import socket

NAMES = ["a", "b", "c", "d.k", "e e", "é"]
ABSENT = ["n", "m", "o.k", "a"]


class World:
    def __init__(self, random, top, home, probe):
        self.random, self.probe = random, probe
        self.work, self.other, self.home = top / "w", top / "o", home
        self.trees = [self.work, self.other, self.home]
        self.files, self.directories, self.links, self.sockets = [], [], [], []
        self.listening = []
        self.closed = []
        for tree in self.trees:
            tree.mkdir(parents=True)
            self.directories.append(tree)
        for tree in self.trees:
            self.grow(tree, 0)
        for path in self.links:
            path.symlink_to(self.target(path))
        for path, mode in self.closed:
            path.chmod(mode)

    def grow(self, directory, depth):
        for name in self.random.sample(NAMES, self.random.randint(1, 4)):
            path, what = directory / name, self.random.random()
            if what < 0.42 and depth < 3:
                path.mkdir()
                self.directories.append(path)
                self.grow(path, depth + 1)
                if self.random.random() < 0.04:
                    self.closed.append((path, self.random.choice([0, 0o100, 0o500, 0o600])))
            elif what < 0.85:
                shutil.copyfile(self.probe, path)
                path.chmod(self.random.choice([0o700] * 8 + [0o600, 0o400, 0o500, 0]))
                self.files.append(path)
            elif what < 0.94:
                self.links.append(path)
            else:
                self.listen(path)

    def listen(self, path):
        there = socket.socket(socket.AF_UNIX)
        try:
            there.bind(str(path))
        except OSError:  # a name that is too long for a socket's
            return
        there.listen(4096)
        self.listening.append(there)
        self.sockets.append(path)

    def target(self, link):
        goal = self.random.choice(self.files + self.directories[1:] + self.links + [link.parent / "gone"])
        return os.path.relpath(goal, link.parent) if self.random.random() < 0.5 else str(goal)

    def some(self):
        """A name that is there, or could be."""
        what = self.random.random()
        if what < 0.45 and self.files:
            return self.random.choice(self.files)
        if what < 0.7:
            return self.random.choice(self.directories)
        if what < 0.8 and self.links:
            return self.random.choice(self.links)
        return self.absent()

    def absent(self):
        path = self.random.choice(self.directories + self.links) / self.random.choice(ABSENT)
        return path / self.random.choice(ABSENT) if self.random.random() < 0.2 else path

    def remove(self):
        for there in self.listening:
            there.close()
        for path, _ in reversed(self.closed):  # what holds another comes after it
            path.chmod(0o700)
        for tree in self.trees:
            if tree.exists():
                shutil.rmtree(tree)


def clear(*places):
    """What a run that was ended left."""
    for place in map(pathlib.Path, places):
        for directory, names, _ in os.walk(place):
            for name in names:
                if not os.path.islink(os.path.join(directory, name)):
                    os.chmod(os.path.join(directory, name), 0o700)
        shutil.rmtree(place, ignore_errors=True)
