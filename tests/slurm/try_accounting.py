"""sacct and sshare through sbx-chaperon, with slurmdbd and a MariaDB of the test's own."""
import pathlib
import re
import shutil
import subprocess
import time

import cluster
from session import Session

NEEDED = {"slurmdbd": "slurmdbd", "mariadbd": "mariadb-server-core", "mariadb": "mariadb-client-core"}


def missing():
    return sorted({package for program, package in NEEDED.items() if not shutil.which(program, path="/usr/bin:/usr/sbin:/sbin")})


def sacct(session, *words):
    """Rows appear some seconds after a job."""
    for _ in range(80):
        status, out, errors = session.run("sacct", *words)
        if "sbatch" in out or status:
            break
        time.sleep(0.2)
    return status, out, errors


def others_users(world, report):
    """With `scope user`: a number alone does not show what is another user's."""
    policy = world.work / "mine.pol"
    policy.write_text(pathlib.Path(__file__).with_name("accounting.pol").read_text().replace("scope project", "scope user"))
    root = subprocess.run(["sbatch", "--parsable", "-o", "/dev/null", "--wrap=true"], cwd="/", capture_output=True, text=True,
                          env={"SLURM_CONF": str(world.cluster.conf), "PATH": "/usr/bin"}).stdout.strip()
    words = ("--allocations", "--noheader", "--parsable2", "--format=jobid,jobname")
    out = ""
    for _ in range(80):
        out = world.cluster.run("sacct", *words, f"--jobs={root}", cwd=world.work).stdout
        if out:
            break
        time.sleep(0.2)
    report.check(out.startswith(f"{root}|"), "accounting: a job of root's, which the real sacct shows", out)
    session = Session(world, world.work / "mine", policy=policy)
    status, out, errors = session.run("sacct", *words, f"--jobs={root}")
    report.check((status, out, errors) == (0, "", ""), "accounting: and ours does not", out + errors)
    session.end()


def run(world, report):
    if not world.cluster:
        report.skip("accounting", world.without)
        return
    if packages := missing():
        report.skip("accounting", f"not installed: {' '.join(packages)}")
        return
    world.cluster.end()
    world.cluster = cluster.Cluster(world.user, accounting=True, conf="AccountingStoreFlags=job_comment\n")
    session = Session(world, world.work / "accounting", policy="accounting.pol")
    try:
        other = world.cluster.run("sbatch", "--parsable", "--comment=of others", "-o", "/dev/null", "--wrap=true", cwd=world.work).stdout.strip()
        status, out, errors = session.run("sbatch", "--parsable", "--comment=mine alone", "--wrap=true")
        job = out.strip()
        report.check(status == 0 and job.isdigit() and other.isdigit(), "accounting: a job", out + errors)
        words = ("--allocations", "--noheader", "--parsable2", "--format=jobid,comment,submitline")
        status, out, errors = sacct(session, *words)
        report.check(status == 0 and out.startswith(f"{job}|") and len(out.splitlines()) == 1, "accounting: sacct shows the project's jobs alone", out + errors)
        report.check("--comment=mine alone" in out and "=sbx-" not in out, "accounting: and no tag", out)
        for columns in ("comment", "jobid,comment%20", "jobid,com%-5,state", "submitline%60,jobid", "submitline%200", "submitline%600", "jobid,comment%80"):
            out = session.run("sacct", "--allocations", f"--format={columns}")[1]
            wide = "com" not in columns or (len(set(map(len, out.splitlines()))) == 1 and "mine alone" in out)
            report.check("=sbx-" not in out and " sbx-" not in out and "/sbx-" not in out and "//" not in out and wide, f"accounting: no tag in columns {columns}", out)
        status, out, errors = session.run("sacct", f"--jobs={other}", *words)
        report.check(status == 1 and f"job {other} is not of this project" in errors and not out, "accounting: not another's by its number", out + errors)
        for words in (["sacct", "--allusers"], ["sacct", "--user=root"], ["sacct", "--batch-script", f"--jobs={job}"], ["sacctmgr", "-i", "add", "account", "x"],
                      ["sreport", "cluster", "utilization"]):
            status, out, errors = session.run(*words)
            report.check(status == 1 and not out and "refused" in errors, f"accounting: refused: {' '.join(words)}", out + errors)
        for words in (["-u", world.user], ["-X", "--parsable2", "--clusters", "all", "--noheader", "--format=JobIdRaw,State", "--name", "wrap"],
                      ["-X", "-n", "-P", "-o", "JobID", "-S", "now-1hour", "-E", "now"], ["-l", "-j", job], ["-b"]):
            status, out, errors = session.run("sacct", *words)
            report.check(status == 0 and job in out and not re.search(rf"^{other}\b", out, re.M) and not errors, f"accounting: sacct {' '.join(words)}", out + errors)
        report.check(session.run("sacct", "-e")[1].split()[0] == "Account", "accounting: the names of its columns")
        status, out, errors = session.run("sshare")
        report.check(status == 0 and "Account" in out, "accounting: sshare", out + errors)
        others_users(world, report)
    finally:
        session.end()
