#!/usr/bin/env python3
"""order.py SBXC: the order of statements does not show in a stripped blob, nor
do the directory, the locale, the time zone, or the name of the file's folder.

Five file rules in all 120 orders, then whole policies with the statements of
every section and the sections themselves shuffled."""
import hashlib
import itertools
import os
import random
import subprocess
import sys
import tempfile

RULES = ['read ~/a', 'deny $workspace/a/b', 'write $workspace/a/b/c', 'read /usr /bin',
         'deny write $workspace/a']
SECTIONS = {
    'fs': ['read /usr', 'write ~/s compat "x"', 'deny write ~/s/settings.json guards endpoint',
           'seal ~/.ssh except ~/.ssh/known_hosts', 'tmp /tmp size 1G'],
    'env': ['pass TERM LC_*', 'set A "b"', 'deny *_KEY', 'seal LD_PRELOAD'],
    'syscalls': ['default ENOSYS', 'allow read write openat', 'deny openat where flags & 64 == 64',
                 'seal bpf with kill', 'deny write where fd == 7 with kill'],
    'limits': ['memory 8G', 'processes 512', 'wall-time 12h'],
    'assert': ['can read /usr/x', 'never read ~/.ssh/id', 'cannot write ~/x'],
}
HEAD = ['language 1', 'policy "p"']
TOP = ['workspace $cwd', 'signature openat dfd:int path:pointer flags:int mode:mode',
       'signature write fd:fd buf:pointer n:size']


def text_of(sections, top):
    blocks = ['%s {\n%s\n}' % (name, '\n'.join(lines)) for name, lines in sections]
    return '\n'.join(HEAD + top + blocks + [''])


def compile_text(sbxc, text, folder, **environment):
    with open(os.path.join(folder, 'p.pol'), 'w', encoding='utf-8') as file:
        file.write(text)
    done = subprocess.run([sbxc, '--strip', '-o', 'p.sbx', 'p.pol'], cwd=folder, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          env=dict(os.environ, **environment))
    if done.returncode:
        sys.exit(text + done.stdout)
    with open(os.path.join(folder, 'p.sbx'), 'rb') as file:
        return hashlib.sha256(file.read()).hexdigest()


def main():
    sbxc, seed = os.path.abspath(sys.argv[1]), random.Random(1)
    with tempfile.TemporaryDirectory() as folder:
        rules = {compile_text(sbxc, text_of([('fs', order)], TOP), folder)
                 for order in map(list, itertools.permutations(RULES))}
        shuffled = set()
        for _ in range(40):
            sections = [(name, seed.sample(lines, len(lines))) for name, lines in SECTIONS.items()]
            shuffled.add(compile_text(sbxc, text_of(seed.sample(sections, len(sections)),
                                                    seed.sample(TOP, len(TOP))), folder))
        plain = text_of(list(SECTIONS.items()), TOP)
        for environment in ({'LC_ALL': 'C'}, {'LC_ALL': 'C.UTF-8', 'TZ': 'Asia/Tokyo'}):
            with tempfile.TemporaryDirectory(suffix='other') as other:
                shuffled.add(compile_text(sbxc, plain, other, **environment))
    failed = (len(rules) != 1) + (len(shuffled) != 1)
    if failed:
        print(f'{len(rules)} blobs of 120 orders, {len(shuffled)} of 42 shuffles')
    print(f'{2 - failed} {failed}')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
