#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Passes take time in proportion to the length of a program, also where the first axis of all values has a dynamic
size: layers of benchmarks/compile-time.py at growing length, by CPU time.

Closes with `long programs: N run, N failed`."""

import importlib.util
import os
import pathlib
import resource
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "test/Support")]
sys.dont_write_bytecode = True
import checks  # noqa: E402

BIN = pathlib.Path(os.environ.get("ADJOINT_BIN", ROOT / "build/release/bin"))
PASSES = ["--ad-to-cpu-frontend", "--ad-to-cpu-fusion", "--ad-to-cpu-kernels"]
SHORT, LONG = 300, 2400
MAX_GROWTH = 2.5 * LONG / SHORT  # the square would be 8 times as much
MAX_DYNAMIC = 3.0  # 2 is the aim of the benchmark, on an idle machine


def layers(operations, dynamic):
    spec = importlib.util.spec_from_file_location("compile_time", ROOT / "benchmarks/compile-time.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    text = module.layers(operations)[0]
    return text.replace("tensor<32x", "tensor<?x") if dynamic else text


def seconds(folder, operations, dynamic, passes=PASSES):
    path = folder / f"layers{operations}{dynamic}.mlir"
    path.write_text(layers(operations, dynamic))
    times = []
    for _ in range(2):
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        done = subprocess.run([BIN / "ad-opt", path, *passes, "-o", os.devnull], capture_output=True, text=True)
        times.append(resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before)
        assert done.returncode == 0 and "without an end in sight" not in done.stderr, done.stderr[:300]
    return min(times)


def growth(folder, dynamic):
    short, long = (seconds(folder, operations, dynamic) for operations in (SHORT, LONG))
    if long > MAX_GROWTH * short:
        yield f"{LONG} operations took {long:.2f} s, {SHORT} took {short:.2f} s"


def dynamic_cost(folder):
    static, dynamic = (seconds(folder, LONG, kind) for kind in (False, True))
    if dynamic > MAX_DYNAMIC * static:
        yield f"a dynamic first axis takes {dynamic:.2f} s, a static one {static:.2f} s"


def main():
    return checks.run_checks("long programs", [("static sizes", lambda folder: growth(folder, False)),
                                               ("dynamic sizes", lambda folder: growth(folder, True)),
                                               ("dynamic against static", dynamic_cost)])


if __name__ == "__main__":
    sys.exit(main())
