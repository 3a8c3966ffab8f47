"""The leak table: each way out, tried outside first, where it must get out, then inside on
each backend, where it must be refused within a second, and nothing arrive.  What refuses
it is in `expect`, from which docs/egress.md has its table."""
import os
import pathlib
import secrets
import shutil
import socket
import subprocess

import attempts
import suite
import world

HERE = pathlib.Path(__file__).resolve().parent
FIRST = 1000  # milliseconds that a refusal may take
CAPS = ("net_raw",)  # of root's tools outside: raw sockets are tried, too


def expected():
    """{name: (title, {backend: verdict})}"""
    rows = {}
    for line in (HERE / "expect").read_text().splitlines():
        if line and not line.startswith("#"):
            name, title, *cells = (word.strip() for word in line.split("|"))
            rows[name] = title, dict(zip(("bwrap", "firejail", "landlock"), cells))
    return rows


def markdown():
    lines = ["| Way out | bubblewrap | firejail | Landlock |", "|---|---|---|---|"]
    for title, cells in expected().values():
        lines.append("| " + " | ".join([title] + [cell.split(" or ")[0] for cell in cells.values()]) + " |")
    return "\n".join(lines) + "\n"


def page(bless):
    """Is the table in docs/egress.md this one?  @bless: it is now."""
    path = world.TOP / "docs/egress.md"
    before, begin, rest = path.read_text().partition("<!-- leaks: begin")
    line, _, rest = rest.partition("\n")
    table, end, after = rest.partition("<!-- leaks: end")
    if bless:
        path.write_text(before + begin + line + "\n\n" + markdown() + "\n" + end + after)
    return bless or table.strip() == markdown().strip()


class Tries:
    def __init__(self, world_, report):
        self.world, self.report = world_, report
        self.script = world.STAGE.parent / "attempts.py"
        shutil.copy(HERE / "attempts.py", self.script)
        self.script.chmod(0o644)
        self.rows = expected()

    def run(self, start, is_late):
        """{name: (verdict, milliseconds, where it arrived)}, the names asked for, the last process.  A machine that
        is busy with something else is given a second chance, and a third."""
        results, names, done = self.run_once(start)
        for _ in range(2):
            if not any(is_late(*result) for result in results.values()):
                break
            more, asked, done = self.run_once(start)
            results = {name: more[name] if is_late(*result) else result for name, result in results.items()}
            names = [*names, *asked]
        return results, names, done

    def run_once(self, start):
        tokens = ["tok" + secrets.token_hex(7)[:13] for _ in attempts.ATTEMPTS]
        self.world.asked()
        with socket.create_connection(("203.0.113.66", 9999)) as inherited:
            done = start("/usr/bin/python3", self.script, *tokens, inherited.fileno())
        names = self.world.asked()
        arrived = {name: self.world.arrived(token) for name, token in zip(attempts.ATTEMPTS, tokens)}
        results = {name: ("not tried", 0, []) for name in attempts.ATTEMPTS}
        for line in done.stdout.splitlines():
            name, verdict, time = line.split("\t")
            results[name] = verdict, int(time), arrived[name]
        return results, names, done

    def pass_on(self, words):
        """The last word is the connected socket, which becomes descriptor 5."""
        *command, inherited = words
        return ["sh", "-c", f'exec "$@" 5<&{inherited}', "sh", *command], (inherited,)

    def outside(self, *words):
        command, fds = self.pass_on(words)
        return self.world.user(*command, caps=CAPS, pass_fds=fds)

    def inside(self, blob, backend, work):
        def start(*words):
            *command, inherited = words
            line = [world.STAGE / "build/sbx-exec", "-q", "--backend", backend, blob, "--", *command]
            shell, fds = self.pass_on([*line, inherited])
            return self.world.user(*shell, cwd=work, pass_fds=fds)
        return start


def run(made, report, backends):
    tries = Tries(made, report)
    report.check(list(tries.rows) == list(attempts.ATTEMPTS), "leaks: the table has a row for each attempt",
                 set(tries.rows) ^ set(attempts.ATTEMPTS))
    report.check(page(os.environ.get("BLESS") == "1"), "leaks: docs/egress.md has another table: BLESS=1")
    bare, _, done = tries.run(tries.outside, lambda verdict, time, arrived: verdict == "timeout")
    absent = set()
    for name, (verdict, _, arrived) in bare.items():
        if verdict in ("EPROTONOSUPPORT", "EAFNOSUPPORT"):
            report.skip(f"leaks: {name}", f"this kernel has none ({verdict})")
            absent.add(name)
        else:
            told = attempts.ATTEMPTS[name].__code__.co_varnames[0] == "token"
            report.check(verdict == "out" and (arrived or not told), f"leaks: {name} gets out bare",
                         f"{verdict} {arrived} {done.stderr}")
    work, blob = made.workspace("leaks"), made.compile(HERE / "leaks.pol")
    for backend in backends:
        if why := suite.obstacle(backend):
            report.skip(f"leaks: {backend}", why)
            continue
        results, names, done = tries.run(tries.inside(blob, backend, work),
                                         lambda verdict, time, arrived: time >= FIRST and not arrived)
        if not done.stdout:
            report.check(False, f"leaks: {backend} starts", done.stderr)
            continue
        for name, (verdict, time, arrived) in results.items():
            if name in absent:
                continue
            wanted = tries.rows.get(name, ("", {}))[1].get(backend, "").split(" or ")
            report.check(verdict in wanted and time < FIRST and not arrived, f"leaks: {backend}: {name}: {verdict}",
                         f"{verdict} after {time} ms, expected {wanted}, arrived at {arrived}\n{done.stderr}")
        denied = [name for name in names if "denied" in name or "notopen" in name]
        report.check(not denied, f"leaks: {backend}: no name that is denied was asked for", denied)
        others(made, report, blob, work, backend)


ASK = """import socket, sys
connection = socket.create_connection(("127.0.0.1", int(sys.argv[1])), 2)
try:
    connection.sendall(b"CONNECT open.test:443 HTTP/1.1\\r\\nHost: open.test\\r\\n\\r\\n")
    print(connection.recv(12).decode() or "closed", flush=True)
except ConnectionError:
    print("closed", flush=True)
sys.stdin.read()
"""


def listening(uid):
    """Ports of this namespace that a user's programs listen at."""
    ports = []
    for line in pathlib.Path("/proc/net/tcp").read_text().splitlines()[1:]:
        fields = line.split()
        if fields[3] == "0A" and int(fields[7]) == uid:
            ports.append(int(fields[1].split(":")[1], 16))
    return ports


def others(made, report, blob, work, backend):
    """No other program of this host gets anything from a session's proxy."""
    session = subprocess.Popen(
        ["setpriv", "--reuid", str(made.uid), "--regid", str(made.uid), "--clear-groups", *made.environment(),
         world.STAGE / "build/sbx-exec", "-q", "--backend", backend, blob, "--", "/usr/bin/python3", "-c", ASK, "3128"],
        cwd=work, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    answer = session.stdout.readline().strip()
    report.check(answer == "HTTP/1.1 200", f"leaks: {backend}: the session itself is served", answer)
    ports = listening(made.uid)
    report.check(len(ports) == (backend == "landlock"), f"leaks: {backend}: what the host can reach of it", ports)
    for port in ports:
        for who, uid in (("another user", made.uid + 1), ("a program of the user's, outside,", made.uid)):
            answer = made.user("/usr/bin/python3", "-c", ASK, port, uid=uid, input="").stdout.strip()
            report.check(answer == "closed", f"leaks: {backend}: {who} gets nothing from its proxy", answer)
    session.communicate("", timeout=10)
