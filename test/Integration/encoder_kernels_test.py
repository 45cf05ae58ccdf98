#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""A training step of the transformer encoder takes no more kernels than the reference system's 91 with one layer and
606 with six, and no more than we set ourselves; without fusion it takes more, and both ways the gradients are those of
f64.

Kernels are counted in the loop of `@main`.
"""

import functools
import os
import pathlib
import subprocess
import sys

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "benchmarks"), str(ROOT / "test/Support")]
sys.dont_write_bytecode = True
import checks  # noqa: E402
import encoder  # noqa: E402
import transformer_program  # noqa: E402

BIN = pathlib.Path(os.environ.get("ADJOINT_BIN", ROOT / "build/release/bin"))
LIMITS = {1: 40, 6: 220}  # far below the reference system's
TOLERANCE = 1e-4  # relative to the largest element of each gradient
# The second stage of the pipeline, and the same with one fusion for each operation.
STAGES = {"fused": ["--ad-to-cpu-fusion"],
          "single": ["--ad-insert-shape-checks", "--ad-fuse=policy=single", "--ad-select-kernels", "--ad-verify-fused"]}


def fused_program(layers, way, folder):
    source, result = folder / "encoder.mlir", folder / f"{way}.mlir"
    source.write_text(transformer_program.program(layers, steps=1000))
    subprocess.run([BIN / "ad-opt", source, "--ad-to-cpu-frontend", *STAGES[way], "-o", result], check=True)
    return result


def kernels_per_step(program):
    loop = program.read_text().split("func.func @main", 1)[1].split("scf.for", 1)[1].split("scf.yield", 1)[0]
    return loop.count("ad.fusion ")


def gradient_error(layers, program, folder):
    """The largest relative error; NaN if there is one anywhere."""
    parameters, x, wanted = encoder.make_inputs(layers)
    arguments = []
    for name, value in {**parameters, "x": x, "target": wanted}.items():
        np.save(folder / f"{name}.npy", value)
        arguments += ["--arg", f"{name}={folder / name}.npy"]
    out = folder / program.stem
    command = [BIN / "ad-runner", program, "--entry", "gradients", *arguments, "--out-dir", out, "--cache", "off"]
    subprocess.run(command, check=True)
    _, gradients = encoder.loss_and_gradients(parameters, x, wanted, layers)
    pairs = [(np.load(out / f"d_{name}.npy"), value) for name, value in gradients.items()]
    return float(np.max([np.abs(got - expected).max() / np.abs(expected).max() for got, expected in pairs]))


def problems(layers, limit, folder):
    programs = {way: fused_program(layers, way, folder) for way in STAGES}
    kernels = {way: kernels_per_step(program) for way, program in programs.items()}
    print(f"{layers} layers: {kernels['fused']} kernels per step, at most {limit}; {kernels['single']} without fusion")
    if not 0 < kernels["fused"] <= limit:
        yield "too many kernels"
    if not kernels["fused"] < kernels["single"]:
        yield "fusion saves nothing"
    for way, program in programs.items():
        error = gradient_error(layers, program, folder)
        print(f"  {way}: relative error {error:.1e}, at most {TOLERANCE}")
        if not error <= TOLERANCE:
            yield f"gradients are wrong ({way})"


def main():
    return checks.run_checks("kernels", [(f"{layers} layers", functools.partial(problems, layers, limit))
                                         for layers, limit in LIMITS.items()])


if __name__ == "__main__":
    sys.exit(main())
