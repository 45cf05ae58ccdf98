#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Trains a two-layer Llama of width 128 on the characters of a book with Adam, in f32 and in bf16, and compares the
losses.

The program is that of examples/models/llama.py, the book the King James Bible, which is in the public domain. It needs
the Python package and the Debian package bible-kjv, which scripts/setup.sh installs.
"""

import argparse
import functools
import pathlib
import shutil
import subprocess
import sys

import adjoint
import numpy as np

EXAMPLES = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(EXAMPLES / "models"), str(EXAMPLES / "support")]
sys.dont_write_bytecode = True
import ending  # noqa: E402
import llama as models  # noqa: E402

WINDOW = 20  # steps of which the mean is a point of the curve


def configure(steps):
    return models.Config(**models.TRAINING | {"entry": "train", "vocabulary": 128, "steps": steps, "rate": 1e-3})


@functools.cache
def book():
    """The characters of the King James Bible: all chapters, in lines of at most 79 columns."""
    program = shutil.which("bible")
    if not program:
        raise FileNotFoundError("the Debian package bible-kjv, which holds the book, is not installed; run "
                                "scripts/setup.sh or: apt-get install bible-kjv")
    # Without -p a file of the current folder would be read first.
    command = [program, "-p", "/usr/lib", "-l79", "Genesis1:1-Revelation22:21"]
    text = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=True).stdout
    if not text.lstrip().startswith(b"Genesis 1\n") or not text.isascii():
        raise OSError(f"{program} did not print the text of the Debian package bible-kjv")
    return np.frombuffer(text, np.uint8)


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
