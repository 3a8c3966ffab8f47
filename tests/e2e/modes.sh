# std/syscalls: no set-uid file comes out of a sandbox, and modes else work.

case_ 'a set-uid file'
policy modes </dev/null
fresh
cat >"$work/try" <<'EOF'
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
open("file", "w").close()
how = (ctypes.c_uint64 * 3)(os.O_CREAT | os.O_WRONLY, 0o4755, 0)
at = -100
calls = {
    "chmod": (90, b"file", 0o4755), "fchmod": (91, os.open("file", os.O_RDONLY), 0o4755),
    "fchmodat": (268, at, b"file", 0o6755), "fchmodat2": (452, at, b"file", 0o4755, 0),
    "wide": (90, b"file", 1 << 32 | 0o104755), "creat": (85, b"creat", 0o4755),
    "open": (2, b"open", os.O_CREAT | os.O_WRONLY, 0o4755),
    "openat": (257, at, b"openat", os.O_CREAT | os.O_WRONLY, 0o4755),
    "setgid": (257, at, b"setgid", os.O_CREAT | os.O_WRONLY, 0o2755),
    "tmpfile": (257, at, b".", os.O_TMPFILE | os.O_WRONLY, 0o4755),
    "openat2": (437, at, b"openat2", how, 24),
    "mknod": (133, b"mknod", 0o104755, 0), "mknodat": (259, at, b"mknodat", 0o104755, 0),
}
for name, (number, *args) in calls.items():
    args = [ctypes.c_long(a) if isinstance(a, int) else a for a in args]
    if libc.syscall(ctypes.c_long(number), *args) >= 0:
        print("worked:", name)
EOF
own "$work"
if [ "$(uname -m)" != x86_64 ] || ! command -v python3 >/dev/null; then
	skip 'needs x86-64 and python3'
else
	bare python3 try
	output 'worked: chmod' 'control: outside they work'
	output 'worked: openat2' '... all of them'
	find "$work" -type f ! -name try -delete
	sbx modes python3 try
	status 0 'the attempt runs'
	no_output worked 'no call makes one'
	equal '' "$(find "$work" -perm /6000)" 'there is none'
fi
fresh
chmod g+s "$work"
sbx modes sh -ec 'mkdir -p a/b; echo x >a/b/f; chmod 755 a/b a/b/f; cp -a a c; chmod g+s c; tar cf t a; mkdir o; tar xpf t -C o; echo done'
output done 'directories may be set-gid, as a shared tree has them'
