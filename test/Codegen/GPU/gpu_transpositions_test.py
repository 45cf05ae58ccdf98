#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Random transpositions on the emulated GPU, against NumPy: two to five axes, most of them short, of which tiles take
several together, and lengths around those at which tiles are cut; some sizes are open. One whose last axis is short before and after must have such tiles."""

import subprocess
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "Support"))
sys.dont_write_bytecode = True
import checks  # noqa: E402
import elements  # noqa: E402
import runner  # noqa: E402

COUNT = 60
SIZES = (1, 2, 3, 4, 5, 7, 8, 9, 16, 31, 33, 40, 64, 65, 100, 129, 515)
MOST = 300_000
ELEMENTS = ("f32", "bf16", "f64", "i8", "f8E5M2")


def program(shape, order, element, is_open):
    def kind(axes):
        return "x".join([*("?" if is_open[axis] else str(shape[axis]) for axis in axes), element])

    given, made = kind(range(len(shape))), kind(order)
    return (f'func.func @main(%x: tensor<{given}> {{ad.name = "x"}}) -> (tensor<{made}> {{ad.name = "r"}}) {{\n'
            f"  %y = ad.transpose %x {order} : tensor<{given}>\n  return %y : tensor<{made}>\n}}\n")


def check(seed, folder):
    rng = np.random.default_rng(seed)
    rank = int(rng.integers(2, 6))
    shape = [int(rng.choice(SIZES)) for _ in range(rank)]
    while np.prod(shape) > MOST:
        shape[int(rng.integers(rank))] = 2
    order, element = [int(axis) for axis in rng.permutation(rank)], str(rng.choice(ELEMENTS))
    text = program(shape, order, element, rng.random(rank) < 0.2)
    given = elements.random(rng, element, shape)
    elements.save(folder / "x.npy", element, given)
    found = runner.run(text, [f"--arg=x={folder / 'x.npy'}"], [("r", element)], ["--target=gpu-sim"])["r"]
    if not elements.same_bits(element, np.ascontiguousarray(np.transpose(given, order)), found).all():
        yield f"other elements than NumPy's: {text}"
    yield from takes_short_axes() if seed % 100_000 == 0 else ()


def takes_short_axes():
    """Heads in groups of two: rows of 64 elements become rows of pairs, of which a tile has 64 elements as well."""
    text = program([2, 128, 4, 2, 64], [0, 2, 4, 1, 3], "bf16", [False] * 5)
    passes = ["--ad-to-cpu-frontend", "--ad-to-gpu-fusion", "--ad-to-gpu-kernels", "--ad-emit-gpu"]
    said = subprocess.run([runner.binary("ad-opt"), "-", *passes, "--remarks-filter=ad-gpu", "-o", "/dev/null"],
                          input=text, capture_output=True, text=True, check=True).stderr
    if 'read-axes=2' not in said or 'write-axes="3,4"' not in said:
        yield f"tiles have other axes: {said}"


if __name__ == "__main__":
    sys.exit(checks.run_seeds("transpositions", check, COUNT))
