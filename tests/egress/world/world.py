"""The world in which egress is tried: namespaces of a test's own, so that nothing of it is
the host's.  A link leads to an "internet" (internet.py) with DNS, TLS servers and
whatever else answers there; here.py has what listens on this side.  /run, /tmp,
/var/tmp and the user's home are empty; hosts, the resolver and the roots of trust
are the world's.

    world = World(uid, name, report)    in a network and a mount namespace of its own
    world.user(COMMAND...)      runs it as the ordinary user, with a bare environment
    world.arrived(TOKEN)        where it has been seen, else []
    world.asked()               the names that the DNS server was asked for since
    world.end()
"""
import os
import pathlib
import pwd
import re
import shutil
import subprocess
import time

from names import HERE, HERE6, HOSTS, RESOLVER

HERE_FILES = pathlib.Path(__file__).resolve().parent
TOP = HERE_FILES.parents[2]
PLACE = pathlib.Path("/var/tmp/world")
STAGE = pathlib.Path("/var/tmp/sbx")
ROOTS = "/etc/ssl/certs/ca-certificates.crt"
NEEDED = {"ip": "iproute2", "nginx": "nginx-light", "openssl": "openssl", "curl": "curl", "git": "git"}


def missing():
    """What the world needs and this machine has not."""
    path = os.environ["PATH"] + ":/usr/sbin:/sbin"
    return sorted({package for tool, package in NEEDED.items() if not shutil.which(tool, path=path)})


def run(*words, **more):
    return subprocess.run([str(word) for word in words], check=True, **more)


def quiet(*words, **more):
    return run(*words, capture_output=True, **more)


