#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Class numbers of ad.cross_entropy: each target ignores the same rows, with a loss and a gradient of zero, and refuses
the same numbers with the same words. Losses and gradients are those of softmax in NumPy, in f64."""

import pathlib
import subprocess
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Support"))
sys.dont_write_bytecode = True
import checks  # noqa: E402
import runner  # noqa: E402

TARGETS = ["reference", "cpu", "gpu-sim"]
CLASSES = 5
PROGRAM = """
func.func private @loss(%z: tensor<{rows}x{classes}xf64>, %c: tensor<{rows}x{type}>) -> tensor<f64> {{
  %l = ad.cross_entropy %z, %c{ignored} : tensor<{rows}x{classes}xf64>, tensor<{rows}x{type}> -> tensor<{rows}xf64>
  %s = ad.reduce_sum %l axes [0] : tensor<{rows}xf64> -> tensor<f64>
  return %s : tensor<f64>
}}
func.func @main(%z: tensor<{rows}x{classes}xf64> {{ad.name = "z"}}, %c: tensor<{rows}x{type}> {{ad.name = "c"}})
    -> (tensor<f64> {{ad.name = "loss"}}, tensor<{rows}x{classes}xf64> {{ad.name = "dz"}}) {{
  %l, %d = ad.value_and_grad @loss(%z, %c) wrt [0] : (tensor<{rows}x{classes}xf64>, tensor<{rows}x{type}>)
      -> (tensor<f64>, tensor<{rows}x{classes}xf64>)
  return %l, %d : tensor<f64>, tensor<{rows}x{classes}xf64>
}}
"""
# The ignored number, the class numbers, and the one that is refused.
BIG = 2**53 + 1  # no double
ACCEPTED = [(None, [0, 4, 2]), (None, [-1, 3, -100]), (None, [-1, -1]), (None, []), (-100, [0, -100, 4]),
            (0, [0, 1, 0]), (7, [7, 2]), (2**31 - 1, [2**31 - 1, 1])]
WIDE = [(BIG, [BIG, 1]), (-BIG, [-BIG, 1]), (2**63 - 1, [2**63 - 1, 0])]  # of i64 alone
REFUSED = [(None, [0, 5, 1], 5), (None, [7, 5, -1], 7), (-100, [0, -1], -1), (-100, [-1, 5, -3], 5), (0, [1, -100, -2],
           -100), (7, [7, 8], 8)]


def run(target, ignored, labels, element, dynamic, folder):
    storage = {"i32": np.int32, "i64": np.int64}[element]
    logits = np.random.default_rng(3).normal(size=(len(labels), CLASSES))
    np.save(folder / "z.npy", logits)
    np.save(folder / "c.npy", np.asarray(labels, storage))
    word = "" if ignored is None else f" ignored {ignored}"
    rows = "?" if dynamic else len(labels)
    text = PROGRAM.format(rows=rows, classes=CLASSES, type=element, ignored=word)
    (folder / "program.mlir").write_text(text)
    done = subprocess.run([runner.binary("ad-runner"), folder / "program.mlir", "--target", target,
                           "--arg", f"z={folder / 'z.npy'}", "--arg", f"c={folder / 'c.npy'}",
                           "--out-dir", folder / "out"], capture_output=True, text=True)
    return logits, done


def expected(logits, ignored, labels):
    """The loss and its gradient."""
    powers = np.exp(logits - logits.max(1, keepdims=True, initial=-np.inf))
    softmax = powers / powers.sum(1, keepdims=True)
    loss, gradient = 0.0, np.zeros_like(logits)
    for row, label in enumerate(labels):
        if label == ignored or (ignored is None and label < 0):
            continue
        loss -= np.log(softmax[row, label])
        gradient[row] = softmax[row] - (np.arange(CLASSES) == label)
    return loss, gradient


def check_accepted(target, folder):
    both = [(*case, element) for case in ACCEPTED for element in ("i32", "i64")]
    for ignored, labels, element in both + [(*case, "i64") for case in WIDE]:
        for dynamic in (False, True):
            logits, done = run(target, ignored, labels, element, dynamic, folder)
            assert done.returncode == 0, (ignored, labels, done.stderr)
            loss, gradient = expected(logits, ignored, labels)
            found = np.load(folder / "out/loss.npy"), np.load(folder / "out/dz.npy")
            assert np.allclose(found[0], loss, rtol=1e-12, atol=0) and np.allclose(found[1], gradient, 1e-12, 1e-15), (
                ignored, labels, found, loss, gradient)
            rows = [row for row, label in enumerate(labels) if label == ignored or (ignored is None and label < 0)]
            assert not found[1][rows].any(), (ignored, labels, found[1])


def check_refused(target, folder):
    both = [(*case, element) for case in REFUSED for element in ("i32", "i64")]
    for ignored, labels, named, element in both + [(BIG, [BIG - 1, 1], BIG - 1, "i64")]:
        for dynamic in (False, True):
            _, done = run(target, ignored, labels, element, dynamic, folder)
            message = f"program.mlir:3:8: error: 'ad.cross_entropy' op class number {named} is outside of {CLASSES} classes"
            assert done.returncode == 1 and message in done.stderr, (ignored, labels, done.returncode, done.stderr)


def main():
    return checks.run_checks("class numbers", checks.sample([
        (f"{check.__name__[6:]} on {target}", lambda folder, check=check, target=target: check(target, folder))
        for target in TARGETS for check in (check_accepted, check_refused)], 3))


if __name__ == "__main__":
    sys.exit(main())
