#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""All that is to be run on a machine with a GPU, from a folder that scripts/gpu.sh has packed.

  run.py [--report FILE.md] [--no-benchmark]

Every case against the reference interpreter, once more under compute-sanitizer where it is installed, then the benchmarks beside the
peers. Writes what was found, with chip, driver and date, to --report (default: report.md beside this file), and the measurements to
measurements.json. The exit code is 1 when a case failed, 4 when there is no GPU.
"""

import argparse
import datetime
import pathlib
import platform
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
SANITIZERS = ["compute-sanitizer", "/usr/local/cuda/bin/compute-sanitizer"]


def describe_machine():
    """Chip, driver and limits, or None where there is no GPU."""
    query = ["nvidia-smi", "--query-gpu=name,driver_version,memory.total,clocks.max.sm,power.limit", "--format=csv,noheader"]
    try:
        return subprocess.run(query, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return None


def run(title, command, report):
    """Runs a command, shows what it says, and adds it to the report."""
    print(f"== {title}", flush=True)
    report.append(f"\n## {title}\n\n```")
    process = subprocess.Popen([sys.executable, *map(str, command)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    for line in process.stdout:
        print(line, end="", flush=True)
        report.append(line.rstrip())
    report.append("```")
    return process.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--report", type=pathlib.Path, default=HERE / "report.md")
    parser.add_argument("--no-benchmark", action="store_true", help="only the comparison with the reference interpreter")
    options = parser.parse_args()
    machine = describe_machine()
    if not machine:
        print("run.py: nvidia-smi finds no GPU; run this on a machine that has one", file=sys.stderr)
        return 4
    date = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC")
    report = [f"# {machine.split(',')[0]}, {date}", "", f"`{machine}` (name, driver, memory, clock, power limit); {platform.platform()}"]
    failed = run("cases against the reference interpreter", [HERE / "check.py"], report)
    sanitizer = next((found for name in SANITIZERS if (found := shutil.which(name))), None)
    if sanitizer:
        failed |= run("the same under compute-sanitizer", [HERE / "check.py", "--sanitizer", sanitizer], report)
    else:
        report.append("\ncompute-sanitizer is not installed: not run.")
    if not options.no_benchmark:
        command = [HERE / "benchmark" / "gpu.py", "--from", HERE / "benchmark", "--json", HERE / "measurements.json"]
        failed |= run("benchmarks beside the peers", command, report)
    options.report.write_text("\n".join(report) + "\n")
    print(f"report: {options.report}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
