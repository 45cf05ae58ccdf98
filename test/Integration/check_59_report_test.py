# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Check 59: --report says how long each stage, each pass, each run and each kernel took, and the parts fit into the whole."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
RUNNER = pathlib.Path(os.environ.get("ADJOINT_BIN", ROOT / "build/release/bin")) / "ad-runner"
REPEAT = 3
STAGES = {
    "cpu": ["parse", "optimize", "lower", "translate", "llvm", "codegen", "link", "run"],
    "reference": ["parse", "prepare", "run"],
}
PASSES = {
    "cpu": ["ad-set-numerics", "ad-differentiate", "ad-simplify", "ad-decompose", "ad-fuse", "convert-ad-to-linalg",
            "ad-prepack-operands", "ad-outline-kernels", "ad-plan-memory", "ad-emit-cpu", "ad-lower-host"],
    "reference": ["ad-set-numerics", "ad-differentiate"],
}


def report_of(target, folder):
    file = pathlib.Path(folder) / "report.json"
    command = [RUNNER, ROOT / "examples/first.mlir", "--arg=x=normal:1", "--cache=off", "--warmup=1", f"--repeat={REPEAT}"]
    subprocess.run([*command, f"--target={target}", f"--report={file}"], check=True)
    return json.loads(file.read_text())


def times(entries):
    return {entry["name"]: entry["seconds"] for entry in entries}


def problems(target, report):
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
    failed = 0
    for target in STAGES:
        with tempfile.TemporaryDirectory() as folder:
            found = list(problems(target, report_of(target, folder)))
        failed += bool(found)
        for problem in found:
            print(f"FAILED: {target}: {problem}")
    print(f"report: {len(STAGES)} run, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