class World:
    def __init__(self, uid, name, report):
        self.uid, self.name, self.report = uid, name, report
        self.home = pwd.getpwuid(uid).pw_dir
        self.children = []
        self.mount()
        self.certificates()
        self.files()
        self.link()
        self.seen_names = 0
        self.stage()

    def mount(self):
        for place, mode in (("/run", "1777"), ("/tmp", "1777"), ("/var/tmp", "1777"), (self.home, "700")):
            run("mount", "-t", "tmpfs", "-o", f"mode={mode}", "world", place)
        os.chown(self.home, self.uid, self.uid)
        PLACE.mkdir()
        for name in ("etc", "tls", "www", "repositories"):
            (PLACE / name).mkdir()
        self.replace("/etc/resolv.conf", f"nameserver {RESOLVER}\noptions timeout:1 attempts:1\n")
        self.replace("/etc/hosts", "127.0.0.1 localhost\n::1 localhost\n203.0.113.66 written.test\n")
        self.replace("/etc/nsswitch.conf", "passwd: files\ngroup: files\nhosts: files dns\n")

    def replace(self, path, text):
        own = PLACE / "etc" / path.replace("/", "_")
        own.write_text(text)
        if os.path.exists(path):
            run("mount", "--bind", own, os.path.realpath(path))

    def certificates(self):
        """One for all good names, and three that nobody should take."""
        tls = PLACE / "tls"
        new = ["openssl", "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
        quiet(*new, "-x509", "-days", "30", "-subj", "/CN=world test CA", "-keyout", tls / "ca.key", "-out", tls / "ca.pem")
        good = [name for name in HOSTS if name.partition(".")[0] not in ("self", "wrong", "old", "none")]
        for name, names, days in (("good", good, "30"), ("wrong", ["other.test"], "30"), ("old", ["old.test"], "-1")):
            (tls / "names").write_text("subjectAltName=" + ",".join("DNS:" + each for each in names))
            quiet(*new, "-subj", f"/CN={names[0]}", "-keyout", tls / f"{name}.key", "-out", tls / "request")
            quiet("openssl", "x509", "-req", "-in", tls / "request", "-CA", tls / "ca.pem", "-CAkey", tls / "ca.key",
                  "-CAcreateserial", "-days", days, "-extfile", tls / "names", "-out", tls / f"{name}.pem")
        quiet(*new, "-x509", "-days", "30", "-subj", "/CN=self.test", "-addext", "subjectAltName=DNS:self.test",
              "-keyout", tls / "self.key", "-out", tls / "self.pem")
        self.replace(ROOTS, pathlib.Path(ROOTS).read_text() + (tls / "ca.pem").read_text())

    def files(self):
        """Static files, a repository, a package of npm's and one of Python's."""
        files = PLACE / "www/files"
        files.mkdir()
        (files / "small").write_text("a small file\n")
        (files / "page.html").write_text("<p>" + "words " * 2000 + "</p>\n")
        (files / "large").write_bytes(os.urandom(8 << 20))
        work = PLACE / "work"
        git = ["git", "-c", "user.name=w", "-c", "user.email=w@world.test", "-c", "init.defaultBranch=main", "-C", work]
        work.mkdir()
        quiet(*git, "init", "-q")
        (work / "README").write_text("cloned\n")
        quiet(*git, "add", "README")
        quiet(*git, "commit", "-qm", "first")
        quiet("git", "clone", "-q", "--bare", work, PLACE / "repositories/project.git")
        run("/usr/bin/python3", HERE_FILES / "packages.py", PLACE / "www")

    def link(self):
        internet = self.start("internet.py")
        self.expect(internet, "apart")
        quiet("ip", "link", "add", "out", "type", "veth", "peer", "name", "in", "netns", internet.pid)
        for words in (f"addr add {HERE}/24 dev out", f"addr add {HERE6}/64 dev out nodad", "link set lo up",
                      "link set out up", "route add default via 203.0.113.53",
                      "-6 route add default via 2001:db8::10"):
            quiet("ip", *words.split())
        # What some distributions open to all, so that it is the sandbox that shuts it.
        for name, value in (("ping_group_range", "0 2147483647"), ("tcp_fastopen", "1"),
                            ("ip_unprivileged_port_start", "0")):
            pathlib.Path("/proc/sys/net/ipv4", name).write_text(value)
        here = self.start("here.py")
        internet.stdin.write("joined\n")
        internet.stdin.flush()
        self.expect(internet, "ready")
        self.expect(here, "ready")
        self.run_mark = 0

    def start(self, script):
        child = subprocess.Popen(["/usr/bin/python3", "-B", HERE_FILES / script, PLACE], text=True,
                                 stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.children.append(child)
        return child

    def expect(self, child, word):
        line = child.stdout.readline()
        if line.strip() != word:
            raise SystemExit(f"the world does not start: {line!r} instead of {word!r}")

    def end(self):
        for child in reversed(self.children):
            child.stdin.close()
            child.wait(10)

    def stage(self):
        """The programs and the library, where everyone can read them."""
        (STAGE / "build").mkdir(parents=True)
        for name in ("sbxc", "sbx-exec", "sbx-proxy"):
            if (TOP / "build" / name).exists():
                shutil.copy(TOP / "build" / name, STAGE / "build")
        for name in ("stdlib", "policies"):
            shutil.copytree(TOP / name, STAGE / name)
        shutil.copy(HERE_FILES / "client.py", STAGE)
        run("chmod", "-R", "a+rX,go-w", STAGE)

    def user(self, *words, env=(), uid=None, caps=(), **more):
        """As the ordinary user; @caps: with these capabilities."""
        uid = self.uid if uid is None else uid
        ambient = ["--inh-caps", ",".join(f"+{cap}" for cap in caps), "--ambient-caps",
                   ",".join(f"+{cap}" for cap in caps)] if caps else []
        more.setdefault("capture_output", "stdout" not in more)
        more.setdefault("text", True)
        more.setdefault("timeout", 60)
        return subprocess.run(["setpriv", "--reuid", str(uid), "--regid", str(uid), "--clear-groups", *ambient] +
                              self.environment(env) + [str(word) for word in words], **more)

    def environment(self, env=()):
        return ["env", "-i", f"HOME={self.home}", f"USER={self.name}", f"LOGNAME={self.name}",
                "PATH=/usr/local/bin:/usr/bin:/bin", "LANG=C.UTF-8", "TERM=dumb", *env]

    def workspace(self, name):
        work = pathlib.Path(self.home, name)
        work.mkdir()
        os.chown(work, self.uid, self.uid)
        return work

    def compile(self, policy, name=None):
        blob = PLACE / ((name or policy.stem) + ".sbx")
        run(STAGE / "build/sbxc", policy, "-o", blob)
        blob.chmod(0o644)
        return blob

    def sbx(self, blob, backend, work, *words, options=(), **more):
        return self.user(STAGE / "build/sbx-exec", "--backend", backend, *options, blob, "--", *words, cwd=work, **more)

    def arrived(self, token):
        text = (PLACE / "arrivals").read_text()
        return sorted(set(re.findall(rf"^(\S+) {token}$", text, re.M)))

    def asked(self):
        """Names, since this was called last."""
        time.sleep(0.02)
        text = (PLACE / "dns").read_text().splitlines()
        new, self.seen_names = text[self.seen_names:], len(text)
        return [line.strip("'") for line in new]

    def requests(self):
        path = PLACE / "requests"
        return path.read_text().splitlines() if path.exists() else []
