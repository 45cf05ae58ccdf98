#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Runs that end while they write: by SIGKILL, Ctrl-C or SIGTERM at a random moment, on a full disk, or when nobody
reads their output any more.

Each case is one kind of output (Support/output_kinds.py) and one way to end, in an empty folder or in one with the
files of an earlier run. What undisturbed runs have written says what is whole:

- every file with its final name is that of the earlier run or of this one; a stream of received values has their bits,
  and at most the last second is missing;
- a manifest is whole only with the files that it lists; a trace has its name only when it is complete;
- Ctrl-C, SIGTERM, a full disk and a closed pipe leave no temporary file and no process, and have their exit codes;
- the same command in the same folder then gives what an undisturbed run gives.

Signals come after a random time, or after a random change of the folder. A campaign in which some kind or way was
hardly drawn, or hardly hit in the middle, fails. Failing cases are kept in build/fuzz. Closes with `kills: N run, N
failed`."""

import argparse
import collections
import concurrent.futures
import functools
import os
import pathlib
import random
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import traceback

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Support"))
sys.dont_write_bytecode = True

import campaign
import endings
import output_kinds
import small_disk
import whole_files
from endings import Plan
from runner import ROOT

SIGNALS = {"SIGKILL": signal.SIGKILL, "Ctrl-C": signal.SIGINT, "SIGTERM": signal.SIGTERM}
WAYS = [*SIGNALS, "full disk", "closed pipe"]
BIG_DISK = 1 << 30
PAGE = 4096
SWITCH_SECONDS = 0.0002  # so that a signal follows a change of a file at once
MEASURED = 3  # undisturbed runs of which the slowest says how long one takes
MIN_MEASURED = 100  # cases of a campaign that says how many runs were hit


class Subject:
    """A kind with what its undisturbed runs have written."""

    def __init__(self, kind, place):
        self.kind, self.place, self.lock = kind, place / kind.name, threading.Lock()
        self.starts, self.ends = {"empty": {}}, {}
        self.place.mkdir()
        kind_place = self.place / "inputs"
        kind_place.mkdir()
        self.kind = kind(kind_place)
        self.seconds, self.counts = [], []
        self.output = 0
        self.prepare()

    def prepare(self):
        """The folders before and after a run, the usual time, events and output of one."""
        old = self.folder("old")
        self.undisturbed("old", old)
        self.starts["old"] = whole_files.contents(old / "out")
        for start in self.starts:
            folder = self.folder(start + "-new", self.starts[start])
            ended = self.undisturbed("new", folder)
            self.learn(ended)
            self.ends[start] = whole_files.contents(folder / "out")
        self.check_readers(folder / "out")
        again = self.folder("again")
        self.learn(self.undisturbed("new", again))
        problems = list(self.differences(again / "out", "empty"))
        assert not problems, f"{self.kind.name}: two undisturbed runs differ: {problems}"
        if self.kind.pipes():
            self.output = len(self.undisturbed("piped", self.folder("piped")).text())

    def check_readers(self, out):
        problems = [problem for name, content in whole_files.contents(out).items()
                    if (problem := whole_files.unreadable(name, content))]
        problems += [problem for problem in self.kind.own_readers(out) if problem]
        assert not problems, f"{self.kind.name}: {problems}"

    def folder(self, name, files=()):
        folder = self.place / name
        make(folder, dict(files))
        return folder

    def undisturbed(self, version, folder):
        ended = execute(self.kind, version, folder, Plan())
        assert ended.code in self.kind.done_codes, f"{self.kind.name}: exit code {ended.code}: {ended.errors}"
        return ended

    def learn(self, ended):
        with self.lock:
            self.seconds = [*self.seconds, ended.seconds][-MEASURED:]
            self.counts = [*self.counts, ended.events][-MEASURED:]

    def usual(self):
        """Seconds of a run, and changes of files by the processes of a case."""
        with self.lock:
            return max(self.seconds), min(self.counts) * (2 if self.kind.companion else 1)

    def differences(self, out, start):
        """How the files of a run that is done differ from those of an undisturbed one."""
        files = whole_files.contents(out)
        for name, whole in self.ends[start].items():
            if name not in files:
                yield f"{name} is missing after a run that is done"
            elif not self.kind.is_end(name, files[name], self.starts[start].get(name), whole):
                yield f"{name} is not that of an undisturbed run"


def make(folder, files):
    (folder / "out").mkdir(parents=True)
    (folder / "temporary").mkdir()
    for name, content in files.items():
        path = folder / "out" / name
        path.parent.mkdir(exist_ok=True, parents=True, mode=0o700)
        path.write_bytes(content)


def environment(folder):
    """Temporary files of the tools are made in a folder of the case."""
    found = {**os.environ, "TMPDIR": str(folder / "temporary"), "PYTHONDONTWRITEBYTECODE": "1"}
    if output_kinds.package():
        found["PYTHONPATH"] = str(output_kinds.package())
    return found


def execute(kind, version, folder, plan):
    """Runs a command of the kind, and another process that does the same, if the kind has one."""
    run = functools.partial(endings.run, kind.command(version), folder, plan, folder / "out", environment(folder))
    if not kind.companion or version == "old" or plan == Plan():
        return run()
    other = subprocess.Popen(kind.command("new"), cwd=folder, env=environment(folder), stdin=subprocess.DEVNULL,
                             stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    ended = run()
    errors = other.communicate(timeout=endings.MAX_SECONDS)[1]
    # A disk that is full is so for both.
    if other.returncode not in kind.done_codes and not (other.returncode == 2 and "No space left" in errors):
        ended.problem = f"the other process ended with {other.returncode}: {errors}"
    return ended


class Case:
    def __init__(self, subject, way, number, given):
        self.subject, self.kind, self.way, self.number, self.given = subject, subject.kind, way, number, given
        self.random = random.Random(f"{given.seed}-{number}")
        self.start = self.random.choice(["empty", "old"])
        self.before = subject.starts[self.start]
        self.whole = subject.ends[self.start]
        self.disk = None
        self.version = "piped" if way == "closed pipe" else "new"
        self.plan = self.draw()
        self.cut = self.writing = False

    def draw(self):
        seconds, events = self.subject.usual()
        if self.way in SIGNALS:
            plan = Plan(SIGNALS[self.way])
            plan.group = self.kind.group and (self.way == "SIGKILL" or self.random.random() < 0.5)
            if self.random.random() < 0.4:
                plan.seconds = self.random.uniform(0, seconds)
            else:
                plan.event = self.random.randint(1, max(1, events - 1))
                plan.delay = self.random.choice([0, self.random.uniform(0, 0.002)])
            return plan
        if self.way == "closed pipe":
            later = self.random.randrange(max(1, self.subject.output // 2))
            return Plan(pipe_bytes=self.random.choice([0, later]))
        sizes = [len(content) for name, content in self.whole.items() if content != self.before.get(name)]
        if small_disk.is_available() and self.random.random() < 0.6:
            pages = sum(-(-size // PAGE) for size in sizes)
            self.disk = self.random.randrange(pages + 1) * PAGE
            return Plan()
        return Plan(file_limit=self.random.randrange(max(sizes)))

    def describe(self):
        disk = f", {self.disk} bytes left on the disk" if self.disk is not None else ""
        return f"{self.kind.name}, {self.way} ({self.plan}{disk}), {self.start} folder"

    def run(self, folder):
        """Runs the case in a folder; gives what is wrong."""
        if self.disk is not None:
            folder.mkdir()
            small_disk.mount(folder, BIG_DISK)
        make(folder, self.before)
        if self.disk is not None:
            small_disk.resize(folder, small_disk.used(folder) + max(self.disk, PAGE))
        ended = execute(self.kind, self.version, folder, self.plan)
        if self.disk is not None:
            small_disk.resize(folder, BIG_DISK)
        self.ended = ended
        self.count(ended)
        problems = [problem for problem in self.check(folder, ended) if problem]
        return problems or [problem for problem in self.run_again(folder) if problem]

    def count(self, ended):
        self.cut = ended.code not in self.kind.done_codes
        _, events = self.subject.usual()
        self.writing = self.cut and (self.way not in SIGNALS or 0 < ended.before < events)

    def check(self, folder, ended):
        yield ended.problem
        yield from self.check_code(ended)
        out = folder / "out"
        yield from self.check_files(out, ended)
        yield from self.check_left(folder, ended)
        yield from self.kind.check(out, ended, self.whole)
        if not self.cut and self.version == "new" and not (self.kind.optional and "cannot write" in ended.errors):
            yield from self.subject.differences(out, self.start)

    def check_code(self, ended):
        codes = {"SIGKILL": [-signal.SIGKILL], "Ctrl-C": [self.kind.interrupt_code], "full disk": [2],
                 "SIGTERM": [self.kind.terminate_code], "closed pipe": [*self.kind.pipe_codes]}[self.way]
        if self.way in SIGNALS and not ended.caught:
            codes.append(-SIGNALS[self.way])
        if self.way == "Ctrl-C" and self.kind.is_python and ended.before == 0:
            codes += [-signal.SIGINT, 1]  # Python itself does not start
        if ended.code not in [*codes, *self.kind.done_codes]:
            yield f"exit code {ended.code}, expected one of {[*codes, *self.kind.done_codes]}: {ended.errors}"
        elif ended.code == 2 and "cannot " not in ended.errors:
            yield f"exit code 2 without the name of a file: {ended.errors}"

    def check_files(self, out, ended):
        files = whole_files.contents(out)
        for name in self.before:
            if name not in files and not self.kind.is_removed(name):
                yield f"{name} was there before and is lost"
        for name, content in files.items():
            if not whole_files.is_temporary(name):
                yield self.check_file(name, content, ended)
        for name in self.kind.streams:
            if name in files and files[name] != self.before.get(name) and name in self.whole:
                yield from whole_files.check_stream(name, files[name], self.whole[name])
        for name in files:
            if name.rpartition("/")[2] == whole_files.MANIFEST and not whole_files.is_temporary(name):
                yield from self.check_manifest(files, name)

    def check_file(self, name, content, ended):
        if name in self.kind.streams or name.rpartition("/")[2] == whole_files.MANIFEST:
            return None
        problem = whole_files.unreadable(name, content)
        if problem:
            return problem
        before, whole = self.before.get(name), self.whole.get(name)
        known = [version for version in (before, whole) if version is not None]
        if content in known or self.kind.normal(name, content) in [self.kind.normal(name, one) for one in known]:
            return None
        if self.kind.is_other(name, content, before, ended):
            return None
        return f"{name} of {len(content)} bytes is neither the old file nor the new one"

    def check_manifest(self, files, name):
        folder = name.removesuffix(whole_files.MANIFEST)
        inside = {path.removeprefix(folder): content for path, content in files.items() if path.startswith(folder)}
        versions = [self.kind.normal(name, version[name]) for version in (self.before, self.whole) if name in version]
        own = self.kind.is_other(name, files[name], self.before.get(name), self.ended)
        yield from whole_files.check_manifest(inside, versions, self.kind.unlike, own)

    def check_left(self, folder, ended):
        """Complaints about temporary files, which only SIGKILL may leave."""
        if self.way == "SIGKILL" or (self.cut and self.way in SIGNALS and not ended.caught):
            return
        left = [name for name in whole_files.contents(folder / "out") if whole_files.is_temporary(name)]
        left += [path.name for path in (folder / "temporary").iterdir()]
        if left:
            yield f"left {left}"

    def run_again(self, folder):
        """Complaints about the same command, now undisturbed, in the same folder."""
        self.kind.clear(folder / "out")
        ended = execute(self.kind, "new", folder, Plan())
        if ended.code not in self.kind.done_codes:
            yield f"the next run ends with {ended.code}: {ended.errors}"
            return
        if self.disk is None and not self.kind.optional:  # what is in a cache is not written again
            self.subject.learn(ended)
        for problem in self.subject.differences(folder / "out", self.start):
            yield f"the next run: {problem}"
        temporary = [name for name in whole_files.contents(folder / "out") if whole_files.is_temporary(name)]
        if temporary:
            for problem in self.kind.own_readers(folder / "out"):
                yield problem and f"with {temporary}: {problem}"

    def keep(self, folder, problems):
        """Copies the folder of a failing case, with the command and what is wrong."""
        kept = ROOT / self.given.out / f"kills-{self.given.seed}-{self.number}"
        shutil.rmtree(kept, ignore_errors=True)
        shutil.copytree(folder, kept)
        command = shlex.join(map(str, self.kind.command(self.version)))
        (kept / "case.txt").write_text("\n".join([self.describe(), command, *problems]) + "\n")
        return kept


def run_case(subjects, draws, place, given, number):
    """(case, what is wrong)"""
    kind, way = draws[number]
    case = Case(subjects[kind], way, number, given)
    folder = place / f"case-{number}"
    try:
        problems = case.run(folder)
    except Exception:
        problems = [traceback.format_exc()]
    if problems:
        print(f"{case.keep(folder, problems)}: {case.describe()}: {'; '.join(problems)}", flush=True)
    if case.disk is not None:
        small_disk.unmount(folder)
    shutil.rmtree(folder, ignore_errors=True)
    return case, problems


def draws(kinds, given):
    """For each case a kind and a way: all of them before one comes again."""
    source = random.Random(given.seed)
    found = []
    while len(found) < given.first + given.count:
        pairs = [(kind, way) for kind in kinds for way in given.ways
                 if way != "closed pipe" or kinds[kind].kind.pipes()]
        source.shuffle(pairs)
        found += pairs
    return found


def report(cases, subjects, given):
    """Says how many runs were hit; whether too few were."""
    counts, cut, writing = (collections.Counter() for _ in range(3))
    for case in cases:
        keys = [case.kind.name, case.way, (case.kind.name, case.way), "signals" if case.way in SIGNALS else "others"]
        counts.update(keys)
        cut.update(keys if case.cut else [])
        writing.update(keys if case.writing else [])
    for key in [*subjects, *given.ways]:
        print(f"{key}: {counts[key]} run, {cut[key]} ended early, {writing[key]} while files were written")
    pairs = {(case.kind.name, case.way) for case in cases}
    few = functools.partial(campaign.rare_kinds, given, least=MIN_MEASURED)
    rare = few({pair: counts[pair] for pair in pairs}, pairs, share=0.5 / max(1, len(pairs)), what="of")
    for keys, number, share, what in (([*subjects, *given.ways], cut, 0.25, "that end early of"),
                                      (["signals"], writing, 1 / 3, "that end while they write, by")):
        scaled = {key: number[key] * given.count / max(1, counts[key]) for key in keys}
        rare += few(scaled, keys, share=share, what=what)
    return rare


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=300, help="how many cases to make")
    parser.add_argument("--seed", type=int, default=1, help="the same seed gives the same cases")
    parser.add_argument("--first", type=int, default=0, help="number of the first case, to run one again")
    parser.add_argument("--jobs", type=int, default=min(os.cpu_count() or 1, 4), help="cases at a time")
    parser.add_argument("--out", default="build/fuzz", help="folder of failing cases")
    parser.add_argument("--kinds", default="", help="only these kinds of output, separated by commas")
    parser.add_argument("--ways", type=lambda text: text.split(","), default=WAYS, help="only these ways to end")
    return parser.parse_args()


def main():
    given = options()
    small_disk.enter()
    sys.setswitchinterval(SWITCH_SECONDS)
    # A background job of a script ignores Ctrl-C, and so do its children.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    wanted = [kind for kind in output_kinds.KINDS if not given.kinds or kind.name in given.kinds.split(",")]
    if not output_kinds.package():
        wanted = [kind for kind in wanted if kind is not output_kinds.PythonTrace]
        print("python is left out: its package is not built")
    if not small_disk.is_available():
        print("no disk can be mounted: all full disks are limits on the size of files")
    with tempfile.TemporaryDirectory() as name, concurrent.futures.ThreadPoolExecutor(given.jobs) as pool:
        place = pathlib.Path(name)
        made = list(pool.map(lambda kind: Subject(kind, place), wanted))
        subjects = {subject.kind.name: subject for subject in made}
        for label, subject in subjects.items():
            seconds, events = subject.usual()
            print(f"{label}: undisturbed {seconds:.2f} s, {events} changes of files", flush=True)
        numbers = range(given.first, given.first + given.count)
        done = list(pool.map(functools.partial(run_case, subjects, draws(subjects, given), place, given), numbers))
    rare = report([case for case, _ in done], subjects, given)
    failed = sum(bool(problems) for _, problems in done)
    print(f"kills: {given.count} run, {failed} failed")
    return 1 if failed or rare else 0


if __name__ == "__main__":
    sys.exit(main())
