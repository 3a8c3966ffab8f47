from attack import *
import mmap

data = os.environ["HOME"] + "/data"
a = f"{data}/a"


def writable(how=os.O_WRONLY):
    return os.open(a, how)


def anew(how):
    """A descriptor for reading, opened for writing through /proc."""
    os.close(os.open(f"/proc/self/fd/{os.open(a, os.O_RDONLY)}", how))


def mapped():
    with mmap.mmap(writable(os.O_RDWR), 4096) as area:
        area[0:4] = b"EVIL"


def spliced():
    inner, outer = os.pipe()
    os.write(outer, b"EVIL")
    os.splice(inner, writable(), 4)


attempt("open", lambda: os.write(writable(), b"EVIL"))
attempt("append", lambda: os.write(writable(os.O_WRONLY | os.O_APPEND), b"EVIL"))
attempt("cut-on-open", lambda: os.close(writable(os.O_RDONLY | os.O_TRUNC)))
attempt("truncate", lambda: os.truncate(a, 8192))
attempt("ftruncate", lambda: os.ftruncate(writable(), 8192))
attempt("fallocate", lambda: os.posix_fallocate(writable(), 0, 9000))
attempt("copy-file-range", lambda: os.copy_file_range(os.open(f"{data}/b", os.O_RDONLY), writable(), 100))
attempt("sendfile", lambda: os.sendfile(writable(), os.open(f"{data}/b", os.O_RDONLY), 0, 100))
attempt("splice", spliced)
attempt("mapped", mapped)
attempt("opened-anew", lambda: anew(os.O_WRONLY))
attempt("truncated-anew", lambda: os.truncate(f"/proc/self/fd/{os.open(a, os.O_RDONLY)}", 8192))
attempt("made", lambda: os.close(os.open(f"{data}/n", os.O_CREAT | os.O_WRONLY)))
attempt("unnamed", lambda: os.close(os.open(data, os.O_TMPFILE | os.O_WRONLY)))
attempt("directory-made", lambda: os.mkdir(f"{data}/n.d"))
attempt("removed", lambda: os.unlink(f"{data}/b"))
attempt("renamed", lambda: os.rename(f"{data}/c", f"{data}/c.x"))
attempt("directory-removed", lambda: os.rmdir(f"{data}/sub"))
attempt("linked", lambda: os.link(f"{data}/d", f"{data}/d.x"))
attempt("symlink", lambda: os.symlink("a", f"{data}/s"))
attempt("pipe", lambda: os.mkfifo(f"{data}/p"))
attempt("replaced", lambda: open("new", "w").close() or os.replace(f"{data}/e", f"{data}/d"))
