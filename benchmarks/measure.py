# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""What benchmarks with compiled peers share: options, one core, the peers' program, our kernels' time, rounds,
closing lines.

A contender is a function that returns seconds per call, the median of several. All of a case take turns, round after
round; the first round warms up and does not count. Ours is the time of the kernels alone, as ad-runner reports it, so
that no start of a process and no dispatch is in it. We and the peers' programs write to the same memory in every
call.
"""

import argparse
import json
import math
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
NUMPY_OFFSET = 16  # large arrays of NumPy begin so many bytes after a multiple of 64
ROOT = HERE.parent
COMPILER = "clang++-22"


def parse_options(doc, rounds):
    parser = argparse.ArgumentParser(description=doc.splitlines()[0])
    parser.add_argument("--json", help="write the measurements there")
    parser.add_argument("--rounds", type=int, default=rounds, help=f"rounds that count (default: {rounds})")
    parser.add_argument("--only", default="", metavar="TEXT", help="only the cases whose name contains TEXT")
    parser.add_argument("--offset", type=int, default=NUMPY_OFFSET, metavar="BYTES",
                        help="where arrays of ad-runner and of compiled peers begin after a multiple of 64 bytes "
                        f"(default: {NUMPY_OFFSET}, as those of NumPy)")
    options = parser.parse_args()
    os.environ["ADJOINT_ARRAY_OFFSET"] = str(options.offset)
    return options


def use_one_core():
    """One core and one thread for us and for every peer; before a library is loaded that counts them."""
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[name] = "1"


def select(cases, options, name):
    """The cases that --only names; `cases` bear their name as str()."""
    chosen = [case for case in cases if options.only in str(case)]
    if not chosen:
        sys.exit(f"{name}: no case contains '{options.only}', expected one of: {', '.join(map(str, cases))}")
    return chosen


class Library:
    """A library of peers: its header, how to link it, and the Debian package with both."""

    def __init__(self, name, header, link, package):
        self.name, self.header, self.link, self.package = name, header, link, package

    def is_there(self):
        command = [COMPILER, "-fsyntax-only", "-x", "c++", "-include", self.header, os.devnull]
        if subprocess.run(command, capture_output=True).returncode == 0:
            return True
        print(f"{self.name}: missing; install it with: apt-get install {self.package}")
        return False


class Peers:
    """The peers' program, built from a source in this folder; its macros WITH_<LIBRARY> say which libraries there are."""

    def __init__(self, folder, source, flags, libraries=(), environment=()):
        if not shutil.which(COMPILER):
            sys.exit(f"{COMPILER} is not installed; run scripts/setup.sh")
        self.libraries = [library for library in libraries if library.is_there()]
        self.environment = {**os.environ, **dict(environment)}
        self.program = pathlib.Path(folder) / f"{source}{''.join(flags)}".replace(".", "-")
        command = [COMPILER, "-std=c++17", *flags, HERE / source, "-o", self.program]
        command += [f"-DWITH_{library.name.upper()}" for library in self.libraries]
        command += [library.link for library in self.libraries]
        if subprocess.run(command).returncode:
            sys.exit(f"{COMPILER} failed on {HERE / source}")

    def number(self, *arguments):
        """What the program prints for these arguments."""
        command = [self.program, *map(str, arguments)]
        done = subprocess.run(command, env=self.environment, stdout=subprocess.PIPE, text=True)
        if done.returncode:
            sys.exit(f"'{' '.join(map(str, command))}' failed")
        return float(done.stdout)


class Ours:
    """A program of ours with one entry, compiled once; arguments as --arg of ad-runner takes them, and other options."""

    def __init__(self, folder, text, arguments, numerics="strict", options=()):
        self.folder = pathlib.Path(tempfile.mkdtemp(dir=folder))
        (self.folder / "program.mlir").write_text(text)
        runner = pathlib.Path(os.environ.get("ADJOINT_BIN", ROOT / "build/release/bin")) / "ad-runner"
        self.command = [runner, self.folder / "program.mlir", "--numerics", numerics, "--threads", "1",
                        "--cache", self.folder / "cache", "--report", self.folder / "report.json", *options]
        for name, source in arguments.items():
            self.command += ["--arg", f"{name}={source}"]

    def results(self, arguments):
        """The folder with the results of a run."""
        folder = self.folder / "results"
        folder.mkdir()
        command = [*self.command[:self.command.index("--report")], "--out-dir", folder]
        command += [word for name, source in arguments.items() for word in ("--arg", f"{name}={source}")]
        done = subprocess.run(command, stderr=subprocess.PIPE, text=True)
        if done.returncode:
            sys.exit(f"ad-runner failed on {self.folder / 'program.mlir'}: {done.stderr}")
        return folder

    def time(self, calls, of=""):
        """Seconds that the kernels whose names begin with `of` take in a run: the median run, times their share of all
        runs."""
        command = [*self.command, "--warmup", "1", "--repeat", str(calls)]
        done = subprocess.run(command, stderr=subprocess.PIPE, text=True)
        if done.returncode:
            sys.exit(f"ad-runner failed on {self.folder / 'program.mlir'}: {done.stderr}")
        report = json.loads((self.folder / "report.json").read_text())
        seconds = sum(kernel["seconds"] for kernel in report["kernels"] if kernel["name"].startswith(of))
        if not seconds:
            sys.exit(f"{self.folder / 'program.mlir'} runs no kernel {of}".rstrip())
        return report["median_seconds"] * seconds / sum(report["runs"])


def take_rounds(contenders, rounds):
    """The seconds of each contender, by round. Each round starts with another one."""
    seconds = {name: [] for name in contenders}
    names = list(contenders)
    for number in range(rounds + 1):
        first = number % len(names)
        for name in names[first:] + names[:first]:
            time = contenders[name]()
            if number:
                seconds[name].append(time)
    return seconds


def take_turns(contenders, rounds):
    """The median seconds of each contender."""
    return {name: statistics.median(times) for name, times in take_rounds(contenders, rounds).items()}


def calls_for(seconds, estimate):
    """As many calls as fill about `seconds`."""
    return max(3, min(5000, round(seconds / estimate)))


def timed(function, seconds):
    """A function that calls the given one for so many seconds, 50 times at most, and gives the median of their times."""
    def median():
        def once():
            begin = time.perf_counter()
            function()
            return time.perf_counter() - begin

        return statistics.median(once() for _ in range(min(calls_for(seconds, once()), 50)))
    return median


def geometric_mean(values):
    return math.exp(statistics.fmean(map(math.log, values)))


def close(name, ratio, peer, case):
    print(f"{name}: {ratio:.2f}x of {peer} ({case})")


def close_with_mean(name, ratios, peer):
    """The lines after those of the single cases: mean and worst of the ratios by case."""
    if ratios:
        close(name, geometric_mean(ratios.values()), peer, f"geometric mean of {len(ratios)}")
        worst = min(ratios, key=ratios.get)
        close(name, ratios[worst], peer, f"worst: {worst}")


def write_json(options, rows):
    """Whole or not at all, so that it can be written again after each case."""
    if options.json:
        file = pathlib.Path(options.json).resolve()
        unfinished = file.with_name(f"{file.name}.{os.getpid()}.tmp")
        unfinished.write_text(json.dumps(rows, indent=1))
        os.replace(unfinished, file)
