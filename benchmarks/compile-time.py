#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Seconds from the start of ad-runner's main to the first kernel on one core: cold, and from the cache.

Two programs: the training of examples/digits/transformer.mlir with a single step, so that little but compiling is left,
and layers of a perceptron with 300 operations. After them what passes cost per operation of such layers, without code,
at growing length, the longest also with a first axis of dynamic size. No peer compiles these programs; the lines are
held against our own aims.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

NAME = "compile-time"
ROOT = pathlib.Path(__file__).resolve().parents[1]
BIN = pathlib.Path(os.environ.get("ADJOINT_BIN", ROOT / "build/release/bin"))
AIMS = {"digits transformer": {"cold": 1.0, "cached": 0.01}, "300 operations": {"cold": 0.9, "cached": 0.01}}
LENGTHS = (1000, 3000, 10000, 40000)
LONGEST = 8.0  # seconds of the longest program
DYNAMIC = 2.0  # times as long with a dynamic first axis
GROWTH = 1.5  # of the time per operation, from the shortest to the longest program
ROUNDS = 5


def transformer(folder):
    """The training program with one step instead of all, and the arguments that give it its inputs."""
    source = (ROOT / "examples/digits/transformer.mlir").read_text()
    steps = "%steps = arith.constant 528 : index"
    if source.count(steps) != 1:
        sys.exit(f"{NAME}: expected one '{steps}' in the program")
    (folder / "step.mlir").write_text(source.replace(steps, "%steps = arith.constant 1 : index"))
    prepare = [sys.executable, "-B", ROOT / "examples/digits/prepare.py", "transformer", folder / "inputs"]
    subprocess.run(prepare, check=True)
    return [str(folder / "step.mlir"), *(folder / "inputs" / "arguments").read_text().splitlines()]


def layers(operations):
    """A program of that many operations, five to a layer; each third layer has another width, so that kernels differ."""
    lines, shapes, value = [], {}, "%x"
    widths = [64, 96, 64, 48]
    width = widths[0]
    for number in range(operations // 5):
        after = widths[(number + 1) % len(widths)]
        weight, bias, out = f"tensor<{width}x{after}xf32>", f"tensor<{after}xf32>", f"tensor<32x{after}xf32>"
        shapes.update({f"%w{width}_{after}": weight, f"%b{after}": bias})
        lines += [f"  %d{number} = ad.dot {value}, %w{width}_{after} : (tensor<32x{width}xf32>, {weight}) -> {out}",
                  f"  %a{number} = ad.add %d{number}, %b{after} : {out}, {bias}",
                  f"  %t{number} = ad.tanh %a{number} : {out}",
                  f"  %m{number} = ad.mul %t{number}, %b{after} : {out}, {bias}",
                  f"  %n{number} = ad.layer_norm %m{number}, %b{after}, %b{after} epsilon 1.0e-5 : {out}, {bias}"]
        value, width = f"%n{number}", after
    result = f"tensor<32x{width}xf32>"
    arguments = {"%x": f"tensor<32x{widths[0]}xf32>", **shapes}
    head = ", ".join(f"{name}: {kind} {{ad.name = \"{name[1:]}\"}}" for name, kind in arguments.items())
    text = "\n".join([f"func.func @main({head}) -> {result} {{", *lines, f"  return {value} : {result}", "}", ""])
    return text, [f"--arg={name[1:]}=normal:1:0.1" for name in arguments]


def perceptron(folder):
    text, arguments = layers(300)
    (folder / "layers.mlir").write_text(text)
    return [str(folder / "layers.mlir"), *arguments]


def run(arguments, cache, folder):
    """The report of one run."""
    report = folder / "report.json"
    command = [BIN / "ad-runner", *arguments, "--cache", str(cache), "--report", str(report), "--out-dir",
               str(folder / "out")]
    if subprocess.run(command).returncode:
        sys.exit(f"{NAME}: ad-runner failed")
    return json.loads(report.read_text())


def measure_start(name, make):
    """The median seconds of both kinds of start, and the stages of a cold one."""
    seconds = {"cold": [], "cached": []}
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        arguments = make(folder)
        for number in range(ROUNDS + 1):
            for kind in seconds:
                report = run(arguments, folder / f"cache{number}", folder)
                if number:  # the first round warms the machine up
                    seconds[kind].append(report["startup_seconds"])
                if number == ROUNDS and kind == "cold":
                    stages = report["stages"]
    print(name + ": " + ", ".join(f"{stage['name']} {stage['seconds']:.3f}" for stage in stages))
    return {"case": name, "seconds": {kind: statistics.median(values) for kind, values in seconds.items()},
            "stages": stages}


def measure_length(operations, dynamic=False):
    """Seconds of all passes up to the planned memory."""
    passes = ["--ad-to-cpu-frontend", "--ad-to-cpu-fusion", "--ad-to-cpu-kernels", "-o", os.devnull]
    times = []
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "layers.mlir"
        text = layers(operations)[0]
        file.write_text(text.replace("tensor<32x", "tensor<?x") if dynamic else text)
        for _ in range(3):
            start = time.perf_counter()
            if subprocess.run([BIN / "ad-opt", file, *passes]).returncode:
                sys.exit(f"{NAME}: ad-opt failed on {operations} operations")
            times.append(time.perf_counter() - start)
    return min(times)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", help="write the measurements there")
    options = parser.parse_args()
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    rows = [measure_start(*case) for case in (("digits transformer", transformer), ("300 operations", perceptron))]
    lengths = {operations: measure_length(operations) for operations in LENGTHS}
    for operations, seconds in lengths.items():
        print(f"{operations:6d} operations: {seconds:7.3f} s of passes, {1e6 * seconds / operations:6.0f} us each")
    dynamic = measure_length(LENGTHS[-1], dynamic=True)
    print(f"{LENGTHS[-1]:6d} operations: {dynamic:7.3f} s of passes with a dynamic first axis")
    for row in rows:
        for kind, seconds in row["seconds"].items():
            print(f"{NAME}: {seconds:.3f} s {kind}, aim {AIMS[row['case']][kind]} s ({row['case']}, median of {ROUNDS})")
    growth = lengths[LENGTHS[-1]] / LENGTHS[-1] / (lengths[LENGTHS[0]] / LENGTHS[0])
    print(f"{NAME}: {growth:.2f} times the time per operation at {LENGTHS[-1]}, aim {GROWTH} ({LENGTHS[0]} operations)")
    print(f"{NAME}: {lengths[LENGTHS[-1]]:.1f} s, aim {LONGEST} s ({LENGTHS[-1]} operations)")
    print(f"{NAME}: {dynamic / lengths[LENGTHS[-1]]:.2f} times as long with a dynamic first axis, aim {DYNAMIC}")
    if options.json:
        found = {"starts": rows, "lengths": lengths, "dynamic": dynamic}
        pathlib.Path(options.json).write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
