#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Seconds from the start of ad-runner's main to the first kernel of the digits transformer: cold, and from the cache.

The program is the whole training of examples/digits/transformer.mlir with a single step, so that little but compiling is
left. No peer compiles this program; the lines are held against our own aims.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

NAME = "compile-time"
ROOT = pathlib.Path(__file__).resolve().parents[1]
AIMS = {"cold": 2.0, "cached": 0.05}
ROUNDS = 5


def make_program(folder):
    """The training program with one step instead of all, and the arguments that give it its inputs."""
    source = (ROOT / "examples/digits/transformer.mlir").read_text()
    steps = "%steps = arith.constant 528 : index"
    if source.count(steps) != 1:
        sys.exit(f"{NAME}: expected one '{steps}' in the program")
    (folder / "step.mlir").write_text(source.replace(steps, "%steps = arith.constant 1 : index"))
    prepare = [sys.executable, "-B", ROOT / "examples/digits/prepare.py", "transformer", folder / "inputs"]
    subprocess.run(prepare, check=True)
    return [str(folder / "step.mlir"), *(folder / "inputs" / "arguments").read_text().splitlines()]


def run(arguments, cache, folder):
    """The report of one run."""
    runner = pathlib.Path(os.environ.get("ADJOINT_BIN", ROOT / "build/release/bin")) / "ad-runner"
    report = folder / "report.json"
    command = [runner, *arguments, "--cache", str(cache), "--report", str(report), "--out-dir", str(folder / "out")]
    if subprocess.run(command).returncode:
        sys.exit(f"{NAME}: ad-runner failed")
    return json.loads(report.read_text())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", help="write the measurements there")
    options = parser.parse_args()
    seconds = {"cold": [], "cached": []}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        arguments = make_program(folder)
        for number in range(ROUNDS + 1):
            for kind in seconds:
                report = run(arguments, folder / f"cache{number}", folder)
                if number:  # the first round warms the machine up
                    seconds[kind].append(report["startup_seconds"])
                if number == ROUNDS and kind == "cold":
                    stages = report["stages"]
    for stage in stages:
        print(f"  {stage['name']:<32} {stage['seconds']:8.3f} s")
    for kind, values in seconds.items():
        print(f"{NAME}: {statistics.median(values):.3f} s {kind}, aim {AIMS[kind]} s (digits transformer, median of {ROUNDS})")
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps({"seconds": seconds, "stages": stages}, indent=1))


if __name__ == "__main__":
    main()
