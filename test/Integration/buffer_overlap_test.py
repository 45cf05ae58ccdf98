#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""No two buffers that are live together overlap, in loops and around them, and threads change nothing.

Plans of whole programs, fused and unfused, are executed without data by test/Support/plan.py, which must find the races
of a plan with all buffers at one offset.
"""

import functools
import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "benchmarks"), str(ROOT / "test/Support")]
sys.dont_write_bytecode = True
import checks  # noqa: E402
import clusters  # noqa: E402
import plan  # noqa: E402
import transformer_program  # noqa: E402

BIN = pathlib.Path(os.environ.get("ADJOINT_BIN", ROOT / "build/release/bin"))
POLICIES = ["grow", "single"]
GENERATED = 40
FILES = ["donated-updates", "layer-norm", "nested-loops"]
WIDE = """
func.func @main(%x: tensor<300x500xf32> {ad.name = "x"}, %w: tensor<500x400xf32> {ad.name = "w"}, %s: tensor<400xf32> {ad.name = "s"})
    -> (tensor<300x400xf32> {ad.name = "y"}, tensor<400xf32> {ad.name = "z"}) {
  %0 = ad.dot %x, %w : (tensor<300x500xf32>, tensor<500x400xf32>) -> tensor<300x400xf32>
  %1 = ad.layer_norm %0, %s, %s epsilon 1.0e-5 : tensor<300x400xf32>, tensor<400xf32>
  %y = ad.softmax %1 axis 1 : tensor<300x400xf32>
  %z = ad.reduce_sum %1 axes [0] : tensor<300x400xf32> -> tensor<400xf32>
  return %y, %z : tensor<300x400xf32>, tensor<400xf32>
}
"""


def programs():
    yield from (((f"encoder of {n} layers"), transformer_program.program(n, steps=10)) for n in (1, 6))
    yield "wide", WIDE
    yield from ((name, (ROOT / f"test/Integration/{name}.mlir").read_text()) for name in FILES)
    yield from ((f"generated {n}", clusters.random_program(25, n).function("main")) for n in range(GENERATED))


def planned(text, policy):
    """The IR with its memory plan."""
    stages = ["--ad-to-cpu-frontend", f"--ad-to-cpu-fusion=fuse={policy}", "--ad-to-cpu-kernels"]
    return subprocess.run([BIN / "ad-opt", *stages], input=text, capture_output=True, text=True, check=True).stdout


def at_one_offset(text):
    """The same with all buffers at the start of their memory."""
    return re.sub(r"(ad\.buffer <[^>]*), offset = \d+", r"\1", text)


def problem_of_plan(text, policy, _folder):
    try:
        plan.check(planned(text, policy))
    except plan.Race as race:
        return str(race)
    return None


def problem_of_checker(_folder):
    try:
        plan.check(at_one_offset(planned(WIDE, "single")))
    except plan.Race:
        return None
    return "a plan with all buffers at one offset passes"


def problem_of_threads(folder):
    (folder / "wide.mlir").write_text(WIDE)
    results = set()
    for threads in (1, 2, 3, 8):
        out = folder / str(threads)
        sources = [f"--arg={argument}=normal:{seed}" for seed, argument in enumerate("xws")]
        subprocess.run([BIN / "ad-runner", folder / "wide.mlir", *sources, f"--threads={threads}", f"--out-dir={out}",
                        f"--cache={folder / 'cache'}", f"--report={folder / 'report.json'}"], check=True)
        shared = json.loads((folder / "report.json").read_text())["shared_loops"]
        if (shared > 0) != (threads > 1):
            return f"{threads} threads share {shared} loops"
        results.add((out / "y.npy").read_bytes() + (out / "z.npy").read_bytes())
    return None if len(results) == 1 else f"threads give {len(results)} different results"


def main():
    plans = [(f"{name}, {policy}", functools.partial(problem_of_plan, text, policy))
             for name, text in programs() for policy in POLICIES]
    return checks.run_checks("races", [*plans, ("the checker", problem_of_checker), ("threads", problem_of_threads)])


if __name__ == "__main__":
    sys.exit(main())
