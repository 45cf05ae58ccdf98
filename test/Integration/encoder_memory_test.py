#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""A training step of the transformer encoder needs no more memory for intermediates than the reference system's
race-free layout, with the race checker on, and is within 5 % of the largest live set.

`Using: U out of T` and `Saved S. Using P%` of `@main`, in bytes; the limits are elements of f32.
"""

import functools
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "benchmarks"), str(ROOT / "test/Support")]
sys.dont_write_bytecode = True
import checks  # noqa: E402
import transformer_program  # noqa: E402

BIN = pathlib.Path(os.environ.get("ADJOINT_BIN", ROOT / "build/release/bin"))
LIMITS = {1: 2486, 2: 3958, 4: 7662, 6: 11366}
DISTANCE = 0.05
REPORT = re.compile(r"@main:\nUsing: (\d+) out of (\d+)\nSaved (\d+)\. Using ([\d.]+)%\nLargest live set: (\d+), ")


def problems(layers, limit, folder):
    source, report = folder / "encoder.mlir", folder / "report"
    source.write_text(transformer_program.program(layers, steps=1000))
    # The pass checks its plan; so does a second one, from the attributes alone.
    subprocess.run([BIN / "ad-opt", source, "--ad-to-cpu-frontend", "--ad-to-cpu-fusion", "--convert-ad-to-linalg",
                    "--ad-prepack-operands", "--ad-outline-kernels", f"--ad-plan-memory=report={report}",
                    "--ad-verify-memory-plan",
                    "-o", os.devnull], check=True)
    found = REPORT.search(report.read_text())
    if not found:
        yield "the report has another form"
        return
    used, total, saved, live = (int(found.group(i)) for i in (1, 2, 3, 5))
    print(f"{layers} layers: {used // 4} of {total // 4} elements, at most {limit}; largest live set {live // 4}")
    if saved != total - used or abs(float(found.group(4)) - 100 * used / total) > 1e-3:
        yield "the numbers of the report do not fit together"
    if not 0 < used <= 4 * limit:
        yield "too much memory"
    if not live <= used <= (1 + DISTANCE) * live:
        yield "too far from the lower bound"


def main():
    return checks.run_checks("memory", [(f"{layers} layers", functools.partial(problems, layers, limit))
                                        for layers, limit in LIMITS.items()])


if __name__ == "__main__":
    sys.exit(main())
