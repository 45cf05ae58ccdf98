#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""`ad-lower-guards` takes time in proportion to the number of guards: each becomes the end of a block, and a pass that
moved all operations after it would take the square.

Closes with `guards: N run, N failed`."""

import os
import pathlib
import resource
import subprocess
import sys

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / "Support")]
sys.dont_write_bytecode = True
import checks  # noqa: E402

BIN = pathlib.Path(os.environ.get("ADJOINT_BIN", pathlib.Path(__file__).resolve().parents[2] / "build/release/bin"))
FEW, TIMES = 2500, 8
MAX_GROWTH = 2.5 * TIMES  # the square would be TIMES * TIMES
ROUNDS = 3


def program(guards):
    lines = [f"  %{i} = arith.addi %x, %x : i32\n  ad.guard %{i}" for i in range(guards)]
    return "\n".join(["func.func @main(%x: i32) -> i32 {", *lines, "  return %x : i32", "}", ""])


def pass_seconds(path):
    """CPU time of the pass: that of the tool less that of parsing alone."""
    def seconds(*options):
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        subprocess.run([BIN / "ad-opt", path, *options, "-o", os.devnull], check=True)
        return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before

    return min(seconds("--ad-lower-guards") for _ in range(ROUNDS)) - min(seconds() for _ in range(ROUNDS))


def grows_linearly(folder):
    times = []
    for number in (FEW, TIMES * FEW):
        path = folder / f"guards{number}.mlir"
        path.write_text(program(number))
        times.append(max(pass_seconds(path), 1e-3))
    if times[1] > MAX_GROWTH * times[0] and times[1] > 1.0:
        yield f"{TIMES} times as many guards took {times[1]:.2f} s instead of {times[0]:.2f} s"


def main():
    return checks.run_checks("guards", [("growth", grows_linearly)])


if __name__ == "__main__":
    sys.exit(main())
