# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""A linear-sigmoid-linear network of width 255 trains for 1000 steps and ends at the parameters of an f64
computation, to 1e-4 of each parameter's largest value. On the emulated GPU it does so for 20 steps.

The loss is the mean of the outputs for a batch of two that is fed anew in every step; the rate is 0.01. (The sum of the
outputs has no lower bound, and its training magnifies any rounding.)
"""

import os
import pathlib
import subprocess
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Support"))
sys.dont_write_bytecode = True
import checks  # noqa: E402

STEPS = {"cpu": 1000, "gpu-sim": 20}
WIDTH, BATCH, RATE = 255, 2, 0.01
RUNNER = str(pathlib.Path(os.environ.get("ADJOINT_BIN", "build/release/bin")) / "ad-runner")
PROGRAM = """
func.func private @loss(%w1: tensor<255x255xf32>, %b1: tensor<255xf32>, %w2: tensor<255x255xf32>, %b2: tensor<255xf32>,
                        %x: tensor<2x255xf32>) -> tensor<f32> {
  %0 = ad.dot %x, %w1 : (tensor<2x255xf32>, tensor<255x255xf32>) -> tensor<2x255xf32>
  %1 = ad.add %0, %b1 : tensor<2x255xf32>, tensor<255xf32>
  %h = ad.sigmoid %1 : tensor<2x255xf32>
  %2 = ad.dot %h, %w2 : (tensor<2x255xf32>, tensor<255x255xf32>) -> tensor<2x255xf32>
  %3 = ad.add %2, %b2 : tensor<2x255xf32>, tensor<255xf32>
  %s = ad.reduce_mean %3 axes [0, 1] : tensor<2x255xf32> -> tensor<f32>
  return %s : tensor<f32>
}
func.func @main(%w1: tensor<255x255xf32> {ad.name = "w1"}, %b1: tensor<255xf32> {ad.name = "b1"},
                %w2: tensor<255x255xf32> {ad.name = "w2"}, %b2: tensor<255xf32> {ad.name = "b2"})
    -> (tensor<255x255xf32> {ad.name = "w1"}, tensor<255xf32> {ad.name = "b1"},
        tensor<255x255xf32> {ad.name = "w2"}, tensor<255xf32> {ad.name = "b2"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %steps = arith.constant 1000 : index
  %rate = ad.constant dense<0.01> : tensor<f32>
  %r:4 = scf.for %i = %c0 to %steps step %c1 iter_args(%p = %w1, %q = %b1, %s = %w2, %t = %b2)
      -> (tensor<255x255xf32>, tensor<255xf32>, tensor<255x255xf32>, tensor<255xf32>) {
    %x = ad.feed "x" : tensor<2x255xf32>
    %l, %dp, %dq, %ds, %dt = ad.value_and_grad @loss(%p, %q, %s, %t, %x) wrt [0, 1, 2, 3]
      : (tensor<255x255xf32>, tensor<255xf32>, tensor<255x255xf32>, tensor<255xf32>, tensor<2x255xf32>)
        -> (tensor<f32>, tensor<255x255xf32>, tensor<255xf32>, tensor<255x255xf32>, tensor<255xf32>)
    %up = ad.mul %dp, %rate : tensor<255x255xf32>, tensor<f32>
    %uq = ad.mul %dq, %rate : tensor<255xf32>, tensor<f32>
    %us = ad.mul %ds, %rate : tensor<255x255xf32>, tensor<f32>
    %ut = ad.mul %dt, %rate : tensor<255xf32>, tensor<f32>
    %np = ad.sub %p, %up : tensor<255x255xf32>
    %nq = ad.sub %q, %uq : tensor<255xf32>
    %ns = ad.sub %s, %us : tensor<255x255xf32>
    %nt = ad.sub %t, %ut : tensor<255xf32>
    scf.yield %np, %nq, %ns, %nt : tensor<255x255xf32>, tensor<255xf32>, tensor<255x255xf32>, tensor<255xf32>
  }
  return %r#0, %r#1, %r#2, %r#3 : tensor<255x255xf32>, tensor<255xf32>, tensor<255x255xf32>, tensor<255xf32>
}
"""


def train_f64(parameters, batches):
    w1, b1, w2, b2 = (p.astype(np.float64) for p in parameters)
    ones = np.full((BATCH, WIDTH), 1 / (BATCH * WIDTH))
    for x in batches.astype(np.float64):
        h = 1 / (1 + np.exp(-(x @ w1 + b1)))
        d = (ones @ w2.T) * h * (1 - h)
        w1, b1, w2, b2 = w1 - RATE * x.T @ d, b1 - RATE * d.sum(0), w2 - RATE * h.T @ ones, b2 - RATE * ones.sum(0)
    return w1, b1, w2, b2


def train(folder, target):
    steps = STEPS[target]
    generator = np.random.default_rng(14)
    shapes = [(WIDTH, WIDTH), (WIDTH,), (WIDTH, WIDTH), (WIDTH,)]
    parameters = [(generator.standard_normal(shape) / 16).astype(np.float32) for shape in shapes]
    batches = generator.standard_normal((steps, BATCH, WIDTH)).astype(np.float32)
    names = ["w1", "b1", "w2", "b2"]
    for name, value in zip(names, parameters):
        np.save(folder / f"{name}.npy", value)
    np.save(folder / "x.npy", batches)
    (folder / "program.mlir").write_text(PROGRAM.replace("constant 1000 : index", f"constant {steps} : index"))
    command = [RUNNER, str(folder / "program.mlir"), "--target", target, "--cache", "off", "--out-dir",
               str(folder / "out")]
    command += [f"--feed=x={folder}/x.npy"]
    command += [f"--arg={name}={folder}/{name}.npy" for name in names]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        yield f"exit {done.returncode}: {done.stderr.strip()}"
        return
    for name, exact, initial in zip(names, train_f64(parameters, batches), parameters):
        got = np.load(folder / "out" / f"{name}.npy").astype(np.float64)
        error = np.abs(got - exact).max() / np.abs(exact).max()
        print(f"{name} on {target}: relative error {error:.1e}")
        if not np.abs(got - initial).max() > 1e-6 * steps * np.abs(exact).max():
            yield f"{name} was not trained"
        if not error <= 1e-4:
            yield f"{name} differs from f64 by {error}"


def main():
    cases = [(f"training on {target}", lambda folder, target=target: train(folder, target)) for target in STEPS]
    return checks.run_checks("linear", cases)


if __name__ == "__main__":
    sys.exit(main())
