#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""The loss and all gradients of the transformer encoder of 1, 2, 4 and 6 layers are those of f64.

The encoder and its hand-written backward pass are those of benchmarks/encoder.py. One check per number of layers on
each target, and one that all targets give the same bytes in `reproducible` mode; then `N run, N failed`.
"""

import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "benchmarks"), str(ROOT / "test/Support")]
sys.dont_write_bytecode = True
import checks  # noqa: E402
import encoder  # noqa: E402
import transformer_program  # noqa: E402

TOLERANCE = 1e-4  # relative to the largest element of each gradient
RUNNER = pathlib.Path(os.environ.get("ADJOINT_BIN", ROOT / "build/release/bin")) / "ad-runner"


TARGETS = ["reference", "cpu", "gpu-sim"]
LAYERS = [1, 2, 4, 6]


def run(layers, target, folder, *options):
    """The folder that holds the loss and the gradients."""
    parameters, x, wanted = encoder.make_inputs(layers)
    (folder / "encoder.mlir").write_text(transformer_program.program(layers, steps=1))
    arguments = []
    for name, value in {**parameters, "x": x, "target": wanted}.items():
        np.save(folder / f"{name}.npy", value)
        arguments += ["--arg", f"{name}={folder / name}.npy"]
    out = folder / "out"
    command = [RUNNER, folder / "encoder.mlir", "--entry", "gradients", "--target", target, *options, *arguments]
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


def check_error(layers, target, folder):
    error = error_of(layers, run(layers, target, folder))
    holds = error <= TOLERANCE and sizes_are_right(layers)
    return holds, f"{layers} layers, {target}: relative error {error:.1e}, at most {TOLERANCE}"


def check_bytes(layers, folder):
    files = {}
    for target in TARGETS:
        (folder / target).mkdir()
        out = run(layers, target, folder / target, "--numerics", "reproducible")
        files[target] = {file.name: file.read_bytes() for file in out.glob("*.npy")}
    expected = files["reference"]
    return (all(given == expected for given in files.values()) and len(expected) == 1 + len(encoder.shapes(layers)),
            f"{layers} layers: {len(expected)} tensors of the same bytes on {', '.join(TARGETS)}")


def check(function, *case):
    """Whether the check fails."""
    with tempfile.TemporaryDirectory() as name:
        try:
            holds, said = function(*case, pathlib.Path(name))
        except (subprocess.CalledProcessError, OSError) as problem:
            holds, said = False, f"{case}: {problem}"
    print(f"{'ok' if holds else 'FAILED'}: {said}")
    return not holds


def main():
    cases = [(check_error, layers, target) for target in TARGETS for layers in LAYERS]
    cases += [(check_bytes, layers) for layers in LAYERS]
    cases = checks.sample(cases, 4)
    failed = sum(check(*case) for case in cases)
    print(f"{len(cases)} run, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
