# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""--report says how long each stage, each pass, each run and each kernel took, and the parts fit into the whole."""

import functools
import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test/Support"))
sys.dont_write_bytecode = True
import checks  # noqa: E402

RUNNER = pathlib.Path(os.environ.get("ADJOINT_BIN", ROOT / "build/release/bin")) / "ad-runner"
REPEAT = 3
STAGES = {
    "cpu": ["parse", "optimize", "lower", "translate", "llvm", "codegen", "link", "run"],
    "reference": ["parse", "prepare", "run"],
}
PASSES = {
    "cpu": ["ad-set-numerics", "ad-differentiate", "ad-simplify", "ad-decompose", "ad-fuse", "convert-ad-to-linalg",
            "ad-prepack-operands", "ad-outline-kernels", "ad-plan-memory", "ad-emit-cpu", "convert-host-to-llvm"],
    "reference": ["ad-set-numerics", "ad-differentiate"],
}


def report_of(target, folder):
    file = folder / "report.json"
    command = [RUNNER, ROOT / "examples/first.mlir", "--arg=x=normal:1", "--cache=off", "--warmup=1",
               f"--repeat={REPEAT}"]
    subprocess.run([*command, f"--target={target}", f"--report={file}"], check=True)
    return json.loads(file.read_text())


def times(entries):
    return {entry["name"]: entry["seconds"] for entry in entries}


def problems(target, folder):
    report = report_of(target, folder)
    stages, passes = times(report["stages"]), times(report["passes"])
    for name in STAGES[target]:
        if not stages.get(name, 0) > 0:
            yield f"no time of stage {name}"
    for name in PASSES[target]:
        if not passes.get(name, 0) > 0:
            yield f"no time of pass {name}"
    compiling = sum(stages.get(name, 0) for name in ("optimize", "lower", "prepare"))
    if sum(passes.values()) > compiling:
        yield f"the passes took {sum(passes.values())} s, their stages {compiling} s"
    runs = report["runs"]
    if len(runs) != REPEAT or not all(seconds > 0 for seconds in runs):
        yield f"expected the times of {REPEAT} runs, got {runs}"
    if report["median_seconds"] != sorted(runs)[len(runs) // 2]:
        yield "the median is not that of the runs"
    if sum(runs) > stages.get("run", 0):
        yield "the runs took longer than their stage"
    if target == "cpu":
        yield from problems_of_kernels(report["kernels"], sum(runs))


def problems_of_kernels(kernels, seconds):
    if not kernels or any(kernel["calls"] != REPEAT or not kernel["seconds"] > 0 for kernel in kernels):
        yield f"expected {REPEAT} calls of each kernel and their time, got {kernels}"
    if sum(kernel["seconds"] for kernel in kernels) > seconds:
        yield "the kernels took longer than the runs"


def main():
    return checks.run_checks("report", [(target, functools.partial(problems, target)) for target in STAGES])


if __name__ == "__main__":
    sys.exit(main())
