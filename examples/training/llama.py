#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Trains a two-layer Llama of width 128 on the characters of a book with Adam, in f32 and in bf16, and compares the
losses.

The program is that of examples/models/llama.py, the book the King James Bible, which is in the public domain. It needs
the Python package and the Debian package bible-kjv, which scripts/setup.sh installs.
"""

import argparse
import pathlib
import sys

import adjoint
import numpy as np

EXAMPLES = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(EXAMPLES / "models"), str(EXAMPLES / "support")]
sys.dont_write_bytecode = True
import ending  # noqa: E402
import llama as models  # noqa: E402
from book import book  # noqa: E402

WINDOW = 20  # steps of which the mean is a point of the curve


def configure(steps):
    return models.Config(**models.TRAINING | {"entry": "train", "vocabulary": 128, "steps": steps, "rate": 1e-3})


def batches(config, rng):
    """Random parts of the book as ids of characters, and the characters that follow."""
    text = book()
    starts = rng.integers(0, len(text) - config.length - 1, (config.steps, config.batch, 1))
    at = starts + np.arange(config.length)
    return {"ids": text[at].astype(np.int32), "labels": text[at + 1].astype(np.int32)}


def losses(precision, steps, seed=0, **options):
    """The loss of each step."""
    config = configure(steps)
    arguments, _ = models.inputs(config, seed)
    run = adjoint.compile(models.program(config), precision=precision, **options)
    found = []
    run(**arguments, feeds=batches(config, np.random.default_rng(seed)),
        receives={"loss": lambda loss: found.append(float(loss))})
    return np.array(found)


def curve(values):
    return values[: len(values) // WINDOW * WINDOW].reshape(-1, WINDOW).mean(1)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split(",")[0])
    parser.add_argument("--steps", type=int, default=300, help=f"at least {WINDOW} (default: 300)")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    if options.steps < WINDOW:
        parser.error(f"argument --steps: expected at least {WINDOW}, got {options.steps}")
    wide, narrow = (curve(losses(precision, options.steps, options.seed)) for precision in ("none", "bf16"))
    for i, (left, right) in enumerate(zip(wide, narrow)):
        print(f"steps {i * WINDOW:4d} to {(i + 1) * WINDOW:4d}: f32 {left:.4f}  bf16 {right:.4f}  {right / left - 1:+.2%}")
    print(f"largest difference of the curves: {np.abs(narrow / wide - 1).max():.2%}")


if __name__ == "__main__":
    ending.run(main)
