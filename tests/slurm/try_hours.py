"""Hours that are counted beside what Slurm then hands out: no job takes more than was written down."""
import hashlib
import json
import re

import cluster
import try_accounting
from session import Session
from try_chaperon import wait_for

# What is asked for, and what it is exactly where it can be told: processors, gpus.
ASKED = [
    ("", 1, 0), ("-n3 -c2", 6, 0), ("-N2", 2, 0), ("-N1-2", 2, 0), ("-N1-2 -n2", 4, 0), ("-N1-2 -c3", 6, 0), ("-N1-2 --ntasks-per-node=3", 6, 0),
    ("--ntasks-per-node=3 -N2", 6, 0), ("-n9", 9, 0), ("-n6 --ntasks-per-node=3", 6, 0), ("--gres=gpu:3", 1, 3), ("--gres=gpu", 1, 1), ("--gres=gpu:1,gpu:2", 1, 3),
    ("--gres=gpu:3 -N2", 2, 6), ("-N1-2 --gres=gpu:3", 2, 6), ("-N1-2 --gpus-per-node=3 --ntasks-per-node=2", 4, 6), ("--gpus=2 -N2", 2, 2), ("--gpus=4", 1, 4),
    ("--gpus-per-task=1 -n3", 3, 3), ("--gpus-per-task=2 -n2 -c2", 4, 4), ("-n9 -N2 --gres=gpu:2", 9, 4), ("-N2 -w n[1-2] --gres=gpu:4", 2, 8), ("--mem=0", 1, 0),
    ("--array=1-2 -n2", 4, 0), ("--mem-per-cpu=3000 -n2", 2, 0), ("-s -n2", 2, 0), ("--partition=debug,other", 1, 0),
]
HOURS = "sbx: sbatch refused: the policy has a budget of hours, "
REFUSED = [(option, f"so there is no {option.split('=')[0]}") for option in (
    "--exclusive", "--exclusive=user", "--mincpus=8", "--cpus-per-gpu=4", "--ntasks-per-gpu=2", "--gpus-per-socket=1", "--spread-job", "--hint=compute_bound",
    "--threads-per-core=1", "--overcommit", "--mem-per-gpu=1", "--sockets-per-node=1", "--use-min-nodes", "--extra-node-info=1", "--core-spec=1")] + [
    ("-n9 --gres=gpu:2", "and its gpus are asked for by the node: give --nodes"), ("-n9 --gpus-per-node=2", "and its gpus are asked for by the node: give --nodes"),
    ("--partition=whole", "and its partition hands out whole nodes"), ("--partition=hidden,whole", "and its partition hands out whole nodes"),
]
UNTIMED = [("--partition=debug,other", "and the job no time limit: give --time"), ("--partition=long", "and the job no time limit: give --time")]
PARTITIONS = """PartitionName=whole Nodes=ALL MaxTime=1:00:00 DefaultTime=10:00 OverSubscribe=EXCLUSIVE State=UP
PartitionName=hidden Nodes=ALL MaxTime=1:00:00 DefaultTime=10:00 Hidden=YES State=UP
PartitionName=long Nodes=ALL MaxTime=INFINITE State=UP
"""
POLICY = """language 1
policy "counted"
import std/base
import std/syscalls
import std/slurm
workspace $cwd
slurm {
    scope project
    allow sbatch
    allow sbatch --array --core-spec --cpus-per-gpu --cpus-per-task --exclusive --extra-node-info --gpus --gpus-per-node --gpus-per-socket --gpus-per-task --gres
    allow sbatch --hint --mem --mem-per-cpu --mem-per-gpu --mincpus --nodelist --nodes --ntasks --ntasks-per-gpu --ntasks-per-node --overcommit --oversubscribe
    allow sbatch --parsable --partition --sockets-per-node --spread-job --threads-per-core --time --use-min-nodes --wrap
    budget project cpu-hours 1000
    budget project gpu-hours 1000
}
syscalls { allow @default @network-io }
"""


class Tries:
    def __init__(self, world, report, what):
        self.world, self.report, self.what = world, report, what
        policy = world.work / "counted.pol"
        policy.write_text(POLICY)
        self.session = Session(world, world.work / "hours", policy=policy)
        name = hashlib.sha256(str(self.session.project).encode()).hexdigest()[:32]
        self.record = self.session.place / "state" / f"{name}.jsonl"

    def check(self, good, what, detail=""):
        self.report.check(good, f"hours, {self.what}: {what}", detail)

    def native(self, *words):
        return self.world.cluster.run(*words, cwd=self.world.work)

    def over(self):
        self.native("scancel", "--me")
        return wait_for(lambda: not self.native("squeue", "--noheader").stdout)

    def counted(self):
        """Of the last job: processors and gpus."""
        last = [json.loads(line) for line in self.record.read_text().splitlines() if '"cpu_s"' in line][-1]
        return last["cpu_s"] / 60, last["gpu_s"] / 60

    def taken(self, job):
        """What Slurm has handed out, once all of it runs; or None."""
        text = self.native("scontrol", "--details", "--oneliner", "show", "job", job).stdout
        if set(re.findall(r" JobState=(\S+)", text)) != {"RUNNING"}:
            return None
        gpus = 0
        for first, last, count in re.findall(r" Nodes=n(?:\[?(\d)-(\d)\]?|\d) CPU_IDs=\S+ Mem=\d+ GRES=gpu:(?:\w+:)?(\d+)", text):
            gpus += int(count) * (int(last) - int(first) + 1 if last else 1)
        return sum(map(int, re.findall(r" NumCPUs=(\d+) ", text))), gpus

    def try_all(self):
        for asked, *exact in ASKED:
            status, out, errors = self.session.run("sbatch", "--parsable", "--time=1", "--wrap=sleep 30", *asked.split())
            taken = wait_for(lambda: self.taken(out.strip()), 10) if status == 0 else None
            counted = self.counted() if taken else (0, 0)
            self.check(taken and list(counted) == exact and taken[0] <= counted[0] and taken[1] <= counted[1], asked or "a plain job",
                       f"{taken} {counted} {errors}")
            self.over()

    def refuse_all(self):
        before = set((self.session.place / "jobs").iterdir())
        for asked, said in [("--time=1 " + asked, said) for asked, said in REFUSED] + UNTIMED:
            status, out, errors = self.session.run("sbatch", "--wrap=true", *asked.split())
            left = self.native("squeue", "--all", "--noheader").stdout + " ".join(
                map(str, set((self.session.place / "jobs").iterdir()) - before))
            self.check(status == 1 and not out and not left and HOURS + said in errors, f"refused: {asked}", f"{status} {out} {errors} {left}")


def run(world, report):
    if not world.cluster:
        report.skip("hours", world.without)
        return
    for what, more in (("gpus that are no TRES", {"conf": PARTITIONS}), ("gpus that are", {"conf": "AccountingStorageTRES=gres/gpu\n", "accounting": True})):
        if "accounting" in more and (packages := try_accounting.missing()):
            report.skip(f"hours, {what}", f"not installed: {' '.join(packages)}")
            continue
        world.cluster.end()
        world.cluster = cluster.Cluster(world.user, gpus=8, **more)
        tries = Tries(world, report, what)
        try:
            tries.try_all()
            if "accounting" not in more:
                tries.refuse_all()
        finally:
            report.check(not (faults := tries.session.end()), "hours: no fault of memory", faults)
