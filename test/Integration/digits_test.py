#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""The digits programs as a whole: the first losses are those of the same models in f64, and they learn to read.

Two checks per program and one of the picture of a loss, then `N run, N failed`.
"""

import os
import pathlib
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT / "examples" / "digits"))
sys.dont_write_bytecode = True
import plot_loss  # noqa: E402
import prepare  # noqa: E402

# Rounding in f32 makes 1e-6 of the first 60 losses; after them the transformer's grow apart: half a unit in the last
# place of the initial parameters makes 5e-4 of its hundredth loss.
STEPS = 60
TOLERANCE = 1e-5  # relative
MIN_ACCURACY = 0.95


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
    return failed + check(f"{model} accuracy", accuracy >= MIN_ACCURACY, f"{accuracy:.4f}, expected {MIN_ACCURACY}")


def check_picture():
    """A picture is well-formed whatever its title, inside its frame, and says what its two curves and its axes are."""
    root = xml.etree.ElementTree.fromstring(plot_loss.draw(np.geomspace(2.0, 0.003, 528), "a < b & c"))
    curves = [[tuple(map(float, point.split(","))) for point in line.get("points").split()]
              for line in root.findall(".//{*}polyline")][:2]
    inside = all(0 <= x <= plot_loss.WIDTH and 0 <= y <= plot_loss.HEIGHT for curve in curves for x, y in curve)
    texts = {text.text for text in root.findall(".//{*}text")}
    wanted = {"a < b & c", "training step", "loss (cross entropy)", "each step", "mean of the last 25", "0.001", "10",
              "500"}
    lacking = sorted(wanted - texts)
    holds = [len(curve) for curve in curves] == [528, 528] and inside and not lacking
    return check("picture", holds, f"curves of {[len(curve) for curve in curves]} points, lacking texts: {lacking}")


def main():
    failed = int(check_picture())
    for model in sorted(prepare.MODELS):
        with tempfile.TemporaryDirectory() as folder:
            try:
                failed += check_model(model, pathlib.Path(folder))
            except (subprocess.CalledProcessError, OSError) as error:
                print(f"FAILED: {model}: {error}")
                failed += 2
    print(f"{2 * len(prepare.MODELS) + 1} run, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
