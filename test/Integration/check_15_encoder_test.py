#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Check 15: the loss and all gradients of the transformer encoder of 1, 2, 4 and 6 layers are those of f64.

The encoder and its hand-written backward pass are those of benchmarks/encoder.py. One check per number of layers on each
target, then `N run, N failed`.
"""

import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))
sys.dont_write_bytecode = True
import encoder  # noqa: E402
import transformer_program  # noqa: E402

TOLERANCE = 1e-4  # relative to the largest element of each gradient
RUNNER = pathlib.Path(os.environ.get("ADJOINT_BIN", ROOT / "build/release/bin")) / "ad-runner"


def run(layers, target, folder):
    """The folder that holds the loss and the gradients."""
    parameters, x, wanted = encoder.make_inputs(layers)
    (folder / "encoder.mlir").write_text(transformer_program.program(layers, steps=1))
    arguments = []
    for name, value in {**parameters, "x": x, "target": wanted}.items():
        np.save(folder / f"{name}.npy", value)
        arguments += ["--arg", f"{name}={folder / name}.npy"]
    out = folder / "out"
    command = [RUNNER, folder / "encoder.mlir", "--entry", "gradients", "--target", target, *arguments]
    subprocess.run([*command, "--out-dir", out, "--cache", folder / "cache"], check=True)
    return out


def error_of(layers, out):
    """The largest relative error; NaN if there is one anywhere."""
    loss, gradients = encoder.loss_and_gradients(*encoder.make_inputs(layers), layers)
    pairs = [(np.load(out / f"d_{name}.npy"), value) for name, value in gradients.items()]
    pairs.append((np.load(out / "loss.npy"), loss))
    return float(np.max([np.abs(got - expected).max() / np.abs(expected).max() for got, expected in pairs]))


def sizes_are_right(layers):
    shapes = encoder.shapes(layers)
    return len(shapes) == 21 * layers and sum(int(np.prod(shape)) for shape in shapes.values()) == 33216 * layers


def check(layers, target):
    """Whether the check fails."""
    with tempfile.TemporaryDirectory() as name:
        try:
            error = error_of(layers, run(layers, target, pathlib.Path(name)))
        except (subprocess.CalledProcessError, OSError) as problem:
            print(f"FAILED: {layers} layers, {target}: {problem}")
            return True
    holds = error <= TOLERANCE and sizes_are_right(layers)
    print(f"{'ok' if holds else 'FAILED'}: {layers} layers, {target}: relative error {error:.1e}, at most {TOLERANCE}")
    return not holds


def main():
    cases = [(layers, target) for target in ("reference", "cpu") for layers in (1, 2, 4, 6)]
    failed = sum(check(*case) for case in cases)
    print(f"{len(cases)} run, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
