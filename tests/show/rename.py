#!/usr/bin/env python3
"""rename.py BLOB OLD NEW OUT: the blob with the string OLD made NEW, no longer, and its digest right."""
import hashlib
import os
import sys

blob, old, new, out = sys.argv[1:]
data = bytearray(open(blob, 'rb').read())
old, new = os.fsencode(old), os.fsencode(new)
at = data.index(old)
assert len(new) <= len(old)
data[at:at + len(old)] = new + b'x' * (len(old) - len(new))
data[24:56] = bytes(32)
data[24:56] = hashlib.sha256(data).digest()
open(out, 'wb').write(data)
