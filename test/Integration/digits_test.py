#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""The digits programs as a whole: the first losses are those of the same models in f64, and they learn to read.

Two checks per program, then `N run, N failed`.
"""

import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT / "examples" / "digits"))
sys.dont_write_bytecode = True
import prepare  # noqa: E402

# Rounding in f32 makes 1e-6 of the first 60 losses; behind them the transformer's grow apart: half a unit in the last place of
# the initial parameters makes 5e-4 of its hundredth loss.
STEPS = 60
TOLERANCE = 1e-5  # relative
LEAST_ACCURACY = 0.95


def train(model, folder):
    """Runs the program as a user does; returns its losses and its accuracy."""
    prepare.write_inputs(*prepare.make_inputs(model, seed=0), folder / "inputs")
    runner = pathlib.Path(os.environ.get("ADJOINT_BIN", ROOT / "build/release/bin")) / "ad-runner"
    arguments = (folder / "inputs" / "arguments").read_text().splitlines()
    program = ROOT / "examples" / "digits" / f"{model}.mlir"
    command = [runner, program, *arguments, "--out-dir", folder, "--cache", folder / "cache"]
    subprocess.run(command, check=True)
    return np.load(folder / "loss.npy").reshape(-1), float(np.load(folder / "accuracy.npy"))


def check(name, holds, message):
    print(f"{'ok' if holds else 'FAILED'}: {name}: {message}")
    return not holds


def check_model(model, folder):
    losses, accuracy = train(model, folder)
    expected = np.load(HERE / "data" / "digits" / f"{model}_loss.npy")[:STEPS]
    error = float(np.max(np.abs(losses[:STEPS] - expected) / expected))
    failed = check(f"{model} losses", error <= TOLERANCE, f"relative error {error:.1e}, expected at most {TOLERANCE}")
    return failed + check(f"{model} accuracy", accuracy >= LEAST_ACCURACY, f"{accuracy:.4f}, expected {LEAST_ACCURACY}")


def main():
    failed = 0
    for model in sorted(prepare.MODELS):
        with tempfile.TemporaryDirectory() as folder:
            try:
                failed += check_model(model, pathlib.Path(folder))
            except (subprocess.CalledProcessError, OSError) as error:
                print(f"FAILED: {model}: {error}")
                failed += 2
    print(f"{2 * len(prepare.MODELS)} run, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
