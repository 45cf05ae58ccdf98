#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Changes files of data and has the tools and the Python package read them: no file makes one of them crash, hang,
write control characters to a terminal, or touch a file outside of the folders that it was given.

The files are tensors, programs as text and bytecode, .adx, traces with their parts, policies, lists of rewrites and
folders of outputs (test/Support/file_cases.py). Most changes keep the form of the file. Many plant names of files
outside, which are a tree that the kernel watches. Each command has 4 GiB of addresses and 10 seconds, and ends with a
documented exit code; the Python package raises its own exceptions.

A failing case is written to build/fuzz/files-SEED-NUMBER, with its command in the file `command`. From 2,000 cases on,
a kind of files that commands always accept, or always refuse, fails the campaign: little was proved of it.
Closes with `files: N run, N failed`."""

import collections
import pathlib
import queue
import random
import resource
import shutil
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Support"))

import campaign
import file_cases
from file_changes import Plants
from file_commands import HANGS, PACKAGE, SANITIZED, SECONDS, Place
from file_seeds import Seeds, fails_upstream
from runner import ROOT

ADDRESSES = 4 << 30
LARGEST_FILE = 1 << 30
MIN_CASES = 2000  # to judge shares of kinds
SHARES = {"accepted": 0.01, "refused": 0.01}


class Case:
    """A changed file in a folder of its own, and the command that reads it."""

    def __init__(self, seeds, root, seed, number):
        self.seeds, self.folder, self.plants = seeds, root / "case", Plants(root / "decoy")
        self.kind, command = file_cases.choose(number, PACKAGE.exists())
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir()
        given = file_cases.KINDS[self.kind].make(self, random.Random(f"{seed}/{number}"))
        self.command = command.format(given=" ".join(given or []))

    def write(self, name, content):
        (self.folder / name).write_bytes(content)


def printable(text):
    return "".join(character if character.isprintable() else repr(character)[1:-1] for character in text)


def keep(given, seeds, number, complaint):
    """Writes the failing case and its surroundings; returns the folder."""
    root = ROOT / given.out / f"files-{given.seed}-{number}"
    shutil.rmtree(root, ignore_errors=True)
    root.mkdir(parents=True)
    shutil.copytree(seeds.fixed, root / "fixed")
    place = Place(root)
    case = Case(seeds, root, given.seed, number)
    place.close()
    (root / "command").write_text(f"cd {root / 'case'}\nulimit -v {ADDRESSES >> 10}\n{case.command}\n")
    (root / "complaint").write_text(complaint)
    return root


class Campaign:
    def __init__(self, given, folder):
        self.given, self.seeds = given, Seeds(folder / "seeds")
        self.tools, self.ends = (collections.defaultdict(collections.Counter) for _ in range(2))
        self.upstream = 0
        self.places = queue.Queue()
        for number in range(given.jobs):
            root = folder / f"place-{number}"
            root.mkdir()
            (root / "fixed").symlink_to(self.seeds.fixed)
            self.places.put(Place(root))

    def check(self, numbers):
        """{number: complaint} of cases."""
        place = self.places.get()
        try:
            found = {number: self._complaint(place, number) for number in numbers}
        finally:
            self.places.put(place)
        return {number: complaint for number, complaint in found.items() if complaint}

    def _complaint(self, place, number):
        case = Case(self.seeds, place.root, self.given.seed, number)
        accepted, complaint = place.run(case.command)
        self.tools[case.kind][case.command.split()[0]] += 1
        self.ends[case.kind]["accepted" if accepted else "refused"] += 1
        if not complaint:
            return None
        if (file_cases.KINDS[case.kind].upstream and complaint.startswith(("killed", "says", HANGS)) and
                fails_upstream(case.folder / "changed.mlir", SECONDS)):
            self.upstream += 1
            return None
        return f"{case.kind}: {case.command}: {complaint}"

    def show(self):
        """The counts; names the kinds of which little was proved."""
        unproved = []
        for kind, about in file_cases.KINDS.items():
            ends = self.ends[kind]
            count = ends.total()
            tools = ", ".join(f"{tool} {times}" for tool, times in sorted(self.tools[kind].items()))
            print(f"{kind}: {count} ({tools}), {ends['accepted']} accepted")
            expected = SHARES if about.runs else {"refused": SHARES["refused"]}
            unproved += [f"{ends[end]} of {count} {kind} {end}" for end, share in expected.items()
                         if ends[end] < share * count]
        print(f"{self.upstream} files made mlir-opt crash or hang, too")
        if not PACKAGE.exists():
            print(f"nothing was read by Python: {PACKAGE} is missing; scripts/build_python.sh makes it")
        if self.given.count < MIN_CASES:
            return []
        if unproved:
            print(f"too few files of some kinds were accepted or refused: {'; '.join(unproved)}")
        return unproved

    def close(self):
        while not self.places.empty():
            self.places.get().close()


def main():
    given = campaign.options(__doc__).parse_args()
    if not SANITIZED:  # which reserves all addresses
        resource.setrlimit(resource.RLIMIT_AS, (ADDRESSES, resource.getrlimit(resource.RLIMIT_AS)[1]))
    resource.setrlimit(resource.RLIMIT_FSIZE, (LARGEST_FILE, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        run = Campaign(given, pathlib.Path(folder).resolve())
        try:
            for number, complaint in campaign.in_batches(run.check, given):
                failed += 1
                kept = keep(given, run.seeds, number, complaint) if failed <= given.keep else f"case {number}"
                print(f"{kept}: {printable(complaint[:500])}", flush=True)
        finally:
            run.close()
    unproved = run.show()
    print(f"files: {given.count} run, {failed} failed")
    return 1 if failed or unproved else 0


if __name__ == "__main__":
    sys.exit(main())
