#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""All that is to be run on a machine with a GPU, from a folder that scripts/gpu.sh has packed.

  run.py [--report FILE.md] [--no-benchmark] [--minutes N]

Every case against the reference interpreter, once more under compute-sanitizer where it is installed, then the benchmarks beside the
peers, one part after the other. Writes what was found, with chip, driver and date, to --report (default: report.md beside this file),
and the measurements to measurements.json, both after each part. The exit code is 1 when a case failed, 4 when there is no GPU or
adrt-run does not start, 130 when interrupted.
"""

import argparse
import datetime
import json
import os
import pathlib
import platform
import shutil
import signal
import subprocess
import sys
import tempfile
import threading

HERE = pathlib.Path(__file__).resolve().parent
NO_DEVICE = 4
INTERRUPTED = 130
BENCHMARKS = ["dot", "gradient", "softmax", "layer_norm", "gelu", "transpose", "training step", "digits"]  # parts, by what names of cases contain
SANITIZERS = ["compute-sanitizer", "/usr/local/cuda/bin/compute-sanitizer"]


def describe_machine():
    """Chip, driver and limits, or None where there is no GPU."""
    query = ["nvidia-smi", "--query-gpu=name,driver_version,memory.total,clocks.max.sm,power.limit", "--format=csv,noheader"]
    try:
        return subprocess.run(query, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return None


class Report:
    """A file that is whole after each part."""

    def __init__(self, file, *lines):
        self.file, self.lines = file, [*lines]

    def add(self, *lines):
        self.lines += lines

    def write(self):
        self.file.write_text("\n".join(self.lines) + "\n")


def end(process):
    """Ends a process and all that it has started."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def run(title, command, report, minutes=None):
    """Runs a command, for `minutes` at most, shows what it says, and adds it to the report. Gives its exit code."""
    print(f"== {title}", flush=True)
    report.add(f"\n## {title}\n\n```")
    process = subprocess.Popen([sys.executable, *map(str, command)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                               start_new_session=True)
    late = threading.Event()
    timer = threading.Timer(60 * (minutes or 0), lambda: (late.set(), end(process)))
    if minutes:
        timer.start()
    try:
        for line in process.stdout:
            report.add(line.rstrip())
            print(line, end="", flush=True)
        code = process.wait()
        if late.is_set():
            report.add(f"FAILED: ran longer than {minutes} minutes")
            print(report.lines[-1], flush=True)
        return code
    except KeyboardInterrupt:
        end(process)
        report.add("interrupted")
        raise
    finally:
        timer.cancel()
        report.add("```")
        report.write()


def run_benchmarks(minutes, report):
    """Whether a part failed. The measurements of all parts go into one file."""
    failed, rows = False, []
    with tempfile.TemporaryDirectory() as folder:
        part = pathlib.Path(folder) / "part.json"
        for name in BENCHMARKS:
            command = [HERE / "benchmark" / "gpu.py", "--from", HERE / "benchmark", "--only", name, "--json", part]
            try:
                failed |= run(f"benchmarks beside the peers: {name}", command, report, minutes) != 0
            finally:
                if part.exists():
                    rows += json.loads(part.read_text())
                    part.unlink()
                (HERE / "measurements.json").write_text(json.dumps(rows, indent=1))
    return failed


def run_all(options, report):
    """The exit code."""
    code = run("cases against the reference interpreter", [HERE / "check.py"], report)
    if code == NO_DEVICE:
        return code
    failed = code != 0
    sanitizer = next((found for name in SANITIZERS if (found := shutil.which(name))), None)
    if sanitizer:
        failed |= run("the same under compute-sanitizer", [HERE / "check.py", "--sanitizer", sanitizer], report) != 0
    else:
        report.add("\ncompute-sanitizer is not installed: not run.")
    if not options.no_benchmark:
        failed |= run_benchmarks(options.minutes, report)
    return 1 if failed else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--report", type=pathlib.Path, default=HERE / "report.md")
    parser.add_argument("--no-benchmark", action="store_true", help="only the comparison with the reference interpreter")
    parser.add_argument("--minutes", type=float, default=30, metavar="N", help="that a part of the benchmarks may take (default: 30)")
    options = parser.parse_args()
    machine = describe_machine()
    if not machine:
        print("run.py: nvidia-smi finds no GPU; run this on a machine that has one", file=sys.stderr)
        return NO_DEVICE
    date = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC")
    report = Report(options.report, f"# {machine.split(',')[0]}, {date}", "",
                    f"`{machine}` (name, driver, memory, clock, power limit); {platform.platform()}")
    try:
        code = run_all(options, report)
    except KeyboardInterrupt:
        code = INTERRUPTED
    report.write()
    print(f"report: {options.report}")
    return code


if __name__ == "__main__":
    sys.exit(main())
